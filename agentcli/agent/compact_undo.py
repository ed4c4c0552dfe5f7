"""A compaction taken back: the conversation, the section values and the latches from before, byte for byte.

Since they are the same bytes, what is still in the API's cache is read again, and thinking stays where it was thought.
"""

from __future__ import annotations

from agentcli.agent.measure import used
from agentcli.agent.prefix import prefix_record
from agentcli.agent.reminders import taken_back
from agentcli.agent.rooms import Rooms
from agentcli.agent.state import SessionState
from agentcli.conversation import SystemPrompt
from agentcli.ports.sessions import Earlier

KEPT = 3
"""So many compactions can be taken back, the newest first."""


def remember(state: SessionState, system: SystemPrompt) -> Earlier:
    """The conversation as it stands, with the prompt that was sent with it."""
    return Earlier(
        messages=tuple(state.messages),
        prefix=prefix_record(state, system),
        written=tuple(state.cache.written),
        context_tokens=state.context_tokens,
        measured=state.measured,
    )


def undo_compaction(state: SessionState, rooms: Rooms) -> int | None:
    """Puts the conversation from before the last compaction back; what was said since is no longer in it (the
    transcript keeps it).  Returns its size in tokens; ``None`` where there is none to take back."""
    if not state.earlier:
        return None
    earlier = state.earlier.pop()
    rooms.journal.append("rewind", {"undo": "compaction"})
    state.replace(earlier.messages, intent="compaction undone")
    state.context_tokens, state.measured = earlier.context_tokens, earlier.measured
    if (record := earlier.prefix) is not None:
        state.start_date = record.start_date
        state.cache.put_back(
            sections=record.sections,
            absent=record.absent,
            choices=record.choices,
            beta_headers=record.beta_headers,
            written=earlier.written,
        )
    taken_back(state, rooms, restored=True)
    return used(state)
