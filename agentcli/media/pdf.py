"""PDF files as document blocks: the API reads them page by page, text and picture."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentcli.errors import ToolError
from agentcli.messages import DocumentBlock

if TYPE_CHECKING:
    from pypdf import PdfReader

MAX_WHOLE = 10
"""A PDF of more pages is read in parts."""
MAX_PAGES = 20
"""Pages of one call."""
MAX_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Pages:
    """A document with pages ``first`` to ``last`` (from 1) of ``total``."""

    block: DocumentBlock
    first: int
    last: int
    total: int


def parse_pages(text: str) -> tuple[int, int | None]:
    """``3``, ``2-5`` or ``4-`` (to the end) as (first, last).  ``ToolError`` for anything else."""
    found = re.fullmatch(r"\s*(\d+)\s*(-\s*(\d*))?\s*", text)
    first = int(found[1]) if found else 0
    last = (int(found[3]) if found[3] else None) if found and found[2] else first
    if first < 1 or (last is not None and last < first):
        raise ToolError(f"pages must be a number or a range such as 3 or 2-5, not {text!r}.")
    return first, last


def pdf_block(data: bytes, name: str, pages: str = "") -> Pages:
    """The whole file, or the pages that were asked for.

    Takes some CPU time: call it in a thread.  ``ToolError`` for a damaged or encrypted file, a range outside it or too
    long, and for a long file without a range.
    """
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted:
            raise ToolError(f"{name} is encrypted. Decrypt it with Bash first (qpdf --decrypt).")
        total = len(reader.pages)
        first, last = _range(pages, total, name)
        part = data if (first, last) == (1, total) else _extract(reader, first, last)
    except (PyPdfError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ToolError(f"{name} can't be read as a PDF: it is damaged or cut off ({error}).") from error
    if len(part) > MAX_BYTES:
        raise ToolError(
            f"Pages {first}-{last} of {name} have {len(part):,} bytes, more than can be sent ({MAX_BYTES:,}). "
            "Ask for fewer pages, or take the text with Bash (pdftotext)."
        )
    block = DocumentBlock("application/pdf", base64.b64encode(part).decode("ascii"))
    return Pages(block, first, last, total)


def _range(pages: str, total: int, name: str) -> tuple[int, int]:
    if not total:
        raise ToolError(f"{name} has no pages.")
    if not pages:
        if total > MAX_WHOLE:
            raise ToolError(
                f"{name} has {total} pages. Ask for at most {MAX_PAGES} at a time, such as pages=1-{MAX_WHOLE}."
            )
        return 1, total
    first, last = parse_pages(pages)
    if first > total:
        raise ToolError(f"{name} has only {total} pages; {pages} is past the end.")
    last = total if last is None else min(last, total)
    if last - first + 1 > MAX_PAGES:
        raise ToolError(f"{pages} are {last - first + 1} pages. Ask for at most {MAX_PAGES} at a time.")
    return first, last


def _extract(reader: PdfReader, first: int, last: int) -> bytes:
    from pypdf import PdfWriter

    writer = PdfWriter()
    for page in reader.pages[first - 1 : last]:
        writer.add_page(page)
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()
