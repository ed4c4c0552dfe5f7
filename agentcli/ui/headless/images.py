"""Images that a program sends with a prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from agentcli.errors import ToolError, UsageError
from agentcli.messages import Block

Images: TypeAlias = Sequence[Path | bytes]
"""Files or their contents (PNG, JPEG, GIF, WebP); what is too large for the API is scaled down."""


async def image_blocks(images: Images) -> tuple[Block, ...]:
    """``UsageError`` names an image that can't be read."""
    return tuple([await asyncio.to_thread(_block, image, number) for number, image in enumerate(images, 1)])


def _block(image: Path | bytes, number: int) -> Block:
    from agentcli.media import image_block

    name = f"image {number}" if isinstance(image, bytes) else str(image)
    try:
        return image_block(image if isinstance(image, bytes) else image.read_bytes(), name).block
    except OSError as error:
        raise UsageError(f"{name} can't be read: {error.strerror or error}") from error
    except ToolError as error:
        raise UsageError(str(error)) from error
