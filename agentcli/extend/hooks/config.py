"""Hooks as the settings describe them, read into handlers.

Which files count: managed settings always; the others unless ``disableAllHooks`` is set somewhere or managed settings
say ``allowManagedHooksOnly``; files of a project only once it is trusted (that is the settings' own doing).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from agentcli.settings.merged import Settings

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "PostCompact",
    "WorktreeCreate",
    "WorktreeRemove",
    "SessionEnd",
)
TOOL_EVENTS = frozenset({"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"})
UNMATCHED = frozenset({"UserPromptSubmit", "Stop", "WorktreeCreate", "WorktreeRemove"})
"""Events without anything that a matcher could look at."""
OTHERS_EVENTS = frozenset(
    {
        "Setup",
        "UserPromptExpansion",
        "PermissionDenied",
        "PostToolBatch",
        "MessageDisplay",
        "TaskCreated",
        "TaskCompleted",
        "StopFailure",
        "TeammateIdle",
    }
    | {
        "InstructionsLoaded",
        "ConfigChange",
        "CwdChanged",
        "FileChanged",
        "DirectoryAdded",
        "Elicitation",
        "ElicitationResult",
    }
)
"""Known elsewhere; they never happen here."""
_NAMES = re.compile(r"[\w\-, |]*", re.ASCII)
_ALIASES = {"Task": "Agent", "Agent": "Task"}
Kind = Literal["command", "prompt", "http"]
KINDS: Mapping[str, str] = {"command": "command", "prompt": "prompt", "http": "url"}
"""Types, and the key that says what is run, asked or called."""


@dataclass(frozen=True, slots=True)
class Handler:
    """One hook.  ``timeout`` in seconds (``None``: the event's own); ``args`` ``None`` is the shell form; ``condition``
    is its ``if``, a permission rule; ``source`` says which file it comes from."""

    event: str
    matcher: str
    kind: Kind
    text: str
    """The command, the prompt, or the address."""
    args: tuple[str, ...] | None = None
    timeout: float | None = None
    condition: str = ""
    background: bool = False
    """``async``: nobody waits for it."""
    wakes: bool = False
    """``asyncRewake``: exit code 2 is told to the model."""
    shell: str = "bash"
    model: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    allowed_variables: frozenset[str] = frozenset()
    """Environment variables that headers may hold."""
    allowed_urls: tuple[str, ...] | None = None
    """Patterns of the settings, of which the address must match one."""
    source: str = ""

    @property
    def identity(self) -> tuple[object, ...]:
        """Handlers that are equal in this run once."""
        return (self.kind, self.text, self.args, self.shell, self.model, self.condition, self.background, self.headers)

    @property
    def label(self) -> str:
        """The hook in messages and lists."""
        return " ".join([self.text, *(self.args or ())])

    def matches(self, subject: str) -> bool:
        return self.event in UNMATCHED or matches(self.matcher, subject)


def matches(matcher: str, subject: str) -> bool:
    """Nothing and ``*`` match everything; names match exactly, also in a list with ``|`` or commas; anything else is a
    regular expression that may match anywhere."""
    if matcher in ("", "*"):
        return True
    subjects = {subject, _ALIASES.get(subject, subject)}
    if _NAMES.fullmatch(matcher):
        return bool(subjects & {name.strip() for name in re.split(r"[|,]", matcher)})
    return any(re.search(matcher, s) for s in subjects)


@dataclass(frozen=True, slots=True)
class HookConfig:
    """``off`` says why hooks of the settings don't run, where that is so."""

    handlers: tuple[Handler, ...] = ()
    warnings: tuple[str, ...] = ()
    off: str = ""

    def of(self, event: str, subject: str) -> tuple[Handler, ...]:
        """The handlers that run, each once, in declared order."""
        found = {h.identity: h for h in reversed(self.handlers) if h.event == event and h.matches(subject)}
        return tuple(reversed(found.values()))


def read_hooks(settings: Settings) -> HookConfig:
    """The hooks that count.  What is wrong in a file is a warning that names it, and does not run."""
    layers = [(layer, settings.active(layer)) for layer in settings.layers]
    managed = [pair for pair in layers if pair[0].source.scope == "managed"]
    off = ""
    if any(data.get("disableAllHooks") is True for _, data in managed):
        return HookConfig(off="managed settings switch all hooks off (disableAllHooks)")
    if any(data.get("disableAllHooks") is True for _, data in layers):
        layers, off = managed, "disableAllHooks is set: only hooks of managed settings run"
    elif any(data.get("allowManagedHooksOnly") is True for _, data in managed):
        layers, off = managed, "managed settings allow their own hooks only (allowManagedHooksOnly)"
    urls, variables = settings.get("allowedHttpHookUrls"), settings.get("httpHookAllowedEnvVars")
    reader = _Reader(
        urls=_texts(urls) if isinstance(urls, list) else None,
        variables=frozenset(_texts(variables)) if isinstance(variables, list) else None,
    )
    handlers = [h for layer, data in layers for h in reader.handlers(data.get("hooks"), layer.source.label)]
    return HookConfig(tuple(handlers), tuple(reader.warnings), off)


def hooks_of(value: Mapping[str, Any], source: str) -> HookConfig:
    """Hooks of an agent's or a skill's front matter."""
    reader = _Reader()
    return HookConfig(tuple(reader.handlers(value, source)), tuple(reader.warnings))


@dataclass(slots=True)
class _Reader:
    """``urls`` and ``variables`` are what the settings allow hooks of type ``http`` (``None``: anything)."""

    urls: tuple[str, ...] | None = None
    variables: frozenset[str] | None = None
    warnings: list[str] = field(default_factory=list)

    def handlers(self, value: object, source: str) -> Iterator[Handler]:
        if value is None:
            return
        for event, groups in self._items(value, f"{source}: hooks"):
            where = f"{source}: hooks.{event}"
            if event not in EVENTS:
                if event not in OTHERS_EVENTS:
                    self.warnings.append(f"{where}: there is no such event; ignored. Events: {', '.join(EVENTS)}")
                continue
            for number, group in enumerate(self._list(groups, where)):
                yield from self._group(event, group, f"{where}[{number}]", source)

    def _group(self, event: str, group: object, where: str, source: str) -> Iterator[Handler]:
        if not isinstance(group, dict) or not isinstance(group.get("matcher") or "", str):
            self.warnings.append(f'{where}: must be an object with "hooks" and perhaps a "matcher" (a text); ignored')
            return
        matcher = group.get("matcher") or ""
        if problem := _bad_matcher(matcher):
            self.warnings.append(f"{where}: the matcher {matcher!r} is no regular expression ({problem}); ignored")
            return
        for number, hook in enumerate(self._list(group.get("hooks"), f"{where}.hooks")):
            handler = self._handler(event, matcher, hook, f"{where}.hooks[{number}]", source)
            if handler is not None:
                yield handler

    def _handler(self, event: str, matcher: str, hook: object, where: str, source: str) -> Handler | None:
        if not isinstance(hook, dict):
            return self._no(where, "must be an object with a type")
        kind = hook.get("type", "command")
        if kind not in KINDS:
            return self._no(where, f"hooks of type {kind!r} are not supported; use {', '.join(KINDS)}")
        text = hook.get(KINDS[kind])
        if not isinstance(text, str) or not text.strip():
            return self._no(where, f'"{KINDS[kind]}" is missing')
        args = hook.get("args")
        if args is not None and not (isinstance(args, list) and all(isinstance(a, str) for a in args)):
            return self._no(where, '"args" must be a list of texts')
        if any("\0" in word for word in (text, *(args or ()))):
            return self._no(where, "a command can't hold a NUL character")
        timeout = hook.get("timeout")
        if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0):
            return self._no(where, '"timeout" must be seconds above 0')
        condition, model = hook.get("if"), hook.get("model")
        wakes = hook.get("asyncRewake") is True
        return Handler(
            event=event,
            matcher=matcher,
            kind=cast("Kind", kind),
            text=text,
            args=tuple(args) if args is not None else None,
            timeout=timeout,
            condition=condition if isinstance(condition, str) and event in TOOL_EVENTS else "",
            background=wakes or hook.get("async") is True,
            wakes=wakes,
            shell="powershell" if hook.get("shell") == "powershell" else "bash",
            model=model if isinstance(model, str) else None,
            headers=self._headers(hook),
            allowed_variables=self._variables(hook),
            allowed_urls=self.urls if kind == "http" else None,
            source=source,
        )

    def _headers(self, hook: dict[str, Any]) -> tuple[tuple[str, str], ...]:
        given = hook.get("headers")
        items = given.items() if isinstance(given, dict) else ()
        return tuple((name, value) for name, value in items if isinstance(value, str))

    def _variables(self, hook: dict[str, Any]) -> frozenset[str]:
        named = frozenset(_texts(hook.get("allowedEnvVars")))
        return named if self.variables is None else named & self.variables

    def _no(self, where: str, problem: str) -> Handler | None:
        """No handler, and a warning."""
        self.warnings.append(f"{where}: {problem}; ignored")
        return None

    def _items(self, value: object, where: str) -> Iterable[tuple[str, object]]:
        if isinstance(value, dict):
            return value.items()
        self.warnings.append(f"{where}: must be an object of events; ignored")
        return ()

    def _list(self, value: object, where: str) -> list[object]:
        if isinstance(value, list):
            return value
        self.warnings.append(f"{where}: must be a list; ignored")
        return []


def _texts(value: object) -> tuple[str, ...]:
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()


def _bad_matcher(matcher: str) -> str:
    if matcher == "*" or _NAMES.fullmatch(matcher):
        return ""
    try:
        re.compile(matcher)
    except re.error as error:
        return str(error)
    return ""
