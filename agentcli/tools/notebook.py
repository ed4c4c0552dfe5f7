"""A Jupyter notebook as text: cells with their sources and outputs, and the pictures among the outputs."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentcli.errors import ToolError
from agentcli.media import image_block
from agentcli.messages import ImageBlock
from agentcli.text import clean, strip_ansi

_MAX_OUTPUT = 10_000
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    images: tuple[ImageBlock, ...] = ()


def render_notebook(source: str, name: str) -> list[Cell]:
    """The cells in order.  ``ToolError`` if this is not a notebook of format 4."""
    try:
        raw = json.loads(source)
        cells = raw["cells"]
        return [_cell(number, cell) for number, cell in enumerate(cells, 1)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolError(
            f"{name} is not a notebook of format 4 ({type(error).__name__}: {error}). Look at it with Bash (head)."
        ) from error


def _cell(number: int, cell: Mapping[str, Any]) -> Cell:
    kind = cell.get("cell_type", "unknown")
    head = f'<cell number="{number}" type="{kind}"' + (f' id="{cell["id"]}"' if cell.get("id") else "") + ">"
    parts = [head, _joined(cell.get("source", ""))]
    images: list[ImageBlock] = []
    for output in cell.get("outputs", ()):
        text, pictures = _output(output)
        images.extend(pictures)
        if text or pictures:
            parts.extend(["<output>", text or f"[{len(pictures)} image]", "</output>"])
    parts.append("</cell>")
    return Cell(clean("\n".join(parts)), tuple(images))


def _output(output: Mapping[str, Any]) -> tuple[str, list[ImageBlock]]:
    if output.get("output_type") == "error":
        traceback = "\n".join(output.get("traceback", ())) or f"{output.get('ename')}: {output.get('evalue')}"
        return _short(strip_ansi(traceback)), []
    data = output.get("data", {})
    text = _joined(output.get("text", data.get("text/plain", "")))
    return _short(strip_ansi(text)), [p for kind in _PICTURES if kind in data for p in _picture(_joined(data[kind]))]


def _picture(encoded: str) -> list[ImageBlock]:
    """The picture of an output; a damaged one is left out, for its text stands beside it."""
    try:
        return [image_block(base64.b64decode("".join(encoded.split()), validate=True), "the output").block]
    except (ToolError, binascii.Error):
        return []


def _joined(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)


def _short(text: str) -> str:
    text = text.rstrip("\n")
    return text if len(text) <= _MAX_OUTPUT else f"{text[:_MAX_OUTPUT]}… [{len(text) - _MAX_OUTPUT:,} more characters]"
