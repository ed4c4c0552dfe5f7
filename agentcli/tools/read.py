"""Read: text with line numbers, images, PDF pages, notebooks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from agentcli.errors import ToolError
from agentcli.files import looks_binary
from agentcli.media import IMAGE_TYPES, image_block, pdf_block, sniff
from agentcli.messages import ResultContent, TextBlock
from agentcli.ports.display import TextDisplay
from agentcli.ports.tools import ToolContext, ToolResult
from agentcli.text import clean, plural
from agentcli.tools.base import BuiltinTool
from agentcli.tools.locate import locate, regular_file, spell
from agentcli.tools.notebook import render_notebook
from agentcli.tools.paging import Page, page_of
from agentcli.tools.schema import param
from agentcli.tools.textfile import TextFile, as_text, read_bytes

_IMAGE_NAMES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


@dataclass(frozen=True, slots=True)
class ReadParams:
    file_path: str = param("Absolute, or relative to the working directory")
    offset: int | None = param("First line, from 1", default=None, minimum=0)
    limit: int | None = param("Number of lines", default=None, minimum=1)
    pages: str = param("PDF only: 3 or 2-5", default="")


@dataclass(frozen=True, slots=True)
class _Found:
    """What was read, in both faces."""

    content: tuple[ResultContent, ...]
    summary: str
    data: bytes
    page: Page | None = None
    """For texts: which lines; ``None`` means the whole file."""
    encoding: str = ""


class Read(BuiltinTool[ReadParams]):
    name = "Read"
    code = __file__
    key = "file_path"

    def __init__(self) -> None:
        super().__init__(ReadParams)

    async def call(self, params: ReadParams, ctx: ToolContext) -> ToolResult:
        found, real = await asyncio.to_thread(self._read, params, ctx)
        page = found.page
        if page is None or page.whole:
            ctx.seen.note(real, found.data, whole=True, encoding=found.encoding)
        elif page.cut_lines:
            ctx.seen.note(real, found.data, whole=False, encoding=found.encoding)
        elif page.shown:
            ctx.seen.note_lines(
                real, found.data, first=page.first, last=page.last, total=page.total, encoding=found.encoding
            )
        return ToolResult(found.content, TextDisplay(found.summary), touched=(real,))

    def _read(self, params: ReadParams, ctx: ToolContext) -> tuple[_Found, Path]:
        path = locate(params.file_path, ctx.workspace)
        name = spell(path, ctx.workspace)
        real = regular_file(path, name, ctx.workspace)
        data, stamp = read_bytes(real, name)
        kind = sniff(data)
        if kind in IMAGE_TYPES:
            return _image(data, name), real
        if kind == "application/pdf":
            return _pdf(data, name, params.pages), real
        if params.pages:
            raise ToolError(f"{name} is not a PDF: pages is for PDF files only. Use offset and limit.")
        if real.suffix.lower() in _IMAGE_NAMES and data:
            looks = "binary" if looks_binary(data) else "text"
            raise ToolError(
                f"{name} has the name of an image, but its content is none ({len(data):,} bytes of {looks}). "
                "Look at it with Bash (file, head)."
            )
        text = as_text(real, name, data, stamp, ctx.seen.get(real))
        if real.suffix.lower() == ".ipynb" and data:
            return _notebook(text, name, params), real
        return _text(text, params), real


def _image(data: bytes, name: str) -> _Found:
    picture = image_block(data, name)
    content: tuple[ResultContent, ...] = (picture.block,)
    if picture.note:
        content = (TextBlock(picture.note), *content)
    return _Found(content, f"image, {picture.original[0]}x{picture.original[1]} pixels", data)


def _pdf(data: bytes, name: str, pages: str) -> _Found:
    found = pdf_block(data, name, pages)
    where = f"[Pages {found.first}-{found.last} of {found.total} of {name}.]"
    summary = plural(found.last - found.first + 1, "page")
    return _Found((TextBlock(where), found.block), summary, data)


def _notebook(file: TextFile, name: str, params: ReadParams) -> _Found:
    cells = render_notebook(file.plain(), name)
    page = page_of([c.text for c in cells], offset=params.offset, limit=params.limit, unit="cell")
    shown = cells[page.first - 1 : page.last] if page.shown else []
    images = tuple(image for cell in shown for image in cell.images)
    text = "\n".join([*page.rows, *page.notes])
    return _Found((TextBlock(text), *images), page.summary, file.data, page, file.format.encoding)


def _text(file: TextFile, params: ReadParams) -> _Found:
    if not file.data or not file.text:
        return _Found((TextBlock("[The file is empty.]"),), "empty", file.data)
    lines = clean(file.plain()).split("\n")
    ends = lines[-1] == ""
    if ends:
        lines.pop()
    page = page_of(lines, offset=params.offset, limit=params.limit, unit="line")
    numbered = [f"{page.first + i}\t{row}" for i, row in enumerate(page.rows)]
    notes = [*page.notes]
    odd = file.format.describe()
    if odd:
        notes.append(f"[Format: {odd}. Edit and Write keep it.]")
    if page.shown and page.last == page.total and not ends:
        notes.append("[No newline at the end of the file.]")
    return _Found((TextBlock("\n".join([*numbered, *notes])),), page.summary, file.data, page, file.format.encoding)
