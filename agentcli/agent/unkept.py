"""A request with the conversation's prefix of which nothing is kept in the conversation: summaries, side questions."""

from __future__ import annotations

from agentcli.agent.rooms import Rooms
from agentcli.agent.state import SessionState
from agentcli.agent.turn import Answer, ModelCall, cache_observed
from agentcli.events import Event, FallbackUsed, Notice, RetryScheduled
from agentcli.messages import Json
from agentcli.ports.model import ModelRequest
from agentcli.ports.sessions import EntryKind, PrefixRecord


class _Unrecorded:
    """The stream of such an answer is no part of the transcript."""

    def append(self, kind: EntryKind, data: Json) -> None:
        return None

    def prefix(self, record: PrefixRecord) -> None:
        return None

    def sync(self) -> None:
        return None


async def ask_unkept(state: SessionState, rooms: Rooms, request: ModelRequest) -> Answer:
    """The answer, paid and observed like any other.  ``TurnError`` if there is none."""

    def emit(event: Event) -> None:
        if isinstance(event, RetryScheduled | FallbackUsed | Notice):
            rooms.emit(event)

    answer = await ModelCall(rooms.model, state, _Unrecorded(), emit).run(request)
    report = answer.report
    state.spend(answer.model, answer.usage, report.cost if report else None)
    if report is not None:
        rooms.emit(cache_observed(report))
    return answer
