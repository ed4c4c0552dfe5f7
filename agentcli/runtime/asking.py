"""Questions of the model to the user, whichever front end there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentcli.ports.tools import Question, Questioner


class Questions:
    """``ports.tools.Questioner`` that asks through ``front``; a front end that can ask puts itself there."""

    def __init__(self) -> None:
        self.front: Questioner | None = None

    async def ask(self, questions: Sequence[Question]) -> Mapping[str, Any] | None:
        return await self.front.ask(questions) if self.front is not None else None
