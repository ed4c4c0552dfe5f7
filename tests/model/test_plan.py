"""Where the four cache marks go."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.conversation import ConversationCache, SystemPromptBlock
from agentcli.messages import (
    ImageBlock,
    Message,
    OpaqueBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant,
    user,
)
from agentcli.model.cache import (
    MAX_MARKS,
    BreakpointPlan,
    caching_disabled,
    get_cache_control,
    latched_ttl,
    markable,
    note_written,
    plan_breakpoints,
    wants_hour,
)
from tests.model.worlds import reminder

IDENTITY = SystemPromptBlock("You are agentcli.", None, ("identity",))
STATIC = SystemPromptBlock("static", "org", ("intro",), static_end=True)
DYNAMIC = SystemPromptBlock("dynamic", "org", ("memory", "mcp_instructions"))
SYSTEM = (IDENTITY, STATIC, DYNAMIC)
THINKING = ThinkingBlock("hm", "sig")
CALLS = tuple(ToolUseBlock(f"t{n}", "Read", {}) for n in range(3))
RESULTS = user(*(ToolResultBlock(c.id, (TextBlock("x"),)) for c in CALLS))


def names(messages: Sequence[Message]) -> list[list[str]]:
    """A digest for every block: its position."""
    return [[f"{m}.{b}" for b in range(len(message.content))] for m, message in enumerate(messages)]


def plan(messages: Sequence[Message], written: Sequence[str] = (), system=SYSTEM, **more) -> BreakpointPlan:
    return plan_breakpoints(system, messages, names(messages), written, **more)


TABLE = {
    "first request": ((user("hi"),), (), ((0, 0),)),
    "first request, reminders lead": ((user(reminder("a"), reminder("b"), "hi"),), (), ((0, 1), (0, 2))),
    "reminder behind the words is not shared": ((user("hi", reminder("a")),), (), ((0, 1),)),
    "reminders only": ((user(reminder("a")),), (), ((0, 0),)),
    "the newest written entry": ((user("a"), assistant("b"), user("c")), ("0.0",), ((0, 0), (2, 0))),
    "the newest of several": (
        (user("a"), assistant("b"), user("c"), assistant("d"), user("e")),
        ("0.0", "2.0"),
        ((2, 0), (4, 0)),
    ),
    "an entry in the middle of a message": (
        (user("a"), assistant("b"), user("c", "d", "e")),
        ("0.0", "2.1"),
        ((2, 1), (2, 2)),
    ),
    "after a rewind the entry before it": (
        (user("a"), assistant("b"), user("new")),
        ("0.0", "x", "y"),
        ((0, 0), (2, 0)),
    ),
    "a retry of what is written": ((user("a"), assistant("b"), user("c")), ("0.0", "2.0"), ((0, 0), (2, 0))),
    "nothing known after a resume": (
        (user("a"), assistant("b"), user("c"), assistant("d"), user("e")),
        (),
        ((2, 0), (4, 0)),
    ),
    "parallel results": ((user("a"), assistant(*CALLS), RESULTS), ("0.0",), ((0, 0), (2, 2))),
    "thinking at the end": (
        (user("a"), assistant("b", THINKING, RedactedThinkingBlock("x"))),
        ("0.0",),
        ((0, 0), (1, 0)),
    ),
    "only thinking": ((user("a"), assistant(THINKING)), (), ((0, 0),)),
    "opaque blocks": ((user("a"), assistant("b", OpaqueBlock({"type": "compaction"}))), (), ((0, 0), (1, 0))),
    "empty text": ((user("a", " "),), (), ((0, 0),)),
}


@pytest.mark.parametrize("case", TABLE)
def test_message_marks(case: str) -> None:
    messages, written, expected = TABLE[case]
    assert plan(messages, written) == BreakpointPlan(system=(1, 2), messages=expected)


@pytest.mark.parametrize(
    ("system", "volatile", "marks"),
    [
        (SYSTEM, (), (1, 2)),
        ((IDENTITY, STATIC), (), (1,)),
        ((SystemPromptBlock("custom", "org", ("custom",)),), (), (0,)),
        (SYSTEM, ("mcp_instructions",), (1, 2)),
        ((IDENTITY, STATIC, SystemPromptBlock("v", None, ("mcp_instructions",))), ("mcp_instructions",), (1,)),
        ((IDENTITY, STATIC, SystemPromptBlock("  ", None, ("memory",))), (), (1,)),
        ((), (), ()),
    ],
)
def test_system_marks(system, volatile, marks) -> None:
    found = plan((user("hi"),), system=system, volatile=volatile, tools=2)
    assert found == BreakpointPlan(tool=not marks, system=marks, messages=((0, 0),))


BLOCKS = st.sampled_from(
    [
        TextBlock("x"), TextBlock(""), reminder("r"), THINKING, ImageBlock("image/png", "x"),
        OpaqueBlock({"type": "new"}), CALLS[0], RESULTS.content[0],
    ]
)  # fmt: skip
MESSAGES = st.lists(
    st.tuples(st.sampled_from(["user", "assistant"]), st.lists(BLOCKS, min_size=1, max_size=4)), min_size=1, max_size=6
)


@settings(max_examples=60, deadline=None)
@given(MESSAGES, st.sets(st.integers(0, 23)), st.sampled_from([SYSTEM, (), (IDENTITY,)]))
def test_never_more_than_four_marks_and_never_on_what_cannot_bear_one(raw, picked, system) -> None:
    messages = [Message(role, tuple(blocks)) for role, blocks in raw]
    flat = [d for row in names(messages) for d in row]
    written = [d for i, d in enumerate(flat) if i in picked]
    found = plan(messages, written, system, tools=1)
    assert found.count <= MAX_MARKS
    assert list(found.messages) == sorted(set(found.messages))
    assert all(markable(messages[m].content[b]) for m, b in found.messages)
    last = [(m, b) for m, msg in enumerate(messages) for b, blk in enumerate(msg.content) if markable(blk)]
    assert found.messages[-1:] == tuple(last[-1:])


def test_the_value_of_a_mark() -> None:
    assert get_cache_control("org", "repl") == get_cache_control(None, "repl") == {"type": "ephemeral"}
    assert get_cache_control("global", "repl") == {"type": "ephemeral", "scope": "global"}
    assert get_cache_control("org", "repl", hour=True) == {"type": "ephemeral", "ttl": "1h"}
    assert get_cache_control("org", "subagent", hour=True) == {"type": "ephemeral"}


def test_the_ttl_is_decided_once_per_conversation() -> None:
    conversation = ConversationCache()
    assert latched_ttl(conversation, "repl", hour=False) == "5m"
    assert latched_ttl(conversation, "repl", hour=True) == "5m"
    conversation.reset()
    assert latched_ttl(conversation, "repl", hour=True) == "1h"
    assert latched_ttl(conversation, "side", hour=False) == "1h"
    assert latched_ttl(ConversationCache(), "subagent", hour=True) == "5m"


def test_the_environment_decides_about_caching() -> None:
    assert not wants_hour({})
    assert wants_hour({"ENABLE_PROMPT_CACHING_1H": "yes"})
    assert wants_hour({}, setting="1h")
    assert not wants_hour({"ENABLE_PROMPT_CACHING_1H": "1", "FORCE_PROMPT_CACHING_5M": "1"}, setting="1h")
    assert caching_disabled("claude-opus-5-5", {"DISABLE_PROMPT_CACHING": "1"})
    assert caching_disabled("claude-haiku-5-5", {"DISABLE_PROMPT_CACHING_HAIKU": "true"})
    assert not caching_disabled("claude-opus-5-5", {"DISABLE_PROMPT_CACHING_HAIKU": "true"})


def test_written_entries_are_kept_once_and_not_without_end() -> None:
    conversation = ConversationCache()
    note_written(conversation, ["a", "b"])
    note_written(conversation, ["b", "c"])
    assert conversation.written == ["a", "b", "c"]
    note_written(conversation, [str(n) for n in range(4100)])
    assert len(conversation.written) == 4096
