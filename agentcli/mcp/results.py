"""What a server answers, as content for the model: texts, images, files for everything that can't be shown."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import mimetypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentcli.errors import ToolError
from agentcli.files import write_private
from agentcli.mcp.limits import IMAGES
from agentcli.media import image_block, sniff
from agentcli.messages import ImageBlock, Json, ResultContent, TextBlock
from agentcli.paths import private_directory
from agentcli.ports.display import TextDisplay
from agentcli.ports.tools import ToolResult
from agentcli.text import clean, estimate_tokens, head_tail, one_line, plural

_CHARACTERS_PER_TOKEN = 3.5
_SUFFIXES = {"audio/wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "application/pdf": ".pdf"}


@dataclass(slots=True)
class Desk:
    """Where files go: ``directory`` is the session's private one; ``limit`` the estimated tokens of a result."""

    directory: Callable[[], Path]
    limit: int
    _count: int = field(default=0)

    def save(self, data: bytes, suffix: str) -> Path:
        """A private file for what can't be shown.  ``OSError`` if it can't be written."""
        folder = private_directory(self.directory() / "mcp")
        while True:
            self._count += 1
            path = folder / f"{self._count:04}{suffix}"
            if not path.exists():
                write_private(path, data)
                return path


@dataclass(slots=True)
class _Parts:
    desk: Desk
    content: list[ResultContent] = field(default_factory=list)
    images: int = 0

    def text(self, text: str) -> None:
        if text:
            self.content.append(TextBlock(clean(text)))

    async def add(self, block: Any) -> None:
        match getattr(block, "type", ""):
            case "text":
                self.text(block.text)
            case "image":
                await self.image(block.data, block.mime_type)
            case "audio":
                await self.file(block.data, block.mime_type, "audio")
            case "resource_link":
                about = f": {block.description}" if block.description else ""
                self.text(f"[resource {block.name} at {block.uri}{about}]")
            case "resource":
                await self.resource(block.resource)
            case other:
                self.text(f"[a part of an unknown kind was left out: {one_line(str(other), 40)}]")

    async def resource(self, resource: Any) -> None:
        text = getattr(resource, "text", None)
        if text is not None:
            self.text(f"[resource {resource.uri}]\n{text}")
            return
        kind = resource.mime_type or "application/octet-stream"
        self.text(f"[resource {resource.uri}, {kind}]")
        if kind.startswith("image/"):
            await self.image(resource.blob, kind)
        else:
            await self.file(resource.blob, kind, "resource")

    async def image(self, encoded: str, kind: str) -> None:
        data = _decoded(encoded)
        if data is None:
            self.text("[an image was left out: its data is damaged]")
            return
        if self.images >= IMAGES:
            await self.file(encoded, kind, "image")
            return
        try:
            picture = await asyncio.to_thread(image_block, data, "The image")
        except ToolError as error:
            self.text(f"[an image was left out. {error}]")
            await self.file(encoded, kind, "image")
            return
        self.images += 1
        self.content.append(picture.block)
        self.text(picture.note)

    async def file(self, encoded: str, kind: str, what: str) -> None:
        data = _decoded(encoded)
        if data is None:
            self.text(f"[{what} left out: its data is damaged]")
            return
        try:
            path = await asyncio.to_thread(self.desk.save, data, _suffix(data, kind))
        except OSError as error:
            self.text(f"[{what}, {kind}, {len(data):,} bytes: it could not be saved ({error.strerror or error})]")
            return
        self.text(f"[{what}, {kind}, {len(data):,} bytes, saved as {path}]")


async def content_of(blocks: Sequence[Any], desk: Desk) -> tuple[ResultContent, ...]:
    parts = _Parts(desk)
    for block in blocks:
        await parts.add(block)
    return tuple(parts.content)


async def tool_result(
    result: Any, *, desk: Desk, spill: Callable[[str, str], Path], characters: int | None = None
) -> ToolResult:
    """A ``CallToolResult`` as ours.  ``characters`` is what the tool may write where it asked for more than usual."""
    content = list(await content_of(result.content or (), desk))
    structured: Json | None = result.structured_content if isinstance(result.structured_content, Mapping) else None
    if structured is not None and not any(isinstance(c, TextBlock) and c.text.strip() for c in content):
        content.insert(0, TextBlock(clean(json.dumps(structured, ensure_ascii=False, indent=1))))
    texts = [c.text for c in content if isinstance(c, TextBlock)]
    whole = "\n\n".join(texts)
    allowed = characters or int(desk.limit * _CHARACTERS_PER_TOKEN)
    tokens = estimate_tokens(whole)
    note = ""
    if len(whole) > allowed or (characters is None and tokens > desk.limit):
        note = await _spilled(whole, allowed, spill, content)
    failed = bool(result.is_error)
    return ToolResult(
        tuple(content),
        TextDisplay(_summary(content, whole, failed=failed) + note, whole[:20_000]),
        is_error=failed,
        structured=structured,
    )


async def _spilled(whole: str, allowed: int, spill: Callable[[str, str], Path], content: list[ResultContent]) -> str:
    """Puts head, tail and the path of the whole in place of the texts."""
    budget = min(allowed, 20_000)
    cut = head_tail(whole, budget)
    try:
        path = await asyncio.to_thread(spill, whole, ".txt")
        told = f"The whole result is in {path}: read the parts that you need (Read with offset, or Grep)."
    except OSError as error:
        told = f"The whole result could not be kept ({error.strerror or error})."
    text = (
        f"{cut.head}\n[… {cut.dropped:,} of {len(whole):,} characters left out here: the result is over the limit of "
        f"about {plural(estimate_tokens('x' * allowed), 'token')}. {told}]\n{cut.tail}"
    )
    first = next(i for i, c in enumerate(content) if isinstance(c, TextBlock))
    rest = [c for c in content if isinstance(c, ImageBlock)]
    content[:] = [TextBlock(text), *rest] if first == 0 else [*rest, TextBlock(text)]
    return ", cut"


def _summary(content: Sequence[ResultContent], whole: str, *, failed: bool) -> str:
    images = sum(isinstance(c, ImageBlock) for c in content)
    if failed:
        return one_line(whole) or "failed"
    words = []
    if whole.strip():
        words.append(
            one_line(whole) if len(whole) < 80 and "\n" not in whole else plural(whole.count("\n") + 1, "line")
        )
    if images:
        words.append(plural(images, "image"))
    return ", ".join(words) or "no output"


def _decoded(encoded: Any) -> bytes | None:
    try:
        return base64.b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError, AttributeError):
        return None


def _suffix(data: bytes, kind: str) -> str:
    kind = (sniff(data) or kind).split(";")[0].strip().lower()
    guess = _SUFFIXES.get(kind) or mimetypes.guess_extension(kind) or ".bin"
    return guess if guess.removeprefix(".").isalnum() else ".bin"
