"""CPU from nothing to the first answer in large projects: ``python -m tests.benchmarks.start [DIRECTORIES] [FILES]``.

A scripted model answers at once; each row is a program of its own, and its CPU time counts whole, children included.
"""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

REPEATS = 3
WORDS = "- Keep the public interface stable and say why where you can't.\n"
Layout = Callable[[Path, int, int], None]


def directories(project: Path, count: int, files: int) -> None:
    """``count`` directories, a hundred in each, with a source file in every one."""
    for number in range(count):
        folder = project / f"part{number // 100:03}" / f"unit{number % 100:02}"
        folder.mkdir(parents=True)
        (folder / "code.py").write_text("x = 1\n")


def rules(project: Path, count: int, files: int) -> None:
    """``files`` rule files, every second one for a pattern of paths."""
    folder = project / ".claude" / "rules"
    for number in range(files):
        path = folder / f"area{number // 100:02}" / f"rule{number:04}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        front = f'---\npaths: "part{number % 50:03}/**"\n---\n' if number % 2 else ""
        path.write_text(front + WORDS)


def nested(project: Path, count: int, files: int) -> None:
    """The directories, with a memory file in as many of them."""
    directories(project, count, files)
    for folder in sorted(project.glob("part*/unit*"))[:files]:
        (folder / "CLAUDE.md").write_text(WORDS)


def everything(project: Path, count: int, files: int) -> None:
    nested(project, count, files)
    rules(project, count, files)


ROWS: dict[str, Layout] = {
    "an empty project": lambda project, count, files: None,
    "directories": directories,
    "rule files": rules,
    "memory files in directories": nested,
    "all of it": everything,
}


async def session(project: Path) -> None:
    """One session with one answer."""
    from agentcli.model.scripted import ScriptedClient
    from agentcli.ports.frontend import UserInput
    from agentcli.runtime.build import open_session
    from agentcli.runtime.options import SessionOptions

    options = SessionOptions(cwd=project, interactive=False, trust=True)
    opened = await open_session(options, client=ScriptedClient(["done"]))
    opened.start()
    finished = await opened.run(UserInput("hi"))
    await opened.close()
    assert finished.outcome == "completed", finished.error


def cpu(project: Path, home: Path) -> float:
    """CPU seconds of one such program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {**os.environ, "HOME": str(home), "AGENTCLI_HOME": str(home / ".agentcli")}
    subprocess.run([sys.executable, "-m", "tests.benchmarks.start", "--session", str(project)], env=env, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(count: int = 5_000, files: int = 2_000) -> None:
    print(f"{count:,} directories, {files:,} files\n\n{'start and first answer':<32}{'CPU, s':>8}")
    for name, layout in ROWS.items():
        with tempfile.TemporaryDirectory() as base:
            project, home = Path(base, "project"), Path(base, "home")
            project.mkdir()
            home.mkdir()
            subprocess.run(["git", "init", "-q", str(project)], check=True)
            layout(project, count, files)
            best = min(cpu(project, home) for _ in range(REPEATS))
        print(f"{name:<32}{best:>8.2f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--session"]:
        asyncio.run(session(Path(sys.argv[2])))
    else:
        main(*(int(text) for text in sys.argv[1:3]))
