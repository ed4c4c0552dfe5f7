"""What a request consisted of, piece by piece, and what changed between two of them.

The order is the cache's own: tools, system, messages.  What a change invalidates follows the prompt-caching page:
model, betas, effort and tools lose everything; system text loses what stands behind it; tool choice, images and
thinking lose the messages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["tools", "system", "messages"]


def digest(*texts: str) -> str:
    """A short hash of texts, each with its length, so that no two different lists meet."""
    state = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        state.update(b"%d:" % len(data))
        state.update(data)
    return state.hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Piece:
    """A tool or a section of the system prompt: its text is kept for the one request that follows."""

    name: str
    text: str

    @property
    def size(self) -> int:
        return len(self.text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class MessagePiece:
    """A block of a message.  ``message`` counts from 1; ``size`` is bytes of its JSON."""

    message: int
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """``tools`` are those rendered in front, ``blocks`` the number of sections in each block of the system prompt,
    ``layout`` names how they are cut and their scopes, ``marks`` is the number of breakpoints (0: caching is off)."""

    model: str
    betas: tuple[str, ...]
    ttl: str
    tool_choice: str
    thinking: str
    effort: str
    images: bool
    tools: tuple[Piece, ...]
    system: tuple[Piece, ...]
    blocks: tuple[int, ...]
    layout: str
    messages: tuple[MessagePiece, ...]
    marks: int = 4

    @property
    def tools_size(self) -> int:
        return sum(p.size for p in self.tools)

    @property
    def system_size(self) -> int:
        return sum(p.size for p in self.system)

    @property
    def size(self) -> int:
        """Bytes of everything that stands in the prefix."""
        return self.tools_size + self.system_size + sum(p.size for p in self.messages)


@dataclass(frozen=True, slots=True)
class Change:
    """The first difference in the order of the prefix.

    ``kept`` is the number of bytes in the whole blocks in front of it; ``expected`` says that the user or we intended
    it.
    """

    level: Level
    cause: str
    kept: int
    expected: bool = False


def compare(before: Fingerprint, after: Fingerprint) -> Change | None:
    """What changed first, or ``None`` where everything that was sent is still there and only more came behind it."""
    return _whole(before, after) or _tools(before, after) or _system(before, after) or _messages(before, after)


def _whole(before: Fingerprint, after: Fingerprint) -> Change | None:
    if before.model != after.model:
        return Change("tools", f"model changed ({before.model} to {after.model})", 0, expected=True)
    if before.betas != after.betas:
        gone = [b for b in before.betas if b not in after.betas]
        come = [b for b in after.betas if b not in before.betas]
        words = ", ".join([f"{b} added" for b in come] + [f"{b} removed" for b in gone]) or "order"
        return Change("tools", f"beta headers changed ({words})", 0)
    if before.effort != after.effort:
        words = f"effort changed ({before.effort or 'default'} to {after.effort or 'default'})"
        return Change("tools", words, 0, expected=True)
    return None


def _tools(before: Fingerprint, after: Fingerprint) -> Change | None:
    old, new = before.tools, after.tools
    if old == new:
        return None
    kept = 0
    for a, b in zip(old, new, strict=False):
        if a != b:
            break
        kept += a.size
    names, others = {p.name for p in old}, {p.name for p in new}
    added, removed = sorted(others - names), sorted(names - others)
    if added or removed:
        words = [f"tool `{n}` added" for n in added] + [f"tool `{n}` removed" for n in removed]
        mcp = all(n.startswith("mcp__") for n in (*added, *removed))
        return Change("tools", _few(words), 0, expected=mcp)
    texts = {p.name: p.text for p in old}
    changed = [p for p in new if texts[p.name] != p.text]
    if not changed:
        return Change("tools", "tools reordered", 0)
    words = [f"tool `{p.name}` changed ({_delta(texts[p.name], p.text)})" for p in changed]
    return Change("tools", _few(words), 0, expected=all(p.name.startswith("mcp__") for p in changed))


def _system(before: Fingerprint, after: Fingerprint) -> Change | None:
    if before.system == after.system and before.layout == after.layout:
        return None
    old, new = {p.name: p.text for p in before.system}, {p.name: p.text for p in after.system}
    kept = after.tools_size + _common_size(before.system, after.system, after.blocks)
    words = [f"section `{p.name}` removed" for p in before.system if p.name not in new]
    words += [f"section `{p.name}` added ({p.size:,} bytes)" for p in after.system if p.name not in old]
    words += [
        f"section `{p.name}` changed ({_delta(old[p.name], p.text)})"
        for p in after.system
        if p.name in old and old[p.name] != p.text
    ]
    if words:
        return Change("system", _few(words), kept)
    if before.system != after.system:
        return Change("system", "sections reordered", kept)
    return Change("system", f"system layout changed ({before.layout} to {after.layout})", after.tools_size)


def _messages(before: Fingerprint, after: Fingerprint) -> Change | None:
    front = after.tools_size + after.system_size
    if before.tool_choice != after.tool_choice:
        return Change("messages", f"tool choice changed ({before.tool_choice} to {after.tool_choice})", front)
    if before.thinking != after.thinking:
        return Change("messages", f"thinking changed ({before.thinking} to {after.thinking})", front, expected=True)
    if before.images != after.images:
        words = "first image of the conversation" if after.images else "no image left in the conversation"
        return Change("messages", words, front, expected=True)
    if before.ttl != after.ttl:
        return Change("messages", f"ttl changed ({before.ttl} to {after.ttl})", front)
    kept = front
    for index, old in enumerate(before.messages):
        if index >= len(after.messages):
            last = after.messages[-1].message if after.messages else 0
            return Change("messages", f"history cut back to message {last}", kept)
        new = after.messages[index]
        if old.digest != new.digest:
            return Change("messages", f"history rewritten at message {new.message}", kept)
        kept += old.size
    return None


def _common_size(before: Sequence[Piece], after: Sequence[Piece], blocks: Sequence[int]) -> int:
    """Bytes of the leading blocks that are whole and the same in both: an entry ends only where a block ends."""
    total, start = 0, 0
    for count in blocks:
        end = start + count
        if before[start:end] != after[start:end]:
            break
        total += sum(p.size for p in after[start:end])
        start = end
    return total


def _first_difference(before: str, after: str) -> int:
    old, new = before.encode("utf-8", "surrogatepass"), after.encode("utf-8", "surrogatepass")
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[:middle] == new[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _delta(before: str, after: str) -> str:
    """``+14 bytes at 120``: by how much, and at which byte of the piece the first difference stands."""
    old, new = len(before.encode("utf-8", "surrogatepass")), len(after.encode("utf-8", "surrogatepass"))
    return f"{new - old:+,} bytes at {_first_difference(before, after):,}"


def _few(words: Sequence[str], limit: int = 3) -> str:
    rest = len(words) - limit
    return ", ".join(words[:limit]) + (f" and {rest} more" if rest > 0 else "")
