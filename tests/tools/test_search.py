from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentcli.errors import ToolError
from agentcli.messages import TextBlock
from agentcli.ports.display import TextDisplay
from agentcli.ports.tools import Tool, ToolResult
from agentcli.tools.fallback import _TYPES
from agentcli.tools.glob import Glob
from agentcli.tools.grep import Grep
from agentcli.tools.search import Query, Searcher, any_line_end, ripgrep
from tests.tools.bench import Bench, said

WITHOUT_RIPGREP = Searcher(None)


@pytest.fixture
def tree(repo: Path) -> Path:
    """A repository with ignore files, hidden files, odd names and a binary file."""
    files = {
        ".gitignore": "*.log\n/build/\n",
        "src/a.py": "import os\n\ndef alpha():\n    return 1\n",
        "src/b.py": "def beta():\n    return alpha()\n# end\n",
        "src/deep/.gitignore": "secret.py\n!keep.log\n",
        "src/deep/secret.py": "alpha\n",
        "src/deep/keep.log": "alpha\n",
        "src/deep/c.ts": "alpha();\r\nbeta();\r\n",
        "src/.hidden.py": "alpha\n",
        "build/out.py": "alpha\n",
        "x.log": "alpha\n",
        "name with space.txt": "Alpha alpha\n",
        ".ignore": "vendor\n",
        ".rgignore": "third\n",
        "vendor/v.py": "alpha\n",
        "third/t.py": "alpha\n",
        "sub/.git/config": "alpha\n",
    }
    for name, text in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (repo / "bin.dat").write_bytes(b"alpha\0alpha\n")
    (repo / "wide.txt").write_bytes("\ufeffalpha wide\n".encode("utf-16-le"))
    (repo / "link.py").symlink_to("src/a.py")
    (repo / os.fsdecode(b"odd\xff.py")).write_text("alpha\n")
    return repo


async def test_glob_gives_the_newest_first(bench: Bench, tree: Path) -> None:
    names = ["src/a.py", "src/b.py", "src/.hidden.py", "odd\ufffd.py"]
    for age, name in enumerate(reversed(names)):
        os.utime(tree / name.replace("\ufffd", os.fsdecode(b"\xff")), (1000 + age, 1000 + age))
    text = "\n".join(names)
    assert await bench.call("Glob", pattern="*.py") == ToolResult((TextBlock(text),), TextDisplay("4 files", text))


@pytest.mark.parametrize(
    ("input", "expected"),
    [
        ({"pattern": "*.ts"}, ["src/deep/c.ts"]),
        ({"pattern": "src/*.py"}, ["src/.hidden.py", "src/a.py", "src/b.py"]),
        ({"pattern": "**/*.{ts,txt}"}, ["name with space.txt", "src/deep/c.ts", "wide.txt"]),
        ({"pattern": "*.py", "path": "src"}, ["src/.hidden.py", "src/a.py", "src/b.py"]),
        ({"pattern": "deep/**", "path": "src"}, ["src/deep/.gitignore", "src/deep/c.ts", "src/deep/keep.log"]),
        ({"pattern": "build/*.py"}, ["build/out.py"]),
        ({"pattern": "README.md"}, ["README.md"]),
        ({"pattern": "c.ts"}, ["src/deep/c.ts"]),
        ({"pattern": "src/a.py"}, ["src/a.py"]),
        ({"pattern": "[!a-z]*.md"}, ["README.md"]),
    ],
)
async def test_glob_patterns(bench: Bench, tree: Path, input: dict[str, Any], expected: list[str]) -> None:
    for path in tree.rglob("*"):
        os.utime(path, (1000, 1000), follow_symlinks=False)
    assert (await bench.text("Glob", **input)).splitlines() == expected
    absolute = {**input, "pattern": f"{tree / input.get('path', '')}/{input['pattern']}"}
    if "/" in input["pattern"]:
        assert (await bench.text("Glob", **absolute)).splitlines() == expected


async def test_glob_says_what_it_cut_and_what_is_wrong(bench: Bench, project: Path) -> None:
    for i in range(103):
        (project / f"{i:03}.txt").touch()
        os.utime(project / f"{i:03}.txt", (i, i))
    lines = (await bench.text("Glob", pattern="*.txt")).splitlines()
    assert lines[0] == "102.txt"
    assert lines[100:] == ["[The newest 100 of 103 files. Narrow the pattern or the path for others.]"]
    assert (await bench.text("Glob", pattern="*.none")).startswith("No file matches.")
    assert await bench.error("Glob", pattern="*", path="none") == "none does not exist."
    assert await bench.error("Glob", pattern="*", path="000.txt") == "000.txt is a file, not a directory."
    assert "The pattern is empty" in await bench.error("Glob", pattern="")
    assert "stand for more than 1000 patterns" in await bench.error("Glob", pattern="{a,b}" * 12)


async def test_grep_gives_paths_in_order(bench: Bench, tree: Path) -> None:
    sources = "src/.hidden.py\nsrc/a.py\nsrc/b.py\nsrc/deep/c.ts\nsrc/deep/keep.log"
    text = f"name with space.txt\nodd\ufffd.py\n{sources}\nwide.txt"
    result = await bench.call("Grep", pattern="alpha")
    assert result == ToolResult((TextBlock(text),), TextDisplay("8 files", text))
    for name in text.splitlines():
        await bench.text("Read", file_path=name)


@pytest.mark.parametrize(
    ("input", "expected"),
    [
        ({"output_mode": "content", "glob": "*.ts"}, "src/deep/c.ts\n1:alpha();\n[1 match in 1 file.]"),
        (
            {"output_mode": "content", "path": "src/b.py", "-C": 1},
            "src/b.py\n1-def beta():\n2:    return alpha()\n3-# end\n[1 match in 1 file.]",
        ),
        (
            {"output_mode": "content", "path": "src/b.py", "-B": "1", "-n": False},
            "src/b.py\ndef beta():\n    return alpha()\n[1 match in 1 file.]",
        ),
        (
            {"output_mode": "count", "-i": True, "type": "txt"},
            "name with space.txt: 1\nwide.txt: 1\n[2 matches in 2 files.]",
        ),
        ({"pattern": "alpha\\(\\):\\n", "multiline": True, "path": "src"}, "src/a.py"),
        (
            {"pattern": "def .*return", "multiline": True, "path": "src/a.py", "output_mode": "content"},
            "src/a.py\n3:def alpha():\n4:    return 1\n[1 match in 1 file.]",
        ),
        ({"pattern": "beta\\(\\);$", "glob": "*.ts"}, "src/deep/c.ts"),
        ({"pattern": "alpha\\(\\);\\nbeta", "multiline": True}, "src/deep/c.ts"),
        ({"pattern": "-e", "path": "src"}, "No matches. Files that ignore files name and binary files are left out."),
        ({"glob": "!*.py", "path": "src"}, "src/deep/c.ts\nsrc/deep/keep.log"),
        ({"glob": "*.log"}, "src/deep/keep.log"),
        ({"glob": "src/*.py"}, "src/.hidden.py\nsrc/a.py\nsrc/b.py"),
        ({"path": "x.log"}, "x.log"),
        (
            {"head_limit": 2},
            "name with space.txt\nodd\ufffd.py\n[Rows 1-2 of 8. Go on with offset=2, or narrow the search.]",
        ),
        ({"offset": 7}, "wide.txt"),
        ({"offset": 9}, "[Offset 9 is past the end: there are 8 rows.]"),
    ],
)
@pytest.mark.parametrize("searcher", [Searcher(), WITHOUT_RIPGREP], ids=["ripgrep", "fallback"])
async def test_grep_options(bench: Bench, tree: Path, searcher: Searcher, input: dict[str, Any], expected: str) -> None:
    result = await Grep(searcher).run({"pattern": "alpha", **input}, bench.ctx)
    assert said(result.for_model) == expected


@pytest.mark.parametrize(
    ("pattern", "fitting"),
    [
        ("a\\nb", "a(?:\\r?\\n)b"),
        ("a\nb", "a(?:\\r?\\n)b"),
        ("a\\\\nb", "a\\\\nb"),
        ("[^\\n]+\\n", "[^\\n]+(?:\\r?\\n)"),
        ("\\[\\n", "\\[(?:\\r?\\n)"),
        ("a\\", "a\\"),
    ],
)
def test_line_feeds_in_a_pattern_fit_windows_line_ends(pattern: str, fitting: str) -> None:
    assert any_line_end(pattern) == fitting


async def test_a_page_of_lines_names_its_file(bench: Bench, project: Path) -> None:
    (project / "a").write_text("x\n" * 5)
    text = await bench.text("Grep", pattern="x", output_mode="content", offset=2, head_limit=2)
    assert text == "a\n2:x\n3:x\n[Rows 3-4 of 6. Go on with offset=4, or narrow the search.]\n[5 matches in 1 file.]"


async def test_groups_of_lines_are_kept_apart(bench: Bench, project: Path) -> None:
    (project / "a").write_text("x\n1\n2\n3\n4\nx\n")
    text = await bench.text("Grep", pattern="x", output_mode="content", context=1)
    assert text == "a\n1:x\n2-1\n--\n5-4\n6:x\n[2 matches in 1 file.]"


async def test_a_long_line_is_shown_around_the_match(bench: Bench, project: Path) -> None:
    (project / "a.js").write_text("é" * 10_000 + "needle" + "y" * 10_000 + "\n")
    line = (await bench.text("Grep", pattern="needle", output_mode="content")).splitlines()[1]
    assert "needle" in line
    assert len(line) < 560
    assert line.endswith("[line of 20,006 characters]")


async def test_the_answer_fits_whatever_matches(bench: Bench, project: Path) -> None:
    (project / "a").write_text(("word " * 50 + "\n") * 1000)
    text = await bench.text("Grep", pattern="word", output_mode="content", head_limit=0)
    assert len(text) < 31_000
    assert "Go on with offset=" in text
    assert text.endswith("[1,000 matches in 1 file.]")


async def test_names_with_line_breaks_are_quoted(bench: Bench, project: Path) -> None:
    (project / "a\nb.txt").write_text("needle\n")
    assert await bench.text("Grep", pattern="needle") == '"a\\nb.txt"'
    assert await bench.text("Grep", pattern="needle", output_mode="count") == '"a\\nb.txt": 1\n[1 match in 1 file.]'
    assert await bench.text("Read", file_path="a\nb.txt") == "1\tneedle"
    assert await bench.text("Read", file_path='"a\\nb.txt"') == "1\tneedle"


async def test_paths_outside_the_working_directory_are_absolute(bench: Bench, project: Path, home: Path) -> None:
    (home / "h.txt").write_text("needle\n")
    assert await bench.text("Grep", pattern="needle", path=str(home)) == f"{home}/h.txt"
    assert await bench.text("Glob", pattern="~/*.txt") == f"{home}/h.txt"


async def test_a_wrong_pattern_gets_the_programs_own_words(bench: Bench, project: Path) -> None:
    (project / "a").write_text("x")
    error = await bench.error("Grep", pattern="(unclosed")
    assert "regex parse error" in error
    assert "unclosed group" in error
    assert "unrecognized file type: nope" in await bench.error("Grep", pattern="x", type="nope")
    for input, words in (
        ({"pattern": "(unclosed"}, "regex parse error"),
        ({"pattern": "x", "type": "nope"}, "Known are:"),
    ):
        with pytest.raises(ToolError, match=words):
            await Grep(WITHOUT_RIPGREP).run(input, bench.ctx)
    assert "The pattern is empty" in await bench.error("Grep", pattern="")
    assert "nowhere does not exist" in await bench.error("Grep", pattern="x", path="nowhere")


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
async def test_unreadable_files_are_counted(bench: Bench, project: Path) -> None:
    (project / "a").write_text("x")
    (project / "b").write_text("x")
    (project / "b").chmod(0)
    assert "[1 file could not be read, such as" in await bench.text("Grep", pattern="x")


async def test_a_pattern_that_takes_for_ever_is_stopped(bench: Bench, project: Path) -> None:
    (project / "a").write_text("a" * 60 + "b\n")
    slow = Searcher(None, seconds=1.5)
    with pytest.raises(ToolError, match=r"took longer than 1\.5 seconds"):
        await Grep(slow).run({"pattern": "(a+)+$"}, bench.ctx)
    assert not running_searches(project)


async def test_a_cancelled_search_leaves_no_process(bench: Bench, project: Path) -> None:
    (project / "a").write_text("a" * 60 + "b\n")
    task = asyncio.create_task(Grep(WITHOUT_RIPGREP).run({"pattern": "(a+)+$"}, bench.ctx))
    async with asyncio.timeout(20):
        while not running_searches(project):
            await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not running_searches(project)


def running_searches(directory: Path) -> list[str]:
    """Processes whose working directory is this one."""
    if sys.platform != "linux":
        pytest.skip("needs /proc")
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and entry.name != str(os.getpid()):
                cwd = os.readlink(entry / "cwd")
                if cwd == str(directory) and b"fallback" in (entry / "cmdline").read_bytes():
                    found.append(entry.name)
        except OSError:
            continue
    return found


async def test_the_repository_can_not_slip_modules_into_the_fallback(bench: Bench, project: Path) -> None:
    (project / "json.py").write_text("raise SystemExit('hijacked')\n")
    (project / "a").write_text("x\n")
    assert said((await Grep(WITHOUT_RIPGREP).run({"pattern": "^x"}, bench.ctx)).for_model) == "a"


WORDS = ("alpha", "beta", "Alpha", "gamma", "x y", "", "\t", "alphabet", "é", "漢字")


def make_tree(root: Path, rng: random.Random) -> None:
    for directory in ("", "a", "a/b", "c", ".h", "node_modules", "a/build"):
        (root / directory).mkdir(parents=True, exist_ok=True)
        for _ in range(rng.randrange(1, 5)):
            name = rng.choice(("m", "n", "ö", ".dot", "a b")) + rng.choice((".py", ".ts", ".md", ".log", ""))
            lines = [rng.choice(WORDS) for _ in range(rng.randrange(6))]
            end = rng.choice(("\n", "\r\n"))
            data = end.join([*lines, *([""] if rng.random() < 0.8 else [])]).encode()
            if rng.random() < 0.1:
                data += b"\0bin\n"
            elif rng.random() < 0.1:
                data = b"\xff\xfe" + data.decode().encode("utf-16-le")
            (root / directory / name).write_bytes(data)
    rules = ("*.log", "build/", "/c", "node_modules", "!m.log", "a/*.md", "**/b/*.ts")
    for directory in ("", "a"):
        (root / directory / ".gitignore").write_text("\n".join(rng.sample(rules, 3)) + "\n")


QUERIES: list[tuple[type[Glob] | type[Grep], dict[str, Any]]] = [
    (Glob, {"pattern": "*"}),
    (Glob, {"pattern": "**/*.{py,ts}"}),
    (Glob, {"pattern": "a/**"}),
    (Grep, {"pattern": "alpha"}),
    (Grep, {"pattern": "ALPHA", "-i": True, "output_mode": "count"}),
    (Grep, {"pattern": "^(alpha|é)$", "output_mode": "content", "context": 1}),
    (Grep, {"pattern": "x\\sy", "output_mode": "content", "-A": 2, "glob": "*.py"}),
    (Grep, {"pattern": "alpha\\n.*beta", "multiline": True, "output_mode": "content"}),
    (Grep, {"pattern": "^$", "output_mode": "count", "glob": "!*.md"}),
    (Grep, {"pattern": "a", "type": "py"}),
    (Grep, {"pattern": "漢", "path": "a", "glob": "b/*"}),
]


async def test_both_programs_give_the_same_answers(tmp_path: Path, soak: bool) -> None:
    for seed in range(20 if soak else 1):
        root = tmp_path / f"tree{seed}"
        make_tree(root, random.Random(seed))
        bench = Bench(root)
        for kind, input in QUERIES:
            fast: Tool = kind(Searcher())
            slow: Tool = kind(WITHOUT_RIPGREP)
            assert await fast.run(input, bench.ctx) == await slow.run(input, bench.ctx), (seed, input)


async def test_both_programs_list_the_same_files(tree: Path) -> None:
    assert await Searcher().list_files(tree) == await WITHOUT_RIPGREP.list_files(tree)


def test_the_fallbacks_types_are_those_of_ripgrep() -> None:
    program = ripgrep()
    assert program is not None
    listed = subprocess.run([program, "--type-list"], capture_output=True, text=True, check=True).stdout
    known = dict(line.split(": ") for line in listed.splitlines())
    assert {name: sorted(globs) for name, globs in _TYPES.items()} == {
        name: sorted(known[name].split(", ")) for name in _TYPES
    }


async def test_a_search_that_says_too_much_is_stopped(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "a").write_text("word\n" * 20_000)
    monkeypatch.setattr("agentcli.tools.search.MAX_OUTPUT", 100_000)
    answer = await Searcher().search(Query("lines", pattern="word"), project)
    assert answer.cut
    result = await Grep().run({"pattern": "word", "output_mode": "content"}, Bench(project).ctx)
    assert "Numbers are lower bounds.]" in said(result.for_model)
