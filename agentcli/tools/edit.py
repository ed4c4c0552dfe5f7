"""Edit: one exact text for another, in place, nothing else touched."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from agentcli.errors import ToolError
from agentcli.files import FileChanged, TextFormat, create_file, replace_file
from agentcli.files.seen import digest
from agentcli.messages import Json, TextBlock
from agentcli.ports.display import DiffDisplay, Display
from agentcli.ports.tools import SeenFile, ToolContext, ToolResult
from agentcli.text import clean, plural
from agentcli.tools.base import BuiltinTool
from agentcli.tools.changes import change_summary, changed_region, write_errors
from agentcli.tools.locate import locate, regular_file, spell
from agentcli.tools.nearest import explain_missing
from agentcli.tools.replacing import Places, apart, find, line_of, replace
from agentcli.tools.schema import param, parse
from agentcli.tools.textfile import TextFile, encode_or_explain, read_text, whole_characters

_SHOWN_MATCHES = 10


@dataclass(frozen=True, slots=True)
class EditParams:
    file_path: str = param()
    old_string: str = param()
    new_string: str = param()
    replace_all: bool = param(default=False)


@dataclass(frozen=True, slots=True)
class _Edit:
    """An edit that can be done: the file as it is, its text to be, and what to say."""

    file: TextFile
    after: str
    data: bytes
    count: int
    stale: bool
    """The file is not what the model saw."""


class Edit(BuiltinTool[EditParams]):
    name = "Edit"
    code = __file__
    key = "file_path"
    kind = "write"

    def __init__(self) -> None:
        super().__init__(EditParams)

    def preview(self, input: Json, ctx: ToolContext) -> Display | None:
        """The diff as it would be.  ``ToolError`` for an edit that can't work in a file that the model has seen; of any
        other nothing is told before it is allowed: ``None``."""
        try:
            params = parse(EditParams, input)
            path = locate(params.file_path, ctx.workspace)
            name = spell(path, ctx.workspace)
            if not params.old_string:
                return None if os.path.exists(path) else DiffDisplay(name, None, clean(params.new_string))
            real = regular_file(path, name, ctx.workspace)
            seen = ctx.seen.get(real)
        except ToolError:
            return None
        try:
            return _display(name, _prepare(params, real, name, seen))
        except ToolError:
            if seen is not None:
                raise
            return None

    async def call(self, params: EditParams, ctx: ToolContext) -> ToolResult:
        path = locate(params.file_path, ctx.workspace)
        name = spell(path, ctx.workspace)
        if not params.old_string:
            return await _create(params, path, name, ctx)
        real = regular_file(path, name, ctx.workspace)
        seen = ctx.seen.get(real)
        edit = await asyncio.to_thread(_perform, params, real, name, seen)
        ctx.seen.note(real, edit.data, whole=bool(seen and seen.whole and not edit.stale))
        return ToolResult((TextBlock(_report(name, edit)),), _display(name, edit), touched=(real,), changed=(real,))


async def _create(params: EditParams, path: Path, name: str, ctx: ToolContext) -> ToolResult:
    if os.path.exists(path):
        raise ToolError(
            f"{name} exists: an empty old_string only makes a new file. Give the text to replace, or use Write."
        )
    content = whole_characters(params.new_string, "new_string")
    data = encode_or_explain(content, TextFormat(), name)
    with write_errors(name):
        real = await asyncio.to_thread(create_file, path, data)
    ctx.seen.note(real, data, whole=True)
    summary = change_summary(None, content)
    report = TextBlock(f"Created {name} ({summary}).")
    return ToolResult((report,), DiffDisplay(name, None, content, summary), touched=(real,), changed=(real,))


def _perform(params: EditParams, real: Path, name: str, seen: SeenFile | None) -> _Edit:
    edit = _prepare(params, real, name, seen)
    with write_errors(name):
        try:
            replace_file(real, edit.data, expect=edit.file.stamp)
        except FileChanged as error:
            raise ToolError(f"{name} was changed by somebody else just now. Nothing was written; try again.") from error
    return edit


def _prepare(params: EditParams, real: Path, name: str, seen: SeenFile | None) -> _Edit:
    old = whole_characters(params.old_string, "old_string")
    new = whole_characters(params.new_string, "new_string")
    if old == new:
        raise ToolError("old_string and new_string are the same, so there is nothing to do.")
    if seen is None:
        raise ToolError(f"{name} has not been read yet. Read it first, then edit what is there.")
    file = read_text(real, name, seen)
    stale = digest(file.data) != seen.digest
    places = find(file.text, file.format, old)
    _check_places(file, places, params, name, stale=stale)
    after = replace(file.text, file.format, places, new)
    if after == file.text:
        raise ToolError("The file already has these line endings, so there is nothing to do.")
    return _Edit(file, after, encode_or_explain(after, file.format, name), len(apart(places)), stale)


def _check_places(file: TextFile, places: Places, params: EditParams, name: str, *, stale: bool) -> None:
    since = " The file was changed by somebody else since you read it: read it again." if stale else ""
    count = len(places.spans)
    if not count:
        hint = explain_missing(file.plain(), params.old_string.replace("\r\n", "\n"))
        raise ToolError(f"old_string is not in {name}. {hint}{since} Nothing was written.")
    if params.replace_all:
        if stale:
            raise ToolError(f"{name}: replace_all needs a file you know.{since} Nothing was written.")
        return
    if count > 1:
        lines = [str(line_of(file.text, file.format, start)) for start, _ in places.spans[:_SHOWN_MATCHES]]
        more = f" and {count - _SHOWN_MATCHES} more" if count > _SHOWN_MATCHES else ""
        raise ToolError(
            f"old_string occurs {count} times in {name} (lines {', '.join(lines)}{more}). Add surrounding lines so "
            f"that it is unique, or set replace_all.{since} Nothing was written."
        )


def _report(name: str, edit: _Edit) -> str:
    what = f"Edited {name}" + (f" ({plural(edit.count, 'replacement')})" if edit.count > 1 else "")
    note = (
        "\nThe file was changed by somebody else since you read it; old_string was still unique. Read it again before "
        "you rely on the rest."
        if edit.stale
        else ""
    )
    return f"{what}:\n{changed_region(edit.file.plain(), _plain(edit))}{note}"


def _plain(edit: _Edit) -> str:
    newline = "\r" if edit.file.format.newline == "\r" else "\r\n"
    return edit.after.replace(newline, "\n")


def _display(name: str, edit: _Edit) -> DiffDisplay:
    before, after = clean(edit.file.plain()), clean(_plain(edit))
    return DiffDisplay(name, before, after, change_summary(before, after))
