"""The message that stands in a compacted conversation's place: the summary, and what we keep word for word."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentcli.agent.successor_words import fresh_words, kept_words, refusals
from agentcli.agent.successor_work import work_done
from agentcli.messages import Block, Message, TextBlock
from agentcli.ports.display import Todo
from agentcli.ports.tools import Workspace
from agentcli.text import clean, estimate_tokens

FILES = 5
FILE_TOKENS = 50_000
"""For all re-attached files together."""
INTRO = (
    "The earlier conversation was compacted. This summary stands for it; what follows behind it is word for word.\n\n"
)
ATTACHED = "The file "
"""How the text of an attached file begins."""
GO_ON = "Go on with the work where it stopped; the conversation was compacted in the middle of it."


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file as it is on disk now."""

    path: Path
    data: bytes
    text: str


def kept_blocks(
    messages: Sequence[Message],
    todos: Sequence[Todo],
    files: Sequence[Attachment],
    workspace: Workspace | None,
    *,
    part: int = 1,
) -> tuple[TextBlock, ...]:
    """What is kept beside the summary, each a text block of its own: the person's words, declined calls, plan,
    unsolved errors, files, todo list, and the newest files whole.  ``part`` divides the room for long texts."""
    texts = kept_words(messages, part=part)
    if declined := refusals(messages):
        texts.append(declined)
    texts += work_done(messages, workspace).texts(part=part)
    if todos:
        texts.append("The todo list:\n\n" + "\n".join(f"- [{t.status}] {t.content}" for t in todos))
    texts += [f"{ATTACHED}{f.path} as it is now:\n\n{f.text}" for f in files]
    return tuple(TextBlock(clean(t), "summary") for t in texts)


def successor_blocks(summary: str, kept: Sequence[TextBlock], messages: Sequence[Message]) -> tuple[Block, ...]:
    """Summary, what is kept, and a prompt that has no answer yet."""
    return (TextBlock(INTRO + clean(summary).strip(), "summary"), *kept, *fresh_words(messages))


def recent_files(
    messages: Sequence[Message], workspace: Workspace | None, *, room: int = FILE_TOKENS
) -> list[Attachment]:
    """The files that were used last, newest first, with their present text, as far as they fit into ``room``
    (tokens)."""
    if workspace is None:
        return []
    found: list[Attachment] = []
    used = [Path(name) for name in reversed(work_done(messages, workspace).files)]
    for path in used[:FILES]:
        try:
            data = path.read_bytes() if os.path.isfile(path) and path.stat().st_size <= room * 8 else b""
        except OSError:
            continue
        text = _decoded(data)
        size = estimate_tokens(text) if text is not None else 0
        if text is not None and size <= room:
            room -= size
            found.append(Attachment(path, data, text))
    return found


def _decoded(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if text and "\0" not in text else None
