"""The reminder in front of the user's first words, and what reaches the model late."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentcli.modes.proactive import proactive_words
from agentcli.ports.prompt import Reminder
from agentcli.prompt.effective import PromptLevels, given
from agentcli.prompt.section import clear_system_prompt_sections
from tests.prompt.worlds import STEP, Texts, world

SCRATCH = "Scratch directory of this session ($AGENTCLI_SCRATCH): /tmp/agentcli-7"
FULL: dict[str, Any] = {"language": "German", "scratch_directory": "/tmp/agentcli-7", "mcp_instructions_delta": False}


def texts() -> Texts:
    return Texts(memory="MEMORY", skills="SKILLS", agents="AGENTS", mcp_instructions="## git\n\nASK")


@pytest.mark.parametrize("level", ["coordinator", "agent", "custom"])
async def test_where_the_default_is_replaced_the_head_says_what_would_be_missed(level: str, golden: Any) -> None:
    said = texts()
    levels = PromptLevels() if level == "coordinator" else PromptLevels(**{level: given("MINE")})
    said.coordinator = "MINE" if level == "coordinator" else None
    made = world(levels=levels, texts=said, **FULL)
    (reminder,) = await made.source.collect("first_message")
    assert reminder.key == "session"
    golden("head-replaced.txt", reminder.text + "\n")
    prompt = await made.source.effective(STEP)
    for word in ("MEMORY", "SKILLS", "AGENTS", "ASK", "German", "/srv/app", "2026-11-30"):
        assert reminder.text.count(word) == 1
        assert not [p for p in prompt.parts if word in p.text]


async def test_with_the_default_prompt_the_head_names_the_scratch_directory_alone() -> None:
    made = world(texts=texts(), **FULL)
    assert await made.source.collect("first_message") == [Reminder("session", SCRATCH)]


async def test_with_the_default_prompt_and_no_scratch_directory_there_is_none() -> None:
    made = world(texts=texts(), language="German")
    assert await made.source.collect("first_message") == []


async def test_an_agent_in_proactive_mode_keeps_the_default_so_nothing_is_sent_twice() -> None:
    made = world(levels=PromptLevels(agent=given("MINE")), texts=texts(), proactive=proactive_words(), **FULL)
    assert await made.source.collect("first_message") == [Reminder("session", SCRATCH)]


@pytest.mark.parametrize(
    ("levels", "changes"),
    [
        (PromptLevels(override=given("O")), {}),
        (PromptLevels(), {"simple": True}),
        (PromptLevels(custom=given("C")), {"simple": True}),
    ],
    ids=["override", "simple", "simple with a custom prompt"],
)
async def test_who_wants_the_model_bare_gets_no_head(levels: PromptLevels, changes: dict[str, Any]) -> None:
    made = world(levels=levels, texts=texts(), **FULL, **changes)
    assert await made.source.collect("first_message") == []
    assert {k: v for k, v in made.texts.asked.items() if k != "coordinator"} == {}


async def test_instructions_that_reminders_deliver_are_not_in_the_head() -> None:
    made = world(levels=PromptLevels(custom=given("C")), texts=texts(), mcp_instructions_delta=True)
    (reminder,) = await made.source.collect("first_message")
    assert "ASK" not in reminder.text
    assert made.texts.asked["mcp_instructions"] == 0


async def test_the_head_is_given_once_per_conversation() -> None:
    made = world(levels=PromptLevels(custom=given("C")), texts=texts())
    first = await made.source.collect("first_message")
    assert len(first) == 1
    assert await made.source.collect("before_step") == []
    assert await made.source.collect("first_message") == []
    clear_system_prompt_sections(made.cache)
    assert await made.source.collect("first_message") == first


@pytest.mark.parametrize("cleared_first", [True, False])
async def test_after_a_compaction_the_head_says_what_is_true_now(cleared_first: bool) -> None:
    made = world(levels=PromptLevels(custom=given("C")), texts=texts())
    (first,) = await made.source.collect("first_message")
    made.texts.memory = "NEW"
    if cleared_first:
        clear_system_prompt_sections(made.cache)
    assert await made.source.collect("after_compaction") == [Reminder("session", first.text.replace("MEMORY", "NEW"))]


async def test_what_failed_before_a_compaction_is_not_delivered_twice_by_it() -> None:
    made = world(levels=PromptLevels(custom=given("C")), texts=replace(texts(), memory=OSError("locked")))
    await made.source.collect("first_message")
    made.texts.memory = "MEMORY"
    (head,) = await made.source.collect("after_compaction")
    assert head.text.count("MEMORY") == 1


async def test_a_part_of_the_head_that_fails_is_named_and_follows_later() -> None:
    said = replace(texts(), memory=OSError("CLAUDE.md is locked"))
    made = world(levels=PromptLevels(custom=given("C")), texts=said)
    (head,) = await made.source.collect("first_message")
    assert "SKILLS" in head.text
    assert len(made.warnings) == 1
    assert await made.source.collect("before_step") == []
    said.memory = "MEMORY"
    assert await made.source.collect("before_step") == [Reminder("section:memory", "MEMORY")]
    assert await made.source.collect("before_step") == []


async def test_a_section_of_the_default_that_fails_follows_later_and_leaves_the_prompt_alone() -> None:
    said = Texts(memory=OSError("CLAUDE.md is locked"))
    made = world(texts=said)
    before = await made.source.effective(STEP)
    assert made.warnings == [
        "The system prompt goes without its section 'memory', which could not be built: CLAUDE.md is locked"
    ]
    said.memory = "MEMORY"
    assert await made.source.collect("before_step") == [Reminder("section:memory", "MEMORY")]
    assert await made.source.collect("before_step") == []
    assert await made.source.effective(STEP) == before
    assert len(made.warnings) == 1
