"""What the model reads, level by level, and how it is cut into blocks.  Read the diff when one changes."""

from __future__ import annotations

from typing import Any

import pytest

from agentcli.conversation import Layout, PromptPart
from agentcli.modes.agent import MainThreadAgent
from agentcli.modes.coordinator import coordinator_system_prompt
from agentcli.modes.loop import loop_system_prompt
from agentcli.modes.proactive import proactive_words
from agentcli.prompt.context import OutputStyle
from agentcli.prompt.effective import PromptLevels, given
from agentcli.prompt.split import cache_path, split_sys_prompt_prefix
from agentcli.prompt.static import static_region
from agentcli.prompt.subagent import subagent_system_prompt
from tests.prompt.worlds import ENVIRONMENT, STEP, Texts, context, world

AGENT = MainThreadAgent("guard", "You guard the tests of this repository.").level()
FULL: dict[str, Any] = {
    "tools": frozenset({"Bash", "Read", "Edit", "Agent", "Skill", "ToolSearch", "AskUserQuestion"}),
    "language": "German",
    "output_style": OutputStyle("teacher", "Explain each decision.", keep_coding_instructions=True),
    "mcp_instructions_delta": False,
    "scratch_directory": "/tmp/agentcli-7",
    "tool_result_clearing": True,
    "attribution": "0.0.0",
}
LEVELS: dict[str, dict[str, Any]] = {
    "default": {},
    "default-full": {**FULL, "levels": PromptLevels(append=given("Mind the changelog."))},
    "default-no-coding": {"output_style": OutputStyle("poet", "Answer in verse.")},
    "default-unattended": {"interactive": False},
    "simple": {"simple": True},
    "proactive": {"proactive": proactive_words()},
    "proactive-agent": {"proactive": proactive_words(), "levels": PromptLevels(agent=AGENT)},
    "agent": {"levels": PromptLevels(agent=AGENT, append=given("Mind the changelog."))},
    "custom": {"levels": PromptLevels(custom=given("You review."), append=given("Mind the changelog."))},
    "coordinator": {},
    "override-loop": {"levels": PromptLevels(override=given(loop_system_prompt(ENVIRONMENT, "2026-11-30")))},
}


async def options(name: str) -> dict[str, Any]:
    texts = Texts()
    if name == "default-full":
        texts = Texts(
            "# Memory\n\nUse tabs.", "## Skills\n\n- deploy: ships", "## Agents\n\n- explore: reads", "## git\n\nAsk."
        )
    if name == "coordinator":
        texts.coordinator = await coordinator_system_prompt()
    return {**LEVELS[name], "texts": texts}


def readable(parts: tuple[PromptPart, ...]) -> str:
    return "".join(f"=== {p.name} ({p.kind}, {p.policy})\n{p.text}\n\n" for p in parts)


@pytest.mark.parametrize("name", LEVELS)
async def test_the_parts_of_each_level(name: str, golden: Any) -> None:
    made = world(**await options(name))
    prompt = await made.source.effective(STEP)
    golden(f"parts-{name}.txt", f"level {prompt.level}, append {prompt.append}\n\n{readable(prompt.parts)}")


async def test_the_parts_of_a_subagent(golden: Any) -> None:
    golden("parts-subagent-default.txt", readable(subagent_system_prompt(context()).parts))


async def test_the_blocks_of_each_level_path_and_layout(golden: Any) -> None:
    lines: list[str] = []
    for name in LEVELS:
        for layout in ("split", "documented"):
            for scope, skip in ((True, True), (True, False), (False, False)):
                lines += await _blocks(name, layout, scope=scope, skip=skip)
    golden("blocks.txt", "\n".join(lines) + "\n")


async def _blocks(name: str, layout: Layout, *, scope: bool, skip: bool) -> list[str]:
    made = world(**await options(name), layout=layout, global_scope=scope)
    prompt = await made.source.effective(STEP)
    blocks = split_sys_prompt_prefix(prompt, skip_global_cache_for_system_prompt=skip)
    path = cache_path(prompt, skip_global_cache_for_system_prompt=skip)
    reached = {1: "tools of servers in front", 2: "global scope", 3: "no global scope"}
    asked = reached[1 if scope and skip else 2 if scope else 3]
    lines = [f"{name}, layout {layout}, {asked}: path {path}"]
    for block in blocks:
        size = f"{len(block.text.encode()):5} bytes"
        lines.append(f"    {block.scope or 'none':6} {size} {'S' if block.static_end else ' '} {' '.join(block.parts)}")
    return lines


def test_the_static_region(golden: Any) -> None:
    golden("static.md", "\n\n".join(p.text for p in static_region()) + "\n")
