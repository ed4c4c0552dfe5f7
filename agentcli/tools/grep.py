"""Grep: files by content."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from agentcli.errors import ToolError
from agentcli.messages import TextBlock
from agentcli.ports.display import TextDisplay
from agentcli.ports.tools import ToolContext, ToolResult
from agentcli.text import plural
from agentcli.tools.base import BuiltinTool
from agentcli.tools.locate import locate, regular_file, spell
from agentcli.tools.matches import Found, Row, parse_counts, parse_lines, parse_names, rows_of
from agentcli.tools.schema import param
from agentcli.tools.search import MAX_OUTPUT, Answer, Kind, Query, Searcher
from agentcli.tools.textfile import whole_characters

DEFAULT_LIMIT = 250
MAX_CHARACTERS = 30_000


@dataclass(frozen=True, slots=True)
class GrepParams:
    pattern: str = param()
    path: str = param("File or directory; default the working directory", default="")
    glob: str = param("Only these files: *.py, src/**, !*.lock", default="")
    type: str = param("ripgrep's file type: py, js, rust", default="")
    output_mode: Literal["files_with_matches", "content", "count"] = param(default="files_with_matches")
    ignore_case: bool = param(name="-i", default=False)
    numbers: bool = param("Line numbers, default true", name="-n", default=True)
    after: int = param(name="-A", default=0, minimum=0)
    before: int = param(name="-B", default=0, minimum=0)
    around: int = param(name="-C", default=0, minimum=0)
    context: int = param("Same as -C", default=0, minimum=0)
    multiline: bool = param("Matches span lines", default=False)
    head_limit: int = param(f"Rows at most, default {DEFAULT_LIMIT}, 0 for all", default=DEFAULT_LIMIT, minimum=0)
    offset: int = param("Rows to skip", default=0, minimum=0)


class Grep(BuiltinTool[GrepParams]):
    name = "Grep"
    code = __file__
    key = "pattern"

    def __init__(self, searcher: Searcher | None = None) -> None:
        super().__init__(GrepParams)
        self._searcher = searcher or Searcher()

    async def call(self, params: GrepParams, ctx: ToolContext) -> ToolResult:
        if not params.pattern:
            raise ToolError("The pattern is empty. Give a regular expression.")
        if "\0" in f"{params.pattern}{params.glob}{params.type}":
            raise ToolError("A NUL character can't be searched for as it is. In the pattern, write \\x00.")
        path = locate(params.path, ctx.workspace) if params.path else ctx.workspace.cwd
        found, answer = await _find(params, path, ctx, self._searcher)
        rows = rows_of(found, numbers=params.numbers)
        return _result(params, found, rows, answer)


async def _find(params: GrepParams, path: Path, ctx: ToolContext, searcher: Searcher) -> tuple[list[Found], Answer]:
    """What was found, by path, spelled as the tools take it."""
    query = _query(params)
    if os.path.isdir(path):
        directory, allowed = path, None
        if params.glob:
            allowed = set(await searcher.list_files(path, glob=params.glob, type=params.type))
    else:
        regular_file(path, spell(path, ctx.workspace), ctx.workspace)
        directory, allowed = path.parent, None
        query = replace(query, target=f"./{path.name}", glob="", type="")
    answer = await searcher.search(query, directory)
    parse = {"names": parse_names, "counts": parse_counts, "lines": parse_lines, "files": parse_names}[query.kind]
    found = parse(answer.output)
    kept = [f for f in found if allowed is None or f.path in allowed]
    named = [replace(f, path=spell(directory / f.path, ctx.workspace)) for f in kept]
    return sorted(named, key=lambda f: os.fsencode(f.path)), answer


def _query(params: GrepParams) -> Query:
    kinds: dict[str, Kind] = {"files_with_matches": "names", "content": "lines", "count": "counts"}
    around = max(params.around, params.context)
    return Query(
        kinds[params.output_mode],
        pattern=whole_characters(params.pattern, "pattern"),
        ignore_case=params.ignore_case,
        multiline=params.multiline,
        before=max(params.before, around),
        after=max(params.after, around),
        type=params.type,
        glob=params.glob,
    )


def _result(params: GrepParams, found: list[Found], rows: list[Row], answer: Answer) -> ToolResult:
    total = sum(f.count for f in found)
    files = plural(len(found), "file")
    summary = files if params.output_mode == "files_with_matches" else f"{plural(total, 'match', 'matches')} in {files}"
    notes = _remarks(answer)
    if not rows:
        text = "\n".join(["No matches. Files that ignore files name and binary files are left out.", *notes])
        return ToolResult((TextBlock(text),), TextDisplay("no matches"))
    shown = _cut(rows[params.offset :], params.head_limit)
    end = params.offset + len(shown)
    if not shown:
        notes.append(f"[Offset {params.offset} is past the end: there are {plural(len(rows), 'row')}.]")
    elif end < len(rows):
        notes.append(f"[Rows {params.offset + 1}-{end} of {len(rows)}. Go on with offset={end}, or narrow the search.]")
    if params.output_mode != "files_with_matches":
        notes.append(f"[{plural(total, 'match', 'matches')} in {files}.]")
    texts = [row.text for row in shown]
    if shown and params.offset and params.output_mode == "content" and texts[0] != shown[0].path:
        texts.insert(0, shown[0].path)
    return ToolResult((TextBlock("\n".join([*texts, *notes])),), TextDisplay(summary, "\n".join(texts)))


def _cut(rows: list[Row], limit: int) -> list[Row]:
    """As many rows as the limit and the room allow."""
    wanted = rows[:limit] if limit else rows
    room = MAX_CHARACTERS
    for number, row in enumerate(wanted):
        room -= len(row.text) + 1
        if room < 0 and number:
            return wanted[:number]
    return wanted


def _remarks(answer: Answer) -> list[str]:
    notes = []
    if answer.cut:
        notes.append(
            f"[Stopped after {MAX_OUTPUT // 1024 // 1024} MB of matches: narrow the search. Numbers are lower bounds.]"
        )
    if answer.unreadable:
        notes.append(f"[{plural(len(answer.unreadable), 'file')} could not be read, such as {answer.unreadable[0]}]")
    return notes
