"""Between the engine and the tools."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from agentcli.events.stream import Emit
from agentcli.messages import Json, ResultContent, TextBlock
from agentcli.paths import as_listed, unquoted
from agentcli.ports.display import Display, TextDisplay, Todo
from agentcli.ports.model import ToolSpec

Effect = Literal["read", "write", "agent"]
"""``read`` calls of one answer run in parallel; ``write`` calls run in order; ``agent`` calls run in parallel with each
other."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    input: Json


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Two faces of one result.  A failure is a value: ``is_error`` with a text that says what to do next."""

    for_model: tuple[ResultContent, ...]
    for_user: Display
    is_error: bool = False
    touched: tuple[Path, ...] = ()
    """Real paths that the call read or changed: nested memory, path rules and checkpoints hang on them."""
    changed: tuple[Path, ...] = ()
    """Those of them that it wrote."""
    structured: Json | None = None
    """For the stream-json line and hooks, where a tool has more to say than text."""


def text_result(text: str, *, summary: str, is_error: bool = False, detail: str = "") -> ToolResult:
    """A result of plain text."""
    return ToolResult((TextBlock(text),), TextDisplay(summary, detail), is_error=is_error)


@dataclass(slots=True)
class Workspace:
    """Where the session works.  ``start`` never changes; ``cwd`` follows the shell inside the allowed roots."""

    start: Path
    cwd: Path
    extra_roots: list[Path] = field(default_factory=list)

    @property
    def roots(self) -> tuple[Path, ...]:
        return (self.start, *self.extra_roots)

    def contains(self, path: Path) -> bool:
        """Whether the real path lies in one of the allowed roots."""
        real = path.resolve()
        return any(real.is_relative_to(root.resolve()) for root in self.roots)

    def resolve(self, text: str) -> Path:
        """The path that a tool's argument names: absolute, or relative to ``cwd``; a leading ``~/`` is the home.

        Nothing is trimmed or normalised: the exact name always wins.  Only where there is none, the name may be one in
        the form that listings give it.  Rules and tools both ask here, so that they mean the same file.
        """
        path = self._absolute(text)
        return path if os.path.lexists(path) else as_listed(self._absolute(unquoted(text)))

    def _absolute(self, text: str) -> Path:
        path = Path(text)
        if text == "~" or text.startswith("~/"):
            path = path.expanduser()
        return path if path.is_absolute() else self.cwd / path


@dataclass(frozen=True, slots=True)
class Question:
    question: str
    header: str
    options: tuple[tuple[str, str], ...]
    """(label, description)."""
    multiple: bool = False
    about: str = ""
    """Markdown that the question is about (a plan): shown in front of it, and it stays to be read."""


class Questioner(Protocol):
    async def ask(self, questions: Sequence[Question]) -> Mapping[str, Any] | None:
        """The answers by question, or ``None`` when nobody can answer."""


@dataclass(frozen=True, slots=True)
class AgentBudget:
    """Upper bounds for a subagent and everything below it; ``None`` is unbounded.  ``turns`` counts requests to the
    model, ``tokens`` input (cached too) and output."""

    turns: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class AgentReport:
    """``id`` and ``agent`` (its kind) say who reports."""

    text: str
    is_error: bool = False
    steps: int = 0
    id: str = ""
    agent: str = ""


class Todos(Protocol):
    """The session's todo list: survives a compaction, shown to the person."""

    def get(self) -> tuple[Todo, ...]: ...

    def set(self, todos: Sequence[Todo]) -> None: ...


class Spawner(Protocol):
    async def spawn(self, agent: str, prompt: str, budget: AgentBudget) -> AgentReport: ...


class ToolDirectory(Protocol):
    """Deferred tools: found by keyword or exact name."""

    def search(self, query: str, limit: int = 5) -> list[ToolSpec]: ...

    def names(self) -> tuple[str, ...]:
        """Every tool that can be found now, sorted."""

    @property
    def references(self) -> bool:
        """Whether this conversation's server takes tool references; else definitions are given as text."""

    def give(self, names: Sequence[str]) -> None:
        """The model is being given these definitions: they stay defined for the conversation."""

    async def complete(self) -> tuple[str, ...]:
        """Waits for servers that are still being connected; names those that did not come, with the reason."""


@dataclass(frozen=True, slots=True)
class SeenFile:
    """What the model has seen of a file: digest of the bytes on disk at that time, and whether it saw all of them."""

    digest: str
    whole: bool
    mtime_ns: int
    size: int
    encoding: str = ""
    """What the text was read as; empty where nobody read it."""


class SeenFiles(Protocol):
    """Kept per real path, so that a link and its target are one file."""

    def note(self, path: Path, data: bytes, *, whole: bool, encoding: str = "") -> None:
        """Without an ``encoding`` the one that was noted last stays."""

    def note_lines(self, path: Path, data: bytes, *, first: int, last: int, total: int, encoding: str = "") -> None:
        """The model saw lines ``first`` to ``last`` (from 1) of ``total``; all pages seen is the whole."""

    def get(self, path: Path) -> SeenFile | None: ...

    def changed(self) -> list[Path]:
        """Files that changed on disk since they were noted, by somebody else; each change is told once."""

    def forget(self) -> None:
        """After a compaction or ``/clear``: nothing counts as seen."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may use.  One per call."""

    workspace: Workspace
    emit: Emit
    output: Callable[[str], None]
    """Live output of this call."""
    spill: Callable[[str, str], Path]
    """``spill(text, suffix)`` writes a whole oversized result to a private file of the session; returns its path."""
    seen: SeenFiles
    services: Mapping[str, Any] = field(default_factory=dict)
    """Optional ports by name, typed where they are used: ``questioner``, ``spawner``, ``directory``, ``jobs``,
    ``todos``, ``reader``, ``searcher``."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to the environment of children (scratch directory, session id)."""
    tool_use_id: str = ""


class Tool(Protocol):
    """One tool.  ``tools/x.py`` holds the code, ``tools/x.md`` the words."""

    @property
    def spec(self) -> ToolSpec: ...

    def effect(self, input: Json) -> Effect: ...

    def title(self, input: Json) -> str:
        """The call's telling argument in one line; never raises, whatever the input."""

    def preview(self, input: Json, ctx: ToolContext) -> Display | None:
        """What a permission dialog shows: the whole command, the diff; ``None`` where the title says it all.
        ``ToolError``: the call can't work, nobody need be asked about it."""

    async def run(self, input: Json, ctx: ToolContext) -> ToolResult:
        """May raise ``ToolError`` (becomes an error result).  Cancelled, it leaves no process behind."""


@runtime_checkable
class Checking(Protocol):
    """A tool that can say without running whether an input is one: nobody is asked about a call that can't work."""

    def check(self, input: Json) -> None:
        """``ToolError`` says what is wrong with it."""
