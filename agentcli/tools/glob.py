"""Glob: files by name, newest first."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from agentcli.errors import ToolError
from agentcli.globs import has_magic
from agentcli.messages import TextBlock
from agentcli.ports.display import TextDisplay
from agentcli.ports.tools import ToolContext, ToolResult, Workspace
from agentcli.text import plural
from agentcli.tools.base import BuiltinTool
from agentcli.tools.locate import locate, spell
from agentcli.tools.schema import param
from agentcli.tools.search import Searcher

MAX_FILES = 100


@dataclass(frozen=True, slots=True)
class GlobParams:
    pattern: str = param()
    path: str = param("Directory; default the working directory", default="")


class Glob(BuiltinTool[GlobParams]):
    name = "Glob"
    code = __file__
    key = "pattern"

    def __init__(self, searcher: Searcher | None = None) -> None:
        super().__init__(GlobParams)
        self._searcher = searcher or Searcher()

    async def call(self, params: GlobParams, ctx: ToolContext) -> ToolResult:
        start = search_directory(params.path, ctx.workspace)
        root, rest = _split(params.pattern, start, ctx.workspace)
        if not rest:
            found = [root] if os.path.isfile(root) else []
        elif os.path.isdir(root):
            found = [root / name for name in await self._searcher.list_files(root, glob=rest)]
        else:
            found = []
        newest = await asyncio.to_thread(_newest_first, found)
        return _result(newest, ctx.workspace)


def search_directory(name: str, workspace: Workspace) -> Path:
    """``ToolError`` if it is no directory."""
    path = locate(name, workspace) if name else workspace.cwd
    if not os.path.isdir(path):
        shown = spell(path, workspace)
        raise ToolError(f"{shown} is a file, not a directory." if os.path.exists(path) else f"{shown} does not exist.")
    return path


def _split(pattern: str, start: Path, workspace: Workspace) -> tuple[Path, str]:
    """The directory that the pattern's literal beginning names, and the rest as a glob below it."""
    if not pattern:
        raise ToolError("The pattern is empty. Give one such as **/*.py.")
    if not has_magic(pattern):
        path = locate(pattern, workspace) if pattern.startswith(("/", "~/")) else start / pattern
        return (path, "") if "/" in pattern or os.path.exists(path) else (start, pattern)
    segments = pattern.split("/")
    count = next(i for i, segment in enumerate(segments) if has_magic(segment))
    literal, rest = "/".join(segments[:count]), "/".join(segments[count:])
    if count == 0:
        return start, rest
    root = locate(literal or "/", workspace) if pattern.startswith(("/", "~/")) else start / literal
    return root, f"/{rest}"


def _newest_first(paths: list[Path]) -> list[Path]:
    """By time of change, the path where that is the same; what vanished meanwhile is left out."""
    stamped: list[tuple[int, str, Path]] = []
    for path in paths:
        try:
            stamped.append((-os.stat(path, follow_symlinks=False).st_mtime_ns, str(path), path))
        except OSError:
            continue
    return [path for _, _, path in sorted(stamped)]


def _result(paths: list[Path], workspace: Workspace) -> ToolResult:
    if not paths:
        text = "No file matches. Files that ignore files name are left out."
        return ToolResult((TextBlock(text),), TextDisplay("no files"))
    lines = [spell(path, workspace) for path in paths[:MAX_FILES]]
    if len(paths) > MAX_FILES:
        lines.append(f"[The newest {MAX_FILES} of {len(paths)} files. Narrow the pattern or the path for others.]")
    return ToolResult((TextBlock("\n".join(lines)),), TextDisplay(plural(len(paths), "file"), "\n".join(lines)))
