"""Questions of the model and of MCP servers to the user, whichever front end there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentcli.ports.client_servers import ClientServers
from agentcli.ports.elicitation import Elicitation, Elicitor, ElicitReply
from agentcli.ports.tools import Question, Questioner


class Questions:
    """``ports.tools.Questioner`` that asks through ``front``, and ``Elicitor`` that asks through ``elicitor``; a front
    end that can ask puts itself there.  ``clients`` is the way to MCP servers that live in a headless front end."""

    def __init__(self, clients: ClientServers | None = None) -> None:
        self.clients = clients
        self.front: Questioner | None = None
        self.elicitor: Elicitor | None = None

    async def ask(self, questions: Sequence[Question]) -> Mapping[str, Any] | None:
        return await self.front.ask(questions) if self.front is not None else None

    async def elicit(self, request: Elicitation) -> ElicitReply:
        return await self.elicitor.elicit(request) if self.elicitor is not None else ElicitReply("cancel")
