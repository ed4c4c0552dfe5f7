"""What the project's repository has already is not copied, and not believed either."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tests.checkpoints.desk import tree, work


def git(project: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(project), *words], check=True, capture_output=True)


@pytest.fixture
def repository(project: Path) -> Path:
    """Fifty files of two kilobytes, committed and packed."""
    git(project, "init", "-q", "-b", "main")
    for number in range(50):
        path = project / f"d{number % 5}" / f"f{number}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes((number * 7 + i * i) % 251 for i in range(2_000)))
    (project / "run").write_text("#!/bin/sh\n")
    (project / "run").chmod(0o755)
    (project / "link").symlink_to("run")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "x")
    git(project, "gc", "-q")
    return project


def stored(home: Path) -> int:
    return sum(1 for path in (home / ".agentcli").rglob("objects/*/*") if path.is_file())


async def test_nothing_is_copied_but_what_changes(repository: Path, home: Path) -> None:
    before = tree(repository)
    async with work(repository) as at:
        await at.shell("echo more >> d1/f1; rm d2/f2; chmod -x run; ln -sfn d1 link; touch new; git mv d3/f3 moved")
        assert await at.plan() == {
            "d1/f1": "changed",
            "d2/f2": "created",
            "d3/f3": "created",
            "link": "changed",
            "moved": "removed",
            "new": "removed",
            "run": "mode",
        }
        assert stored(home) < 10
        assert await at.rewind() == []
        now = tree(repository)
    assert {k: v for k, v in now.items() if not k.startswith(".git")} == {
        k: v for k, v in before.items() if not k.startswith(".git")
    }


async def test_a_file_is_what_it_was_on_disk_whatever_the_repository_has(repository: Path) -> None:
    """Line endings are turned, a filter has replaced the content, the time stamps lie: the bytes come back."""
    (repository / ".gitattributes").write_text("*.txt text eol=crlf\n*.dat filter=short\n")
    git(repository, "config", "filter.short.clean", "cut -c1-3")
    (repository / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    (repository / "b.dat").write_bytes(b"long content\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "y")
    same = repository / "d0" / "f0"
    times = same.stat()
    same.write_bytes(same.read_bytes()[::-1])
    os.utime(same, ns=(times.st_atime_ns, times.st_mtime_ns))
    kept = {p: p.read_bytes() for p in (repository / "a.txt", repository / "b.dat", same)}
    async with work(repository) as at:
        await at.shell("for f in a.txt b.dat d0/f0; do echo gone > $f; done")
        assert await at.rewind() == []
    assert {p: p.read_bytes() for p in kept} == kept


async def test_a_repository_that_lost_its_contents_or_can_not_be_read(repository: Path) -> None:
    async with work(repository) as at:
        await at.shell("rm -rf .git/objects; mkdir .git/objects; for f in d1/*; do echo x > $f; done")
        plan = await at.plan()
        assert "d1/f1" in plan
        assert plan["d1/f1"] not in ("changed", "created")
    shutil.rmtree(repository / ".git")
    (repository / ".git").mkdir()
    (repository / ".git" / "index").write_bytes(b"DIRC nonsense")
    text = (repository / "d2" / "f2").read_bytes()
    async with work(repository) as at:
        await at.shell("for f in d2/*; do echo x > $f; done")
        assert await at.rewind() == []
    assert (repository / "d2" / "f2").read_bytes() == text


async def test_a_linked_work_tree_has_the_contents_of_its_repository(repository: Path) -> None:
    other = repository.parent / "other"
    git(repository, "worktree", "add", "-q", str(other))
    text = (other / "d1" / "f1").read_bytes()
    async with work(other) as at:
        await at.shell("sed -i s/.*// d1/f1; for f in d1/*; do echo x > $f; done")
        assert await at.rewind() == []
    assert (other / "d1" / "f1").read_bytes() == text
    assert stat.S_IMODE((other / "run").stat().st_mode) == 0o755
