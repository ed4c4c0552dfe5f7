"""The message that stands in a compacted conversation's place: the summary, and what we keep word for word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentcli.messages import Block, Message, TextBlock, ToolResultBlock
from agentcli.ports.display import Todo
from agentcli.ports.tools import Workspace
from agentcli.text import clean, estimate_tokens, head_tail

FILES = 5
FILE_TOKENS = 50_000
"""For all re-attached files together."""
REQUEST_CHARACTERS = 40_000
INTRO = (
    "The earlier conversation was compacted. This summary stands for it; what follows behind it is word for word.\n\n"
)
GO_ON = "Go on with the work where it stopped; the conversation was compacted in the middle of it."


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file as it is on disk now.  ``text`` is ``None`` where it did not fit or is not text."""

    path: Path
    data: bytes
    text: str | None


def summary_blocks(
    summary: str, messages: Sequence[Message], todos: Sequence[Todo], files: Sequence[Attachment]
) -> tuple[Block, ...]:
    """Summary, last request, unresolved error, todo list, files, each a text block of its own."""
    texts = [INTRO + clean(summary).strip()]
    fresh = fresh_words(messages)
    if not fresh and (request := last_request(messages)):
        texts.append("The user's last request, word for word:\n\n" + request)
    if error := last_error(messages):
        texts.append("The last results were errors:\n\n" + error)
    if todos:
        texts.append("The todo list:\n\n" + "\n".join(f"- [{t.status}] {t.content}" for t in todos))
    texts.extend(_attached(f) for f in files)
    return (*(TextBlock(t, "summary") for t in texts), *fresh)


def fresh_words(messages: Sequence[Message]) -> tuple[Block, ...]:
    """The person's own blocks of a prompt that has no answer yet: they are kept as they are."""
    if not messages or messages[-1].role != "user" or messages[-1].tool_results():
        return ()
    return tuple(
        b for b in messages[-1].content if not (isinstance(b, TextBlock) and b.origin in ("reminder", "summary"))
    )


def last_request(messages: Sequence[Message]) -> str:
    """The newest words of the person, cut only if they are very long."""
    for message in reversed(messages):
        words = [b.text for b in message.content if isinstance(b, TextBlock) and b.origin == "user"]
        if message.role == "user" and words:
            cut = head_tail("\n\n".join(words), REQUEST_CHARACTERS)
            return cut.head if not cut.dropped else f"{cut.head}\n[{cut.dropped} characters left out]\n{cut.tail}"
    return ""


def last_error(messages: Sequence[Message]) -> str:
    """The newest message's failed results: what is not solved yet."""
    if not messages or messages[-1].role != "user":
        return ""
    failed = [b for b in messages[-1].content if isinstance(b, ToolResultBlock) and b.is_error]
    texts = [c.text for b in failed for c in b.content if isinstance(c, TextBlock)]
    return head_tail("\n\n".join(texts), 8_000).head


def recent_files(messages: Sequence[Message], workspace: Workspace | None) -> list[Attachment]:
    """The files that calls named last, newest first, with their present text, up to the limits."""
    if workspace is None:
        return []
    found: list[Attachment] = []
    left = FILE_TOKENS
    for path in _named(messages, workspace):
        if len(found) == FILES:
            break
        try:
            data = path.read_bytes() if path.is_file() and path.stat().st_size <= FILE_TOKENS * 8 else b""
        except OSError:
            continue
        text = _decoded(data)
        size = estimate_tokens(text) if text is not None else 0
        fits = text is not None and size <= left
        left -= size if fits else 0
        found.append(Attachment(path, data, text if fits else None))
    return found


def _named(messages: Sequence[Message], workspace: Workspace) -> list[Path]:
    names: dict[Path, None] = {}
    for message in reversed(messages):
        for call in reversed(message.tool_uses()):
            name = call.input.get("file_path")
            if isinstance(name, str) and name:
                names.setdefault(workspace.resolve(name))
    return list(names)


def _decoded(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if text and "\0" not in text else None


def _attached(file: Attachment) -> str:
    if file.text is None:
        return f"The file {file.path} was in use too; read it again where it is needed."
    return f"The file {file.path} as it is now:\n\n{file.text}"
