"""Kind and pixel dimensions of base64 images, read from their headers."""

from __future__ import annotations

import base64
import binascii
import struct
from functools import lru_cache


def kind(data: bytes) -> str | None:
    """The media type that the bytes show, whatever they are called."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def size(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels; ``None`` where the header doesn't say."""
    match kind(data):
        case "image/png" if len(data) >= 24 and data[12:16] == b"IHDR":
            width, height = struct.unpack(">II", data[16:24])
        case "image/gif" if len(data) >= 10:
            width, height = struct.unpack("<HH", data[6:10])
        case "image/webp":
            return _webp(data)
        case "image/jpeg":
            return _jpeg(data)
        case _:
            return None
    return width, height


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 if marker == 0xFF else 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    if data[12:16] == b"VP8X" and len(data) >= 30:
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if data[12:16] == b"VP8L" and len(data) >= 25:
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if data[12:16] == b"VP8 " and len(data) >= 30:
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def decode(text: str) -> bytes | None:
    """The bytes of strict base64; ``None`` where it is none."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


@lru_cache(maxsize=256)
def dimensions(text: str) -> tuple[int, int] | None:
    """Width and height of a base64 image, from its first bytes."""
    head = decode(text[: 4 * (len(text) // 4)][:400_000])
    return None if head is None else size(head)
