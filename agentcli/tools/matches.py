"""Ripgrep's output as values, and values as rows for the model."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from agentcli.text import clean

MAX_LINE = 500
"""Characters of a line that are shown; a longer one is shown around its first match."""


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    text: str
    match: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in one file.  ``count`` is 0 where only the name was asked for."""

    path: str
    count: int = 0
    lines: tuple[Line, ...] = field(default=())


def parse_names(output: bytes) -> list[Found]:
    return [Found(_path(p)) for p in output.split(b"\0")[:-1]]


def parse_counts(output: bytes) -> list[Found]:
    """Records of a path, NUL, a number, line feed; the path may hold line feeds."""
    found: list[Found] = []
    place = 0
    while (end := output.find(b"\0", place)) >= 0:
        stop = output.find(b"\n", end)
        if stop < 0:
            break
        found.append(Found(_path(output[place:end]), int(output[end + 1 : stop])))
        place = stop + 1
    return found


def parse_lines(output: bytes) -> list[Found]:
    """Events, one a line; a last line that was cut off is left out.  Binary files are left out."""
    lines: dict[str, list[Line]] = {}
    counts: dict[str, int] = {}
    for raw in output.split(b"\n")[:-1]:
        event = json.loads(raw)
        data = event["data"]
        if event["type"] in ("match", "context"):
            path = _path(_bytes(data["path"]))
            match = event["type"] == "match"
            lines.setdefault(path, []).extend(_lines(data, match=match))
            counts[path] = counts.get(path, 0) + (max(1, _count(data)) if match else 0)
        elif event["type"] == "end" and data.get("binary_offset") is not None:
            lines.pop(_path(_bytes(data["path"])), None)
    return [Found(path, counts[path], tuple(found)) for path, found in lines.items()]


def _count(data: dict[str, Any]) -> int:
    """A single line counts once however often it matches; a block of lines once per match."""
    spans_lines = _bytes(data["lines"]).rstrip(b"\r\n").count(b"\n") > 0
    return len(data["submatches"]) if spans_lines else 1


def _lines(data: dict[str, Any], *, match: bool) -> Iterator[Line]:
    raw = _bytes(data["lines"])
    text = raw.decode("utf-8", "surrogateescape").removesuffix("\n")
    places = data["submatches"]
    start = len(raw[: places[0]["start"]].decode("utf-8", "replace")) if places and "\n" not in text else 0
    for offset, line in enumerate(text.split("\n")):
        yield Line(data["line_number"] + offset, _short(clean(line.removesuffix("\r")), start), match)


def _short(line: str, place: int) -> str:
    if len(line) <= MAX_LINE:
        return line
    start = max(0, min(place - MAX_LINE // 4, len(line) - MAX_LINE))
    end = start + MAX_LINE
    return (
        ("…" if start else "") + line[start:end] + (f"… [line of {len(line):,} characters]" if end < len(line) else "")
    )


def _path(raw: bytes) -> str:
    return os.fsdecode(raw).removeprefix("./")


def _bytes(value: dict[str, str]) -> bytes:
    return base64.b64decode(value["bytes"]) if "bytes" in value else value["text"].encode("utf-8")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the answer and the file that it belongs to."""

    path: str
    text: str


def rows_of(found: list[Found], *, numbers: bool) -> list[Row]:
    """Paths; or ``path: count``; or a path followed by its lines, ``12:`` a match and ``13-`` what stands around it."""
    rows: list[Row] = []
    for file in found:
        if not file.lines:
            rows.append(Row(file.path, f"{file.path}: {file.count}" if file.count else file.path))
            continue
        rows.append(Row(file.path, file.path))
        around = any(not line.match for line in file.lines)
        before = file.lines[0].number - 1
        for line in file.lines:
            if around and line.number > before + 1:
                rows.append(Row(file.path, "--"))
            before = line.number
            mark = ":" if line.match else "-"
            rows.append(Row(file.path, f"{line.number}{mark}{line.text}" if numbers else line.text))
    return rows
