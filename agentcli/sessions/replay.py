"""Entries in order → the session's state.  The same steps in the same order as when they were written.

A ``start`` entry marks a process that took the session on: what the one before it left open is settled there, by the
same rules as at the end of the file, so that every later reading comes to the same messages.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from agentcli.messages import (
    Message,
    TextBlock,
    ToolResultBlock,
    Usage,
    append,
    block_from_record,
    first_part,
    message_from_record,
    repair,
)
from agentcli.ports.display import Todo
from agentcli.ports.sessions import Earlier, PrefixRecord
from agentcli.text import clean

EARLIER = 3
"""So many compactions can be taken back after a resume."""


@dataclass(slots=True)
class Replay:
    session_id: str = ""
    cwd: str = ""
    version: str = ""
    """Of the program that wrote last."""
    messages: list[Message] = field(default_factory=list)
    deltas: list[bytes] = field(default_factory=list)
    """Lines of text that was shown and has no message yet; parsed only if it never gets one."""
    results: dict[str, ToolResultBlock] = field(default_factory=dict)
    """Results that were shown and stand in no message yet."""
    prefix: PrefixRecord | None = None
    todos: tuple[Todo, ...] = ()
    title: str = ""
    mode: str | None = None
    model: str | None = None
    effort: str | None = None
    thinking: str = "default"
    usage: dict[str, Usage] = field(default_factory=dict)
    cost: float | None = 0.0
    turns: int = 0
    context_tokens: int = 0
    measured: int = 0
    written: list[str] = field(default_factory=list)
    answered_at: str = ""
    """Date and time (ISO 8601) of the newest answer."""
    asked: int = 0
    """The newest answer's request held so many of the messages."""
    last_usage: Usage | None = None
    """Of the newest answer; ``None`` where it is not known or its request is no longer the conversation's beginning."""
    earlier: list[Earlier] = field(default_factory=list)
    """The conversation before its last compactions, newest last."""
    interrupted: bool = False
    first_prompt: str = ""
    notes: list[str] = field(default_factory=list)
    own: tuple[str | None, str | None] | None = None
    """Model and effort of the session, while a turn has others."""

    def take(self, entry: dict[str, Any]) -> None:
        """Applies one entry; kinds of other versions change nothing."""
        match entry["kind"]:
            case "start":
                self._start(entry)
            case "message":
                message = message_from_record(entry["message"])
                self._message(message)
                if message.role == "assistant":
                    self.answered_at = str(entry.get("time") or "")
                    self.asked = len(self.messages) - 1
                    self.last_usage = _usage(entry["usage"]) if entry.get("usage") else None
                new = [str(w) for w in entry.get("written") or ()]
                self.written += [w for w in new if w not in self.written]
            case "result":
                block = block_from_record(entry["block"])
                if isinstance(block, ToolResultBlock):
                    self.results[block.tool_use_id] = block
            case "discard":
                self.deltas.clear()
            case "compaction" | "clearing":
                after = [message_from_record(m) for m in entry["messages"]]
                if entry["kind"] == "compaction":
                    self._remember()
                    self.written.clear()
                self._history(after)
            case "rewind" if entry.get("undo") == "compaction":
                self._undo()
            case "rewind":
                self._history(first_part(self.messages, int(entry["keep"]), int(entry.get("blocks") or 0)))
            case "turn_end":
                self._turn_end(entry)
            case _:
                self._setting(entry)

    def settle(self) -> None:
        """Makes the conversation valid where a process ended in its middle."""
        if self.own is not None:
            (self.model, self.effort), self.own = self.own, None
        if self.deltas:
            self._keep_shown_text()
        if self.results and self.messages:
            calls = self.messages[-1].tool_uses()
            append(self.messages, Message("user", tuple(self.results[c.id] for c in calls if c.id in self.results)))
        self.results.clear()
        mended = repair(self.messages, recorded=True)
        self.messages = list(mended.messages)
        self.notes.extend(mended.notes)

    def _start(self, entry: dict[str, Any]) -> None:
        if self.messages or self.deltas:
            self.settle()
        self.session_id = str(entry.get("session_id") or self.session_id)
        self.cwd = str(entry.get("cwd") or self.cwd)
        self.version = str(entry.get("version") or self.version)

    def _message(self, message: Message) -> None:
        if message.role not in ("user", "assistant"):
            raise ValueError(f"unknown role {message.role!r}")
        append(self.messages, message)
        self.interrupted = True
        if message.role == "assistant":
            self.deltas.clear()
        elif message.tool_results():
            self.results.clear()
        elif not self.first_prompt:
            self.first_prompt = message.text().strip()

    def _history(self, messages: list[Message]) -> None:
        self.messages = messages
        self.context_tokens = self.measured = 0
        self.last_usage = None
        self.deltas.clear()
        self.results.clear()

    def _remember(self) -> None:
        earlier = Earlier(tuple(self.messages), self.prefix, tuple(self.written), self.context_tokens, self.measured)
        self.earlier = [*self.earlier, earlier][-EARLIER:]

    def _undo(self) -> None:
        """A compaction was taken back; the prefix record of the time before it holds until the next one."""
        if not self.earlier:
            raise ValueError("there is no compaction before it")
        earlier = self.earlier.pop()
        self._history(list(earlier.messages))
        self.context_tokens, self.measured = earlier.context_tokens, earlier.measured
        self.written = list(earlier.written)
        self.prefix = earlier.prefix

    def _turn_end(self, entry: dict[str, Any]) -> None:
        self.turns = int(entry.get("turn") or self.turns)
        self.interrupted = entry.get("outcome") == "interrupted"
        self.usage = {model: _usage(use) for model, use in (entry.get("usage") or {}).items()}
        self.cost = entry.get("total_cost")
        self.context_tokens = int(entry.get("context_tokens") or 0)
        self.measured = int(entry.get("measured") or 0)
        self.written = [str(w) for w in entry.get("written") or ()]

    def _setting(self, entry: dict[str, Any]) -> None:
        match entry["kind"]:
            case "prefix":
                self.prefix = _prefix(entry)
                self.model, self.effort = self.prefix.model, self.prefix.effort
                self.thinking = self.prefix.thinking
            case "todos":
                self.todos = tuple(Todo(t["content"], t["status"], t.get("active_form", "")) for t in entry["todos"])
            case "title":
                self.title = str(entry["title"])
            case "mode":
                self.mode = str(entry["mode"])
            case "model":
                self.own = (self.own or (self.model, self.effort)) if entry.get("for_turn") else None
                self.model, self.effort = str(entry["model"]), entry.get("effort")
                self.thinking = str(entry.get("thinking") or "default")
            case _:
                pass

    def _keep_shown_text(self) -> None:
        pieces = []
        for line in self.deltas:
            try:
                pieces.append(str(json.loads(line)["text"]))
            except (ValueError, KeyError):
                self.notes.append("a piece of an unfinished answer was cut off and was skipped")
        self.deltas.clear()
        text = clean("".join(pieces))
        if text.strip():
            append(self.messages, Message("assistant", (TextBlock(text, "model"),)))
            self.notes.append("the last answer was not finished; what had been shown of it was kept")


def _prefix(entry: dict[str, Any]) -> PrefixRecord:
    _check_prefix(entry)
    return PrefixRecord(
        sections=entry["sections"],
        absent=entry["absent"],
        choices=entry["choices"],
        beta_headers=tuple(entry["beta_headers"]),
        tools=tuple(entry["tools"]),
        model=entry["model"],
        effort=entry["effort"],
        thinking=entry["thinking"],
        start_date=entry["start_date"],
        system=entry["system"],
    )


def _usage(given: dict[str, int]) -> Usage:
    if not all(isinstance(count, int) for count in given.values()):
        raise TypeError("a count of tokens is no number")
    return Usage(**given)


def _check_prefix(entry: dict[str, Any]) -> None:
    """``KeyError``/``TypeError`` for a record from which no request could be made."""
    shapes: list[tuple[Any, type]] = [(entry[k], dict) for k in ("sections", "absent", "choices", "system")]
    shapes += [(entry["model"], str), (entry["beta_headers"], list), (entry["tools"], list)]
    shapes += [(header, str) for header in entry["beta_headers"]]
    shapes += [(part[k], str) for part in entry["system"]["parts"] for k in ("name", "kind", "text")]
    for tool in entry["tools"]:
        shapes += [(tool["name"], str), (tool.get("description", ""), str), (tool.get("input_schema", {}), dict)]
        if tool.get("raw") is not None:
            shapes += [(tool["raw"]["name"], str)]
    for value, kind in shapes:
        if not isinstance(value, kind):
            raise TypeError(f"in the record of the request's front {value!r:.40} is no {kind.__name__}")
