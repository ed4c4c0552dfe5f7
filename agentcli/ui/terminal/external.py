"""Programs that get the terminal for a while: the editor and the pager."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from agentcli.errors import SetupError

Lend = Callable[[], AbstractAsyncContextManager[None]]


def editor(env: Mapping[str, str]) -> list[str]:
    """``$VISUAL``, ``$EDITOR`` (with their arguments), else the first of nano, vim and vi.  ``SetupError``: none."""
    return _program(env, ("VISUAL", "EDITOR"), ("nano", "vim", "vi"))


def pager(env: Mapping[str, str]) -> list[str]:
    """``$PAGER`` (with its arguments), else less, else more.  ``SetupError``: none."""
    return _program(env, ("PAGER",), ("less", "more"))


def _program(env: Mapping[str, str], names: Sequence[str], fallbacks: Sequence[str]) -> list[str]:
    for name in names:
        try:
            words = shlex.split(env.get(name, ""))
        except ValueError as error:
            raise SetupError(f"${name} can't be read: {error}") from error
        if words:
            return words
    for program in fallbacks:
        if shutil.which(program):
            return [program]
    raise SetupError(f"no program found: set ${names[-1]}, or install {' or '.join(fallbacks)}")


async def edit(text: str, env: Mapping[str, str], lend: Lend, *, suffix: str = ".md") -> str | None:
    """The text after the person edited it; ``None`` when the editor failed."""
    words = editor(env)
    async with _file(text, suffix) as path:
        if await _run([*words, str(path)], lend):
            return None
        return path.read_text(encoding="utf-8", errors="replace").rstrip("\n")


async def page(text: str, env: Mapping[str, str], lend: Lend) -> None:
    words = pager(env)
    async with _file(text, ".txt") as path:
        await _run([*words, str(path)], lend)


@asynccontextmanager
async def _file(text: str, suffix: str) -> AsyncIterator[Path]:
    """A private file with the text, removed afterwards."""
    descriptor, name = tempfile.mkstemp(prefix="agentcli-", suffix=suffix)
    path = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        yield path
    finally:
        path.unlink(missing_ok=True)


async def _run(argv: Sequence[str], lend: Lend) -> int:
    async with lend():
        try:
            process = await asyncio.create_subprocess_exec(*argv)
        except OSError as error:
            raise SetupError(f"{argv[0]}: {error.strerror or error}") from error
        return await process.wait()
