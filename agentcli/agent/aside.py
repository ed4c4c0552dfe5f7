"""A side question: answered from the conversation, which goes on as if it had not been asked.

Its request is the conversation so far with one message appended, so that everything that was sent is read from the
cache.
"""

from __future__ import annotations

from agentcli.agent.reminders import wrap
from agentcli.agent.rooms import Rooms
from agentcli.agent.state import SessionState
from agentcli.agent.unkept import ask_unkept
from agentcli.errors import TurnError
from agentcli.messages import Message, TextBlock, append, repair
from agentcli.ports.model import ModelRequest
from agentcli.ports.prompt import StepContext

WORDS = (
    "What follows is a side question of the user. Answer it in a few sentences from what you know and what stands "
    "above. Call no tool: nothing would run it. Neither question nor answer stays in the conversation."
)


async def ask_aside(state: SessionState, rooms: Rooms, question: str) -> str:
    """The answer.  May be asked while a turn runs: calls without a result are left out of what is sent.

    ``TurnError`` if there is no answer, or only a tool call.
    """
    messages = list(repair(state.messages).messages)
    append(messages, Message("user", (wrap(WORDS), TextBlock(question))))
    request = ModelRequest(
        system=await rooms.prompt.effective(StepContext(state.model, state.interactive)),
        tools=state.tools,
        messages=tuple(messages),
        model=state.model,
        conversation=state.cache,
        conversation_id=f"{state.conversation_id}/aside",
        effort=state.effort,
        thinking=state.thinking,
        query_source="side",
    )
    answer = (await ask_unkept(state, rooms, request)).message.text().strip()
    if not answer:
        raise TurnError("The side question got no answer in words; ask it in the conversation.")
    rooms.journal.append("notice", {"level": "info", "code": "aside", "text": f"{question}\n\n{answer}"})
    return answer
