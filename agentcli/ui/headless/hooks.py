"""Hooks that live in the client: ``hook_callback`` goes out for each that matches, their answers make one verdict."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agentcli.errors import UsageError
from agentcli.messages import Json
from agentcli.ports.permissions import Behavior, HookEvent, HookVerdict
from agentcli.ui.headless.requests import ENDED, Requests

SECONDS = 600.0
"""How long a callback may take, unless its matcher says otherwise (hooks page: the default of commands)."""
EVENTS = frozenset(
    {"UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "Stop"}
    | {"PreCompact", "PostCompact", "SessionStart", "SessionEnd", "SubagentStart", "SubagentStop", "Notification"}
)
"""Events that happen in a session."""
_NAMES = re.compile(r"[\w\-, |]*")
_STRENGTH: tuple[Behavior, ...] = ("allow", "ask", "deny")


@dataclass(frozen=True, slots=True)
class Matcher:
    """``callbacks`` are the client's ids; ``block``: a callback that fails counts as a denial."""

    pattern: str
    callbacks: tuple[str, ...]
    seconds: float = SECONDS
    block: bool = False

    def matches(self, value: str) -> bool:
        """A plain name or list of names is compared exactly, anything else is a regular expression."""
        if self.pattern in ("", "*"):
            return True
        if _NAMES.fullmatch(self.pattern):
            return value in {name.strip() for name in re.split(r"[,|]", self.pattern)}
        return re.search(self.pattern, value) is not None


def read_hooks(given: object) -> dict[str, tuple[Matcher, ...]]:
    """``hooks`` of ``initialize``.  ``UsageError`` where they are malformed: a hook that guards something must not be
    lost in silence."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise UsageError("initialize: hooks is not an object")
    return {
        str(event): tuple(_matcher(str(event), m) for m in _list(event, entries)) for event, entries in given.items()
    }


class PipeHooks:
    """``ports.permissions.Hooks`` over the control channel.  ``common`` gives the fields of every hook's input."""

    def __init__(self, hooks: Mapping[str, tuple[Matcher, ...]], requests: Requests) -> None:
        self.common: Callable[[], Json] = dict
        self._hooks = hooks
        self._requests = requests

    async def fire(self, event: HookEvent) -> HookVerdict:
        due = [(m, c) for m in self._hooks.get(event.name, ()) if m.matches(event.matcher) for c in m.callbacks]
        if not due:
            return HookVerdict()
        fields = dict(event.fields or {})
        input = {**self.common(), "hook_event_name": event.name, **fields}
        call = fields.get("tool_use_id")
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(self._ask(m, c, input, call)) for m, c in due]
        return _joined([task.result() for task in asked])

    async def _ask(self, matcher: Matcher, callback: str, input: Json, call: object) -> HookVerdict:
        if self._requests.ended.is_set():
            return _failed(matcher, ENDED) if matcher.block else HookVerdict()
        request = {"subtype": "hook_callback", "callback_id": callback, "input": dict(input), "tool_use_id": call}
        try:
            answer = await self._requests.ask(request, seconds=matcher.seconds)
        except TimeoutError:
            return _failed(matcher, f"no answer within {matcher.seconds:g} s")
        return _failed(matcher, answer.error) if answer.error is not None else read_verdict(answer.body)


def read_verdict(body: Json) -> HookVerdict:
    """A hook's output (hooks page) as a verdict; fields that are not of their type count as absent."""
    special = body.get("hookSpecificOutput")
    own: Json = special if isinstance(special, dict) else {}
    asked = own.get("decision")
    decision: Json = asked if isinstance(asked, dict) else {}
    named = (
        own.get("permissionDecision")
        or decision.get("behavior")
        or {"block": "deny", "approve": "allow"}.get(str(body.get("decision")))
    )
    reason = own.get("permissionDecisionReason") or decision.get("message") or body.get("reason")
    changed = own.get("updatedInput") or decision.get("updatedInput")
    return HookVerdict(
        behavior=next((b for b in _STRENGTH if b == named), None),
        reason=_text(reason),
        updated_input=changed if isinstance(changed, dict) else None,
        context=_texts(own.get("additionalContext")),
        messages=_texts(body.get("systemMessage")),
        stop=body.get("continue") is False,
        stop_reason=_text(body.get("stopReason")),
    )


def _joined(verdicts: list[HookVerdict]) -> HookVerdict:
    """The strictest behaviour wins; everything that was said is kept."""
    deciding = [v for v in verdicts if v.behavior is not None]
    top = max(deciding, key=lambda v: _STRENGTH.index(v.behavior or "allow"), default=HookVerdict())
    stopping = next((v for v in verdicts if v.stop), HookVerdict())
    return HookVerdict(
        behavior=top.behavior,
        reason=top.reason,
        updated_input=next((v.updated_input for v in verdicts if v.updated_input is not None), None),
        context=tuple(c for v in verdicts for c in v.context),
        messages=tuple(m for v in verdicts for m in v.messages),
        stop=stopping.stop,
        stop_reason=stopping.stop_reason,
    )


def _failed(matcher: Matcher, why: str) -> HookVerdict:
    words = f"A hook of the client failed: {why}"
    return HookVerdict(behavior="deny" if matcher.block else None, reason=words, messages=(words,))


def _matcher(event: str, given: object) -> Matcher:
    if not isinstance(given, dict):
        raise UsageError(f"initialize: a matcher of the hooks for {event} is not an object")
    pattern, seconds = given.get("matcher") or "", given.get("timeout")
    try:
        re.compile(str(pattern))
    except re.error as error:
        raise UsageError(f"initialize: the matcher {pattern!r} of {event} is no regular expression: {error}") from error
    limit = float(seconds) if isinstance(seconds, int | float) and seconds > 0 else SECONDS
    callbacks = tuple(str(c) for c in _list(event, given.get("hookCallbackIds")))
    return Matcher(str(pattern), callbacks, limit, given.get("onFailure") == "block")


def _list(event: object, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise UsageError(f"initialize: the hooks for {event} are not a list")
    return value


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) and value.strip() else ()
