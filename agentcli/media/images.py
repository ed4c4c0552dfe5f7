"""Images, told by content, made small enough before they are stored: an image that the API refuses would poison every
further request of the conversation."""

from __future__ import annotations

import base64
import io
import struct
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentcli.errors import ToolError
from agentcli.messages import ImageBlock

if TYPE_CHECKING:
    from PIL.Image import Image

IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""What the Messages API takes."""
MAX_EDGE = 2000
"""Pixels of the long edge.  The API takes more in a request with few images and refuses it in one with many."""
MAX_ENCODED = 5 * 1024 * 1024
"""Bytes of one image as base64 (the API's limit is 5 MB)."""
_QUALITIES = (85, 70, 50, 30)
_SHRINK = 0.75


@dataclass(frozen=True, slots=True)
class Picture:
    """An image ready to be sent.  ``size`` and ``original`` in pixels (width, height)."""

    block: ImageBlock
    size: tuple[int, int]
    original: tuple[int, int]

    @property
    def note(self) -> str:
        """What was done to it; empty if it is sent as it was."""
        if self.size == self.original:
            return ""
        wide, high = self.original
        return f"[The image was scaled from {wide}x{high} to {self.size[0]}x{self.size[1]} pixels.]"


def sniff(data: bytes) -> str | None:
    """The media type by content: one of ``IMAGE_TYPES``, ``application/pdf``, or ``None``."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[:1024].lstrip().startswith(b"%PDF-"):
        return "application/pdf"
    return None


def image_block(data: bytes, name: str) -> Picture:
    """The image, scaled down and compressed as far as the API's limits ask.

    Takes some CPU time: call it in a thread.  ``ToolError`` if it is no image, is damaged, or has far too many pixels.
    """
    media_type = sniff(data)
    if media_type not in IMAGE_TYPES:
        raise ToolError(f"{name} is no PNG, JPEG, GIF or WebP image by its content. Convert it to one of them.")
    image = _open(data, name, media_type)
    size = image.size
    if max(size) <= MAX_EDGE and _encoded_size(data) <= MAX_ENCODED:
        return Picture(_block(media_type, data), size, size)
    image = _upright(image)
    size = image.size
    scale = min(1.0, MAX_EDGE / max(size))
    while True:
        small = _scaled(image, scale)
        for kind, packed in _packings(small, media_type):
            if _encoded_size(packed) <= MAX_ENCODED:
                return Picture(_block(kind, packed), small.size, size)
        scale *= _SHRINK


def _open(data: bytes, name: str, media_type: str) -> Image:
    """The decoded image.  Everything that the decoder may raise on damaged bytes is one error."""
    import PIL.Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
            image = PIL.Image.open(io.BytesIO(data), formats=[media_type.removeprefix("image/").upper()])
            image.load()
    except (PIL.Image.DecompressionBombWarning, PIL.Image.DecompressionBombError) as error:
        raise ToolError(f"{name} has too many pixels to be opened. Scale it down with Bash first.") from error
    except (OSError, SyntaxError, ValueError, EOFError, IndexError, TypeError, MemoryError) as error:
        kind = media_type.removeprefix("image/").upper()
        raise ToolError(f"{name} begins like a {kind} image but can't be decoded: it is damaged or cut off.") from error
    return image


def _upright(image: Image) -> Image:
    """Turned as its metadata say (photographs of phones): the smaller file carries none."""
    import PIL.ImageOps

    try:
        return PIL.ImageOps.exif_transpose(image)
    except (OSError, SyntaxError, ValueError, TypeError, KeyError, struct.error):  # damaged metadata turn nothing
        return image


def _scaled(image: Image, scale: float) -> Image:
    wide, high = (max(1, round(edge * scale)) for edge in image.size)
    modern = image if image.mode in ("RGB", "RGBA", "L") else image.convert("RGBA" if _transparent(image) else "RGB")
    return modern.resize((wide, high)) if (wide, high) != image.size else modern


def _transparent(image: Image) -> bool:
    return image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info


def _packings(image: Image, media_type: str) -> Iterator[tuple[str, bytes]]:
    """Smaller and smaller files of one image, each made when the one before was too large: PNG keeps text sharp, JPEG
    is what fits."""
    if media_type != "image/jpeg":
        yield "image/png", _saved(image, "PNG")
    opaque = image.convert("RGB")
    for quality in _QUALITIES:
        yield "image/jpeg", _saved(opaque, "JPEG", quality=quality)


def _saved(image: Image, kind: str, **options: int) -> bytes:
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def _encoded_size(data: bytes) -> int:
    return -(-len(data) // 3) * 4


def _block(media_type: str, data: bytes) -> ImageBlock:
    return ImageBlock(media_type, base64.b64encode(data).decode("ascii"))
