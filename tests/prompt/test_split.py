"""Parts to blocks: three paths, two layouts, at most four blocks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentcli.conversation import Layout, PromptPart, SystemPrompt, SystemPromptBlock
from agentcli.prompt.split import cache_path, split_sys_prompt_prefix

ATTRIBUTION = PromptPart("attribution", "attribution", "A")
IDENTITY = PromptPart("identity", "identity", "I")
STATIC = (PromptPart("intro", "static", "S1"), PromptPart("system", "static", "S2"))
BOUNDARY = PromptPart("boundary", "boundary", "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__")
DYNAMIC = (PromptPart("memory", "dynamic", "D1"), PromptPart("append", "append", "D2"))
WHOLE = (ATTRIBUTION, IDENTITY, *STATIC, BOUNDARY, *DYNAMIC)

A = SystemPromptBlock("A", None, ("attribution",))
I_ORG = SystemPromptBlock("I", "org", ("identity",), static_end=True)
I_NONE = SystemPromptBlock("I", None, ("identity",))
REST = SystemPromptBlock("S1\n\nS2\n\nD1\n\nD2", "org", ("intro", "system", "memory", "append"))
S_GLOBAL = SystemPromptBlock("S1\n\nS2", "global", ("intro", "system"), static_end=True)
S_ORG = replace(S_GLOBAL, scope="org")
D_NONE = SystemPromptBlock("D1\n\nD2", None, ("memory", "append"))
D_ORG = replace(D_NONE, scope="org")


@pytest.mark.parametrize(
    ("layout", "global_scope", "skip", "path", "blocks"),
    [
        ("documented", True, True, 1, [A, I_ORG, REST]),
        ("documented", True, False, 2, [A, I_NONE, S_GLOBAL, D_NONE]),
        ("documented", False, False, 3, [A, I_ORG, REST]),
        ("documented", False, True, 3, [A, I_ORG, REST]),
        ("split", True, True, 1, [A, I_NONE, S_ORG, D_ORG]),
        ("split", True, False, 2, [A, I_NONE, S_GLOBAL, D_NONE]),
        ("split", False, False, 3, [A, I_NONE, S_ORG, D_ORG]),
        ("split", False, True, 3, [A, I_NONE, S_ORG, D_ORG]),
    ],
)
def test_paths_and_layouts(
    layout: Layout, global_scope: bool, skip: bool, path: int, blocks: list[SystemPromptBlock]
) -> None:
    prompt = SystemPrompt(WHOLE, "default", layout=layout, global_scope=global_scope)
    assert cache_path(prompt, skip_global_cache_for_system_prompt=skip) == path
    assert split_sys_prompt_prefix(prompt, skip_global_cache_for_system_prompt=skip) == blocks


def test_in_the_split_layout_no_path_changes_a_byte() -> None:
    texts = {
        tuple(
            block.text
            for block in split_sys_prompt_prefix(
                SystemPrompt(WHOLE, "default", global_scope=global_scope), skip_global_cache_for_system_prompt=skip
            )
        )
        for global_scope in (True, False)
        for skip in (True, False)
    }
    assert texts == {("A", "I", "S1\n\nS2", "D1\n\nD2")}


@pytest.mark.parametrize("layout", ["split", "documented"])
@pytest.mark.parametrize("global_scope", [True, False])
@pytest.mark.parametrize("skip", [True, False])
def test_without_a_boundary_the_rest_is_one_block(layout: Layout, global_scope: bool, skip: bool) -> None:
    parts = (PromptPart("custom", "custom", "C"), PromptPart("append", "append", "P"))
    prompt = SystemPrompt(parts, "custom", True, layout, global_scope)
    assert split_sys_prompt_prefix(prompt, skip_global_cache_for_system_prompt=skip) == [
        SystemPromptBlock("C\n\nP", "org", ("custom", "append"))
    ]
    assert cache_path(prompt, skip_global_cache_for_system_prompt=skip) == (1 if global_scope and skip else 3)


def test_the_marker_never_reaches_the_wire() -> None:
    for global_scope in (True, False):
        for skip in (True, False):
            for layout in ("split", "documented"):
                prompt = SystemPrompt(WHOLE, "default", layout=layout, global_scope=global_scope)
                blocks = split_sys_prompt_prefix(prompt, skip_global_cache_for_system_prompt=skip)
                assert not [b for b in blocks if "BOUNDARY" in b.text or "boundary" in b.parts]
                assert len(blocks) <= 4
                assert len([b for b in blocks if b.scope == "global"]) <= 1
                assert len([b for b in blocks if b.static_end]) == 1


def test_an_empty_prompt_has_no_blocks() -> None:
    assert split_sys_prompt_prefix(SystemPrompt((), "default"), skip_global_cache_for_system_prompt=False) == []
