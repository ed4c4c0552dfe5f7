"""Files by a few letters, commands by their beginning."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.ui.terminal.input.files import FileIndex, Listing, walk
from tests.ui.scripted import ScriptedSession
from tests.ui.theatre import theatre

PATHS = ("src/", "src/main.py", "src/model.py", "tests/test_main.py", "docs/manual/index.md", "README.md", "Makefile")


def test_the_name_counts_more_than_the_folders() -> None:
    listing = Listing.of(PATHS)
    assert listing.search("main") == ["src/main.py", "tests/test_main.py", "docs/manual/index.md"]
    assert listing.search("readme") == ["README.md"]
    assert listing.search("smo") == ["src/model.py"]
    assert listing.search("src/m") == ["src/main.py", "src/model.py"]
    assert listing.search("zzz") == []
    assert listing.search("")[:2] == ["Makefile", "README.md"]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("abAB/.한İ\\[(*", min_size=1, max_size=8), max_size=10), st.text("ab한.*[\\", max_size=4))
def test_every_match_holds_the_letters_in_order(paths: list[str], query: str) -> None:
    for found in Listing.of(paths).search(query, 50):
        rest = iter(found.lower())
        assert all(letter in rest for letter in query.lower())


def test_git_decides_what_is_listed(repo: Path) -> None:
    (repo / ".gitignore").write_text("*.log\nbuild/\n")
    for name in ("a.py", "x.log", "build/out.o", ".github/ci.yml", "deep/er/b.py"):
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text("x")
    (repo / "deep" / ".gitignore").write_text("*.tmp\n")
    (repo / "deep" / "c.tmp").write_text("x")
    found = {path for path in walk(repo) if not path.endswith("/")}
    told = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=repo, capture_output=True, text=True, check=True
    )
    assert found == set(told.stdout.split())


def test_a_hundred_thousand_files_are_searched_at_once(tmp_path: Path) -> None:
    dice = random.Random(1)
    words = [f"word{n}" for n in range(500)]
    paths = [f"{dice.choice(words)}/{dice.choice(words)}/{dice.choice(words)}_{n}.py" for n in range(100_000)]
    paths.append("needle/in/haystack.txt")
    listing = Listing.of(paths)
    assert listing.search("ndlhay")[0] == "needle/in/haystack.txt"


def test_a_missing_directory_has_no_files(tmp_path: Path) -> None:
    assert FileIndex(tmp_path / "nowhere").search("a") == []


async def test_a_mention_is_completed(project: Path) -> None:
    (project / "src").mkdir()
    (project / "src" / "area.py").write_text("x")
    (project / "two words.md").write_text("x")
    session = ScriptedSession()
    async with theatre(session, root=project) as show:
        show.keys("see @are")
        await show.see("src/area.py")
        show.keys("\t")
        await show.until(lambda: show.caret_text == "❯ see @src/area.py ")
        show.keys("and @two")
        await show.see("two words.md")
        show.keys("\t")
        await show.until(lambda: show.caret_text.endswith('@"two words.md" '))
        show.keys("\r")
        await show.until(lambda: session.received)
    assert session.received[0].text == 'see @src/area.py and @"two words.md"'


async def test_an_address_is_no_mention(project: Path) -> None:
    (project / "example.test").write_text("x")
    async with theatre(ScriptedSession(), root=project) as show:
        show.keys("write to me@exam")
        await show.see("me@exam")
        await show.settled()
        assert "example.test" not in show.screen


async def test_tab_completes_a_command_and_enter_runs_it() -> None:
    session = ScriptedSession()
    async with theatre(session) as show:
        show.keys("/cle")
        await show.see("/clear")
        show.keys("\t\r")
        await show.until(lambda: session.cleared)
