"""Who wins: override, coordinator, agent, custom, default; and what is appended."""

from __future__ import annotations

import itertools

import pytest

from agentcli.conversation import PromptLevel, PromptPart, SystemPrompt
from agentcli.prompt.effective import LevelText, PromptLevels, build_effective_system_prompt, given

DEFAULT = [PromptPart("identity", "identity", "I"), PromptPart("memory", "dynamic", "M", "memoised")]
LEVELS = ("override", "coordinator", "agent", "custom")


async def default() -> tuple[PromptLevel, list[PromptPart]]:
    return "default", list(DEFAULT)


@pytest.mark.parametrize("present", list(itertools.product([False, True], repeat=5)))
async def test_every_combination_of_levels(present: tuple[bool, ...]) -> None:
    texts = dict(zip((*LEVELS, "append"), present, strict=True))
    levels = PromptLevels(**{name: given(name.upper()) for name, on in texts.items() if on})
    winner = next((name for name in LEVELS if texts[name]), "default")
    parts = DEFAULT if winner == "default" else [PromptPart(winner, winner, winner.upper())]  # type: ignore[arg-type]
    append = texts["append"] and winner != "override"
    tail = [PromptPart("append", "append", "APPEND")] if append else []
    assert await build_effective_system_prompt(levels, default) == SystemPrompt((*parts, *tail), winner, append)  # type: ignore[arg-type]


@pytest.mark.parametrize("empty", ["", " \n\t", None])
async def test_an_empty_text_is_not_given(empty: str | None) -> None:
    levels = PromptLevels(
        override=given(empty), coordinator=given(empty), agent=given(empty), custom=given(empty), append=given(empty)
    )
    assert await build_effective_system_prompt(levels, default) == SystemPrompt(tuple(DEFAULT), "default", append=False)


async def test_a_level_that_lost_is_not_called() -> None:
    called: list[str] = []

    def level(name: str, text: str | None) -> LevelText:
        async def say() -> str | None:
            called.append(name)
            return text

        return say

    async def unwanted() -> tuple[PromptLevel, list[PromptPart]]:
        called.append("default")
        return await default()

    levels = PromptLevels(
        override=level("override", None),
        coordinator=level("coordinator", "C"),
        agent=level("agent", "A"),
        custom=level("custom", "X"),
        append=level("append", "P"),
    )
    await build_effective_system_prompt(levels, unwanted)
    assert called == ["override", "coordinator", "append"]


async def test_an_override_does_not_even_ask_for_the_append() -> None:
    async def append() -> str | None:
        raise AssertionError("asked")

    prompt = await build_effective_system_prompt(PromptLevels(override=given("O"), append=append), default)
    assert prompt == SystemPrompt((PromptPart("override", "override", "O"),), "override", append=False)


async def test_given_texts_are_sent_exactly() -> None:
    text = "\n  x\r\n\n"
    prompt = await build_effective_system_prompt(PromptLevels(custom=given(text), append=given(text)), default)
    assert [p.text for p in prompt.parts] == [text, text]


async def test_in_proactive_mode_an_agent_is_added_to_the_default() -> None:
    levels = PromptLevels(agent=given("Guard the tests."), append=given("P"))
    prompt = await build_effective_system_prompt(levels, default, proactive=True)
    assert prompt == SystemPrompt(
        (
            *DEFAULT,
            PromptPart("agent", "agent", "# Custom Agent Instructions\n\nGuard the tests."),
            PromptPart("append", "append", "P"),
        ),
        "agent",
        append=True,
    )


@pytest.mark.parametrize("level", ["override", "coordinator", "custom"])
async def test_in_proactive_mode_the_other_levels_still_replace(level: str) -> None:
    prompt = await build_effective_system_prompt(PromptLevels(**{level: given("T")}), default, proactive=True)
    assert [p.kind for p in prompt.parts] == [level]


async def test_layout_and_scope_are_handed_on() -> None:
    prompt = await build_effective_system_prompt(PromptLevels(), default, layout="documented", global_scope=True)
    assert (prompt.layout, prompt.global_scope) == ("documented", True)
