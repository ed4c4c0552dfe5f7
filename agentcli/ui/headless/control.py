"""The control channel's requests of the client.  Every one is answered: with what it asked for, or with an error."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from agentcli.errors import AgentcliError, UsageError, UserError
from agentcli.messages import Json
from agentcli.model.catalog import check_effort
from agentcli.model.client import AnthropicClient
from agentcli.ports.permissions import PERMISSION_MODES
from agentcli.runtime.session import Session
from agentcli.ui.headless.context import context_usage
from agentcli.ui.headless.inputs import ControlRequest
from agentcli.ui.headless.lines import Line
from agentcli.ui.headless.mcp_control import reconnect, statuses, toggle
from agentcli.ui.headless.servers import PipeServers
from agentcli.ui.headless.session_control import (
    reload_output_styles,
    reload_skills,
    rename_session,
    rewind_files,
    seed_read_state,
)

Handler: TypeAlias = Callable[[Json], Awaitable[Mapping[str, Any]]]
OF_SESSION: Mapping[str, Callable[[Session, Json], Awaitable[Mapping[str, Any]]]] = {
    "rewind_files": rewind_files,
    "seed_read_state": seed_read_state,
    "rename_session": rename_session,
    "reload_skills": reload_skills,
    "reload_output_styles": reload_output_styles,
}
FROM_US = ("can_use_tool", "hook_callback", "elicitation")
"""Requests that only we send."""


def success(request_id: str, response: Mapping[str, Any]) -> Line:
    body = {"subtype": "success", "request_id": request_id, "response": dict(response)}
    return {"type": "control_response", "response": body}


def failure(request_id: str, error: str) -> Line:
    return {"type": "control_response", "response": {"subtype": "error", "request_id": request_id, "error": error}}


class Control:
    """Handles requests beside the turn.  ``interrupt`` ends the running turn; ``queued`` names the prompts that wait,
    ``take_back`` takes one of them back.

    The model and the thinking budget can't change within a turn: what is asked for meanwhile is checked at once and
    holds from the next turn on (``catch_up``).
    """

    def __init__(
        self,
        session: Session,
        write: Callable[[Line], None],
        servers: PipeServers,
        *,
        interrupt: Callable[[], None],
        queued: Callable[[], Sequence[str]],
        take_back: Callable[[str], bool],
    ) -> None:
        self._session = session
        self._write = write
        self._servers = servers
        self._interrupt = interrupt
        self._queued = queued
        self._take_back = take_back
        self._start_model = session.state.model
        self._later: list[Callable[[], Awaitable[None]]] = []
        self._handlers: dict[str, Handler] = {
            "interrupt": self._interrupted,
            "set_permission_mode": self._set_mode,
            "set_model": self._set_model,
            "set_max_thinking_tokens": self._set_thinking,
            "apply_flag_settings": self._apply_settings,
            "get_context_usage": self._context,
            "stop_task": self._stop_task,
            "mcp_status": self._mcp_status,
            "mcp_toggle": self._mcp_toggle,
            "mcp_reconnect": self._mcp_reconnect,
            "mcp_message": self._mcp_message,
            "cancel_async_message": self._cancel,
            **{name: partial(handler, session) for name, handler in OF_SESSION.items()},
        }

    async def handle(self, request: ControlRequest) -> None:
        """Writes the answer.  Never raises for what a request holds."""
        try:
            answer = await self._handler(request)(request.body)
        except AgentcliError as error:
            self._write(failure(request.id, str(error)))
        except Exception as error:  # a bug of a handler must not leave the client waiting
            self._write(failure(request.id, f"{request.subtype} failed unexpectedly: {type(error).__name__}: {error}"))
        else:
            self._write(success(request.id, answer))

    async def catch_up(self) -> None:
        """Between turns: what was asked for while one was running."""
        while self._later:
            await self._later.pop(0)()

    def _handler(self, request: ControlRequest) -> Handler:
        found = self._handlers.get(request.subtype)
        if found is not None:
            return found
        if request.subtype == "initialize":
            raise UsageError("initialize: the session has begun; it can be the first line only")
        if request.subtype in FROM_US:
            raise UsageError(f"{request.subtype} is a request of agentcli's own; clients only answer it")
        if not request.subtype:
            raise UsageError('a control request needs "request": {"subtype": …}')
        known = ", ".join(["initialize", *self._handlers])
        raise UsageError(f"unknown control request {request.subtype!r}; known: {known}")

    async def _interrupted(self, body: Json) -> Mapping[str, Any]:
        self._interrupt()
        return {"still_queued": list(self._queued())}

    async def _set_mode(self, body: Json) -> Mapping[str, Any]:
        named = "default" if body.get("mode") == "manual" else body.get("mode")
        mode = next((m for m in PERMISSION_MODES if m == named), None)
        if mode is None:
            raise UsageError(f"set_permission_mode: {named!r} is no mode; one of {', '.join(PERMISSION_MODES)}")
        self._session.set_mode(mode)
        return {"mode": mode}

    async def _set_model(self, body: Json) -> Mapping[str, Any]:
        given = body.get("model")
        if given is not None and not isinstance(given, str):
            raise UsageError("set_model: the model is a name, or null for the one of the start")
        named = self._start_model if given in (None, "", "default") else str(given)
        model = self._session.models.resolve(named)

        async def change() -> None:
            await self._session.set_model(model)

        await self._now_or_later(change)
        return {"model": model}

    async def _set_thinking(self, body: Json) -> Mapping[str, Any]:
        given = body.get("max_thinking_tokens")
        if given is not None and (not isinstance(given, int) or isinstance(given, bool) or given < 0):
            raise UsageError("set_max_thinking_tokens: a number of tokens from 0, or null for the default")
        client = self._session.client
        if not isinstance(client, AnthropicClient):
            raise UserError("set_max_thinking_tokens: this session's model does not take a budget")

        async def change() -> None:
            env = {k: v for k, v in client.options.env.items() if k != "MAX_THINKING_TOKENS"}
            budget = {} if given is None else {"MAX_THINKING_TOKENS": str(given)}
            client.options = replace(client.options, env={**env, **budget})
            await self._session.set_model(thinking="default" if given is None else "on" if given else "off")

        await self._now_or_later(change)
        return {}

    async def _apply_settings(self, body: Json) -> Mapping[str, Any]:
        """Settings for this session only; those that can change while it runs."""
        given = body.get("settings")
        if not isinstance(given, dict):
            raise UsageError("apply_flag_settings: settings is not an object")
        session = self._session
        steps: list[Callable[[], Awaitable[None]]] = []
        for key, value in given.items():
            match key, value:
                case "model", str() | None:
                    await self._set_model({"model": value})
                case "effortLevel", str():
                    check_effort(value, session.info)
                    steps.append(partial(session.set_model, effort=value))
                case "permissions", {"defaultMode": str(mode)} if len(value) == 1:
                    await self._set_mode({"mode": mode})
                case _:
                    raise UserError(
                        f"apply_flag_settings: {key} can't be changed while a session runs; "
                        "model, effortLevel and permissions.defaultMode can"
                    )
        for step in steps:
            await self._now_or_later(step)
        return {}

    async def _context(self, body: Json) -> Mapping[str, Any]:
        return await context_usage(self._session)

    async def _stop_task(self, body: Json) -> Mapping[str, Any]:
        task = body.get("task_id")
        if not isinstance(task, str) or not task:
            raise UsageError("stop_task needs the task_id of a background task")
        await self._session.toolbox.jobs.kill(task)
        return {}

    async def _mcp_status(self, body: Json) -> Mapping[str, Any]:
        return {"mcpServers": statuses(self._session.mcp)}

    async def _mcp_toggle(self, body: Json) -> Mapping[str, Any]:
        await toggle(self._session.mcp, body)
        return {}

    async def _mcp_reconnect(self, body: Json) -> Mapping[str, Any]:
        await reconnect(self._session.mcp, body)
        return {}

    async def _mcp_message(self, body: Json) -> Mapping[str, Any]:
        """What a server that lives in the client says of its own accord."""
        self._servers.hear(body)
        return {}

    async def _cancel(self, body: Json) -> Mapping[str, Any]:
        """A prompt that waits is taken back; one that has begun is not."""
        name = body.get("message_uuid")
        if not isinstance(name, str) or not name:
            raise UsageError("cancel_async_message needs the message_uuid of a prompt")
        return {"cancelled": self._take_back(name)}

    async def _now_or_later(self, change: Callable[[], Awaitable[None]]) -> None:
        if self._session.agent.busy:
            self._later.append(change)
        else:
            await change()
