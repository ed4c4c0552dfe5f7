"""Permission questions over the control channel: ``can_use_tool`` goes out, an answer comes back (or not)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

from agentcli.errors import UsageError
from agentcli.events import Event, FromSubagent, PermissionAsked, PermissionResolved
from agentcli.messages import Json
from agentcli.ports.permissions import PERMISSION_MODES, Answer, Behavior, Destination, PermissionUpdate
from agentcli.ui.headless.inputs import ControlAnswer
from agentcli.ui.headless.lines import Line

NOBODY_LEFT = "Permission was not given: the input has ended, so no one can answer any more."
UpdateType = Literal["addRules", "replaceRules", "removeRules", "setMode", "addDirectories", "removeDirectories"]
_DESTINATIONS: tuple[Destination, ...] = ("session", "localSettings", "projectSettings", "userSettings")
_BEHAVIORS: tuple[Behavior, ...] = ("allow", "ask", "deny")
_RULES = ("addRules", "replaceRules", "removeRules")
_DIRECTORIES = ("addDirectories", "removeDirectories")


class Approvals:
    """A listener that asks the client.  ``answer`` is ``SessionHandle.answer``; ``say`` tells a person what was wrong
    with an answer.  Every question has one answer; what comes later is ignored."""

    def __init__(
        self,
        write: Callable[[Line], None],
        answer: Callable[[str, Answer], bool],
        say: Callable[[str], None],
    ) -> None:
        self._write = write
        self._answer = answer
        self._say = say
        self._open: dict[str, PermissionAsked] = {}
        self._closed = False

    def hear(self, event: Event) -> None:
        match event:
            case PermissionAsked():
                self._ask(event)
            case PermissionResolved(request_id=request_id) if self._open.pop(request_id, None):
                # Resolved by somebody else (an interruption): the client need not answer.
                self._write({"type": "control_cancel_request", "request_id": request_id})
            case FromSubagent(event=inner):
                self.hear(inner)
            case _:
                pass

    def take(self, given: ControlAnswer) -> bool:
        """The client's answer; false when no question of that id is open."""
        question = self._open.pop(given.id, None)
        if question is None:
            return False
        self._answer(given.id, self._understood(given, question))
        return True

    def close(self) -> None:
        """The client can't answer any more: open questions and those to come are denied."""
        self._closed = True
        for request_id in tuple(self._open):
            del self._open[request_id]
            self._answer(request_id, Answer(False, NOBODY_LEFT, by="nobody"))

    def _ask(self, event: PermissionAsked) -> None:
        if self._closed:
            self._answer(event.request_id, Answer(False, NOBODY_LEFT, by="nobody"))
            return
        self._open[event.request_id] = event
        request: Line = {
            "subtype": "can_use_tool",
            "tool_name": event.name,
            "input": dict(event.input),
            "tool_use_id": event.tool_use_id,
            "permission_suggestions": [suggestion(s) for s in event.suggestions],
            "decision_reason": event.reason,
            "title": event.title,
        }
        if event.blocked_path:
            request["blocked_path"] = event.blocked_path
        if event.agent:
            request["agent_id"] = event.agent
        self._write({"type": "control_request", "request_id": event.request_id, "request": request})

    def _understood(self, given: ControlAnswer, question: PermissionAsked) -> Answer:
        if given.error is not None:
            self._say(f"the client could not answer whether {question.name} may run: {given.error}")
            return Answer(False, f"The permission question could not be answered: {given.error}")
        try:
            return read_answer(given.body)
        except UsageError as error:
            self._say(f"the answer to whether {question.name} may run is not understood: {error}")
            return Answer(False, f"The answer to the permission question was not understood: {error}")


def read_answer(body: Json) -> Answer:
    """The answer of the protocol: ``UsageError`` when it is none."""
    match body.get("behavior"):
        case "allow":
            changed = body.get("updatedInput")
            if changed is not None and not isinstance(changed, dict):
                raise UsageError("updatedInput is not an object")
            return Answer(True, updated_input=changed, updates=read_updates(body.get("updatedPermissions")))
        case "deny":
            message = body.get("message")
            return Answer(
                False,
                message if isinstance(message, str) else "",
                interrupt=body.get("interrupt") is True,
            )
        case other:
            raise UsageError(f'"behavior" is {other!r}, not "allow" or "deny"')


def read_updates(given: object) -> tuple[PermissionUpdate, ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        raise UsageError("updatedPermissions is not a list")
    return tuple(_read_update(item) for item in given)


def suggestion(record: Json) -> Line:
    """A suggestion of the session, its rules split into tool and content as clients take them."""
    line = dict(record)
    if "rules" in line:
        line["rules"] = [_split_rule(str(rule)) for rule in line["rules"]]
    return line


def _read_update(given: object) -> PermissionUpdate:
    if not isinstance(given, dict):
        raise UsageError("a permission update is not an object")
    kind, destination = given.get("type"), given.get("destination", "session")
    if destination not in _DESTINATIONS:
        raise UsageError(f"destination {destination!r}: one of {', '.join(_DESTINATIONS)}")
    if kind in _RULES:
        behavior = given.get("behavior", "allow")
        if behavior not in _BEHAVIORS:
            raise UsageError(f"behavior {behavior!r}: one of {', '.join(_BEHAVIORS)}")
        rules = tuple(_join_rule(r) for r in _list(given, "rules"))
        return PermissionUpdate(cast("UpdateType", kind), rules, behavior=behavior, destination=destination)
    if kind == "setMode":
        mode = given.get("mode")
        if mode not in PERMISSION_MODES:
            raise UsageError(f"mode {mode!r}: one of {', '.join(PERMISSION_MODES)}")
        return PermissionUpdate("setMode", mode=mode, destination=destination)
    if kind in _DIRECTORIES:
        directories = tuple(str(d) for d in _list(given, "directories"))
        return PermissionUpdate(cast("UpdateType", kind), directories=directories, destination=destination)
    raise UsageError(f"there is no permission update of type {kind!r}")


def _list(given: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = given.get(key)
    if not isinstance(value, list):
        raise UsageError(f"{key} is not a list")
    return value


def _join_rule(rule: object) -> str:
    if isinstance(rule, str):
        return rule
    if not isinstance(rule, dict) or not isinstance(rule.get("toolName"), str):
        raise UsageError('a rule is {"toolName": …, "ruleContent": …}')
    content = rule.get("ruleContent")
    return f"{rule['toolName']}({content})" if content else str(rule["toolName"])


def _split_rule(text: str) -> Line:
    tool, bracket, rest = text.partition("(")
    if not bracket or not rest.endswith(")"):
        return {"toolName": text}
    return {"toolName": tool, "ruleContent": rest[:-1]}


def checked(given: object) -> Answer:
    """What a program's permission callback returned; ``UsageError`` where that is no answer."""
    if not isinstance(given, Answer):
        raise UsageError(f"The permission callback returned {given!r}: return agentcli.Answer(True), or Answer(False)")
    return given
