"""Reads a session file back, whatever happened to it.

Nothing before a damage is lost, and nothing behind it: a line that can't be read is skipped and named.  The messages
come back as they were sent.  Where a process ended in the middle of an answer, the text that had been shown is kept
as a partial answer, and results that had been shown are kept; calls without a result get an error result.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from agentcli.conversation import ConversationCache
from agentcli.messages import Message, Usage
from agentcli.ports.display import Todo
from agentcli.ports.sessions import Earlier, PrefixRecord
from agentcli.sessions.journal import DELTA_START
from agentcli.sessions.replay import Replay
from agentcli.text import clean_json, plural

LONGEST_LINE = 256 * 1024 * 1024
"""Bytes.  Longer lines are skipped: no message of the API is that large."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A session as its file tells it.  ``interrupted``: the last turn did not end by itself.  ``notes`` say what was
    dropped or mended, one sentence each."""

    session_id: str
    cwd: str
    messages: tuple[Message, ...]
    prefix: PrefixRecord | None
    todos: tuple[Todo, ...]
    title: str
    mode: str | None
    model: str | None
    effort: str | None
    thinking: str
    usage: dict[str, Usage]
    cost: float | None
    turns: int
    context_tokens: int
    measured: int
    written: tuple[str, ...]
    interrupted: bool
    first_prompt: str
    notes: tuple[str, ...] = ()
    version: str = ""
    """Of the program that wrote the session last."""
    answered_at: str = ""
    """Date and time (ISO 8601) of the newest answer; empty where there is none."""
    asked: int = 0
    """The newest answer's request held so many of the messages."""
    last_usage: Usage | None = None
    """What the newest answer's request took; ``None`` where that is not known or history was rewritten since."""
    earlier: tuple[Earlier, ...] = ()
    """The conversation before its last compactions, newest last."""


def load(path: Path, *, longest_line: int = LONGEST_LINE) -> Loaded:
    """``OSError`` if the file can't be read at all; anything in it is read as far as it goes."""
    replay = Replay()
    notes: list[str] = []
    for number, line in _lines(path, longest_line, notes):
        if line.startswith(DELTA_START):
            replay.deltas.append(line)
            continue
        entry = _entry(line, number, notes)
        if entry is not None:
            try:
                replay.take(entry)
            except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
                notes.append(f"line {number} is not an entry as it should be and was skipped ({error})")
    replay.settle()
    return Loaded(
        session_id=replay.session_id or path.stem,
        cwd=replay.cwd,
        messages=tuple(replay.messages),
        prefix=replay.prefix,
        todos=replay.todos,
        title=replay.title,
        mode=replay.mode,
        model=replay.model,
        effort=replay.effort,
        thinking=replay.thinking,
        usage=replay.usage,
        cost=replay.cost,
        turns=replay.turns,
        context_tokens=replay.context_tokens,
        measured=replay.measured,
        written=tuple(replay.written),
        interrupted=replay.interrupted,
        first_prompt=replay.first_prompt,
        notes=(*notes, *replay.notes),
        version=replay.version,
        answered_at=replay.answered_at,
        asked=replay.asked,
        last_usage=replay.last_usage,
        earlier=tuple(replay.earlier),
    )


def restored_cache(loaded: Loaded) -> ConversationCache:
    """The conversation's section values, latches and written prefixes, so that the next request has the same bytes."""
    record = loaded.prefix
    if record is None:
        return ConversationCache()
    return ConversationCache(
        sections=dict(record.sections),
        absent=dict(record.absent),
        beta_headers=list(record.beta_headers),
        choices=dict(record.choices),
        written=list(loaded.written),
    )


def _lines(path: Path, longest: int, notes: list[str]) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        number = 0
        while raw := file.readline(longest):
            number += 1
            if len(raw) == longest and not raw.endswith(b"\n"):
                size = len(raw) + _skip_line(file, longest)
                notes.append(f"line {number} was skipped: {size:,} bytes are too many for one entry")
                continue
            line = raw.strip(b"\0\r\n\t ")
            if b"\0" in raw and not line:
                notes.append(f"line {number} was skipped: {plural(raw.count(0), 'zero byte')} and nothing else")
            elif line:
                yield number, line


def _skip_line(file: IO[bytes], chunk: int) -> int:
    skipped = 0
    while part := file.readline(chunk):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def _entry(line: bytes, number: int, notes: list[str]) -> dict[str, Any] | None:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        text = line.decode("utf-8", "replace")
        notes.append(f"line {number} was not valid UTF-8; the broken bytes were replaced")
    try:
        value = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        notes.append(f"line {number} was cut off or damaged and was skipped ({len(line):,} bytes)")
        return None
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        notes.append(f"line {number} was skipped: it is JSON but no entry")
        return None
    if "\\ud" in text or "\\uD" in text:
        value = clean_json(value)
        assert isinstance(value, dict)
    return value


def _finite(text: str) -> float:
    """What is no number for the API would make every later request fail."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not a number that can be sent")
    return value
