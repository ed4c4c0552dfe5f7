"""The prompt explained: every byte by part."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentcli.conversation import Layout
from agentcli.modes.proactive import proactive_words
from agentcli.prompt.context import OutputStyle
from agentcli.prompt.effective import PromptLevels, given
from agentcli.prompt.split import split_sys_prompt_prefix
from tests.prompt.worlds import STEP, Texts, world

WORLDS: dict[str, dict[str, Any]] = {
    "default": {},
    "full": {
        "texts": Texts(memory="Größe: ü", skills="S", agents="A", mcp_instructions="## x\n\ny"),
        "levels": PromptLevels(append=given("P\n")),
        "language": "日本語",
        "output_style": OutputStyle("s", "T"),
        "mcp_instructions_delta": False,
        "attribution": "1.2.3",
    },
    "simple": {"simple": True},
    "proactive": {"proactive": proactive_words()},
    "override": {"levels": PromptLevels(override=given("O"), append=given("P"))},
    "custom": {"levels": PromptLevels(custom=given("C\n\n"), append=given("P"))},
    "agent": {"levels": PromptLevels(agent=given("A"))},
}


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("global_scope", [True, False])
@pytest.mark.parametrize("layout", ["split", "documented"])
@pytest.mark.parametrize("name", WORLDS)
async def test_every_byte_is_accounted_for(name: str, layout: Layout, global_scope: bool, skip: bool) -> None:
    made = world(**WORLDS[name], layout=layout, global_scope=global_scope)
    report = await made.source.report(STEP, skip_global_cache_for_system_prompt=skip)
    prompt = await made.source.effective(STEP)
    blocks = split_sys_prompt_prefix(prompt, skip_global_cache_for_system_prompt=skip)
    sent = sum(len(b.text.encode()) for b in blocks)
    assert report.blocks == tuple(blocks)
    assert report.total_bytes == sent
    assert sum(row.bytes for row in report.rows) + report.separator_bytes == sent
    included = [row.name for row in report.rows if row.included]
    assert included == [part for block in blocks for part in block.parts]
    scopes = {part: block.scope for block in blocks for part in block.parts}
    assert [row.scope for row in report.rows if row.included] == [scopes[n] for n in included]


async def test_the_json_object(golden: Any) -> None:
    made = world(**WORLDS["full"], global_scope=True)
    marks = [None, None, {"type": "ephemeral", "scope": "global"}, {"type": "ephemeral"}]
    found = (await made.source.report(STEP, cache_controls=marks)).to_json()
    assert list(found) == ["level", "append", "path", "layout", "sections", "blocks"]
    assert (found["level"], found["append"], found["path"], found["layout"]) == ("default", True, 2, "split")
    assert {tuple(s) for s in found["sections"]} == {
        ("name", "region", "policy", "reason", "scope", "bytes", "tokens", "included")
    }
    assert {tuple(b) for b in found["blocks"]} == {("text", "scope", "cache_control")}
    assert [b["cache_control"] for b in found["blocks"]] == marks
    golden("inspect.json", json.dumps(found, indent=1, ensure_ascii=False) + "\n")


async def test_empty_sections_are_listed_where_they_would_stand() -> None:
    report = await world().source.report(STEP)
    rows = [(r.name, r.included) for r in report.rows if r.region == "dynamic"]
    assert rows == [
        ("session_guidance", True),
        ("memory", False),
        ("env_info_simple", True),
        ("language", False),
        ("output_style", False),
        ("mcp_instructions", False),
        ("scratchpad", False),
        ("function_result_clearing", False),
        ("summarize_tool_results", False),
        ("token_budget", True),
    ]


async def test_where_the_default_is_replaced_its_sections_are_not_listed() -> None:
    report = await world(**WORLDS["custom"]).source.report(STEP)
    assert [(r.name, r.region, r.policy) for r in report.rows] == [
        ("custom", "custom", "static"),
        ("append", "append", "static"),
    ]


async def test_the_volatile_section_shows_its_reason() -> None:
    report = await world().source.report(STEP)
    (volatile,) = [r for r in report.rows if r.policy == "volatile"]
    assert report.reasons() == [f"mcp_instructions is volatile: {volatile.reason}"]
    assert (volatile.name, bool(volatile.reason)) == ("mcp_instructions", True)


async def test_table_and_raw_are_for_people() -> None:
    report = await world(levels=PromptLevels(custom=given("Be brief."), append=given("ü"))).source.report(STEP)
    assert report.table() == [
        ("part", "region", "policy", "scope", "bytes", "tokens"),
        ("custom", "custom", "static", "org", "9", "~3"),
        ("append", "append", "static", "org", "2", "~1"),
        ("blank lines between parts", "", "", "", "2", ""),
        ("sum", "", "", "", "13", "~4"),
    ]
    assert report.raw() == "--- block 1, scope org, 13 bytes ---\nBe brief.\n\nü"


async def test_as_many_marks_as_blocks_are_needed() -> None:
    with pytest.raises(ValueError, match="3 blocks, but 1"):
        await world().source.report(STEP, cache_controls=[None])
