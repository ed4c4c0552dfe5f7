"""Running a search: ripgrep in a child process, or our own program with the same output where there is none.

The child has a process group of its own; it is killed when the call is cancelled, takes too long or says too much.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

from agentcli.errors import ToolError
from agentcli.globs import Match, compile_glob
from agentcli.settings.git import git_root

SECONDS = 30.0
MAX_OUTPUT = 64 * 1024 * 1024
"""Bytes that are taken from the child; a search that says more is stopped."""
VERSION_CONTROL = (".git", ".hg", ".svn", ".jj", ".bzr", ".sl")
"""Never searched; other hidden files are."""
_PLAIN_GLOB = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./*?-+@,{}")
_FALLBACK = (sys.executable, "-P", "-m", "agentcli.tools.fallback")
"""``-P``: the current directory, somebody's repository, must not be importable."""

Kind = Literal["files", "names", "counts", "lines"]
_OUTPUTS: Mapping[Kind, Sequence[str]] = {
    "files": ("--files", "--null"),
    "names": ("--files-with-matches", "--null"),
    "counts": ("--count", "--null", "--with-filename"),
    "lines": ("--json",),
}


@dataclass(frozen=True, slots=True)
class Query:
    """``files`` lists paths; ``names`` those that match; ``counts`` matching lines per file; ``lines`` the lines.

    ``target`` is searched as seen from the directory in which the search runs: ``.`` or one file's name.
    """

    kind: Kind
    target: str = "."
    pattern: str = ""
    ignore_case: bool = False
    multiline: bool = False
    before: int = 0
    after: int = 0
    type: str = ""
    glob: str = ""
    """Passed on as a help only: what it lets through is filtered again."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The child's output, and lines about files that could not be read.  ``cut``: it was stopped at ``MAX_OUTPUT``."""

    output: bytes
    unreadable: tuple[str, ...] = ()
    cut: bool = False


@lru_cache(maxsize=1)
def ripgrep() -> str | None:
    """The program: that of our package beside the interpreter, else the first on PATH; ``None`` if there is none."""
    import sysconfig

    name = "rg.exe" if os.name == "nt" else "rg"
    ours = Path(sysconfig.get_path("scripts")) / name
    return str(ours) if os.path.isfile(ours) else shutil.which("rg")


@dataclass(frozen=True, slots=True)
class Searcher:
    """``program`` is ripgrep; ``None`` takes our own program, which is slower and reads Python's patterns."""

    program: str | None = field(default_factory=ripgrep)
    seconds: float = SECONDS

    def arguments(self, query: Query, directory: Path) -> tuple[str, ...]:
        if self.program is None:
            return (*_FALLBACK, json.dumps(asdict(query)))
        options = ["--no-config", "--hidden", "--color=never", *_OUTPUTS[query.kind]]
        if git_root(directory) is None:  # in a repository its root bounds the ignore files above that count
            options.append("--no-require-git")
        options += [option for name in VERSION_CONTROL for option in ("-g", f"!{name}")]
        if query.type:
            options.append(f"--type={query.type}")
        if query.kind == "files":
            return (self.program, *options, "--", query.target)
        options.append("--crlf")
        if query.glob and set(query.glob) <= _PLAIN_GLOB:
            options += ["-g", query.glob]
        if query.ignore_case:
            options.append("--ignore-case")
        pattern = query.pattern
        if query.multiline:
            options += ["--multiline", "--multiline-dotall"]
            pattern = any_line_end(pattern)
        if query.kind == "lines":
            options += [f"--before-context={query.before}", f"--after-context={query.after}"]
        return (self.program, *options, f"--regexp={pattern}", "--", query.target)

    async def search(self, query: Query, directory: Path) -> Answer:
        """Runs the search in ``directory``.  ``ToolError`` with the child's own words for a wrong pattern or type, and
        when the time is up."""
        if not os.access(directory, os.R_OK | os.X_OK):
            raise ToolError(f"{directory} can't be searched: Permission denied.")
        child = await asyncio.create_subprocess_exec(
            *self.arguments(query, directory),
            cwd=directory,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self.seconds):
                output, errors, cut = await _collect(child)
        except TimeoutError:
            raise ToolError(
                f"The search took longer than {self.seconds:g} seconds and was stopped. Search a smaller directory, or "
                "narrow it with glob or type."
            ) from None
        finally:
            await _end(child)
        return Answer(output, () if cut else _complaints(child.returncode, errors), cut)

    async def list_files(self, directory: Path, *, glob: str = "", type: str = "") -> list[str]:
        """Paths of the files below ``directory``, relative to it, ignore files honoured, sorted.

        ``glob`` without a slash matches names at any depth, with one it is anchored at ``directory``; a leading ``!``
        turns it round.
        """
        wanted = path_filter(glob)
        answer = await self.search(Query("files", type=type), directory)
        paths = sorted(os.fsdecode(p).removeprefix("./") for p in answer.output.split(b"\0") if p)
        return [p for p in paths if wanted(p)] if wanted else paths


def any_line_end(pattern: str) -> str:
    """The pattern with every line feed outside a class fitting ``\\r\\n`` too: the model sees lines without ``\\r``."""
    parts: list[str] = []
    in_class = False
    i = 0
    while i < len(pattern):
        part = pattern[i : i + 2] if pattern[i] == "\\" else pattern[i]
        if part in ("\n", "\\n") and not in_class:
            parts.append("(?:\\r?\\n)")
        else:
            parts.append(part)
            in_class = part == "[" or (in_class and part != "]")
        i += len(part)
    return "".join(parts)


async def _collect(child: asyncio.subprocess.Process) -> tuple[bytes, bytes, bool]:
    assert child.stdout is not None
    assert child.stderr is not None
    errors = asyncio.create_task(child.stderr.read())
    try:
        parts: list[bytes] = []
        size = 0
        while part := await child.stdout.read(1 << 20):
            parts.append(part)
            size += len(part)
            if size > MAX_OUTPUT:
                return b"".join(parts), b"", True
        complaints = await errors
        await child.wait()
        return b"".join(parts), complaints, False
    finally:
        errors.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await errors


async def _end(child: asyncio.subprocess.Process) -> None:
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(child.pid, signal.SIGKILL)
            else:
                child.kill()
    for stream in (child.stdout, child.stderr):  # asyncio waits for the end of a paused pipe, which only reading brings
        while stream is not None and await stream.read(1 << 20):
            pass
    await child.wait()


def _complaints(code: int | None, errors: bytes) -> tuple[str, ...]:
    """Files that could not be read are told; anything else that the child complains about is an error."""
    if code in (0, 1) and not errors:
        return ()
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    if lines and all("(os error " in line for line in lines):
        return tuple(line.removeprefix("rg: ") for line in lines)
    if code in (0, 1):
        return ()
    raise ToolError("\n".join(lines).removeprefix("rg: ") or f"The search failed with exit code {code}.")


def path_filter(glob: str) -> Match | None:
    """The filter of ``list_files``; ``None`` lets everything through."""
    if not glob:
        return None
    plain = glob.removeprefix("!")
    try:
        match = compile_glob(plain.removeprefix("/") if "/" in plain else f"**/{plain}")
    except ValueError as error:
        raise ToolError(f"The glob can't be used: {error}.") from error
    return (lambda path: not match(path)) if glob.startswith("!") else match
