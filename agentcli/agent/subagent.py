"""One subagent: an engine of its own with a fresh conversation, from a task to a report."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agentcli.agent.agent import Agent
from agentcli.agent.closing import to_the_end
from agentcli.agent.rooms import Limits, Rooms
from agentcli.agent.state import SessionState
from agentcli.agent.subagent_budget import Purse, Watch
from agentcli.errors import Bug, ToolError
from agentcli.events import (
    Emit,
    Event,
    FromSubagent,
    Notice,
    StepStarted,
    ToolResultsAppended,
    ToolStarted,
    TurnFinished,
)
from agentcli.messages import Usage
from agentcli.ports.agents import AgentOrder, AgentState, AgentTask
from agentcli.ports.frontend import UserInput
from agentcli.ports.permissions import HookEvent
from agentcli.ports.prompt import Reminder
from agentcli.ports.tools import AgentBudget, AgentReport
from agentcli.processes import owned_by
from agentcli.text import clean, head_tail

if TYPE_CHECKING:
    from agentcli.agent.subagent_crew import Crew

MAX_REPORT = 32_000
"""Characters of a report that reach the caller unless something else is set; the whole of a longer one is in a file."""
REPORT = (
    "Another agent gave you this task and gets nothing but your last answer. Make that a report of what it needs to go "
    "on: 1,000 to 2,000 tokens at most, usually less. Nobody answers questions meanwhile: decide, and say what you "
    "assumed."
)
"""Told with every task's first message."""


async def _at_once() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What the runtime makes for a new subagent.

    ``ready`` is called before each task (``ToolError`` where it can't begin), ``close`` after it: that ends what the
    agent left, and says in sentences what its caller has to know of it.  ``spill`` keeps a whole oversized text.
    """

    state: SessionState
    rooms: Rooms
    limits: Limits
    name: str
    """The kind's exact name."""
    color: str = ""
    ready: Callable[[], Awaitable[None]] = _at_once
    close: Callable[[], Awaitable[list[str]]]
    spill: Callable[[str, str], Path]
    longest: int = MAX_REPORT
    """Characters of a report that reach the caller."""
    stall: float = 0.0
    """Seconds without a sign of life after which one in the background is ended; 0: never."""
    transcript: str = ""
    """Path of the transcript, where it is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hire:
    """What a subagent's kit is made from.  ``depth`` is 1 for those of the main agent; ``crew`` its own subagents;
    ``above`` the id of the agent that hires it (empty: the main one); ``emit`` sends an event up, wrapped."""

    id: str
    order: AgentOrder
    depth: int
    may_spawn: bool
    crew: Crew
    above: str
    emit: Emit


class Outfitter(Protocol):
    """The runtime's part in a spawn."""

    async def __call__(self, hire: Hire) -> Kit:
        """``ToolError`` for a kind that there is not, a model or a place that can't be had."""


class Subagent:
    """``run`` takes a task to a report, as often as it is asked; the conversation goes on."""

    def __init__(
        self,
        id: str,
        order: AgentOrder,
        budget: AgentBudget,
        *,
        call_id: str,
        background: bool,
        above: Subagent | None = None,
    ) -> None:
        self.id = id
        self._above = above
        self.order = order
        self.call_id = call_id
        self.background = background
        self.state: AgentState = "running"
        self.report = AgentReport("")
        self._budget = budget
        self._purse = Purse(budget, self.interrupt)
        self._watch = Watch(0, self.interrupt)
        self._kit: Kit | None = None
        self._agent: Agent | None = None
        self._crew: Crew | None = None
        self._began = 0.0
        self._seconds = 0.0
        self._doing = ""
        self._notes: list[str] = []
        """What there is to say of its end beside the report."""
        self._before = (0, 0)
        """Requests and tokens of earlier runs."""

    def outfit(self, kit: Kit, crew: Crew, account: Callable[[str, Usage, float | None], None]) -> None:
        """Takes on what the runtime made.  ``account`` hears of everything that is spent here and below."""

        def spend(model: str, usage: Usage, cost: float | None) -> None:
            self._purse.charge(usage, cost)
            account(model, usage, cost)

        kit.state.on_spend = spend
        crew.account, crew.owner = kit.state.spend, self
        self._kit, self._crew = kit, crew
        self._agent = Agent(kit.state, kit.rooms, kit.limits)
        self._watch = Watch(kit.stall, self.interrupt)

    def wrapped(self, emit: Emit) -> Emit:
        """Sends the agent's events up, and counts the requests in them."""

        def up(event: Event) -> None:
            emit(FromSubagent(self.kind, self.call_id, event))
            self._watch.heard(event)
            if isinstance(event, ToolStarted):
                self._doing = f"{event.name} {event.title}".strip()
            elif isinstance(event, ToolResultsAppended | TurnFinished):
                self._doing = ""
            while isinstance(event, FromSubagent):
                event = event.event
            if isinstance(event, StepStarted):
                self._purse.begin()
                if self.over:  # a bound of an agent above: nothing more is sent down here
                    self.interrupt()

        return up

    @property
    def over(self) -> bool:
        """Whether its budget is used up, or that of an agent above it."""
        return bool(self._purse.reason) or (self._above is not None and self._above.over)

    @property
    def _aside(self) -> bool:
        """Whether nobody waits for it, or for an agent above it."""
        return self.background or (self._above is not None and self._above._aside)

    @property
    def kind(self) -> str:
        return self._kit.name if self._kit else self.order.agent

    @property
    def task(self) -> AgentTask:
        """As it is now."""
        steps, tokens = self._before
        purse, kit = self._purse, self._kit
        running = self.state == "running" and kit is not None
        return AgentTask(
            self.id,
            self.kind,
            self.order.description,
            self.state,
            self.background,
            steps + purse.turns,
            tokens + purse.tokens,
            kit.state.cost if kit else 0.0,
            kit.rooms.clock.monotonic() - self._began if running and kit else self._seconds,
            self._doing,
            kit.color if kit else "",
            self.call_id,
        )

    def interrupt(self) -> None:
        """Ends the running task and everything below it; its report says so."""
        if self._agent is not None:
            self._agent.interrupt()

    def exhaust(self, reason: str) -> None:
        """Ends the running task as its own budget would."""
        self._purse.exhaust(reason)

    def steer(self, message: str) -> None:
        """For delivery between two steps."""
        if self._agent is not None:
            self._agent.steer(UserInput(clean(message)))

    async def run(self, prompt: str) -> AgentReport:
        """One task.  Never raises for what ends it but ``CancelledError``; nothing of it runs any more then."""
        kit, agent, crew = self._kit, self._agent, self._crew
        if kit is None or agent is None or crew is None:
            raise Bug("a subagent can't work before it has been outfitted")
        self._begin(kit)
        finished: TurnFinished | None = None
        cause = ""
        try:
            await kit.ready()
            if not kit.state.messages:
                await self._start_hook(kit)
            if self._aside:
                self._watch.open()
            with owned_by(self.id):
                finished = await agent.run_turn(UserInput(clean(prompt)))
        except ToolError as error:
            cause = str(error)
        finally:
            self._watch.close()
            reason = self._purse.reason
            await to_the_end(self._end(kit, crew))
        self.report = self._reported(kit, finished, reason) if finished else self._made(cause, is_error=True)
        self.state = "failed" if self.report.is_error else "finished"
        return self.report

    async def _end(self, kit: Kit, crew: Crew) -> None:
        """Nothing of the task runs any more, and nothing of it is lost."""
        self._purse.close()
        self.state = "stopped"
        self._seconds = kit.rooms.clock.monotonic() - self._began
        await crew.close()
        self._notes = await kit.close()

    def stopped(self, reason: str) -> AgentReport:
        """The report of an agent that was ended from outside."""
        self.state = "stopped"
        last = self._last_words()
        text = f"{self.id} was stopped before it was done{f': {reason}' if reason else ''}."
        words = [text, *([f"Its last words:\n{last}"] if last else []), *self._notes]
        self.report = self._made("\n\n".join(words), is_error=True)
        return self.report

    def _begin(self, kit: Kit) -> None:
        self._before = (self._before[0] + self._purse.turns, self._before[1] + self._purse.tokens)
        self._purse = Purse(self._budget, self.interrupt)
        self._began = kit.rooms.clock.monotonic()
        self.state = "running"
        self._purse.open()

    async def _start_hook(self, kit: Kit) -> None:
        verdict = await kit.rooms.hooks.fire(HookEvent("SubagentStart", kit.name, {}))
        kit.state.pending.extend(Reminder("hook:SubagentStart", text) for text in verdict.context)
        for message in verdict.messages:
            kit.rooms.emit(Notice("info", message, "hook"))

    def _reported(self, kit: Kit, finished: TurnFinished, reason: str) -> AgentReport:
        text = finished.text.strip()
        silent = self._watch.reason
        done = finished.outcome == "completed" and not reason
        if not done:
            ending = silent or finished.error or f"it was {finished.outcome}"
            why = f"its budget is used up ({reason})" if reason else ending
            said = f"\n\nIts last words:\n{text or self._last_words()}" if text or self._last_words() else ""
            text = f"The agent stopped before it was done: {why}.{said}"
        elif not text:
            text = "The agent ended without a report."
        return self._made(self._fitting(kit, text), is_error=not done)

    def _fitting(self, kit: Kit, text: str) -> str:
        cut = head_tail(text, kit.longest)
        if cut.dropped:
            try:
                where = f"the whole report is in {kit.spill(text, '.md')}"
            except OSError as error:
                where = f"it could not be kept: {error.strerror or error}"
            text = f"{cut.head}\n[{cut.dropped:,} characters left out; {where}]\n{cut.tail}"
        return "\n\n".join([text, *self._notes])

    def _made(self, text: str, *, is_error: bool) -> AgentReport:
        return AgentReport(text, is_error, self.task.steps, self.id, self.kind)

    def _last_words(self) -> str:
        messages = self._kit.state.messages if self._kit else []
        texts = (m.text().strip() for m in reversed(messages) if m.role == "assistant")
        return next((t for t in texts if t), "")
