"""The section on its way through the prompt: whichever text wins, memory is sent exactly once."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentcli.conversation import ConversationCache
from agentcli.ports.prompt import PromptSources
from agentcli.prompt.effective import PromptLevels, given
from agentcli.prompt.section import clear_system_prompt_sections
from agentcli.prompt.source import PromptSource
from agentcli.prompt.subagent import subagent_head_text
from tests.memory.worlds import Desk, write
from tests.prompt.worlds import MODELS, STEP, context


async def none() -> str | None:
    return None


def source(desk: Desk, cache: ConversationCache, levels: PromptLevels | None = None) -> PromptSource:
    return PromptSource(
        context(),
        cache=cache,
        sources=PromptSources(
            memory=desk.room.section, skills=none, agents=none, mcp_instructions=none, coordinator=none
        ),
        describe_model=MODELS.__getitem__,
        levels=levels,
    )


async def sent(prompt: PromptSource) -> str:
    head = await prompt.collect("first_message")
    system = await prompt.effective(STEP)
    return "\n\n".join([*(r.text for r in head), *(p.text for p in system.parts)])


@pytest.mark.parametrize(
    ("levels", "times"),
    [
        (PromptLevels(), 1),
        (PromptLevels(custom=given("CUSTOM")), 1),
        (PromptLevels(agent=given("AGENT")), 1),
        (PromptLevels(append=given("APPEND")), 1),
        (PromptLevels(custom=given("CUSTOM"), append=given("APPEND")), 1),
        (PromptLevels(override=given("ALONE")), 0),
    ],
)
async def test_once_whatever_wins(project: Path, levels: PromptLevels, times: int) -> None:
    write(project / "CLAUDE.md", "MARK_memory")
    desk = Desk(project)
    assert (await sent(source(desk, ConversationCache(), levels))).count("MARK_memory") == times


async def test_the_prompt_keeps_its_bytes_while_files_change(project: Path) -> None:
    path = write(project / "CLAUDE.md", "ONE")
    desk = Desk(project, auto=True)
    prompt = source(desk, cache := ConversationCache())
    first = await prompt.effective(STEP)
    write(path, "TWO")
    write(project / "sub" / "CLAUDE.md", "SUB")
    await desk.touch(project / "sub" / "f")
    assert "TWO" in await desk.step()
    assert await prompt.effective(STEP) == first
    clear_system_prompt_sections(cache)
    desk.room.begin_anew()
    again = await prompt.effective(STEP)
    assert any("TWO" in p.text for p in again.parts)
    assert await desk.step() == ""


async def test_after_a_compaction_a_custom_prompt_has_its_memory_again(project: Path) -> None:
    write(project / "CLAUDE.md", "TOP")
    write(project / "sub" / "CLAUDE.md", "SUB")
    desk = Desk(project)
    prompt = source(desk, cache := ConversationCache(), PromptLevels(custom=given("CUSTOM")))
    await sent(prompt)
    assert "SUB" in await desk.touch(project / "sub" / "f")
    [head] = await prompt.collect("after_compaction")
    clear_system_prompt_sections(cache)
    desk.room.begin_anew()
    assert head.text.count("TOP") == 1
    assert "SUB" in await desk.touch(project / "sub" / "f")
    assert await desk.step() == ""


async def test_a_subagents_head(project: Path) -> None:
    write(project / "CLAUDE.md", "TOP")
    desk = Desk(project, auto=True)
    sources = PromptSources(
        memory=desk.room.branch().section, skills=none, agents=none, mcp_instructions=none, coordinator=none
    )
    head = await subagent_head_text(context(), sources, ConversationCache())
    assert head is not None
    assert (head.count("TOP"), "# Memory" in head) == (1, False)


async def test_a_survey_changes_nothing(project: Path) -> None:
    write(project / "CLAUDE.md", "TOP")
    write(project / ".claude" / "rules" / "r.md", '---\npaths: "*.py"\n---\nPY')
    desk = Desk(project, auto=True)
    survey = desk.room.survey()
    assert [f.path.name for f in survey.files] == ["CLAUDE.md"]
    assert survey.waiting == ((project / ".claude" / "rules" / "r.md", ("*.py",)),)
    assert desk.room.loaded() == ()
    assert await desk.touch(project / "x.py") == ""
    await desk.section()
    await desk.touch(project / "x.py")
    survey = desk.room.survey()
    assert [f.path.name for f in survey.files] == ["CLAUDE.md", "r.md"]
    assert survey.waiting == ()
