from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentcli.globs import compile_glob, expand_braces, gitignore_match, has_magic, ignore_list


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("a.py", "a.py", True),
        ("a.py", "b/a.py", False),
        ("*.py", "a.py", True),
        ("*.py", "b/a.py", False),
        ("*.py", ".py", True),
        ("*", ".hidden", True),
        ("**", "a/b/c", True),
        ("**/*.py", "a.py", True),
        ("**/*.py", "a/b/c.py", True),
        ("src/**", "src", False),
        ("src/**", "src/a/b", True),
        ("src/**/x.py", "src/x.py", True),
        ("src/**/x.py", "src/a/b/x.py", True),
        ("src/**/x.py", "src/a/b/y.py", False),
        ("src/**/a/**/x", "src/1/a/2/a/3/x", True),
        ("a**b", "axxb", True),
        ("a**b", "ax/xb", False),
        ("./a.py", "a.py", True),
        ("?.py", "é.py", True),
        ("?.py", "ab.py", False),
        ("[a-c].py", "b.py", True),
        ("[!a-c].py", "b.py", False),
        ("[^a-c].py", "d.py", True),
        ("[]a].py", "].py", True),
        ("[a-].py", "-.py", True),
        ("[a.py", "[a.py", True),
        ("*.{ts,tsx}", "a.tsx", True),
        ("{src,lib}/**/*.{js,mjs}", "lib/a/b.mjs", True),
        ("{a,b{c,d}}", "bd", True),
        ("{a}", "{a}", True),
        ("{a,b", "{a,b", True),
        ("\\*.py", "*.py", True),
        ("\\*.py", "a.py", False),
        ("\\{a,b\\}", "{a,b}", True),
        ("*a*b*c", "xxaxxbxxc", True),
        ("*ab*ab", "abab", True),
        ("*ab*ab", "ab", False),
        ("a b/*", "a b/c d", True),
    ],
)
def test_a_glob_matches_whole_relative_paths(pattern: str, path: str, expected: bool) -> None:
    assert compile_glob(pattern)(path) is expected


@pytest.mark.parametrize(
    ("pattern", "path", "is_dir", "expected"),
    [
        (".env", "a/b/.env", False, True),
        ("/.env", "a/.env", False, False),
        ("build/", "a/build", True, True),
        ("build/", "a/build", False, False),
        ("build/", "a/build/x.o", False, True),
        ("a/b", "x/a/b", False, False),
        ("a/b", "a/b/c/d", False, True),
        ("*.log", "deep/down/x.log", False, True),
        ("**/logs", "a/logs/x", False, True),
        ("logs/**", "logs", True, False),
        ("logs/**", "logs/x", False, True),
        ("!x", "x", False, True),
        ("x ", "x", False, True),
        ("x\\ ", "x ", False, True),
        ("/", "x", False, False),
    ],
)
def test_a_gitignore_line_names_a_path_or_a_directory_above_it(
    pattern: str, path: str, is_dir: bool, expected: bool
) -> None:
    assert gitignore_match(pattern, path, is_dir=is_dir) is expected


def test_the_last_line_decides_but_an_ignored_directory_stays_ignored() -> None:
    ignored = ignore_list(["# comment", "", "*.log", "!keep.log", "out/", "!out/keep.log"])
    assert [ignored(p, False) for p in ("a.log", "keep.log", "out/keep.log", "# comment")] == [True, False, True, False]


def test_braces_stand_for_patterns_in_order() -> None:
    assert expand_braces("a.{b,c{d,e},}") == ["a.b", "a.cd", "a.ce", "a."]


def test_too_many_alternatives_are_refused() -> None:
    with pytest.raises(ValueError, match="more than 1000"):
        compile_glob("{a,b}" * 12)


def test_only_magic_makes_a_pattern() -> None:
    assert [has_magic(t) for t in ("a/b.py", "a*", "a?", "[a]", "{a,b}")] == [False, True, True, True, True]


def test_hostile_patterns_cost_little() -> None:
    started = time.process_time()
    assert not compile_glob("*a" * 50 + "b")("a" * 2000)
    assert not compile_glob("**/a/" * 30 + "b")("a/" * 300 + "c")
    assert time.process_time() - started < 2


_NAME = st.text("ab.[]!*? ", min_size=1, max_size=4).filter(lambda t: t.strip() == t and t not in (".", ".."))
_PATH = st.lists(st.text("ab.", min_size=1, max_size=3).filter(lambda t: set(t) != {"."}), min_size=1, max_size=3)
_PATTERN = st.lists(_NAME | st.just("**"), min_size=1, max_size=3).map("/".join)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(_PATTERN, min_size=1, max_size=4), paths=st.lists(_PATH, min_size=1, max_size=30))
def test_decisions_are_those_of_git(repo: Path, lines: list[str], paths: list[list[str]]) -> None:
    sound = [line for line in lines if not line.endswith("\\") and "[" not in line]
    (repo / ".gitignore").write_text("".join(line + "\n" for line in sound))
    names = sorted({"/".join(p) for p in paths})
    names = [n for n in names if ".git" not in n.split("/")]
    asked = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin", "-z"],
        cwd=repo,
        input="\0".join(names).encode(),
        capture_output=True,
    )
    by_git = {n for n in asked.stdout.decode().split("\0") if n}
    ignored = ignore_list(sound)
    assert {n for n in names if ignored(n, False)} == by_git
