"""One prompt, from the line that brought it to its result: slash commands, turns, answers as data."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentcli.env import number
from agentcli.errors import TurnError, UserError
from agentcli.events import Event, ToolFinished, TurnFinished, TurnStarted
from agentcli.messages import Usage
from agentcli.model.client import AnthropicClient
from agentcli.ports.frontend import Choice, UserInput
from agentcli.ports.prompt import Reminder
from agentcli.runtime.mentions import expand_mentions
from agentcli.runtime.session import Session
from agentcli.ui.headless.alone import Alone
from agentcli.ui.headless.inputs import Prompt
from agentcli.ui.headless.lines import Line, Lines
from agentcli.ui.headless.result import RunResult, Structured, joined, out_of_turns
from agentcli.ui.headless.structured import RETRIES, OutputSchema


class NoDialogs:
    """Nobody can be asked."""

    async def choose(self, title: str, choices: Sequence[Choice], *, current: str | None = None) -> str | None:
        return None

    async def confirm(self, question: str, *, detail: str = "") -> bool:
        return False

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        return None

    async def show(self, text: str) -> None:
        return None


@dataclass(slots=True)
class Turns:
    """Runs prompts one after the other.  ``tell`` takes lines that stand for no event of the session; ``stopped``
    gives the exit code of what ends the run from outside, or 0."""

    session: Session
    lines: Lines
    tell: Callable[[Line], None]
    stopped: Callable[[], int]
    schema: OutputSchema | None = None
    strict: bool = False
    alone: Alone | None = None
    """What goes on behind the prompt's turn, where the agent works on its own."""
    finished: bool = False
    """A command asked for the end of the session."""
    _denials: list[Mapping[str, Any]] = field(default_factory=list)
    _name: str = ""
    _starting: bool = False
    _interrupt: bool = False

    def hear(self, event: Event) -> None:
        match event:
            case ToolFinished(denied=True):
                call = {"tool_name": event.name, "tool_use_id": event.tool_use_id}
                self._denials.append({**call, "tool_input": dict(self.session.call_input(event.tool_use_id))})
            case TurnStarted():
                if self._name:
                    self.session.checkpoints.name_turn(self._name)
                self._starting = False
                if self._interrupt:
                    self._interrupt = False
                    asyncio.get_running_loop().call_soon(self.session.interrupt)
            case _:
                pass

    def prepare(self) -> None:
        """Call once before the first prompt: the API is asked to hold answers to the schema where it can."""
        form = self.schema.api_form() if self.schema else None
        if form is not None and _can_hold(self.session):
            self.session.state.output_schema = form

    def interrupt(self, *, about_to_begin: bool = False) -> None:
        """Ends the running turn, also one that is just about to begin."""
        if self._starting or about_to_begin:
            self._interrupt = True
        self.session.interrupt()

    async def run(self, prompt: Prompt, name: str = "") -> RunResult:
        """The prompt's one result.  Never raises for what ends a turn.  ``name`` is what the client calls it."""
        self._name = name
        self._denials.clear()
        self._starting = True
        try:
            done = prompt.input if prompt.verbatim else await self._meant(prompt.input)
            turn, structured = await self._answered(done) if isinstance(done, UserInput) else (done, None)
        finally:
            self._starting = self._interrupt = False
        return RunResult(
            turn=turn,
            session_id=self.session.id,
            usage=turn.usage,
            total_cost=self.session.run_cost(),
            by_model=self.session.model_usage(),
            cache=self.session.monitor.summary(),
            denials=tuple(self._denials),
            signal=self.stopped() if turn.outcome == "interrupted" or self.alone is not None else 0,
            strict_permissions=self.strict,
            structured=structured,
            prompt_uuid=prompt.uuid,
            self_started=prompt.self_started,
        )

    async def _answered(self, prompt: UserInput) -> tuple[TurnFinished, Structured | None]:
        """The turn, and with a schema as many more as it takes until the answer fits."""
        if self.alone is not None:
            first = self.alone.first(prompt)
            return await self.alone.go_on(await self.session.run(first), self.session.run), None
        if self.schema is None:
            return await self.session.run(prompt), None
        if self.session.state.output_schema is None:
            self.session.state.pending.append(Reminder("output_schema", self.schema.instruction()))
        whole = await self.session.run(prompt)
        limits = self.session.agent.limits
        allowed = limits.max_turns
        retries = number("MAX_STRUCTURED_OUTPUT_RETRIES", RETRIES, self.session.world.env)
        try:
            while True:
                if whole.outcome != "completed":
                    return whole, Structured(problem="there is no answer")
                found = self.schema.read(whole.text)
                if not found.problem or retries <= 0:
                    return whole, found
                retries -= 1
                if allowed is not None:
                    limits.max_turns = allowed - whole.steps
                    if limits.max_turns <= 0:
                        return out_of_turns(whole, f"--max-turns {allowed} was reached before the answer fitted"), found
                words = self.schema.correction(found.problem)
                self.tell(self.lines.user(words))
                whole = joined(whole, await self.session.run(UserInput(words)))
        finally:
            limits.max_turns = allowed

    async def _meant(self, prompt: UserInput) -> TurnFinished | UserInput:
        """What a slash command did, or the prompt with what it mentions attached."""
        done = await self._command(prompt)
        return await expand_mentions(prompt, self.session) if done is prompt else done

    async def _command(self, prompt: UserInput) -> TurnFinished | UserInput:
        """What a slash command did, or what a turn has to answer: the prompt itself where it is no command."""
        if not prompt.text.startswith("/") or prompt.attachments:
            return prompt
        from agentcli.commands.base import CommandContext
        from agentcli.commands.mcp import prompt_commands
        from agentcli.commands.registry import Registry, parse
        from agentcli.commands.skills import slash_commands

        session = self.session
        registry = Registry(lambda: (*slash_commands(session.extensions), *prompt_commands(session.mcp)))
        found = parse(prompt.text)
        if found and found[0].startswith("mcp__") and session.mcp is not None:
            await session.mcp.wait_named(found[0])
            await session.mcp.between_steps()  # its prompts are listed once it is connected
        command = registry.find(found[0]) if found else None
        if command is None or found is None:
            return prompt
        began = self.session.world.clock.monotonic()
        try:
            done = await command.run(CommandContext(self.session, NoDialogs(), registry.all()), found[1])
        except (UserError, TurnError) as error:
            return self._local("error", began, error=str(error))
        if done.resume:
            return self._local("error", began, error=f"/{command.name} can't change the session here; use --resume")
        self.finished = done.exit
        if done.prompt is not None:
            return done.prompt
        if done.text:
            self.tell(self.lines.system("local_command_output", {"content": done.text}))
        return self._local("completed", began, text=done.text)

    def _local(self, outcome: Any, began: float, *, text: str = "", error: str = "") -> TurnFinished:
        seconds = self.session.world.clock.monotonic() - began
        kind = "command" if error else ""
        return TurnFinished(0, outcome, text, 0, seconds, 0.0, Usage(), 0.0, error, kind)


def _can_hold(session: Session) -> bool:
    """Whether server and model are known to hold answers to a schema (structured-outputs page)."""
    client = session.client
    return isinstance(client, AnthropicClient) and client.connection.first_party and session.info.known
