"""Images and documents."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tests.api import images
from tests.api.errors import bad
from tests.api.validate.shape import Field, Shape, check, need

MEDIA_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
MAX_IMAGE = 5 * 1024 * 1024
"""Bytes, measured on the base64 text as the API does (so about 3.75 MB of raw image)."""
MAX_SIDE = 8000
MAX_SIDE_OF_MANY = 2000
MANY = 20
IMAGE_SOURCES: Mapping[str, Shape] = {
    "base64": {"type": need(), "media_type": need("string", *MEDIA_TYPES), "data": need()},
    "url": {"type": need(), "url": need()},
    "file": {"type": need(), "file_id": need()},
}
DOCUMENT_SOURCES: Mapping[str, Shape] = {
    "base64": {"type": need(), "media_type": need("string", "application/pdf"), "data": need()},
    "text": {"type": need(), "media_type": need("string", "text/plain"), "data": need()},
    "content": {"type": need(), "content": Field("string|list", required=True)},
    "url": {"type": need(), "url": need()},
    "file": {"type": need(), "file_id": need()},
}


def check_image(path: str, block: dict[str, Any], betas: Collection[str]) -> None:
    source = _source(f"{path}.image.source", block["source"], IMAGE_SOURCES, betas)
    if source["type"] != "base64":
        return
    at = f"{path}.image.source.base64"
    data = source["data"]
    if len(data) > MAX_IMAGE:
        raise bad(at, f"image exceeds 5 MB maximum: {len(data)} bytes > {MAX_IMAGE} bytes")
    raw = images.decode(data)
    if raw is None:
        raise bad(f"{at}.data", "invalid base64 data")
    kind = images.kind(raw)
    if kind is None or images.size(raw) is None:
        raise bad("", "Could not process image")
    if kind != source["media_type"]:
        raise bad(
            f"{at}.data",
            f"The image was specified using the {source['media_type']} media type, but the image appears to be a "
            f"{kind} image",
        )


def check_dimensions(found: list[tuple[str, dict[str, Any]]]) -> None:
    """Pixels of all images of a request; the limit is lower where there are many."""
    many = len(found) > MANY
    limit = MAX_SIDE_OF_MANY if many else MAX_SIDE
    for path, block in found:
        source = block["source"]
        size = images.dimensions(source["data"]) if source["type"] == "base64" else None
        if size is not None and max(size) > limit:
            of_many = " for many-image requests" if many else ""
            raise bad(
                f"{path}.image.source.base64.data",
                f"At least one of the image dimensions exceed max allowed size{of_many}: {limit} pixels",
            )


def check_document(path: str, block: dict[str, Any], betas: Collection[str]) -> None:
    source = _source(f"{path}.document.source", block["source"], DOCUMENT_SOURCES, betas)
    if source["type"] == "base64":
        raw = images.decode(source["data"])
        if raw is None:
            raise bad(f"{path}.document.source.base64.data", "invalid base64 data")
        if b"%PDF-" not in raw[:1024]:
            raise bad(f"{path}.document.source.base64.data", "The PDF specified was not valid.")
    if source["type"] == "text" and not source["data"]:
        raise bad(f"{path}.document.source.text.data", "String should have at least 1 character")


def _source(path: str, source: Any, shapes: Mapping[str, Shape], betas: Collection[str]) -> dict[str, Any]:
    kind = str(source.get("type")) if isinstance(source, dict) else "None"
    if kind not in shapes:
        raise bad(path, f"Input tag '{kind}' found using 'type' does not match any of the expected tags")
    check(f"{path}.{kind}", source, shapes[kind], betas)
    return dict(source)
