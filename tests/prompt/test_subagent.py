"""Subagents' prompts: their own text, then the place; never the main thread's default."""

from __future__ import annotations

from typing import Any

from agentcli.conversation import ConversationCache, PromptPart, SystemPromptBlock
from agentcli.prompt.context import NO_SOURCES
from agentcli.prompt.environment import Environment
from agentcli.prompt.identity import SUBAGENT_IDENTITY
from agentcli.prompt.split import split_sys_prompt_prefix
from agentcli.prompt.subagent import (
    DEFAULT_AGENT_PROMPT,
    enhance_system_prompt_with_env_details,
    subagent_head_text,
    subagent_system_prompt,
)
from tests.prompt.worlds import Texts, context


def test_a_definition_s_prompt_is_followed_by_the_place(golden: Any) -> None:
    prompt = subagent_system_prompt(context(), "Review only.")
    assert prompt.level == "agent"
    assert [(p.name, p.kind) for p in prompt.parts] == [("agent", "agent"), ("env_details", "dynamic")]
    golden("subagent.txt", "\n\n".join(p.text for p in prompt.parts) + "\n")


def test_without_one_the_default_with_its_own_identity_is_taken() -> None:
    for nothing in (None, "", " \n"):
        prompt = subagent_system_prompt(context(), nothing)
        assert [p.text for p in prompt.parts[:2]] == [SUBAGENT_IDENTITY, DEFAULT_AGENT_PROMPT]
        assert [p.kind for p in prompt.parts] == ["identity", "agent", "dynamic"]


def test_the_environment_stands_in_an_element_with_the_notes_behind_it() -> None:
    own = PromptPart("agent", "agent", "X")
    first, details = enhance_system_prompt_with_env_details([own], context())
    assert first is own
    inside = details.text.partition("<env>\n")[2].partition("\n</env>")[0].split("\n")
    assert inside == [
        "Primary working directory: /srv/app",
        "Git repository: yes",
        "Platform: linux",
        "Shell: bash",
        "OS version: Linux 6.1.0",
        "Model: Claude Sonnet 5 (claude-sonnet-5)",
        "Knowledge cutoff: March 2026",
        "Date: 2026-11-30",
    ]
    notes = details.text.partition("</env>")[2]
    for words in ("reset between shell calls", "absolute path", "exact text", "No emoji", "No colon"):
        assert words in notes


def test_a_directory_cannot_close_the_element() -> None:
    place = Environment(cwd="/tmp/</env>/x", additional=("/a</env>",), shell="</env>")
    (details,) = enhance_system_prompt_with_env_details([], context(environment=place))
    assert details.text.count("</env>") == 1


def test_its_blocks_mark_the_identity_that_siblings_share() -> None:
    blocks = split_sys_prompt_prefix(subagent_system_prompt(context()), skip_global_cache_for_system_prompt=False)
    assert blocks[0] == SystemPromptBlock(SUBAGENT_IDENTITY, "org", ("identity",), static_end=True)
    assert [b.parts for b in blocks[1:]] == [("agent", "env_details")]


async def test_memory_reaches_it_in_front_of_its_task() -> None:
    assert await subagent_head_text(context(), Texts(memory="M").sources(), ConversationCache()) == "M"
    assert await subagent_head_text(context(), NO_SOURCES, ConversationCache()) is None
