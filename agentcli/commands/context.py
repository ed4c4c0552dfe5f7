"""``/context [prompt]``: what fills the context window; with ``prompt`` the effective system prompt, part by part."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.messages import user
from agentcli.ports.model import ModelRequest
from agentcli.ports.prompt import StepContext

if TYPE_CHECKING:
    from agentcli.runtime.session import Session


async def run(context: CommandContext, arguments: str) -> CommandResult:
    match arguments.strip():
        case "":
            return CommandResult(await _window(context))
        case "prompt":
            return CommandResult(await _prompt(context))
        case other:
            raise UserError(f"/context does not know {other!r}. Give nothing, or: prompt")


async def _window(context: CommandContext) -> str:
    from agentcli.agent.compact import BUFFER
    from agentcli.model.window import context_report, window_use

    session = context.session
    request = await _next_request(session)
    info = session.info
    use = window_use(
        request,
        window=info.window,
        reserved=min(info.max_output + BUFFER, info.window // 2),
        counted=await _counted(session, request),
    )
    return context_report(use)


async def _next_request(session: Session) -> ModelRequest:
    """What the next request would hold as things stand."""
    state = session.state
    return ModelRequest(
        system=await session.prompt.effective(StepContext(state.model, state.interactive)),
        tools=state.tools,
        messages=tuple(state.messages),
        model=state.model,
        conversation=state.cache,
        conversation_id=state.conversation_id,
        effort=state.effort,
        thinking=state.thinking,
        query_source=state.query_source,
    )


async def _counted(session: Session, request: ModelRequest) -> int | None:
    """The API's own count; ``None`` before the first message and where the server can't say."""
    if not request.messages:
        return None
    ready = request.messages if request.messages[-1].role == "user" else (*request.messages, user("…"))
    return await session.client.count(replace(request, messages=ready))


async def _prompt(context: CommandContext) -> str:
    from agentcli.runtime.explain import explain

    explained = await explain(context.session)
    return f"```\n{explained.table()}\n```"


COMMAND = Command("context", "What fills the context window", run, argument_hint="[prompt]", while_running=True)
