"""A session for reading (Markdown) and for programs (JSON)."""

from __future__ import annotations

import json
import re
from typing import Any

from agentcli.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    message_to_record,
)
from agentcli.sessions.load import Loaded


def to_json(loaded: Loaded) -> str:
    """Everything that was said, as it was sent."""
    value: dict[str, Any] = {
        "session_id": loaded.session_id,
        "title": loaded.title,
        "cwd": loaded.cwd,
        "model": loaded.model,
        "messages": [message_to_record(m) for m in loaded.messages],
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def to_markdown(loaded: Loaded) -> str:
    """The conversation as a document.  Reminders and images are named, not shown."""
    parts = [f"# {loaded.title or 'Session ' + loaded.session_id}"]
    for message in loaded.messages:
        shown = [s for s in (_shown(b) for b in message.content) if s]
        if shown:
            parts.extend([f"## {_speaker(message)}", *shown])
    return "\n\n".join(parts) + "\n"


def _speaker(message: Message) -> str:
    if message.role == "assistant":
        return "Agent"
    return "Results" if message.tool_results() and not message.text().strip() else "User"


def _shown(block: Block) -> str:
    match block:
        case TextBlock(origin="reminder"):
            return ""
        case TextBlock(text=text):
            return text.strip()
        case ThinkingBlock(thinking=text):
            return "\n".join(f"> {line}" for line in text.splitlines())
        case ToolUseBlock(name=name, input=input):
            return f"**{name}**\n\n{_fenced(json.dumps(input, ensure_ascii=False, indent=2), 'json')}"
        case ToolResultBlock(content=content, is_error=failed):
            inner = "\n".join(c.text if isinstance(c, TextBlock) else _shown(c) for c in content)
            return f"{'Error' if failed else 'Result'}:\n\n{_fenced(inner)}"
        case ImageBlock(media_type=kind) | DocumentBlock(media_type=kind):
            return f"[{kind}]"
        case _:
            return ""


def _fenced(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any inside it."""
    longest = max((len(m) for m in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
