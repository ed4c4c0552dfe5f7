"""The effective prompt, explained: for ``agentcli prompt`` and ``/context prompt``."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from agentcli.errors import SetupError
from agentcli.messages import user
from agentcli.model.client import AnthropicClient
from agentcli.model.connection import Connection
from agentcli.model.monitor import CacheMonitor
from agentcli.model.options import ClientOptions
from agentcli.model.request import WireRequest
from agentcli.ports.model import ModelRequest
from agentcli.ports.prompt import StepContext
from agentcli.prompt.inspect import PromptReport
from agentcli.prompt.split import split_sys_prompt_prefix
from agentcli.runtime.build import open_session
from agentcli.runtime.client import make_client
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.session import Session
from agentcli.runtime.world import read_world

NUMERIC = frozenset({4, 5})


@dataclass(frozen=True, slots=True)
class Explained:
    """``tool_bytes`` is the size of the tool array in front of the prompt, as it is sent."""

    report: PromptReport
    tool_bytes: int

    def table(self) -> str:
        """For a person: a line per part, then how it is sent."""
        rows = self.report.table()
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(_cell(row[i], widths[i], i) for i in range(len(row))).rstrip() for row in rows]
        append = " + append" if self.report.append else ""
        how = (
            f"level {self.report.level}{append}, path {self.report.path}, layout {self.report.layout}; "
            f"tools in front: {self.tool_bytes:,} bytes"
        )
        return "\n".join([*lines, "", *self.report.reasons(), how])


async def explain_prompt(options: SessionOptions) -> Explained:
    """The prompt as the first request of a session with these options would have it.  Asks no server, needs no key."""
    session = await open_session(options, client=await _client(options))
    try:
        return await explain(session)
    finally:
        await session.close()


async def explain(session: Session) -> Explained:
    """The prompt of the session's next request."""
    state = session.state
    step = StepContext(state.model, state.interactive)
    wire = _wire(session, await next_request(session))
    if wire is None:
        return Explained(await session.prompt.report(step), 0)
    report = await session.prompt.report(
        step,
        global_scope=wire.global_scope,
        skip_global_cache_for_system_prompt=wire.mcp_in_front,
        cache_controls=[block.get("cache_control") for block in wire.body.get("system", ())],
    )
    return Explained(report, len(json.dumps(wire.body.get("tools", []), ensure_ascii=False).encode()))


async def next_request(session: Session) -> ModelRequest:
    """What the session's next request would hold as things stand."""
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
        output_schema=state.output_schema,
    )


def _wire(session: Session, request: ModelRequest) -> WireRequest | None:
    """The request as the model client would send it; ``None`` for a client that sends nothing."""
    if not isinstance(session.client, AnthropicClient):
        return None
    return session.client.preview(request if request.messages else replace(request, messages=(user("…"),)))


async def _client(options: SessionOptions) -> AnthropicClient:
    """The session's client; without a key one for the Anthropic API that can't ask it anything."""
    world = read_world(options)
    monitor = CacheMonitor(clock=world.clock)
    try:
        return await make_client(world, monitor)
    except SetupError:
        return AnthropicClient(
            Connection("first_party"), splitter=split_sys_prompt_prefix, options=ClientOptions(env=world.env)
        )


def _cell(text: str, width: int, column: int) -> str:
    return text.rjust(width) if column in NUMERIC else text.ljust(width)
