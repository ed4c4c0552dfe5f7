"""Old tool results give way to a note of what they were: what can be had again need not stay in the window.

Since this rewrites history, it is done for all of them at once, and only where nothing is lost by it: when the API's
cache has expired anyway, or in place of a compaction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agentcli.agent.measure import block_tokens, rewritten, title, used
from agentcli.agent.rooms import Rooms
from agentcli.agent.state import SessionState
from agentcli.events import Notice
from agentcli.messages import Message, TextBlock, ToolResultBlock, ToolUseBlock
from agentcli.text import one_line, plural

INTENT = "tool result clearing"
CLEARABLE = frozenset({"Read", "Grep", "Glob", "Bash", "BashOutput", "WebFetch", "WebSearch"})
"""Tools whose results can be had again; those of MCP servers too.  Edits and the todo list never go."""
MCP = "mcp__"
NEWEST = 5
"""So many of the newest results of such tools stay."""
SMALLEST = 150
"""Tokens of a result that is worth a note in its place."""
WORTH = 5_000
"""Tokens that have to be freed at least."""
ROOM = 0.75
"""Cleared in place of a compaction, the conversation must come under this share of the threshold."""
TTL = {"5m": 300, "1h": 3_600}
"""Seconds."""
_RUNS = frozenset({"Bash", "BashOutput"})
_SPILLED = re.compile(r"\b(?:is|are) in (/\S+?)[:\s]")


@dataclass(frozen=True, slots=True)
class Cleared:
    """The conversation without its old results.  ``freed`` is an estimate in tokens."""

    messages: tuple[Message, ...]
    count: int
    freed: int


def without_old_results(messages: Sequence[Message], *, newest: int = NEWEST) -> Cleared | None:
    """``None`` where too little would be freed.  Errors stay, and so do results that are small.  Thinking behind the
    first change is dropped: it is bound to the history in front of it."""
    calls = {c.id: c for m in messages for c in m.tool_uses()}
    old = [r for m in messages for r in m.tool_results() if _may_go(calls.get(r.tool_use_id))]
    old = [r for r in old[: max(0, len(old) - newest)] if not r.is_error and block_tokens(r) >= SMALLEST]
    notes = {r.tool_use_id: ToolResultBlock(r.tool_use_id, (TextBlock(_note(calls[r.tool_use_id], r)),)) for r in old}
    freed = sum(block_tokens(r) - block_tokens(notes[r.tool_use_id]) for r in old)
    if freed < WORTH:
        return None
    changed = [
        replace(
            m, content=tuple(notes.get(b.tool_use_id, b) if isinstance(b, ToolResultBlock) else b for b in m.content)
        )
        for m in messages
    ]
    return Cleared(tuple(rewritten(messages, changed)), len(old), freed)


@dataclass(slots=True)
class Clearer:
    """Clears one session's conversation through ``rewrite`` (messages, intent)."""

    state: SessionState
    rooms: Rooms
    rewrite: Callable[[Sequence[Message], str], None]

    def when_cold(self) -> bool:
        """Clears when the cache has expired: everything has to be written anew anyway."""
        answered = self.state.answered_at
        ttl = TTL.get(str(self.state.cache.choices.get("ttl", "5m")), TTL["5m"])
        if answered is None or (self.rooms.clock.now() - answered).total_seconds() <= ttl:
            return False
        return self._clear(without_old_results(self.state.messages))

    def instead(self, threshold: int) -> bool:
        """Clears in place of a compaction that is due, if that makes room enough."""
        cleared = without_old_results(self.state.messages)
        if cleared is None or used(self.state) - cleared.freed > ROOM * threshold:
            return False
        return self._clear(cleared)

    def _clear(self, cleared: Cleared | None) -> bool:
        if cleared is None:
            return False
        self.rewrite(cleared.messages, INTENT)
        text = (
            f"{plural(cleared.count, 'old tool result')} gave way to notes, about {cleared.freed:,} tokens; the newest "
            f"{NEWEST} stay, and all can be had again."
        )
        self.rooms.emit(Notice("info", text, "results_cleared"))
        return True


def _may_go(call: ToolUseBlock | None) -> bool:
    return call is not None and (call.name in CLEARABLE or call.name.startswith(MCP))


def _note(call: ToolUseBlock, result: ToolResultBlock) -> str:
    text = "\n".join(c.text for c in result.content if isinstance(c, TextBlock))
    parts = [
        f"[The result of {title(call)}{_range(call)} was cleared to save room (about {block_tokens(result):,} tokens)."
    ]
    if call.name in _RUNS:
        last = one_line(next((line for line in reversed(text.split("\n")) if line.strip()), ""), 200)
        parts.append(f'Its last line was "{last}".')
    if found := _SPILLED.search(text):
        parts.append(f"The whole is in {found[1]}.")
    again = "Run it again if it is needed and safe to repeat." if call.name in _RUNS else "Call again if it is needed."
    return " ".join([*parts, again]) + "]"


def _range(call: ToolUseBlock) -> str:
    named = [f"{key} {call.input[key]}" for key in ("offset", "limit", "pages", "path") if call.input.get(key)]
    return f" ({one_line(', '.join(named), 200)})" if named else ""
