"""Permission questions that an MCP tool answers (``--permission-prompt-tool mcp__SERVER__TOOL``).

The tool gets ``{"tool_name", "input", "tool_use_id"}`` and answers with the JSON of the protocol's permission answer
as text: ``{"behavior": "allow", "updatedInput"?}`` or ``{"behavior": "deny", "message"}``.  Whatever else happens is a
denial that says why.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from agentcli.errors import AgentcliError, UsageError
from agentcli.events import Event, FromSubagent, PermissionAsked, PermissionResolved
from agentcli.messages import TextBlock
from agentcli.ports.permissions import Answer
from agentcli.runtime.session import Session
from agentcli.ui.headless.approvals import read_answer


class ToolApprovals:
    """A listener that has the tool asked; ``say`` tells a person what was wrong with an answer."""

    def __init__(self, session: Session, tool: str, say: Callable[[str], None]) -> None:
        self._session = session
        self._tool = tool
        self._say = say
        self._asking: dict[str, asyncio.Task[None]] = {}
        servers = [s.name for s in session.mcp.statuses()] if session.mcp is not None else []
        if not any(tool.startswith(f"mcp__{name}__") for name in servers):
            say(f"--permission-prompt-tool {tool}: no such MCP server is configured; what needs a permission is denied")

    def hear(self, event: Event) -> None:
        match event:
            case PermissionAsked():
                work = self._answer(event)
                self._asking[event.request_id] = asyncio.get_running_loop().create_task(work)
            case PermissionResolved(request_id=request_id):
                asking = self._asking.pop(request_id, None)
                if asking is not None and asking is not asyncio.current_task():
                    asking.cancel()
            case FromSubagent(event=inner):
                self.hear(inner)
            case _:
                pass

    async def _answer(self, event: PermissionAsked) -> None:
        try:
            answer = await self._ask(event)
        except (AgentcliError, ValueError) as error:
            problem = f"{self._tool} could not answer whether {event.name} may run: {error}"
            self._say(problem)
            answer = Answer(False, problem, by="nobody")
        self._session.answer(event.request_id, answer)

    async def _ask(self, event: PermissionAsked) -> Answer:
        if self._session.mcp is not None:
            await self._session.mcp.wait_named(self._tool)
            await self._session.mcp.between_steps()  # its tools are listed once it is connected
        tool = self._session.toolbox.tools.get(self._tool)
        if tool is None:
            raise UsageError("there is no such tool (is its server configured and connected?)")
        given = {"tool_name": event.name, "input": dict(event.input), "tool_use_id": event.tool_use_id}
        result = await tool.run(given, self._session.contexts(event.tool_use_id))
        text = "\n".join(block.text for block in result.for_model if isinstance(block, TextBlock))
        if result.is_error:
            raise UsageError(text or "it failed")
        body = json.loads(text)
        if not isinstance(body, dict):
            raise UsageError("its answer is not a JSON object")
        return read_answer(body)
