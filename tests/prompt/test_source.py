"""Request by request: what may change in the prompt, and what must not."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from agentcli.conversation import PromptPart, SystemPrompt
from agentcli.ports.prompt import StepContext
from agentcli.prompt.context import OutputStyle
from agentcli.prompt.effective import PromptLevels, given
from agentcli.prompt.identity import ATTRIBUTION_PREFIX
from agentcli.prompt.section import clear_system_prompt_sections
from agentcli.prompt.split import split_sys_prompt_prefix
from tests.prompt.worlds import STEP, Texts, World, world

HAIKU = StepContext("claude-haiku-5")


def changed(before: SystemPrompt, after: SystemPrompt) -> list[str]:
    old = {p.name: p for p in before.parts}
    new = {p.name: p for p in after.parts}
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def texts() -> Texts:
    return Texts(memory="MEMORY", skills="SKILLS", agents="AGENTS")


async def prompt_of(made: World, step: StepContext = STEP) -> SystemPrompt:
    return await made.source.effective(step)


async def test_forty_steps_send_the_same_bytes_and_compute_everything_once() -> None:
    made = world(texts=texts())
    first = await prompt_of(made)
    for _ in range(39):
        assert await prompt_of(made) == first
    assert {k: v for k, v in made.texts.asked.items() if k != "coordinator"} == {"memory": 1, "skills": 1, "agents": 1}


async def test_an_edited_memory_file_changes_nothing_before_the_clear() -> None:
    made = world(texts=texts())
    before = await prompt_of(made)
    made.texts.memory = "EDITED"
    assert await prompt_of(made) == before
    clear_system_prompt_sections(made.cache)
    assert changed(before, await prompt_of(made)) == ["memory"]
    assert made.texts.asked["memory"] == 2


async def test_everything_read_from_settings_is_read_again_after_a_clear_only() -> None:
    made = world(texts=texts())
    before = await prompt_of(made)
    made.source.context = replace(
        made.source.context,
        language="German",
        output_style=OutputStyle("poet", "Verse.", keep_coding_instructions=True),
        tools=frozenset({"Bash"}),
        tool_result_clearing=True,
        scratch_directory="/tmp/s",
        layout="documented",
    )
    made.texts.skills = "OTHER"
    assert await prompt_of(made) == before
    clear_system_prompt_sections(made.cache)
    after = await prompt_of(made)
    assert changed(before, after) == [
        "boundary",
        "function_result_clearing",
        "language",
        "output_style",
        "scratchpad",
        "session_guidance",
        "summarize_tool_results",
    ]


async def test_a_new_date_changes_nothing_before_the_clear() -> None:
    made = world(texts=texts())
    before = await prompt_of(made)
    made.source.context = replace(made.source.context, start_date="2026-12-01")
    assert await prompt_of(made) == before
    clear_system_prompt_sections(made.cache)
    assert changed(before, await prompt_of(made)) == ["env_info_simple"]


async def test_a_server_that_connects_changes_its_section_alone() -> None:
    made = world(texts=texts(), mcp_instructions_delta=False)
    before = await prompt_of(made)
    made.texts.mcp_instructions = "## git\n\nAsk first."
    connected = await prompt_of(made)
    assert changed(before, connected) == ["mcp_instructions"]
    made.texts.mcp_instructions = None
    assert await prompt_of(made) == before


async def test_where_reminders_deliver_instructions_a_server_changes_nothing() -> None:
    made = world(texts=texts(), mcp_instructions_delta=True)
    before = await prompt_of(made)
    made.texts.mcp_instructions = "## git\n\nAsk first."
    assert await prompt_of(made) == before
    assert made.texts.asked["mcp_instructions"] == 0


async def test_a_switched_model_recomputes_the_environment_alone() -> None:
    made = world(texts=texts())
    before = await prompt_of(made)
    made.texts.memory, made.texts.skills = "EDITED", "EDITED"
    made.source.model_switched()
    after = await prompt_of(made, HAIKU)
    assert changed(before, after) == ["env_info_simple"]
    assert "Model: Claude Haiku 5 (claude-haiku-5)" in next(p.text for p in after.parts if p.name == "env_info_simple")
    assert made.texts.asked["memory"] == 1


async def test_a_step_on_another_model_alone_changes_nothing() -> None:
    made = world(texts=texts())
    assert await prompt_of(made) == await prompt_of(made, HAIKU)


async def test_a_refused_scope_changes_no_byte() -> None:
    made = world(texts=texts(), global_scope=True)
    before = await prompt_of(made)
    made.global_scope = False
    after = await prompt_of(made)
    assert changed(before, after) == []
    assert (before.global_scope, after.global_scope) == (True, False)
    sent = [
        [b.text for b in split_sys_prompt_prefix(p, skip_global_cache_for_system_prompt=False)] for p in (before, after)
    ]
    assert sent[0] == sent[1]


async def test_parallel_steps_compute_once() -> None:
    made = world(texts=texts())
    found = await asyncio.gather(*(prompt_of(made) for _ in range(5)))
    assert all(p == found[0] for p in found)
    assert {k: v for k, v in made.texts.asked.items() if k != "coordinator"} == {"memory": 1, "skills": 1, "agents": 1}


async def test_a_failing_section_costs_itself_alone() -> None:
    made = world(texts=Texts(memory=PermissionError("CLAUDE.md"), agents="AGENTS"))
    whole = world(texts=Texts(memory="M", agents="AGENTS"))
    assert changed(await prompt_of(whole), await prompt_of(made)) == ["memory"]
    assert len(made.warnings) == 1


async def test_section_values_of_another_process_are_served() -> None:
    first = world(texts=texts())
    before = await prompt_of(first)
    second = world(texts=Texts(memory="EDITED"), language="German")
    second.cache.sections.update(first.cache.sections)
    assert await prompt_of(second) == before
    assert {k: v for k, v in second.texts.asked.items() if k != "coordinator"} == {}


async def test_attribution_is_off_by_default_and_names_agentcli_when_on() -> None:
    assert not [p for p in (await prompt_of(world())).parts if p.kind == "attribution"]
    prompt = await prompt_of(world(attribution="1.2.3", levels=PromptLevels(custom=given("C"))))
    text = f"{ATTRIBUTION_PREFIX}: client=agentcli; version=1.2.3"
    assert prompt.parts == (PromptPart("attribution", "attribution", text), PromptPart("custom", "custom", "C"))


async def test_the_coordinator_level_comes_from_its_source() -> None:
    made = world(texts=Texts(coordinator="COORDINATE"), levels=PromptLevels(agent=given("A"), custom=given("C")))
    prompt = await prompt_of(made)
    assert (prompt.level, [p.text for p in prompt.parts]) == ("coordinator", ["COORDINATE"])
    made.texts.coordinator = None
    assert (await prompt_of(made)).level == "agent"
