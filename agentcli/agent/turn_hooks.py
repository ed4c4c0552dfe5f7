"""The hooks around a whole turn: UserPromptSubmit and Stop."""

from __future__ import annotations

from agentcli.agent.conversation import Conversation
from agentcli.agent.rooms import Limits, Rooms
from agentcli.agent.stops import Ending
from agentcli.events import Notice
from agentcli.ports.permissions import HookEvent, HookVerdict


class TurnHooks:
    """Hooks of one turn.  A Stop hook may object ``stop_hook_cap`` times; from the second time its input says
    ``stop_hook_active``."""

    def __init__(self, rooms: Rooms, limits: Limits, talk: Conversation) -> None:
        self._rooms = rooms
        self._limits = limits
        self._talk = talk
        self._objections = 0

    async def blocked(self, prompt: str) -> Ending | None:
        """How the turn ends before it begins, if a hook blocks the prompt."""
        verdict = await self._fire("UserPromptSubmit", {"prompt": prompt})
        if verdict.behavior != "deny" and not verdict.stop:
            return None
        reason = verdict.reason or verdict.stop_reason or "A UserPromptSubmit hook blocked the prompt."
        return Ending("hook_stopped", reason, "prompt_blocked")

    async def stopping(self, last_text: str) -> Ending | None:
        """The end of the turn; ``None`` when a Stop hook wants it to go on."""
        fields = {"stop_hook_active": self._objections > 0, "last_assistant_message": last_text}
        verdict = await self._fire("Stop", fields)
        if verdict.behavior != "deny" or verdict.stop:
            return Ending()
        self._objections += 1
        if self._limits.stop_hook_cap and self._objections > self._limits.stop_hook_cap:
            text = f"A Stop hook objected more than {self._limits.stop_hook_cap} times in a row; stopped."
            return Ending("hook_stopped", text, "stop_hook")
        self._talk.note("stop-hook", f"A Stop hook wants you to go on: {verdict.reason or 'no reason given'}")
        return None

    async def _fire(self, name: str, fields: dict[str, object]) -> HookVerdict:
        verdict = await self._rooms.hooks.fire(HookEvent(name, fields=fields))
        for context in verdict.context:
            self._talk.note(f"hook:{name}", context)
        for message in verdict.messages:
            self._rooms.emit(Notice("info", message, "hook"))
        return verdict
