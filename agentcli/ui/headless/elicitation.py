"""Questions of MCP servers go to the client (``elicitation``), which answers with ``action`` and ``content``."""

from __future__ import annotations

from collections.abc import Callable

from agentcli.ports.elicitation import Elicitation, ElicitReply
from agentcli.ui.headless.requests import Requests


class PipeElicitor:
    """``ports.elicitation.Elicitor``.  ``say`` tells a person why a question was declined for them."""

    def __init__(self, requests: Requests, say: Callable[[str], None]) -> None:
        self._requests = requests
        self._say = say

    async def elicit(self, request: Elicitation) -> ElicitReply:
        if self._requests.ended.is_set():
            return ElicitReply("cancel")
        form: dict[str, object] = {"mode": "form", "requested_schema": request.schema}
        if request.url:
            form = {"mode": "url", "url": request.url}
        body = {"subtype": "elicitation", "mcp_server_name": request.server, "message": request.message, **form}
        answer = await self._requests.ask(body)
        if answer.error is not None:
            return self._declined(request, answer.error)
        content = answer.body.get("content")
        match answer.body.get("action"):
            case "accept" if request.url or content is None:
                return ElicitReply("accept")
            case "accept" if isinstance(content, dict):
                return ElicitReply("accept", content)
            case "decline":
                return ElicitReply("decline")
            case "cancel":
                return ElicitReply("cancel")
            case other:
                return self._declined(request, f"its answer is not understood (action {other!r})")

    def _declined(self, request: Elicitation, why: str) -> ElicitReply:
        self._say(f"the question of the MCP server {request.server} was declined: the client can't answer it: {why}")
        return ElicitReply("decline")
