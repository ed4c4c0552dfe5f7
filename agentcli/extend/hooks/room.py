"""All hooks of a session: which run for an event, in parallel, and their one joined answer."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentcli.extend.agents import AgentDefinition
from agentcli.extend.hooks.answers import join
from agentcli.extend.hooks.config import TOOL_EVENTS, Handler, HookConfig, hooks_of
from agentcli.extend.hooks.running import HookMeans, run_hook
from agentcli.messages import Json
from agentcli.ports.permissions import HookEvent, HookVerdict
from agentcli.text import clean_json

LONGEST = 10_000
"""Characters of a hook's text that are passed on; a longer one goes to a file."""
PREVIEW = 2_000
_NOT_FOR_AGENTS = frozenset({"UserPromptSubmit", "SessionStart", "SessionEnd", "Notification"})


class HookRoom:
    """The session's ``ports.permissions.Hooks``.

    A hook that fails, hangs, floods or is missing is told to the user and blocks nothing; its whole process group is
    ended.  Cancelling ``fire`` ends what runs.
    """

    def __init__(self, config: HookConfig, means: HookMeans, *, agent: Json | None = None) -> None:
        self.config = config
        self._means = means
        self._agent = agent
        self._background: set[asyncio.Task[None]] = set()
        self._news: list[str] = []
        self._own: tuple[Handler, ...] = ()

    def use(self, config: HookConfig) -> None:
        """The settings were read again."""
        self.config = config if config.off else replace(config, handlers=(*config.handlers, *self._own))

    def keep(self, agent: AgentDefinition) -> None:
        """The hooks of the agent that the main thread runs as, beside those of the settings."""
        own = hooks_of(agent.hooks, str(agent.path))
        for warning in own.warnings:
            self._means.notify(warning)
        self._own = own.handlers
        self.use(self.config)

    def for_agent(self, agent: AgentDefinition, agent_id: str, *, cwd: Path | None = None) -> HookRoom:
        """The hooks while a subagent works (in ``cwd``, where that is not the session's): the session's and the
        definition's own.  What the engine fires as Stop is SubagentStop there."""
        own = hooks_of(agent.hooks, str(agent.path))
        for warning in own.warnings:
            self._means.notify(warning)
        turned = tuple(replace(h, event="SubagentStop", matcher="") if h.event == "Stop" else h for h in own.handlers)
        config = replace(self.config, handlers=(*self.config.handlers, *turned))
        means, known = self._means, {"agent_id": agent_id, "agent_type": agent.name}
        if cwd is not None:
            means, known = replace(means, cwd=lambda: cwd), {**known, "cwd": str(cwd)}
        return HookRoom(config, means, agent=known)

    def matching(self, event: str, subject: str, input: Json | None = None) -> tuple[Handler, ...]:
        """The hooks that would run, in order."""
        found = self.config.of(event, subject)
        if event not in TOOL_EVENTS or input is None:
            return found
        return tuple(h for h in found if self._condition(h, subject, input))

    async def fire(self, event: HookEvent) -> HookVerdict:
        """Runs every hook of the event.  ``CancelledError`` only after all of them have ended."""
        event = self._at_home(event)
        if self._agent is not None and event.name in _NOT_FOR_AGENTS:
            return HookVerdict()
        fields = dict(event.fields or {})
        handlers = self.matching(event.name, event.matcher, fields.get("tool_input"))
        if not handlers:
            return HookVerdict()
        payload = self._payload(event.name, fields)
        for handler in handlers:
            if handler.background:
                self._start(handler, payload)
        waited = [h for h in handlers if not h.background]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run_hook(h, payload, self._means)) for h in waited]
        return join((t.result() for t in tasks), self._fit)

    def news(self) -> list[str]:
        """What hooks in the background have to tell the model, each once."""
        told, self._news = self._news, []
        return told

    async def close(self) -> None:
        """Ends hooks in the background."""
        tasks = list(self._background)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _at_home(self, event: HookEvent) -> HookEvent:
        if self._agent is None or event.name != "Stop":
            return event
        return HookEvent("SubagentStop", str(self._agent["agent_type"]), event.fields)

    def _payload(self, name: str, fields: dict[str, Any]) -> str:
        whole = {**self._means.common(), **(self._agent or {}), "hook_event_name": name, **fields}
        return json.dumps(clean_json(whole), ensure_ascii=False, default=str)

    def _condition(self, handler: Handler, tool: str, input: Json) -> bool:
        """Whether the hook's ``if`` is about this call.  Without somebody who can tell, the tool's name decides: a
        hook that guards something must rather run once too often."""
        if not handler.condition:
            return True
        if self._means.matches_rule is None:
            return handler.condition.partition("(")[0].strip() == tool
        return self._means.matches_rule(handler.condition, tool, dict(input))

    def _start(self, handler: Handler, payload: str) -> None:
        task = asyncio.get_running_loop().create_task(self._alone(handler, payload))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _alone(self, handler: Handler, payload: str) -> None:
        """A hook that nobody waits for: it can block nothing any more."""
        answer = await run_hook(handler, payload, self._means)
        for message in answer.messages:
            self._means.notify(self._fit(message))
        if handler.wakes and answer.behavior == "deny":
            self._news.append(self._fit(f"A {handler.event} hook says: {answer.reason or 'no reason given'}"))

    def _fit(self, text: str) -> str:
        if len(text) <= LONGEST:
            return text
        try:
            where = f"the whole text ({len(text):,} characters) is in {self._means.spill(text, '.txt')}"
        except OSError as error:
            where = f"{len(text) - PREVIEW:,} characters left out; they could not be kept: {error.strerror or error}"
        return f"{text[:PREVIEW]}\n[… {where}]"
