"""Thinking is bound to everything in front of it: where that changes, it is dropped whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentcli.conversation import ConversationCache
from agentcli.messages import ThinkingBlock, ToolResultBlock, ToolUseBlock, assistant, user
from agentcli.ports.model import ModelRequest
from tests.model.worlds import LATE, READ, ask, build, prompt

CHANGES: dict[str, dict[str, Any]] = {
    "model": {"model": "claude-opus-5-5"},
    "a tool": {"tools": (READ,)},
    "a section": {"system": prompt(memory="Other.")},
}


def thought(**more: Any) -> ModelRequest:
    said = assistant(ThinkingBlock("hm", "s"), "one")
    return ask(user("hi"), said, user("on"), conversation=ConversationCache(), **more)


def thinking_in(request: ModelRequest, **rules: Any) -> list[str]:
    body = build(request, **rules).body
    return [b["thinking"] for m in body["messages"] for b in m["content"] if b["type"] == "thinking"]


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_in_front_drops_what_was_thought_before(name: str) -> None:
    request = thought()
    assert thinking_in(request) == ["hm"]
    changed = replace(request, **CHANGES[name])
    assert thinking_in(changed) == []
    new = (*changed.messages, assistant(ThinkingBlock("then", "s"), "two"), user("and on"))
    assert thinking_in(replace(changed, messages=new)) == ["then"]
    assert thinking_in(request) == [], "the way back is a change too"


@pytest.mark.parametrize("more", [{"effort": "low"}, {"tool_choice": "none"}, {"thinking": "off"}])
def test_what_thinking_is_not_bound_to_drops_nothing(more: dict[str, Any]) -> None:
    request = thought()
    build(request)
    assert thinking_in(replace(request, **more)) == ["hm"]


def test_deferred_tools_that_must_be_rendered_after_all_drop_it() -> None:
    request = thought(tools=(READ, LATE))
    assert thinking_in(request) == ["hm"]
    assert thinking_in(request, off=frozenset({"deferral"})) == []


def test_a_question_aside_leaves_the_conversation_as_it_is() -> None:
    request = thought()
    build(request)
    aside = replace(request, query_source="side")
    assert thinking_in(aside) == ["hm"]
    assert thinking_in(replace(aside, system=prompt(memory="Other."))) == []
    assert thinking_in(request) == ["hm"]


def test_a_budget_is_left_out_where_the_answer_in_work_has_no_thinking() -> None:
    """As after a fallback in the middle of a turn: the API wants thinking in front of calls that got their results."""
    calls = (ThinkingBlock("hm", "s"), ToolUseBlock("t1", "Read", {"path": "a"}))
    request = ask(user("hi"), assistant(*calls), user(ToolResultBlock("t1", ())), thinking="on")
    build(request)
    changed = replace(request, model="claude-haiku-4-5")
    assert "thinking" not in build(changed).body
    later = replace(changed, messages=(*changed.messages, assistant("done"), user("next")))
    assert build(later).body["thinking"]["type"] == "enabled"
