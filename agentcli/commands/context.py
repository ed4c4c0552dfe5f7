"""``/context [prompt]``: what fills the context window; with ``prompt`` the effective system prompt, part by part."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError


async def run(context: CommandContext, arguments: str) -> CommandResult:
    match arguments.strip():
        case "":
            return CommandResult(await _window(context))
        case "prompt":
            return CommandResult(await _prompt(context))
        case other:
            raise UserError(context.texts("window.unknown", given=other))


async def _window(context: CommandContext) -> str:
    from agentcli.agent.clearing import without_old_results
    from agentcli.agent.compact import BUFFER
    from agentcli.model.window import context_report
    from agentcli.model.window_count import WindowCounter
    from agentcli.runtime.explain import next_request

    session = context.session
    info = session.info
    counter = WindowCounter(session.client.count, session.counts)
    reserved = min(info.max_output + BUFFER, info.window // 2)
    use = await counter.use(await next_request(session), window=info.window, reserved=reserved)
    clears = session.agent.limits.clear_results
    old = None if clears else without_old_results(session.state.messages)
    threshold, clearable = session.agent.compact_threshold, old.freed if old else 0
    return context_report(use, threshold=threshold, clearable=clearable, t=context.texts)


async def _prompt(context: CommandContext) -> str:
    from agentcli.runtime.explain import explain

    explained = await explain(context.session)
    return f"```\n{explained.table()}\n```"


COMMAND = Command("context", "What fills the context window", run, argument_hint="[prompt]", while_running=True)
