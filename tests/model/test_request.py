"""The request's JSON: the same bytes for the same state, and each model's rules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.conversation import ConversationCache
from agentcli.messages import TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock, assistant, user
from agentcli.model.parts import Rules
from agentcli.model.request import RequestBuilder
from agentcli.prompt.split import split_sys_prompt_prefix
from tests.model.worlds import BASH, LATE, LATE_MCP, MCP_A, MCP_B, READ, ask, build, prompt, reminder, sample

ROOT = Path(__file__).resolve().parents[2]
MARK = {"type": "ephemeral"}


def without_marks(value):
    if isinstance(value, dict):
        return {k: without_marks(v) for k, v in value.items() if k != "cache_control"}
    return [without_marks(v) for v in value] if isinstance(value, list) else value


def test_the_whole_body() -> None:
    asked = ask(user(reminder("today"), "hi"), effort="low", max_tokens=1000)
    wire = build(asked)
    system = prompt().parts
    assert wire.body == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 1000,
        "tools": [
            {
                "name": "Read",
                "description": "Reads a file.",
                "input_schema": {
                    "properties": {"path": {"type": "string"}},
                    "required": ["path"],
                    "type": "object",
                },
            },
            {
                "name": "Bash",
                "description": "Runs a command.",
                "input_schema": {"properties": {"command": {"type": "string"}}, "type": "object"},
            },
        ],
        "system": [
            {"type": "text", "text": "You are agentcli."},
            {"type": "text", "text": system[1].text, "cache_control": MARK},
            {"type": "text", "text": f"{system[3].text}\n\n{system[4].text}", "cache_control": MARK},
        ],
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "text",
                        "text": "<system-reminder>\ntoday\n</system-reminder>",
                        "cache_control": MARK,
                    },
                    {"type": "text", "text": "hi", "cache_control": MARK},
                ],
            }
        ],
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "low"},
        "diagnostics": {"previous_message_id": None},
        "stream": True,
    }
    assert json.loads(wire.data) == wire.body
    assert list(wire.body["tools"][0]["input_schema"]) == ["properties", "required", "type"]
    assert wire.betas == ("cache-diagnosis-2026-04-07",)


SCRIPT = """
import sys
from tests.model.worlds import build, sample
sys.stdout.buffer.write(build(sample(), betas=("b", "a")).data)
"""


def test_two_processes_make_the_same_bytes() -> None:
    made = set()
    for seed in ("0", "4711"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        made.add(subprocess.run([sys.executable, "-c", SCRIPT], env=env, check=True, capture_output=True).stdout)
    assert made == {build(sample(), betas=("b", "a")).data}


def test_tools_stand_in_a_fixed_order() -> None:
    tools = (MCP_B, LATE, READ, LATE_MCP, MCP_A, BASH)
    front = ["Read", "Bash", "mcp__a__x", "mcp__b__x"]
    sent = build(ask(tools=tools)).body["tools"]
    assert [t["name"] for t in sent] == [*front, "WebFetch", "mcp__a__late"]
    assert [t["name"] for t in sent if t.get("defer_loading")] == ["WebFetch", "mcp__a__late"]
    assert [t["name"] for t in build(ask(tools=tools), provider="gateway").body["tools"]] == front
    refused = build(ask(tools=tools), off=frozenset({"deferral"})).body["tools"]
    assert not any("defer_loading" in t for t in refused)
    assert len(refused) == 6


def test_a_server_tool_goes_as_it_is() -> None:
    raw = {"type": "web_search_20260318", "name": "web_search", "max_uses": 5}
    assert build(ask(tools=(replace(READ, raw=raw),))).body["tools"] == [raw]


def test_the_global_scope_needs_a_first_party_and_no_servers_tools_in_front() -> None:
    scoped = {"type": "ephemeral", "scope": "global"}

    def marks(wire):
        return [b.get("cache_control") for b in wire.body["system"]]

    asked = ask(system=prompt(scope=True))
    wire = build(asked)
    assert marks(wire) == [None, scoped, MARK]
    assert wire.betas == ("prompt-caching-scope-2026-01-05", "cache-diagnosis-2026-04-07")
    assert marks(build(asked, provider="gateway")) == [None, MARK, MARK]
    assert marks(build(replace(asked, tools=(READ, MCP_A)))) == [None, MARK, MARK]
    refused = build(ask(system=prompt(scope=True)), off=frozenset({"scope"}))
    assert marks(refused) == [None, MARK, MARK]
    assert without_marks(refused.body) == without_marks(build(ask(system=prompt(scope=True))).body)
    assert build(asked, provider="gateway", off=frozenset({"scope", "diagnosis"})).betas == ()


def test_headers_that_were_sent_go_on_being_sent() -> None:
    asked = ask()
    assert build(asked, betas=("fast-mode-2026-02-01",)).betas == (
        "cache-diagnosis-2026-04-07",
        "fast-mode-2026-02-01",
    )
    assert "fast-mode-2026-02-01" in build(asked).betas
    asked.conversation.reset()
    assert "fast-mode-2026-02-01" not in build(asked).betas


def test_caching_can_be_switched_off() -> None:
    body = build(ask(), env={"DISABLE_PROMPT_CACHING": "1"}).body
    assert body == without_marks(body)
    assert "diagnostics" not in body


ADAPTIVE = {"type": "adaptive", "display": "summarized"}
RULES = [
    ("claude-opus-5-5", "default", ADAPTIVE),
    ("claude-opus-5-5", "off", ADAPTIVE),
    ("claude-fable-5-1", "off", ADAPTIVE),
    ("claude-sonnet-5-5", "off", {"type": "between_tools"}),
    ("claude-haiku-5-5", "off", {"type": "disabled"}),
    ("claude-opus-4-8", "default", ADAPTIVE),
    ("claude-haiku-4-5-20251001", "default", None),
    ("claude-haiku-4-5-20251001", "on", {"type": "enabled", "budget_tokens": 16_000}),
    ("us.anthropic.claude-opus-4-6-v1:0", "on", ADAPTIVE),
    ("claude-sonnet-9", "off", {"type": "between_tools"}),
    ("qwen2.5-coder", "on", None),
]


@pytest.mark.parametrize(("model", "choice", "thinking"), RULES)
def test_thinking_by_model(model, choice, thinking) -> None:
    assert build(ask(model=model, thinking=choice)).body.get("thinking") == thinking


def test_the_environment_has_a_word_on_thinking() -> None:
    haiku = "claude-haiku-4-5"
    assert build(ask(model=haiku), env={"MAX_THINKING_TOKENS": "4000"}).body["thinking"]["budget_tokens"] == 4000
    assert build(ask(model=haiku, thinking="on"), env={"MAX_THINKING_TOKENS": "0"}).body.get("thinking") is None
    off = build(ask(), env={"CLAUDE_CODE_DISABLE_THINKING": "1"})
    assert off.body["thinking"] == {"type": "between_tools"}


def test_a_budget_model_keeps_its_old_thinking() -> None:
    wire = build(ask(model="claude-haiku-4-5", thinking="on"))
    assert wire.body["context_management"] == {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}
    assert wire.betas[1:] == ("interleaved-thinking-2025-05-14", "context-management-2025-06-27")


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        ("claude-opus-5-5", "max", "max"),
        ("claude-opus-4-6", "xhigh", "high"),
        ("claude-haiku-4-5", "high", None),
        ("qwen2.5-coder", "high", None),
        ("claude-opus-5-5", None, None),
    ],
)
def test_effort_by_model(model, effort, sent) -> None:
    assert build(ask(model=model, effort=effort)).body.get("output_config", {}).get("effort") == sent


@pytest.mark.parametrize(
    ("model", "wanted", "effort", "env", "sent"),
    [
        ("claude-opus-5-5", None, None, {}, 32_000),
        ("claude-opus-5-5", None, "max", {}, 64_000),
        ("claude-opus-5-5", 500_000, None, {}, 128_000),
        ("claude-opus-5-5", None, None, {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "5000"}, 5_000),
        ("claude-haiku-4-5", None, None, {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "500000"}, 64_000),
        ("qwen2.5-coder", None, None, {}, 8_192),
        ("qwen2.5-coder", 20_000, None, {}, 20_000),
    ],
)
def test_output_limits(model, wanted, effort, env, sent) -> None:
    assert build(ask(model=model, max_tokens=wanted, effort=effort), env=env).body["max_tokens"] == sent


def test_thinking_of_another_model_is_dropped_whole() -> None:
    conversation = ConversationCache()
    first = ask(user("a"), assistant(ThinkingBlock("hm", "s"), "b"), user("c"), conversation=conversation)
    assert build(first).body["messages"][1]["content"][0]["type"] == "thinking"
    switched = replace(first, model="claude-opus-5-5")
    assert [b["type"] for b in build(switched).body["messages"][1]["content"]] == ["text"]
    own = assistant(ThinkingBlock("mine", "t"), "d")
    later = replace(switched, messages=(*first.messages, own, user("e")))
    messages = build(later).body["messages"]
    assert [len(m["content"]) for m in messages] == [1, 1, 1, 2, 1]
    back = replace(later, model="claude-sonnet-5-5")
    assert not any(b["type"] == "thinking" for m in build(back).body["messages"] for b in m["content"])


def test_after_a_rewind_behind_the_switch_new_thinking_is_kept() -> None:
    conversation = ConversationCache()
    turns = [user("a"), assistant(ThinkingBlock("hm", "s"), "b"), user("c"), assistant("d"), user("e")]
    build(ask(*turns, conversation=conversation))
    build(ask(*turns, conversation=conversation, model="claude-opus-5-5"))
    rewound = [user("a again")]
    build(ask(*rewound, conversation=conversation, model="claude-opus-5-5"))
    new = [*rewound, assistant(ThinkingBlock("new", "n"), "x"), user("y")]
    messages = build(ask(*new, conversation=conversation, model="claude-opus-5-5")).body["messages"]
    assert messages[1]["content"][0] == {"type": "thinking", "thinking": "new", "signature": "n"}


def test_an_answer_of_foreign_thinking_only_leaves_no_hole() -> None:
    conversation = ConversationCache()
    turns = (user("a"), assistant(ThinkingBlock("hm", "s")), user("b"))
    build(ask(*turns, conversation=conversation))
    messages = build(ask(*turns, conversation=conversation, model="claude-opus-5-5")).body["messages"]
    assert [(m["role"], len(m["content"])) for m in messages] == [("user", 2)]


def test_half_characters_never_reach_the_wire() -> None:
    wire = build(ask(user("a \ud83d b")))
    assert "a \ufffd b" in wire.data.decode("utf-8")


def test_extra_body_fields_are_added() -> None:
    assert build(ask(), extra_body={"service_tier": "auto"}).body["service_tier"] == "auto"


def test_volatile_sections_alone_are_not_marked() -> None:
    parts = prompt().parts[:3]
    volatile = replace(prompt().parts[3], name="mcp_instructions", policy="volatile")
    wire = build(ask(system=replace(prompt(), parts=(*parts, volatile))))
    assert ["cache_control" in b for b in wire.body["system"]] == [False, True, False]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(str.strip)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5), TEXTS)
def test_what_was_sent_stays_the_beginning_of_what_is_sent(turns, last) -> None:
    """Every request's blocks are a prefix of the next one's, marks aside; and its marks' prefixes are known."""
    builder, conversation = RequestBuilder(), ConversationCache()
    rules = Rules(provider="first_party", split=split_sys_prompt_prefix)
    messages, before = [], None
    for question, answer in [*turns, (last, "end")]:
        messages.append(user(question))
        wire = builder.build(ask(*messages, conversation=conversation), rules)
        sent = without_marks(wire.body["messages"])
        if before is not None:
            assert sent[: len(before)] == before
            assert wire.plan.messages[0][0] == len(before) - 1
        assert without_marks(wire.body["system"]) == without_marks(build(ask()).body["system"])
        conversation.written.extend(wire.writes)
        before = sent
        messages.append(assistant(answer))


def test_thinking_is_dropped_when_what_stood_in_front_of_it_changes() -> None:
    """It is bound to tools and system prompt too; what is thought behind the new ones is kept."""
    conversation = ConversationCache()
    first = ask(user("a"), assistant(ThinkingBlock("hm", "s"), "b"), user("c"), conversation=conversation)
    build(first)
    changed = replace(first, system=prompt(memory="other"))
    assert [b["type"] for b in build(changed).body["messages"][1]["content"]] == ["text"]
    later = replace(changed, messages=(*first.messages, assistant(ThinkingBlock("own", "t"), "d"), user("e")))
    assert [len(m["content"]) for m in build(later).body["messages"]] == [1, 1, 1, 2, 1]
    deferred = replace(later, tools=(*later.tools, LATE))
    assert [len(m["content"]) for m in build(deferred).body["messages"]] == [1, 1, 1, 2, 1]


def test_a_question_aside_leaves_the_conversation_as_it_is() -> None:
    conversation = ConversationCache()
    turns = (user("a"), assistant(ThinkingBlock("hm", "s"), "b"), user("c"))
    build(ask(*turns, conversation=conversation))
    aside = ask(*turns, conversation=conversation, model="claude-haiku-5-5", query_source="side")
    assert [b["type"] for b in build(aside).body["messages"][1]["content"]] == ["text"]
    again = build(ask(*turns, conversation=conversation)).body["messages"]
    assert again[1]["content"][0]["type"] == "thinking"


def test_a_budget_is_left_out_where_the_open_call_has_no_thinking_in_front() -> None:
    call, result = ToolUseBlock("t1", "Read", {}), ToolResultBlock("t1", (TextBlock("x"),))
    plain = build(ask(user("a"), assistant(call), user(result), model="claude-haiku-4-5", thinking="on"))
    assert "thinking" not in plain.body
    assert "context_management" not in plain.body
    thought = assistant(ThinkingBlock("hm", "s"), call)
    kept = build(ask(user("a"), thought, user(result), model="claude-haiku-4-5", thinking="on"))
    assert kept.body["thinking"]["type"] == "enabled"
