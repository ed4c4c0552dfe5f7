"""Write: a whole file.  What was there keeps its encoding, byte order mark, line endings, mode, owner and links."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from agentcli.errors import ToolError
from agentcli.files import FileChanged, Stamp, TextFormat, create_file, looks_binary, replace_file, to_newlines
from agentcli.files.seen import digest
from agentcli.messages import Json, TextBlock
from agentcli.ports.display import DiffDisplay, Display
from agentcli.ports.tools import SeenFile, ToolContext, ToolResult
from agentcli.text import clean, plural
from agentcli.tools.base import BuiltinTool
from agentcli.tools.changes import change_summary, write_errors
from agentcli.tools.locate import locate, regular_file, spell
from agentcli.tools.schema import param, parse
from agentcli.tools.textfile import TextFile, as_text, encode_or_explain, read_bytes, whole_characters


@dataclass(frozen=True, slots=True)
class WriteParams:
    file_path: str = param()
    content: str = param()


@dataclass(frozen=True, slots=True)
class _Rewrite:
    """A rewrite that can be done.  ``before`` is ``None`` where the old content was no text."""

    before: str | None
    text: str
    data: bytes
    stamp: Stamp
    same: bool
    note: str


class Write(BuiltinTool[WriteParams]):
    name = "Write"
    code = __file__
    key = "file_path"
    kind = "write"

    def __init__(self) -> None:
        super().__init__(WriteParams)

    def preview(self, input: Json, ctx: ToolContext) -> Display | None:
        """The diff as it would be; ``None`` for a write that will fail anyway."""
        try:
            params = parse(WriteParams, input)
            path = locate(params.file_path, ctx.workspace)
            name = spell(path, ctx.workspace)
            if not os.path.exists(path):
                return DiffDisplay(name, None, clean(params.content))
            real = regular_file(path, name, ctx.workspace)
            rewrite = _prepare(params.content, real, name, ctx.seen.get(real))
        except ToolError:
            return None
        return DiffDisplay(name, rewrite.before, clean(params.content))

    async def call(self, params: WriteParams, ctx: ToolContext) -> ToolResult:
        path = locate(params.file_path, ctx.workspace)
        name = spell(path, ctx.workspace)
        content = whole_characters(params.content, "content")
        if not os.path.exists(path):
            return await _create(content, path, name, ctx)
        real = regular_file(path, name, ctx.workspace)
        rewrite = await asyncio.to_thread(_perform, content, real, name, ctx.seen.get(real))
        ctx.seen.note(real, rewrite.data, whole=True)
        if rewrite.same:
            said = f"{name} already has exactly this content; nothing was written."
            return ToolResult((TextBlock(said),), DiffDisplay(name, content, content, "unchanged"), touched=(real,))
        said = f"Wrote {name} ({plural(_count(content), 'line')}).{rewrite.note}"
        display = DiffDisplay(name, rewrite.before, content, change_summary(rewrite.before, content))
        return ToolResult((TextBlock(said),), display, touched=(real,), changed=(real,))


async def _create(content: str, path: Path, name: str, ctx: ToolContext) -> ToolResult:
    data = encode_or_explain(content, TextFormat(), name)
    with write_errors(name):
        real = await asyncio.to_thread(create_file, path, data)
    ctx.seen.note(real, data, whole=True)
    summary = plural(_count(content), "line")
    through = f", the target of the link {name}" if os.path.islink(path) else ""
    said = f"Created {spell(real, ctx.workspace) if through else name}{through} ({summary})."
    display = DiffDisplay(name, None, content, summary)
    return ToolResult((TextBlock(said),), display, touched=(real,), changed=(real,))


def _count(content: str) -> int:
    return content.count("\n") + bool(content and not content.endswith("\n"))


def _perform(content: str, real: Path, name: str, seen: SeenFile | None) -> _Rewrite:
    rewrite = _prepare(content, real, name, seen)
    if rewrite.same:
        return rewrite
    with write_errors(name):
        try:
            replace_file(real, rewrite.data, expect=rewrite.stamp)
        except FileChanged as error:
            raise ToolError(
                f"{name} was changed by somebody else just now. Nothing was written; read it again."
            ) from error
    return rewrite


def _prepare(content: str, real: Path, name: str, seen: SeenFile | None) -> _Rewrite:
    data, stamp = read_bytes(real, name)
    if data:
        _check_seen(data, name, seen)
    before = None if looks_binary(data) else as_text(real, name, data, stamp, seen)
    form = _format_for(before)
    text = to_newlines(content.removeprefix("\ufeff") if form.bom else content, form.newline)
    written = encode_or_explain(text, form, name)
    kept = form.describe()
    note = f" Format as before: {kept}." if kept else ""
    if before is not None and before.format.mixed:
        note += f" Its line endings were mixed; now all lines end with {'CRLF' if form.newline != chr(10) else 'LF'}."
    return _Rewrite(before.plain() if before else None, text, written, stamp, written == data, note)


def _format_for(before: TextFile | None) -> TextFormat:
    if before is None or not before.data:
        return TextFormat()
    old = before.format
    return TextFormat(old.encoding, old.bom, old.newline)


def _check_seen(data: bytes, name: str, seen: SeenFile | None) -> None:
    if seen is None:
        raise ToolError(f"{name} exists and has not been read yet. Read it first, so that nothing is lost unseen.")
    if seen.digest != digest(data):
        raise ToolError(f"{name} was changed by somebody else since you read it. Read it again before you replace it.")
    if not seen.whole:
        raise ToolError(f"You have seen only a part of {name}. Read the rest before you replace all, or use Edit.")
