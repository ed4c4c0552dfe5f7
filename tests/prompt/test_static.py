"""The static region, the boundary and who may use the global scope."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import agentcli.prompt
from agentcli.conversation import ConversationCache, PromptPart
from agentcli.prompt.assemble import dynamic_sections, get_system_prompt
from agentcli.prompt.boundary import SYSTEM_PROMPT_DYNAMIC_BOUNDARY, boundary_part, should_use_global_cache_scope
from agentcli.prompt.context import NO_SOURCES, OutputStyle
from agentcli.prompt.identity import CLI_SYSPROMPT_PREFIXES, MAIN_IDENTITY, SUBAGENT_IDENTITY
from agentcli.prompt.static import STATIC_SECTIONS, static_region
from tests.prompt.worlds import context

ROOM = Path(agentcli.prompt.__file__).parent
SEVEN = ("intro", "system", "doing_tasks", "actions", "using_your_tools", "tone_and_style", "output_efficiency")


def size(parts: list[PromptPart]) -> int:
    return len("\n\n".join(p.text for p in parts).encode())


def test_the_static_region_has_seven_sections_in_this_order() -> None:
    assert STATIC_SECTIONS == SEVEN
    assert tuple(p.name for p in static_region()) == SEVEN
    assert {(p.kind, p.policy) for p in static_region()} == {("static", "static")}


def test_the_other_variant_lacks_the_coding_instructions_and_nothing_else() -> None:
    assert static_region(coding_instructions=False) == [p for p in static_region() if p.name != "doing_tasks"]


def test_the_static_region_is_small() -> None:
    assert size(static_region()) <= 6 * 1024


def test_the_static_files_are_the_seven_and_each_begins_with_a_heading() -> None:
    assert {p.stem for p in (ROOM / "static").glob("*.md")} == set(SEVEN)
    assert [p.text.startswith("# ") for p in static_region()] == [False, *[True] * 6]


def test_identities_are_one_line_and_name_agentcli() -> None:
    assert frozenset({MAIN_IDENTITY, SUBAGENT_IDENTITY}) == CLI_SYSPROMPT_PREFIXES
    for line in CLI_SYSPROMPT_PREFIXES:
        assert "\n" not in line
        assert "agentcli" in line


def test_words_of_the_room_name_no_other_product() -> None:
    for path in (*ROOM.rglob("*.md"), *(ROOM.parent / "modes").glob("*.md")):
        assert "claude" not in path.read_text(encoding="utf-8").lower(), path


def test_the_boundary_marker() -> None:
    assert SYSTEM_PROMPT_DYNAMIC_BOUNDARY == "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__"
    assert boundary_part() == PromptPart("boundary", "boundary", SYSTEM_PROMPT_DYNAMIC_BOUNDARY)


def test_nothing_in_the_room_looks_for_the_marker_in_a_text() -> None:
    users = [
        path.relative_to(ROOM).as_posix()
        for path in ROOM.rglob("*.py")
        if "SYSTEM_PROMPT_DYNAMIC_BOUNDARY" in path.read_text(encoding="utf-8")
    ]
    assert users == ["boundary.py"]


@pytest.mark.parametrize(
    ("first_party", "refused", "env", "expected"),
    [
        (True, False, {}, True),
        (False, False, {}, False),
        (True, True, {}, False),
        (True, False, {"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1"}, False),
        (True, False, {"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "TRUE"}, False),
        (True, False, {"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "on"}, False),
        (True, False, {"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "0"}, True),
        (True, False, {"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "2"}, True),
    ],
)
def test_who_may_use_the_global_scope(first_party: bool, refused: bool, env: dict[str, str], expected: bool) -> None:
    assert should_use_global_cache_scope(first_party=first_party, refused=refused, env=env) is expected


def test_one_section_is_dangerous_and_its_reason_is_given() -> None:
    """A second one is a decision that has to be made here, in sight."""
    volatile = [s for s in dynamic_sections(context(), NO_SOURCES) if s.cache_break]
    assert [(s.name, s.reason) for s in volatile] == [
        (
            "mcp_instructions",
            "servers connect and disconnect between turns; a memoised list would hide one that came later",
        )
    ]


def test_the_dangerous_factory_is_called_in_one_place() -> None:
    callers = []
    for path in sorted(ROOM.parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and "DANGEROUS_uncached" in ast.unparse(node.func):
                callers.append(path.name)
    assert callers == ["mcp_instructions.py"]


async def test_another_style_in_the_middle_of_a_conversation_leaves_the_static_region_alone() -> None:
    cache = ConversationCache()
    before = await get_system_prompt(context(), NO_SOURCES, cache)
    styled = context(output_style=OutputStyle("poet", "Answer in verse."))
    assert await get_system_prompt(styled, NO_SOURCES, cache) == before
    cache.reset()
    after = await get_system_prompt(styled, NO_SOURCES, cache)
    assert [p for p in after if p.kind == "static"] == static_region(coding_instructions=False)


async def test_a_style_may_keep_the_coding_instructions() -> None:
    style = OutputStyle("teacher", "Explain.", keep_coding_instructions=True)
    parts = await get_system_prompt(context(output_style=style), NO_SOURCES, ConversationCache())
    assert [p for p in parts if p.kind == "static"] == static_region()
    plain = replace(style, keep_coding_instructions=False)
    parts = await get_system_prompt(context(output_style=plain), NO_SOURCES, ConversationCache())
    assert [p for p in parts if p.kind == "static"] == static_region(coding_instructions=False)
