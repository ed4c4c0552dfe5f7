"""What a hook answered, and what that means for its event.

Exit code 0: standard output that begins with ``{`` is JSON and decides; other text is context where the event takes
some.  2: blocks where the event can be blocked, whatever the JSON says; the reason is the JSON's or standard error.
Anything else: valid JSON decides alone, otherwise the failure is told to the user and blocks nothing.  JSON that does
not fit is told too, and blocks nothing unless the exit code does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from agentcli.extend.hooks.updates import permission_updates
from agentcli.ports.permissions import Behavior, HookVerdict, PermissionUpdate
from agentcli.text import one_line, plain

Json = dict[str, Any]
BLOCKABLE = frozenset(
    {"UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStop", "Stop", "PreCompact"}
    | {"WorktreeCreate"}
)
"""Events for which exit code 2 and ``"decision": "block"`` say no."""
TEXT_IS_CONTEXT = frozenset({"SessionStart", "UserPromptSubmit", "WorktreeCreate"})
MUST_SUCCEED = frozenset({"WorktreeCreate"})
"""Events whose hook does the work itself: whatever fails there is a no."""
_STRENGTH: Mapping[Behavior | None, int] = {None: 0, "allow": 1, "ask": 2, "deny": 3}
_OWN_KEYS = ("sessionTitle", "initialUserMessage", "watchPaths", "reloadSkills", "updatedToolOutput", "worktreePath")
_TEXTS = ("reason", "stopReason", "systemMessage")
_TEXTS_INSIDE = ("additionalContext", "permissionDecisionReason", "sessionTitle", "initialUserMessage", "worktreePath")


@dataclass(frozen=True, slots=True)
class Said:
    """What a hook's process left behind.  ``cut``: its output was too long to be kept whole."""

    exit_code: int
    output: str
    errors: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """One hook's answer."""

    behavior: Behavior | None = None
    reason: str = ""
    updated_input: Json | None = None
    context: str = ""
    messages: tuple[str, ...] = ()
    stop: bool = False
    stop_reason: str = ""
    updates: tuple[PermissionUpdate, ...] = ()
    interrupt: bool = False
    extra: Json = field(default_factory=dict)


class _Misfit(Exception):
    """The JSON does not fit; the text says where."""


def read_answer(event: str, label: str, said: Said) -> Answer:
    """The answer of a command.  Never raises, whatever was written."""
    data, problem = _json(event, said)
    answer = Answer()
    if data is not None:
        try:
            answer = _structured(event, data)
        except _Misfit as misfit:
            data, problem = None, str(misfit)
    if said.exit_code == 2:
        return _blocked(event, label, said, answer)
    if said.exit_code and event in MUST_SUCCEED:
        return replace(answer, behavior="deny", reason=answer.reason or _failure(event, label, said))
    if data is not None:
        return answer
    if problem:
        return Answer(messages=(f"{event} hook `{_short(label)}` gave an answer that does not fit: {problem}",))
    if said.exit_code:
        return Answer(messages=(_failure(event, label, said),))
    text = plain(said.output).strip()
    return Answer(context=text) if text and event in TEXT_IS_CONTEXT else Answer()


_MEANT = ("hookSpecificOutput", "decision", "continue")


def _json(event: str, said: Said) -> tuple[Json | None, str]:
    """The object that was written; text that only looks like one is text.  Where text means nothing, an answer behind a
    line for the log is named: it may have been meant to block."""
    text = said.output.removeprefix("\ufeff").strip()
    if said.cut or not text.startswith("{"):
        last = text.rpartition("\n")[2]
        meant = event not in TEXT_IS_CONTEXT and last.startswith("{") and any(f'"{k}"' in last for k in _MEANT)
        return None, "its JSON counts only as the whole output; print other lines to standard error" if meant else ""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None, ""
    return cast("Json", value), ""


def _blocked(event: str, label: str, said: Said, answer: Answer) -> Answer:
    errors = plain(said.errors).strip()
    reason = answer.reason or errors
    if event in BLOCKABLE:
        return replace(answer, behavior="deny", reason=reason)
    shown = errors or f"{event} hook `{_short(label)}` ended with exit code 2, which blocks nothing here"
    return Answer(messages=(*answer.messages, shown))


def _failure(event: str, label: str, said: Said) -> str:
    first = next((line for line in plain(said.errors or said.output).split("\n") if line.strip()), "")
    words = f"{event} hook `{_short(label)}` failed with exit code {said.exit_code}"
    return f"{words}: {one_line(first, 300)}" if first else words


def _short(label: str) -> str:
    return one_line(label, 80)


def _structured(event: str, data: Json) -> Answer:
    """The JSON's meaning.  ``_Misfit`` where it does not fit."""
    inside = _part(data, "hookSpecificOutput")
    named = inside.get("hookEventName", event)
    if named != event:
        raise _Misfit(f"hookEventName is {named!r}, the event is {event}")
    for place, keys in ((data, _TEXTS), (inside, _TEXTS_INSIDE)):
        for key in keys:
            if not isinstance(place.get(key) or "", str):
                raise _Misfit(f"{key} must be a text")
    if not isinstance(data.get("continue", True), bool):
        raise _Misfit("continue must be true or false")
    behavior, reason, message = _decision(event, data, inside)
    decided = _part(inside, "decision") if event == "PermissionRequest" else {}
    updated = decided.get("updatedInput") if decided else inside.get("updatedInput")
    if updated is not None and not isinstance(updated, dict):
        raise _Misfit("updatedInput must be an object")
    messages = tuple(plain(m) for m in (data.get("systemMessage"), message) if m)
    stop = data.get("continue") is False
    return Answer(
        behavior=behavior,
        reason=plain(reason),
        updated_input=updated,
        context=plain(inside.get("additionalContext") or ""),
        messages=messages,
        stop=stop,
        stop_reason=plain(data.get("stopReason") or "") if stop else "",
        updates=permission_updates(decided.get("updatedPermissions")) if behavior == "allow" else (),
        interrupt=decided.get("interrupt") is True and behavior == "deny",
        extra={key: inside[key] for key in _OWN_KEYS if inside.get(key) is not None},
    )


def _part(data: Json, key: str) -> Json:
    value = data.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _Misfit(f"{key} must be an object")
    return value


def _decision(event: str, data: Json, inside: Json) -> tuple[Behavior | None, str, str]:
    """(behavior, reason, message to the user)."""
    if event == "PermissionRequest":
        decided = _part(inside, "decision")
        behavior = decided.get("behavior")
        if behavior not in (None, "allow", "deny"):
            raise _Misfit(f"decision.behavior is {behavior!r}; allow or deny")
        return behavior, str(decided.get("message") or ""), ""
    word = inside.get("permissionDecision") if event == "PreToolUse" else None
    if word is not None:
        if word not in ("allow", "deny", "ask", "defer"):
            raise _Misfit(f"permissionDecision is {word!r}; allow, deny or ask")
        reason = inside.get("permissionDecisionReason") or data.get("reason") or ""
        if word == "defer":
            return "ask", reason, "A PreToolUse hook wants to defer a call, which is not supported: it is asked instead"
        return cast("Behavior", word), reason, ""
    old = data.get("decision")
    if old not in (None, "block", "approve"):
        raise _Misfit(f"decision is {old!r}; block or nothing")
    if old == "block" and event in BLOCKABLE:
        return "deny", data.get("reason") or "", ""
    if old == "approve" and event == "PreToolUse":
        return "allow", data.get("reason") or "", ""
    return None, "", ""


Fit = Callable[[str], str]
"""Shortens a text that is too long."""


def join(answers: Iterable[Answer], fit: Fit = str) -> HookVerdict:
    """All answers as one: deny before ask before allow, the reasons of the strongest; the last input that was given."""
    given = list(answers)
    strongest: Behavior | None = max((a.behavior for a in given), key=lambda b: _STRENGTH[b], default=None)
    deciding = [a for a in given if a.behavior == strongest] if strongest else []
    inputs = [a.updated_input for a in given if a.updated_input is not None]
    stops = [a for a in given if a.stop]
    extra = {key: value for a in given for key, value in a.extra.items()}
    return HookVerdict(
        behavior=strongest,
        reason=fit("\n".join(dict.fromkeys(a.reason for a in deciding if a.reason))),
        updated_input=inputs[-1] if inputs and strongest != "deny" else None,
        context=tuple(fit(a.context) for a in given if a.context.strip()),
        messages=tuple(fit(m) for a in given for m in a.messages),
        stop=bool(stops),
        stop_reason=fit("\n".join(dict.fromkeys(a.stop_reason for a in stops if a.stop_reason))),
        updates=tuple(u for a in deciding for u in a.updates),
        interrupt=any(a.interrupt for a in deciding),
        extra=extra or None,
    )


def read_reply(event: str, label: str, text: str) -> Answer:
    """The answer of a model that a prompt hook asked: ``{"ok": …, "reason": …, "impossible": …}``."""
    start, end = text.find("{"), text.rfind("}")
    try:
        data = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or not isinstance(data.get("ok"), bool):
        return Answer(messages=(f"{event} hook `{_short(label)}` got no usable answer from the model",))
    reason = plain(str(data.get("reason") or ""))
    if data["ok"]:
        return Answer()
    if data.get("impossible") is True:
        return Answer(stop=True, stop_reason=reason or "A hook says that this can't be reached.")
    if event in BLOCKABLE:
        return Answer("deny", reason)
    if event == "PermissionRequest":
        return Answer("deny", reason)
    return Answer(messages=(reason,) if reason else ())
