"""Running one hook: a command with the event on its standard input, a question to a small model, or a request."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentcli.errors import AgentcliError, SetupError, UserError
from agentcli.extend.hooks.answers import MUST_SUCCEED, Answer, Said, read_answer, read_reply
from agentcli.extend.hooks.config import Handler
from agentcli.processes import Finished, Limits, ProcessManager, without_keys
from agentcli.text import one_line

Json = dict[str, Any]
SECONDS = 600.0
"""A command's time where neither the hook nor its event says otherwise …"""
PROMPT_SECONDS = 30.0
"""… a prompt's, and a command's before a prompt is taken on …"""
END_SECONDS = 1.5
END_AT_MOST = 60.0
"""… and a command's at the session's end, where nobody wants to wait."""
LIMITS = Limits(memory=1024 * 1024, file=16 * 1024 * 1024, kill=256 * 1024 * 1024)
AskModel = Callable[[str, str | None], Awaitable[str]]
"""``(prompt, model or None)`` → the answer of a small model."""
MatchesRule = Callable[[str, str, Json], bool]
"""``(rule, tool name, input)`` → whether the permission rule is about this call."""
_REPLY = 'Answer with JSON alone: {"ok": true}, or {"ok": false, "reason": "what is missing"}.'


def _quiet(text: str) -> None:
    return None


def _nothing() -> Json:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class HookMeans:
    """What hooks are run with.

    ``environment`` and ``cwd`` are asked for each run; keys are taken out of the environment.  ``common`` gives the
    fields that every input has (session_id, transcript_path, cwd, permission_mode …).  ``spill`` writes an oversized
    text to a private file.  ``notify`` takes messages for the user that belong to no event.
    """

    processes: ProcessManager
    environment: Callable[[], Mapping[str, str]]
    cwd: Callable[[], Path]
    project: Path
    """``CLAUDE_PROJECT_DIR``: the project's root."""
    spill: Callable[[str, str], Path]
    common: Callable[[], Json] = _nothing
    notify: Callable[[str], None] = _quiet
    ask_model: AskModel | None = None
    matches_rule: MatchesRule | None = None
    env_file: Callable[[], Path] | None = None
    """``CLAUDE_ENV_FILE`` of hooks at the session's start: what they export there, later shell commands get."""


async def run_hook(handler: Handler, payload: str, means: HookMeans) -> Answer:
    """The hook's answer.  Never raises but ``CancelledError``: whatever goes wrong is a message to the user."""
    seconds = seconds_of(handler)
    if handler.kind == "prompt":
        return await _asked(handler, payload, means, seconds)
    if handler.kind == "http":
        return await _posted(handler, payload, means, seconds)
    try:
        finished = await _ran(handler, payload, means, seconds)
    except (OSError, SetupError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        return _message(handler, f"could not be started: {reason}")
    if finished.timed_out:
        return _message(handler, f"did not end within {seconds:g} s and was ended; nothing was blocked")
    if finished.flooded:
        return _message(handler, f"wrote more than {LIMITS.kill:,} bytes and was ended; nothing was blocked")
    output, errors = finished.output, finished.errors
    return read_answer(
        handler.event,
        handler.label,
        Said(finished.exit_code, output.text, errors.text, cut=output.dropped > 0),
    )


def seconds_of(handler: Handler) -> float:
    """How long the hook may take."""
    if handler.event == "SessionEnd":
        return min(handler.timeout, END_AT_MOST) if handler.timeout is not None else END_SECONDS
    if handler.timeout is not None:
        return handler.timeout
    return PROMPT_SECONDS if handler.kind == "prompt" or handler.event == "UserPromptSubmit" else SECONDS


def _message(handler: Handler, what: str) -> Answer:
    text = f"{handler.event} hook `{one_line(handler.label, 80)}` {what}"
    return Answer("deny", text) if handler.event in MUST_SUCCEED else Answer(messages=(text,))


async def _ran(handler: Handler, payload: str, means: HookMeans, seconds: float) -> Finished:
    cwd = means.cwd()
    finished = await means.processes.run(
        _command(handler, means.project),
        cwd if os.path.isdir(cwd) else means.project,
        env=_environment(handler, means),
        stdin=(payload + "\n").encode("utf-8", "replace"),
        stderr="collect",
        timeout=seconds,
        limits=LIMITS,
    )
    for output in (finished.output, finished.errors):
        if output.file is not None:
            output.file.unlink(missing_ok=True)
    return finished


def _environment(handler: Handler, means: HookMeans) -> dict[str, str]:
    env = {**without_keys(means.environment()), "CLAUDE_PROJECT_DIR": str(means.project)}
    if handler.event == "SessionStart" and means.env_file is not None:
        env["CLAUDE_ENV_FILE"] = str(means.env_file())
    return env


def _command(handler: Handler, project: Path) -> list[str]:
    """Shell form: one text for the shell.  Exec form: words, in which the project's directory may be named."""
    if handler.args is not None:
        return [_filled(word, project) for word in (handler.text, *handler.args)]
    if handler.shell == "powershell":
        found = shutil.which("pwsh") or shutil.which("powershell")
        if found is None:
            raise SetupError("PowerShell is not installed")
        return [found, "-NoProfile", "-Command", handler.text]
    shell = next((s for s in ("/bin/bash", "/usr/bin/bash") if os.access(s, os.X_OK)), None)
    return [shell or shutil.which("bash") or "/bin/sh", "-c", handler.text]


def _filled(word: str, project: Path) -> str:
    return word.replace("${CLAUDE_PROJECT_DIR}", str(project)).replace("$CLAUDE_PROJECT_DIR", str(project))


async def _posted(handler: Handler, payload: str, means: HookMeans, seconds: float) -> Answer:
    from agentcli.extend.hooks.web import post

    try:
        async with asyncio.timeout(seconds):
            status, body, cut = await post(handler, payload, without_keys(means.environment()))
    except TimeoutError:
        return _message(handler, f"got no answer within {seconds:g} s; nothing was blocked")
    except (OSError, UserError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        return _message(handler, f"failed: {reason}; nothing was blocked")
    if not 200 <= status < 300:
        return _message(handler, f"failed with status {status}; nothing was blocked")
    return read_answer(handler.event, handler.label, Said(0, body, "", cut=cut))


async def _asked(handler: Handler, payload: str, means: HookMeans, seconds: float) -> Answer:
    if means.ask_model is None:
        return _message(handler, "asks a model, and there is none that could be asked; nothing was blocked")
    prompt = handler.text
    prompt = prompt.replace("$ARGUMENTS", payload) if "$ARGUMENTS" in prompt else f"{prompt}\n\n{payload}"
    try:
        async with asyncio.timeout(seconds):
            reply = await means.ask_model(f"{prompt}\n\n{_REPLY}", handler.model)
    except TimeoutError:
        return _message(handler, f"got no answer within {seconds:g} s; nothing was blocked")
    except AgentcliError as error:
        return _message(handler, f"could not ask the model: {error}")
    return read_reply(handler.event, handler.label, reply)
