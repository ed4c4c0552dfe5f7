"""NotebookEdit: one cell of a Jupyter notebook, the rest of the file as it was."""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agentcli.errors import ToolError
from agentcli.files import FileChanged, replace_file
from agentcli.files.seen import digest
from agentcli.messages import Json, TextBlock
from agentcli.ports.display import DiffDisplay, Display
from agentcli.ports.tools import SeenFile, ToolContext, ToolResult
from agentcli.text import clean
from agentcli.tools.base import BuiltinTool
from agentcli.tools.changes import change_summary, write_errors
from agentcli.tools.locate import locate, regular_file, spell
from agentcli.tools.schema import param, parse
from agentcli.tools.textfile import TextFile, encode_or_explain, read_text, whole_characters

_LAYOUTS: tuple[dict[str, Any], ...] = tuple(
    {"indent": indent, "ensure_ascii": ascii} for indent in (1, 2, 4, None) for ascii in (False, True)
)
"""Ways in which programs write notebooks, the usual one first."""


@dataclass(frozen=True, slots=True)
class NotebookEditParams:
    notebook_path: str = param()
    new_source: str = param(default="")
    cell_id: str = param("Id or number of the cell, as Read shows it", default="")
    cell_type: Literal["code", "markdown", "raw"] | None = param("Needed to insert", default=None)
    edit_mode: Literal["replace", "insert", "delete"] = param(default="replace")


@dataclass(frozen=True, slots=True)
class _Change:
    file: TextFile
    after: str
    data: bytes
    said: str


class NotebookEdit(BuiltinTool[NotebookEditParams]):
    name = "NotebookEdit"
    code = __file__
    key = "notebook_path"
    kind = "write"
    deferred = True

    def __init__(self) -> None:
        super().__init__(NotebookEditParams)

    def preview(self, input: Json, ctx: ToolContext) -> Display | None:
        try:
            params = parse(NotebookEditParams, input)
            path = locate(params.notebook_path, ctx.workspace)
            name = spell(path, ctx.workspace)
            real = regular_file(path, name, ctx.workspace)
            return _display(name, _prepare(params, real, name, ctx.seen.get(real)))
        except ToolError:
            return None

    async def call(self, params: NotebookEditParams, ctx: ToolContext) -> ToolResult:
        path = locate(params.notebook_path, ctx.workspace)
        name = spell(path, ctx.workspace)
        real = regular_file(path, name, ctx.workspace)
        change = await asyncio.to_thread(_perform, params, real, name, ctx.seen.get(real))
        ctx.seen.note(real, change.data, whole=True)
        return ToolResult((TextBlock(change.said),), _display(name, change), touched=(real,), changed=(real,))


def _perform(params: NotebookEditParams, real: Path, name: str, seen: SeenFile | None) -> _Change:
    change = _prepare(params, real, name, seen)
    with write_errors(name):
        try:
            replace_file(real, change.data, expect=change.file.stamp)
        except FileChanged as error:
            raise ToolError(f"{name} was changed by somebody else just now, so nothing was written.") from error
    return change


def _prepare(params: NotebookEditParams, real: Path, name: str, seen: SeenFile | None) -> _Change:
    source = whole_characters(params.new_source, "new_source")
    file = read_text(real, name)
    if seen is None:
        raise ToolError(f"{name} has not been read yet. Read it first, then change its cells.")
    if seen.digest != digest(file.data):
        raise ToolError(f"{name} was changed by somebody else since you read it. Read it again.")
    notebook = _load(file, name)
    layout = _layout(file.plain(), notebook)
    said = _apply(params, source, notebook["cells"], new_ids=_has_ids(notebook))
    after = json.dumps(notebook, **layout) + ("\n" if file.plain().endswith("\n") else "")
    raw = after.replace("\n", "\r\n") if file.format.newline == "\r\n" else after
    return _Change(file, after, encode_or_explain(raw, file.format, name), f"{said} in {name}.")


def _load(file: TextFile, name: str) -> dict[str, Any]:
    try:
        notebook: dict[str, Any] = json.loads(file.plain())
        sound = all(isinstance(cell, dict) for cell in notebook["cells"])
    except (ValueError, KeyError, TypeError) as error:
        raise ToolError(f"{name} is not a notebook of format 4 ({type(error).__name__}: {error}).") from error
    if not sound:
        raise ToolError(f"{name} is not a notebook of format 4: its cells are not objects.")
    return notebook


def _layout(text: str, notebook: Json) -> dict[str, Any]:
    """How the file is written, so that the other cells keep their bytes."""
    same = (layout for layout in _LAYOUTS if json.dumps(notebook, **layout) == text.rstrip("\n"))
    return next(same, _LAYOUTS[0])


def _has_ids(notebook: Json) -> bool:
    """Cell ids came with format 4.5."""
    return (notebook.get("nbformat", 4), notebook.get("nbformat_minor", 0)) >= (4, 5)


def _apply(params: NotebookEditParams, source: str, cells: list[dict[str, Any]], *, new_ids: bool) -> str:
    if params.edit_mode == "insert":
        if params.cell_type is None:
            raise ToolError("To insert a cell, say its cell_type.")
        place = _index(cells, params.cell_id) + 1 if params.cell_id else 0
        cell: dict[str, Any] = {"cell_type": params.cell_type}
        if new_ids:
            cell["id"] = secrets.token_hex(4)
        cells.insert(place, _with_source({**cell, "metadata": {}}, source))
        return f"Inserted {params.cell_type} cell {place + 1}"
    if not params.cell_id:
        raise ToolError(f"Say which cell to {params.edit_mode}: cell_id is its id or number.")
    place = _index(cells, params.cell_id)
    if params.edit_mode == "delete":
        del cells[place]
        return f"Deleted cell {place + 1}"
    kind = params.cell_type or cells[place].get("cell_type", "code")
    cells[place] = _with_source({**cells[place], "cell_type": kind}, source)
    return f"Replaced the source of cell {place + 1}"


def _index(cells: list[dict[str, Any]], wanted: str) -> int:
    for place, cell in enumerate(cells):
        if cell.get("id") == wanted:
            return place
    if wanted.isdecimal() and 1 <= int(wanted) <= len(cells):
        return int(wanted) - 1
    ids = ", ".join(str(cell.get("id", place)) for place, cell in enumerate(cells[:30], 1))
    raise ToolError(f"There is no cell {clean(wanted)!r}. Cells: {ids or 'none'}.")


def _with_source(cell: dict[str, Any], source: str) -> dict[str, Any]:
    """The cell with new source; only code cells have outputs, and those of the old source are gone."""
    *lines, last = source.split("\n")
    changed = {**cell, "source": [*(line + "\n" for line in lines), *([last] if last else [])]}
    if cell["cell_type"] == "code":
        return {**changed, "execution_count": None, "outputs": []}
    return {key: value for key, value in changed.items() if key not in ("execution_count", "outputs")}


def _display(name: str, change: _Change) -> DiffDisplay:
    before, after = clean(change.file.plain()), clean(change.after)
    return DiffDisplay(name, before, after, change_summary(before, after))
