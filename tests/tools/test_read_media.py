from __future__ import annotations

import base64
import io
import json
import random
from pathlib import Path

import pytest
from PIL import Image
from pypdf import PdfReader, PdfWriter

from agentcli.messages import DocumentBlock, ImageBlock, TextBlock
from agentcli.ports.display import TextDisplay
from agentcli.ports.tools import ToolResult
from tests.tools.bench import Bench, said


def picture(width: int, height: int, kind: str = "PNG", *, noise: bool = False, mode: str = "RGB") -> bytes:
    image = Image.new(mode, (width, height))
    if noise:
        image = Image.frombytes("RGB", (width, height), random.Random(1).randbytes(width * height * 3))
    target = io.BytesIO()
    image.save(target, kind)
    return target.getvalue()


def opened(block: object) -> Image.Image:
    assert isinstance(block, ImageBlock)
    assert len(block.data) <= 5 * 1024 * 1024
    image = Image.open(io.BytesIO(base64.b64decode(block.data)))
    assert f"image/{str(image.format).lower()}" == block.media_type
    return image


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_a_small_image_goes_as_it_is_whatever_its_name(bench: Bench, project: Path, kind: str) -> None:
    data = picture(10, 10, kind)
    (project / "ok.dat").write_bytes(data)
    assert await bench.call("Read", file_path="ok.dat") == ToolResult(
        (ImageBlock(f"image/{kind.lower()}", base64.b64encode(data).decode()),),
        TextDisplay("image, 10x10 pixels"),
        touched=(project / "ok.dat",),
    )


@pytest.mark.parametrize(("size", "sent"), [((9000, 20), (2000, 4)), ((2100, 100), (2000, 95)), ((1, 4000), (1, 2000))])
async def test_an_image_with_too_many_pixels_is_scaled(
    bench: Bench, project: Path, size: tuple[int, int], sent: tuple[int, int]
) -> None:
    (project / "wide.png").write_bytes(picture(*size))
    note, block = (await bench.call("Read", file_path="wide.png")).for_model
    assert note == TextBlock(f"[The image was scaled from {size[0]}x{size[1]} to {sent[0]}x{sent[1]} pixels.]")
    assert opened(block).size == sent


async def test_an_image_with_too_many_bytes_is_compressed(bench: Bench, project: Path) -> None:
    data = picture(1500, 1500, noise=True)
    assert len(data) > 5 * 1024 * 1024
    (project / "fat.png").write_bytes(data)
    result = await bench.call("Read", file_path="fat.png")
    assert opened(result.for_model[-1]).size == (1500, 1500)


@pytest.mark.parametrize("mode", ["P", "LA", "1", "I;16"])
async def test_unusual_pixels_can_be_scaled(bench: Bench, project: Path, mode: str) -> None:
    (project / "p.png").write_bytes(picture(2500, 10, mode=mode))
    result = await bench.call("Read", file_path="p.png")
    assert opened(result.for_model[-1]).size == (2000, 8)


async def test_fakes_are_told_by_their_content(bench: Bench, project: Path) -> None:
    (project / "fake.png").write_bytes(b"not an image")
    (project / "jpeg.png").write_bytes(b"\xff\xd8\xff\xe0" + b"\0" * 50)
    (project / "cut.png").write_bytes(picture(300, 300, noise=True)[:5000])
    (project / "bomb.png").write_bytes(_bomb())
    errors = [await bench.error("Read", file_path=n) for n in ("fake.png", "jpeg.png", "cut.png", "bomb.png")]
    assert errors == [
        (
            "fake.png has the name of an image, but its content is none (12 bytes of text). "
            "Look at it with Bash (file, head)."
        ),
        "jpeg.png begins like a JPEG image but can't be decoded: it is damaged or cut off.",
        "cut.png begins like a PNG image but can't be decoded: it is damaged or cut off.",
        "bomb.png has too many pixels to be opened. Scale it down with Bash first.",
    ]


def _bomb() -> bytes:
    """A small file that claims a picture of ten gigapixels."""
    data = bytearray(picture(1, 1))
    data[16:24] = (100_000).to_bytes(4, "big") * 2
    import zlib

    data[29:33] = zlib.crc32(data[12:29]).to_bytes(4, "big")
    return bytes(data)


def pdf(pages: int) -> bytes:
    writer = PdfWriter()
    for _ in range(pages):
        writer.add_blank_page(100, 100)
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


async def test_a_short_pdf_goes_whole(bench: Bench, project: Path) -> None:
    data = pdf(3)
    (project / "a.pdf").write_bytes(data)
    result = await bench.call("Read", file_path="a.pdf")
    assert result.for_model == (
        TextBlock("[Pages 1-3 of 3 of a.pdf.]"),
        DocumentBlock("application/pdf", base64.b64encode(data).decode()),
    )


@pytest.mark.parametrize(("pages", "count"), [("2-5", 4), ("12", 1), ("20-", 6), ("24-99", 2)])
async def test_of_a_long_pdf_pages_are_taken(bench: Bench, project: Path, pages: str, count: int) -> None:
    (project / "a.pdf").write_bytes(pdf(25))
    block = (await bench.call("Read", file_path="a.pdf", pages=pages)).for_model[1]
    assert isinstance(block, DocumentBlock)
    assert len(PdfReader(io.BytesIO(base64.b64decode(block.data))).pages) == count


async def test_pdf_errors_say_what_to_do(bench: Bench, project: Path) -> None:
    (project / "a.pdf").write_bytes(pdf(25))
    (project / "bad.pdf").write_bytes(b"%PDF-1.4 nothing more")
    (project / "t.txt").write_text("x")
    locked = PdfWriter()
    locked.add_blank_page(100, 100)
    locked.encrypt("secret", algorithm="RC4-128")
    locked.write(project / "locked.pdf")
    errors = [
        await bench.error("Read", file_path="a.pdf"),
        await bench.error("Read", file_path="a.pdf", pages="1-25"),
        await bench.error("Read", file_path="a.pdf", pages="30"),
        await bench.error("Read", file_path="a.pdf", pages="x"),
        await bench.error("Read", file_path="t.txt", pages="1"),
        await bench.error("Read", file_path="locked.pdf"),
    ]
    assert errors == [
        "a.pdf has 25 pages. Ask for at most 20 at a time, such as pages=1-10.",
        "1-25 are 25 pages. Ask for at most 20 at a time.",
        "a.pdf has only 25 pages; 30 is past the end.",
        "pages must be a number or a range such as 3 or 2-5, not 'x'.",
        "t.txt is not a PDF: pages is for PDF files only. Use offset and limit.",
        "locked.pdf is encrypted. Decrypt it with Bash first (qpdf --decrypt).",
    ]
    assert "bad.pdf can't be read as a PDF" in await bench.error("Read", file_path="bad.pdf")


async def test_pictures_of_a_notebook_come_with_its_cells(bench: Bench, project: Path) -> None:
    encoded = base64.b64encode(picture(4, 4)).decode()
    outputs = [{"output_type": "display_data", "data": {"image/png": encoded, "text/plain": ["<Figure>"]}}]
    broken = [{"output_type": "display_data", "data": {"image/png": "!!"}}]
    cells = [{"cell_type": "code", "source": "plot()", "outputs": o} for o in (outputs, broken)]
    (project / "n.ipynb").write_text(json.dumps({"cells": cells}))
    result = await bench.call("Read", file_path="n.ipynb")
    assert result.for_model[1:] == (ImageBlock("image/png", encoded),)
    assert "<output>\n<Figure>\n</output>" in said(result.for_model)
