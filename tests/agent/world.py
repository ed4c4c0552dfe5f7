"""A small real world for the engine: scripted model, simple tools, a policy and a person that answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentcli.agent import Agent, Limits, Rooms, SessionState
from agentcli.agent.reminders import Reminders
from agentcli.clock import SystemClock
from agentcli.conversation import PromptPart, SystemPrompt
from agentcli.errors import ToolError
from agentcli.events import Event, TurnFinished
from agentcli.messages import Json, Message, TextBlock, message_to_api
from agentcli.model.scripted import ScriptedClient, Step
from agentcli.ports.display import Display
from agentcli.ports.frontend import UserInput
from agentcli.ports.model import ModelClient, ModelInfo, ToolSpec
from agentcli.ports.permissions import (
    Answer,
    ApprovalRequest,
    Decision,
    HookEvent,
    HookVerdict,
    PermissionMode,
    PermissionUpdate,
)
from agentcli.ports.prompt import Moment, Reminder, StepContext
from agentcli.ports.tools import (
    Effect,
    Tool,
    ToolCall,
    ToolContext,
    ToolResult,
    Workspace,
    text_result,
)
from agentcli.sessions import MemoryJournal

SYSTEM = SystemPrompt((PromptPart("identity", "identity", "You are agentcli."),), "default")
Body = Callable[[Json], "Awaitable[str | ToolResult] | str | ToolResult"]


@dataclass(slots=True)
class FakeTool:
    """A tool whose body is a function."""

    name: str
    body: Body
    kind: Effect = "read"

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, f"Does {self.name}.", {"type": "object", "properties": {}})

    def effect(self, input: Json) -> Effect:
        return self.kind

    def title(self, input: Json) -> str:
        return " ".join(str(v) for v in input.values())

    def preview(self, input: Json, ctx: ToolContext) -> Display | None:
        return None

    async def run(self, input: Json, ctx: ToolContext) -> ToolResult:
        made = self.body(input)
        result = await made if isinstance(made, Awaitable) else made
        return text_result(result, summary="done") if isinstance(result, str) else result


@dataclass(slots=True)
class Policy:
    """Allows everything but the names given."""

    asks: set[str] = field(default_factory=set)
    denies: set[str] = field(default_factory=set)
    rule: str = ""
    mode: PermissionMode = "default"
    updates: list[PermissionUpdate] = field(default_factory=list)

    def set_mode(self, mode: PermissionMode) -> None:
        self.mode = mode

    def check(self, call: ToolCall) -> Decision:
        if call.name in self.denies or call.input.get("forbidden"):
            return Decision("deny", f"rule deny {call.name}", "deny")
        if call.name in self.asks:
            return Decision("ask", "needs a permission", self.rule)
        return Decision("allow", "allowed")

    def apply(self, updates: tuple[PermissionUpdate, ...]) -> None:
        self.updates.extend(updates)


@dataclass(slots=True)
class Person:
    """Answers permission questions; waits for ever where there is no answer."""

    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, request: ApprovalRequest) -> Answer:
        self.asked.append(request.call.name)
        if request.call.name not in self.answers:
            self.waiting.set()
            await asyncio.Event().wait()
        return self.answers[request.call.name]


@dataclass(slots=True)
class Hooks:
    """Verdicts by event name."""

    verdicts: dict[str, HookVerdict | Callable[[HookEvent], HookVerdict]] = field(default_factory=dict)
    fired: list[HookEvent] = field(default_factory=list)

    async def fire(self, event: HookEvent) -> HookVerdict:
        self.fired.append(event)
        verdict = self.verdicts.get(event.name, HookVerdict())
        return verdict if isinstance(verdict, HookVerdict) else verdict(event)


@dataclass(slots=True)
class Prompt:
    system: SystemPrompt = SYSTEM

    async def effective(self, step: StepContext) -> SystemPrompt:
        return self.system


@dataclass(slots=True)
class Told:
    """A reminder source that is filled by the test."""

    due: list[tuple[Moment, Reminder]] = field(default_factory=list)

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        now = [r for m, r in self.due if m == moment]
        self.due[:] = [(m, r) for m, r in self.due if m != moment]
        return now


@dataclass(slots=True)
class FixedClock(SystemClock):
    """Real waiting, settable date."""

    date: datetime = field(default_factory=lambda: datetime(2026, 11, 30, 12, tzinfo=UTC))

    def now(self) -> datetime:
        return self.date


def echo(input: Json) -> str:
    return f"echo {input.get('text', '')}"


def broken(input: Json) -> str:
    raise RuntimeError("kaputt")


def refusing(input: Json) -> str:
    raise ToolError("no such file; use Glob to find it")


def standard_tools() -> dict[str, Tool]:
    tools: list[FakeTool] = [
        FakeTool("Echo", echo),
        FakeTool("Put", lambda i: "put", "write"),
        FakeTool("Broken", broken),
        FakeTool("Refusing", refusing),
    ]
    return {t.name: t for t in tools}


@dataclass(slots=True)
class World:
    """Everything of one engine, and what came out of it."""

    agent: Agent
    model: ModelClient
    events: list[Event]
    journal: MemoryJournal
    policy: Policy
    person: Person
    hooks: Hooks
    told: Told
    clock: FixedClock

    @property
    def state(self) -> SessionState:
        return self.agent.state

    @property
    def requests(self) -> list[Any]:
        assert isinstance(self.model, ScriptedClient)
        return self.model.requests

    def sent(self, number: int = -1) -> list[dict[str, Any]]:
        return [message_to_api(m) for m in self.requests[number].messages]

    async def turn(self, text: str = "go") -> TurnFinished:
        return await self.agent.run_turn(UserInput(text))

    def seen(self, kind: type[Event] | tuple[type[Event], ...]) -> list[Any]:
        return [e for e in self.events if isinstance(e, kind)]

    async def until(self, kind: type[Event], count: int = 1) -> Any:
        """Waits for the ``count``-th event of a kind."""
        async with asyncio.timeout(10):
            while len(found := self.seen(kind)) < count:
                await asyncio.sleep(0.001)
        return found[count - 1]


def make(
    script: Iterable[Step] | ModelClient,
    *,
    tools: Mapping[str, Tool] | None = None,
    limits: Limits | None = None,
    delay: float = 0.0,
    workspace: Path | None = None,
    info: ModelInfo | None = None,
    state: SessionState | None = None,
    **rooms: Any,
) -> World:
    model: ModelClient = (
        script if hasattr(script, "stream") else ScriptedClient(script, delay=delay)  # type: ignore[assignment,arg-type]  # Step is not a client
    )
    tools = standard_tools() if tools is None else tools
    events: list[Event] = []
    journal, policy, person, hooks, told, clock = (
        MemoryJournal(),
        Policy(),
        Person(),
        Hooks(),
        Told(),
        FixedClock(),
    )
    place = Workspace(workspace or Path.cwd(), workspace or Path.cwd())

    def context(tool_use_id: str) -> ToolContext:
        return ToolContext(
            workspace=place,
            emit=events.append,
            output=lambda text: None,
            spill=lambda text, suffix: place.start / f"spill{suffix}",
            seen=rooms.get("seen"),
            tool_use_id=tool_use_id,
        )

    state = state or SessionState("s1", "claude-sonnet-5-5", "2026-11-30", tools=tuple(t.spec for t in tools.values()))
    made = Rooms(
        model=model,
        prompt=Prompt(),
        tools=tools,
        gate=policy,
        approver=person,
        context=context,
        emit=events.append,
        clock=clock,
        journal=journal,
        hooks=hooks,
        reminders=Reminders([told]),
        workspace=place,
        model_info=(lambda _: info) if info else None,
    )
    return World(
        Agent(state, replace(made, **rooms), limits), model, events, journal, policy, person, hooks, told, clock
    )


def result_texts(message: Message) -> list[tuple[str, str, bool]]:
    """(call id, text, is_error) of each result of a message."""
    return [
        (r.tool_use_id, "\n".join(c.text for c in r.content if isinstance(c, TextBlock)), r.is_error)
        for r in message.tool_results()
    ]
