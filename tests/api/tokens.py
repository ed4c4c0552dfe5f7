"""The server's tokenizer: two tokens for every seven bytes of UTF-8, rounded up per block.

Deterministic and about what current models count for English and code.  An image counts by its area (width x height /
750), at least 1 and at most 1,600; a PDF 1,500 for every 100 KB begun.
"""

from __future__ import annotations

import json
from typing import Any

from tests.api.images import dimensions


def count_text(text: str) -> int:
    return -(-len(text.encode("utf-8", "surrogatepass")) * 2 // 7)


def count_json(value: Any) -> int:
    return count_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def count_block(block: dict[str, Any]) -> int:
    """Tokens of one content block.  ``cache_control``, ids and signatures are not part of what the model reads."""
    match block.get("type"):
        case "text":
            return count_text(block["text"])
        case "thinking":
            return count_text(block["thinking"])
        case "redacted_thinking":
            return count_text(block["data"])
        case "image":
            return _image(block)
        case "document":
            return _document(block)
        case "tool_use" | "server_tool_use":
            return count_text(block["name"]) + count_json(block["input"])
        case "tool_result":
            content = block.get("content", "")
            return count_text(content) if isinstance(content, str) else sum(count_block(b) for b in content)
        case _:
            return count_json({k: v for k, v in block.items() if k != "cache_control"})


def _image(block: dict[str, Any]) -> int:
    source = block["source"]
    if source["type"] != "base64":
        return 1600
    size = dimensions(source["data"])
    return 1600 if size is None else max(1, min(1600, size[0] * size[1] // 750))


def _document(block: dict[str, Any]) -> int:
    source = block["source"]
    if source["type"] == "text":
        return count_text(source["data"])
    return 1500 * (1 + len(str(source.get("data", ""))) * 3 // 4 // 100_000)
