"""For any conversation: smaller afterwards, the last request word for word, and back again byte for byte."""

from __future__ import annotations

import asyncio
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.agent.measure import tokens
from agentcli.errors import TurnError
from agentcli.messages import (
    Message,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    message_to_api,
    message_to_record,
    repair,
    user,
)
from agentcli.ports.display import Todo
from tests.agent.world import make

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=80).filter(str.strip)
LONG = st.integers(0, 6_000).map(lambda n: "result " * (n // 7))
NAMES = st.sampled_from(["Bash", "Read", "Edit", "ExitPlanMode", "mcp__a__b"])


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Prompts, each with some steps of calls and an answer."""
    messages: list[Message] = []
    for turn in range(draw(st.integers(1, 4))):
        messages.append(user(TextBlock(draw(WORDS), "reminder"), draw(WORDS)))
        for step in range(draw(st.integers(0, 3))):
            id = f"{turn}-{step}"
            thought = [ThinkingBlock("Hm.", "s")] * draw(st.integers(0, 1))
            key = draw(st.sampled_from(["command", "file_path", "plan", "x"]))
            call = ToolUseBlock(id, draw(NAMES), {key: draw(WORDS)})
            messages.append(Message("assistant", (*thought, call)))
            text = TextBlock(draw(LONG) or "(no output)")
            messages.append(user(ToolResultBlock(id, (text,), draw(st.booleans()))))
        messages.append(Message("assistant", (TextBlock(draw(WORDS), "model"),)))
    if draw(st.booleans()):
        messages.append(user(draw(WORDS)))
    return messages


def written(messages: list[Message]) -> str:
    return json.dumps([message_to_record(m) for m in messages], ensure_ascii=False)


@given(conversations(), st.lists(WORDS, max_size=3))
@settings(max_examples=60, deadline=None)
def test_smaller_with_the_last_request_and_back_again(messages: list[Message], todos: list[str]) -> None:
    async def play() -> None:
        world = make(["The summary.", "The next summary."])
        state = world.state
        state.messages[:] = messages
        state.set_todos(tuple(Todo(t, "pending") for t in todos))
        before = written(state.messages)
        asked = next(m for m in reversed(messages) if m.role == "user" and not m.tool_results()).content[-1]
        assert isinstance(asked, TextBlock)
        try:
            compacted = await world.agent.compact()
        except TurnError:
            assert written(state.messages) == before  # it would not have been smaller
            return
        assert compacted is not None
        assert compacted.after_tokens < compacted.before_tokens
        assert tokens(state.messages) < tokens(messages)
        assert any(asked.text in b.text for b in state.messages[0].content if isinstance(b, TextBlock))
        assert not repair(state.messages).notes
        json.dumps([message_to_api(m) for m in state.messages], ensure_ascii=False).encode()
        assert all(any(t in b.text for b in state.messages[0].content if isinstance(b, TextBlock)) for t in todos)
        assert world.agent.undo_compaction() is not None
        assert written(state.messages) == before

    asyncio.run(play())
