"""The subagents of one agent: started, continued, stopped, and their end told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentcli.agent.subagent import Hire, Outfitter, Subagent
from agentcli.agent.subagent_budget import narrower
from agentcli.errors import ToolError
from agentcli.events import Emit, JobChanged, Notice
from agentcli.messages import Usage
from agentcli.ports.agents import AgentEnd, AgentOrder, AgentTask
from agentcli.ports.prompt import Moment, Reminder
from agentcli.ports.tools import AgentBudget, AgentReport
from agentcli.text import one_line, plural

DEPTH = 3
CONCURRENT = 20
KEPT = 100
"""So many ended agents can be continued; of older ones only the transcript is left."""
BUDGET = AgentBudget(turns=500)
"""Of each subagent with everything below it, where nothing else is set: a bound for what has run away."""


@dataclass(slots=True, kw_only=True)
class Office:
    """What all subagents of a session have in common.

    ``depth`` is how deep they may nest (1: only the main agent has some), ``concurrent`` how many work at once,
    ``budget`` the bounds of each tree.  ``always_background`` says of a kind whether it never holds its caller up.
    ``number`` is that of the last one.
    """

    outfit: Outfitter
    depth: int = DEPTH
    concurrent: int = CONCURRENT
    budget: AgentBudget = BUDGET
    always_background: Callable[[str], bool] = lambda kind: False
    working: set[str] = field(default_factory=set)
    number: int = 0

    def next_id(self) -> str:
        self.number += 1
        return f"agent_{self.number}"

    def enter(self, id: str) -> None:
        if len(self.working) >= self.concurrent:
            raise ToolError(f"{plural(len(self.working), 'agent')} are at work, and no more can be. Wait for reports.")
        self.working.add(id)


class Crew:
    """The subagents of one agent, which stands at ``depth`` (0: the main one).  ``emit`` sends an event up as that
    agent's, ``account`` hears of what its subagents spend; ``owner`` is that agent, where it is a subagent itself."""

    def __init__(self, office: Office, emit: Emit, *, depth: int = 0) -> None:
        self.office = office
        self.account: Callable[[str, Usage, float | None], None] = lambda model, usage, cost: None
        self.owner: Subagent | None = None
        self.kinds: frozenset[str] | None = None
        """The kinds that it may hire; ``None``: every one."""
        self._emit = emit
        self._depth = depth
        self._members: dict[str, Subagent] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._untold: list[Subagent] = []
        self._changed = asyncio.Condition()

    def for_call(self, tool_use_id: str) -> Desk:
        """``Delegation`` for one tool call: events of agents that it starts are told as that call's."""
        return Desk(self, tool_use_id)

    def list(self) -> tuple[AgentTask, ...]:
        return tuple(member.task for member in self._members.values())

    @property
    def working(self) -> bool:
        """Whether background agents are at work."""
        return bool(self._tasks)

    async def hire(self, order: AgentOrder, call_id: str, *, background: bool = False) -> Subagent:
        """A new agent with everything it needs; it has not begun yet.  ``ToolError`` if it can't be had."""
        office = self.office
        depth = self._depth + 1
        if depth > office.depth:
            raise ToolError(f"Agents may nest {office.depth} deep, and this one stands there. Do the work yourself.")
        if self.kinds is not None and order.agent.lower() not in self.kinds:
            may = ", ".join(sorted(self.kinds)) or "none"
            raise ToolError(f"You can't start {order.agent!r}. Kinds of agents that you may start: {may}.")
        id = office.next_id()
        office.enter(id)
        try:
            budget = narrower(order.budget, office.budget)
            member = Subagent(id, order, budget, call_id=call_id, background=background, above=self.owner)
            emit = member.wrapped(self._emit)
            crew = Crew(office, emit, depth=depth)
            member.outfit(await office.outfit(self._hire(id, order, crew, emit)), crew, self.account)
        except BaseException:
            office.working.discard(id)
            raise
        self._members[id] = member
        self._forget_old()
        return member

    def _hire(self, id: str, order: AgentOrder, crew: Crew, emit: Emit) -> Hire:
        above = self.owner.id if self.owner else ""
        depth = self._depth + 1
        return Hire(
            id=id, order=order, depth=depth, may_spawn=depth < self.office.depth, crew=crew, above=above, emit=emit
        )

    def again(self, member: Subagent, call_id: str) -> None:
        """An agent that has ended is to go on.  ``ToolError`` while too many are at work."""
        self.office.enter(member.id)
        member.call_id = call_id

    async def work(self, member: Subagent, prompt: str) -> AgentReport:
        """The task of a member that has its place, in the foreground."""
        try:
            return await member.run(prompt)
        finally:
            self.office.working.discard(member.id)

    def work_in_background(self, member: Subagent, prompt: str) -> AgentTask:
        member.background = True
        self._tasks[member.id] = asyncio.create_task(self._alone(member, prompt))
        member.state = "running"
        self._tell(member)
        return member.task

    async def stop(self, agent_id: str) -> AgentTask:
        """Ends a background agent and everything below it; its end is not told again."""
        member = self.find(agent_id)
        task = self._tasks.get(agent_id)
        if task is not None:
            _cancel(task)
            await asyncio.wait({task})
            self._untold = [m for m in self._untold if m is not member]
        elif member.state == "running":
            member.interrupt()
        return member.task

    def find(self, agent_id: str) -> Subagent:
        """``ToolError`` for an id that there is not."""
        member = self._members.get(agent_id)
        if member is None:
            known = ", ".join(f"{m.id} ({m.kind})" for m in self._members.values()) or "none"
            raise ToolError(f"There is no agent {agent_id!r} that could be reached. There are: {known}.")
        return member

    def take_ended(self) -> tuple[AgentEnd, ...]:
        """Background agents that ended and whose report was not told; each once."""
        ended, self._untold = self._untold, []
        return tuple(AgentEnd(m.task, m.report) for m in ended)

    async def wait_ended(self) -> None:
        """Until there is an end to tell; never returns without background agents."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._untold)

    async def outstanding(self) -> bool:
        """Waits while background agents are at work and none has ended; whether there is something to tell."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._untold or not self._tasks)
        return bool(self._untold)

    async def untold(self) -> bool:
        """Whether there is something to tell now."""
        return bool(self._untold)

    def interrupt(self) -> None:
        """Stops every background agent."""
        for task in self._tasks.values():
            _cancel(task)

    def halt(self, reason: str) -> None:
        """Ends all work, for the same reason that ends the agent's own."""
        for member in self._members.values():
            if member.state == "running":
                member.exhaust(reason)

    async def close(self) -> None:
        """Ends all background agents, and waits until they have ended."""
        while self._tasks:
            self.interrupt()
            await asyncio.wait(set(self._tasks.values()))

    async def _alone(self, member: Subagent, prompt: str) -> None:
        try:
            await member.run(prompt)
        except asyncio.CancelledError:
            member.stopped("")
            raise
        except Exception as error:  # a fault of ours ends the agent, and both the caller and the user hear of it
            text = f"{member.id} failed unexpectedly ({type(error).__name__}: {error})"
            member.stopped(text)
            self._emit(Notice("error", text, "agent_failed"))
        finally:
            self.office.working.discard(member.id)
            del self._tasks[member.id]
            self._untold.append(member)
            self._tell(member)
            async with self._changed:
                self._changed.notify_all()

    def _tell(self, member: Subagent) -> None:
        match member.state:
            case "running":
                self._emit(JobChanged(member.id, _name(member.task), "running", agent=True))
            case "stopped":
                self._emit(JobChanged(member.id, _name(member.task), "killed", agent=True))
            case state:
                self._emit(JobChanged(member.id, _name(member.task), "finished", int(state == "failed"), agent=True))

    def _forget_old(self) -> None:
        idle = [i for i, m in self._members.items() if m.state != "running" and m not in self._untold]
        for id in idle[: max(0, len(self._members) - KEPT)]:
            del self._members[id]


@dataclass(frozen=True, slots=True)
class Desk:
    """``ports.agents.Delegation`` of one tool call."""

    crew: Crew
    call_id: str

    def in_background(self, agent: str) -> bool:
        return self.crew.office.always_background(agent)

    async def spawn(self, agent: str, prompt: str, budget: AgentBudget) -> AgentReport:
        return await self.run(AgentOrder(agent=agent, prompt=prompt, budget=budget))

    async def run(self, order: AgentOrder) -> AgentReport:
        member = await self.crew.hire(order, self.call_id)
        return await self.crew.work(member, order.prompt)

    async def start(self, order: AgentOrder) -> AgentTask:
        member = await self.crew.hire(order, self.call_id, background=True)
        return self.crew.work_in_background(member, order.prompt)

    async def go_on(self, agent_id: str, message: str) -> AgentReport | None:
        member = self.crew.find(agent_id)
        if member.state == "running":
            member.steer(message)
            return None
        self.crew.again(member, self.call_id)
        return await self.crew.work(member, message)

    async def go_on_in_background(self, agent_id: str, message: str) -> AgentTask:
        member = self.crew.find(agent_id)
        if member.state == "running":
            member.steer(message)
            return member.task
        self.crew.again(member, self.call_id)
        return self.crew.work_in_background(member, message)

    async def stop(self, agent_id: str) -> AgentTask:
        return await self.crew.stop(agent_id)

    def list(self) -> tuple[AgentTask, ...]:
        return self.crew.list()


class CrewReminders:
    """Tells an agent the reports of its background agents; after a compaction also who is still at work."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        if moment == "file_touched":
            return []
        reminders = [Reminder(f"agent:{end.task.id}", _end_text(end)) for end in self._crew.take_ended()]
        if moment == "after_compaction":
            lines = [f"- {t.id} ({_name(t)}): {t.state}" for t in self._crew.list()[-KEPT:]]
            if lines:
                reminders.append(Reminder("agents", "\n".join(["Your agents, reachable by id:", *lines])))
        return reminders


def _cancel(task: asyncio.Task[None]) -> None:
    """Not before its first step, without which nobody would tell its end and close what it was given."""
    asyncio.get_running_loop().call_soon(task.cancel)


def _name(task: AgentTask) -> str:
    return f"{task.agent}: {one_line(task.description)}" if task.description else task.agent


def _end_text(end: AgentEnd) -> str:
    task = end.task
    if task.state == "stopped":
        return end.report.text
    return f"The agent {task.id} ({_name(task)}) reports after {plural(task.steps, 'step')}:\n\n{end.report.text}"
