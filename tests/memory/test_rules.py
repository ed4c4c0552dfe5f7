"""Rules with and without ``paths``."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.frontmatter import FrontMatterError, read_front_matter
from agentcli.memory.rules import _patterns, _simple, match_path, read_rule, split_patterns
from tests.memory.worlds import Desk, write

PATH = Path("/r.md")


@pytest.mark.parametrize(
    ("front", "patterns"),
    [
        ('paths: "src/**/*.py"', ("src/**/*.py",)),
        ("paths: src/**/*.py", ("src/**/*.py",)),
        ('paths: "a/*.py, b/{x,y}/*.py"', ("a/*.py", "b/{x,y}/*.py")),
        ('paths:\n  - "a/**"\n  - b/*.{ts,tsx}', ("a/**", "b/*.{ts,tsx}")),
        ("paths: [a/**, 'b/**']", ("a/**", "b/**")),
        ("description: All of it\npaths:\n- a/b", ("a/b",)),
        ("description: no paths", ()),
        ("paths:", ()),
        ('paths: ""', ()),
    ],
)
def test_front_matter(front: str, patterns: tuple[str, ...]) -> None:
    rule = read_rule(f"---\n{front}\n---\nbody\n", PATH)
    assert (rule.patterns, rule.body, rule.problem) == (patterns, "body\n", "")
    assert rule.body_line == front.count("\n") + 4


@pytest.mark.parametrize(
    ("front", "problem"),
    [
        ("paths: **/*.py", "/r.md:2:9:"),
        ("a: [", "/r.md:"),
        ("paths: {a: b}", "/r.md:2: paths must be a glob or a list of globs."),
        ("paths: [[a]]", "/r.md:2: paths must be a glob or a list of globs."),
        ("- list", "/r.md:2: the front matter must be"),
    ],
)
def test_broken_front_matter_loads_as_if_there_was_none(front: str, problem: str) -> None:
    rule = read_rule(f"---\n{front}\n---\nbody\n", PATH)
    assert (rule.patterns, rule.body) == ((), "body\n")
    assert rule.problem.startswith(problem)
    assert rule.problem.endswith("The rule is loaded as if it had no paths.")


def test_a_glob_without_quotes_is_explained() -> None:
    assert "into quotes" in read_rule("---\npaths: **/*.py\n---\nx", PATH).problem
    assert read_rule("---\nnever closed\n", PATH).body == "---\nnever closed\n"


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.md", "/p/a.md", True),
        ("*.md", "/p/x/a.md", False),
        ("**/*.md", "/p/x/a.md", True),
        ("src/", "/p/src/x/y", True),
        ("src/**/*.{ts,tsx}", "/p/src/a/b.tsx", True),
        ("./src/*", "/p/src/a", True),
        ("/src/*", "/p/src/a", True),
        ("/p/src/*", "/p/src/a", True),
        ("~/w/*", "/h/w/a", True),
        ("**/*", "/elsewhere/a", False),
        ("src/[ab].py", "/p/src/b.py", True),
        ("{" + "a,b}{" * 12 + "c,d}", "/p/aaaaaaaaaaaac", False),
    ],
)
def test_matching(pattern: str, path: str, matches: bool) -> None:
    assert (match_path([pattern], Path(path), Path("/p"), home=Path("/h")) == pattern) is matches


_LINES = st.lists(
    st.one_of(
        st.sampled_from(["paths:", "- a/b", "  - 'x/**'", '- "y, z/*.{a,b}"', "- true", "- 12", "paths: 'a/*'", ""]),
        st.sampled_from(['paths: "a/*, b"', "paths: a/*", "description: Some words", "other:", "x:y", "a: b: c"]),
        st.text(st.sampled_from("ab/*:-# '\"{}[],"), max_size=8),
    ),
    max_size=5,
)


@settings(max_examples=150, deadline=None)
@given(_LINES)
def test_the_quick_reading_agrees_with_yaml(lines: list[str]) -> None:
    text = "\n".join(["---", *lines, "---", "body"])
    quick = _simple(text)
    if quick is None:
        return
    try:
        front = read_front_matter(text, source=PATH, plain=True)
    except FrontMatterError as error:
        raise AssertionError(f"taken, but broken: {error}") from error
    patterns, problem = _patterns(front, PATH)
    assert (quick.patterns, quick.body, quick.body_line) == (patterns, front.body, front.body_line)
    assert problem == ""


def test_commas_in_braces_belong_to_the_glob() -> None:
    assert split_patterns("a/{b,c}/*, d ,, {e,{f,g}}") == ["a/{b,c}/*", "d", "{e,{f,g}}"]


async def test_a_path_rule_comes_once_with_a_file_it_names(project: Path) -> None:
    rule = write(project / ".claude" / "rules" / "py.md", '---\npaths: "src/**/*.py"\n---\nPY RULE @more.md\n')
    write(project / ".claude" / "rules" / "more.md", "---\npaths: never\n---\nIMPORTED")
    desk = Desk(project)
    assert await desk.section() == ""
    assert await desk.touch(project / "src" / "a.js") == ""
    told = await desk.touch(project / "src" / "x" / "a.py")
    assert f'<instructions path="{rule}" what="the project\'s, shared by its team" applies-to="src/**/*.py">' in told
    assert (told.count("PY RULE"), told.count("IMPORTED")) == (1, 1)
    assert await desk.touch(project / "src" / "b.py") == ""
    assert [f.reason for f in desk.room.loaded()] == ["path_glob_match"]


async def test_rules_of_the_user_count_from_the_projects_root(repo: Path, home: Path) -> None:
    write(home / ".claude" / "rules" / "r.md", '---\npaths: ["docs/*.md"]\n---\nUSER RULE')
    inner = repo / "inner"
    inner.mkdir()
    desk = Desk(inner)
    await desk.section()
    assert await desk.touch(inner / "docs" / "a.md") == ""
    assert "USER RULE" in await desk.touch(repo / "docs" / "a.md")


async def test_a_broken_rule_holds_always_and_is_named(project: Path) -> None:
    rule = write(project / ".claude" / "rules" / "r.md", "---\npaths: *.py\n---\nRULE\n")
    desk = Desk(project)
    assert "RULE" in await desk.section()
    assert len(desk.warnings) == 1
    assert desk.warnings[0].startswith(f"{rule}:2:9: ")


async def test_a_linked_directory_outside_is_asked_about(project: Path, world: Path) -> None:
    outside = world / "company"
    write(outside / "a.md", "COMPANY RULE")
    (project / ".claude").mkdir()
    (project / ".claude" / "rules").symlink_to(outside)
    desk = Desk(project)
    assert await desk.section() == ""
    why = f"leads out of the tree, to {outside}, and nobody has approved that; agentcli asks in a terminal"
    assert desk.warnings == [f"{project}/.claude/rules: {why}"]
    asking = Desk(project, asks=True, answer=True)
    assert "COMPANY RULE" in await asking.section()
    assert [o.target for o in asking.asked] == [outside]
    assert "COMPANY RULE" in await Desk(project).section()
