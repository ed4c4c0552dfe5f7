"""A session's extensions at work: hooks joined, skills granted what they bring, both told what happens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from agentcli.extend.hooks import HookRoom
from agentcli.extend.room import Extensions
from agentcli.messages import Message
from agentcli.ports.permissions import Behavior, HookEvent, Hooks, HookVerdict, NoHooks
from agentcli.ports.skills import InvokedSkill
from agentcli.runtime.extension_means import Connections, SkillGrants, connect, renew
from agentcli.runtime.session_hooks import SessionHooks, Source
from agentcli.runtime.turnmodel import TurnModel
from agentcli.settings.merged import Settings

_ORDER: tuple[Behavior | None, ...] = ("deny", "ask", "allow", None)


@dataclass(frozen=True, slots=True)
class JointHooks:
    """Hooks of the settings and of whoever drives the session, side by side.  A deny of either wins."""

    first: Hooks
    second: Hooks

    async def fire(self, event: HookEvent) -> HookVerdict:
        a, b = await asyncio.gather(self.first.fire(event), self.second.fire(event))
        leading, other = (a, b) if _ORDER.index(a.behavior) <= _ORDER.index(b.behavior) else (b, a)
        return HookVerdict(
            behavior=leading.behavior,
            reason=leading.reason or other.reason,
            updated_input=leading.updated_input if leading.updated_input is not None else other.updated_input,
            context=(*a.context, *b.context),
            messages=(*a.messages, *b.messages),
            stop=a.stop or b.stop,
            stop_reason=a.stop_reason or b.stop_reason,
            extra={**(b.extra or {}), **(a.extra or {})} or None,
            updates=(*a.updates, *b.updates),
            interrupt=a.interrupt or b.interrupt,
        )


class Extended:
    """What a session does with its extensions, from its start to its end.

    ``given`` are hooks of the program that drives the session; ``tell(key, text)`` has the model told with the next
    message; ``window`` is the model's window in tokens.
    """

    def __init__(
        self,
        extensions: Extensions,
        means: Connections,
        *,
        given: Hooks,
        emit: Callable[..., None],
        tell: Callable[[str, str], None],
        window: Callable[[], int],
    ) -> None:
        self.extensions = extensions
        self.room: HookRoom = connect(extensions, means)
        self.hooks: Hooks = self.room if isinstance(given, NoHooks) else JointHooks(given, self.room)
        self.around = SessionHooks(self.hooks, emit, tell)
        self.model: TurnModel | None = None
        """Gives turns the model that skills bring.  Set by the runtime once there is one to switch."""
        self._grants = SkillGrants(means.gate, means.world.workspace.start)
        extensions.on_invoke = self._invoked
        extensions.window = window

    def resume(self, sections: Mapping[str, str | None], messages: Iterable[Message], *, skill_tool: bool) -> None:
        """A session is resumed with these section values and messages."""
        self.extensions.resume(sections, messages, skill_tool=skill_tool)

    def begin(self, source: Source, *, model: str) -> None:
        """A conversation begins; nothing waits for the hooks but its first request."""
        self.around.begin(source, model=model)

    async def turn_begins(self) -> None:
        """Before a prompt is taken on.  Cancelled, the hooks go on."""
        try:
            await self.around.ready()
        finally:
            self._grants.turn_begins()
            if self.model is not None:
                self.model.turn_begins()

    def turn_ended(self) -> None:
        self._grants.turn_ended()
        if self.model is not None:
            self.model.turn_ended()

    def _invoked(self, skill: InvokedSkill) -> None:
        self._grants.give(skill)
        if self.model is not None:
            self.model.give(skill)

    async def cleared(self, *, model: str) -> None:
        """``/clear``: the one conversation ended, another begins."""
        await self.around.end("clear")
        self.extensions.clear()
        self.begin("clear", model=model)

    def reloaded(self, settings: Settings) -> None:
        """The settings were read again."""
        renew(self.extensions, settings)

    async def close(self) -> None:
        """Before the processes are ended."""
        await self.around.end("other")
        await self.room.close()
