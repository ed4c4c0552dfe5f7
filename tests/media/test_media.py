from __future__ import annotations

import base64
import io
import subprocess
import sys

import PIL.Image
import pytest

from agentcli.errors import ToolError
from agentcli.media import image_block, parse_pages, sniff


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a..", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", None),
        (b"\n%PDF-1.7\n", "application/pdf"),
        (b"text", None),
        (b"", None),
    ],
)
def test_content_tells_the_kind(data: bytes, kind: str | None) -> None:
    assert sniff(data) == kind


@pytest.mark.parametrize(("text", "pages"), [("3", (3, 3)), (" 2 - 5 ", (2, 5)), ("4-", (4, None))])
def test_page_ranges(text: str, pages: tuple[int, int | None]) -> None:
    assert parse_pages(text) == pages


@pytest.mark.parametrize("text", ["", "0", "5-2", "a", "1,2", "-3"])
def test_wrong_page_ranges_are_refused(text: str) -> None:
    with pytest.raises(ToolError, match="pages must be a number or a range"):
        parse_pages(text)


def test_text_is_no_image() -> None:
    with pytest.raises(ToolError, match=r"pasted is no PNG, JPEG, GIF or WebP image"):
        image_block(b"text", "pasted")


def test_a_photograph_is_upright_after_it_was_scaled() -> None:
    photo = PIL.Image.new("RGB", (4000, 1000), "blue")
    photo.paste("red", (0, 0, 2000, 1000))
    metadata = photo.getexif()
    metadata[0x0112] = 6  # the top is at the right
    stored = io.BytesIO()
    photo.save(stored, "JPEG", exif=metadata)
    picture = image_block(stored.getvalue(), "photo")
    shown = PIL.Image.open(io.BytesIO(base64.b64decode(picture.block.data)))
    assert (picture.original, picture.size) == ((1000, 4000), shown.size) == ((1000, 4000), (500, 2000))
    red, _, blue = shown.getpixel((250, 100))
    assert red > 200 > 50 > blue


def test_the_heavy_libraries_wait_for_the_first_file() -> None:
    program = (
        "import sys, agentcli.media, agentcli.tools.read, agentcli.tools.textfile\n"
        "sys.exit(','.join(m for m in ('PIL', 'pypdf', 'charset_normalizer', 'yaml') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.strip() == ""
