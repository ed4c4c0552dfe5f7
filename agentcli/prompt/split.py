"""From named parts to the blocks of the request's ``system`` field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from agentcli.conversation import CacheScope, PromptPart, SystemPrompt, SystemPromptBlock

SEPARATOR = "\n\n"
"""Between the parts of one block."""
CachePath = Literal[1, 2, 3]
"""1: the global scope is given up because tools of MCP servers stand in front; 2: global scope at the boundary;
3: everything else."""


def cache_path(system_prompt: SystemPrompt, *, skip_global_cache_for_system_prompt: bool) -> CachePath:
    if system_prompt.global_scope and skip_global_cache_for_system_prompt:
        return 1
    if system_prompt.global_scope and _has_boundary(system_prompt):
        return 2
    return 3


def split_sys_prompt_prefix(
    system_prompt: SystemPrompt, *, skip_global_cache_for_system_prompt: bool
) -> list[SystemPromptBlock]:
    """At most four blocks: attribution, identity, and the rest whole or cut at the boundary.

    ``skip_global_cache_for_system_prompt`` is true while tools of MCP servers are really rendered in front of the
    system prompt: they are one user's own, so a global prefix behind them gains nothing.  With the layout ``split``
    the boundary cuts on every path, so that the texts of the blocks are the same on all three: a refused scope or a
    downgrade changes no byte.
    """
    path = cache_path(system_prompt, skip_global_cache_for_system_prompt=skip_global_cache_for_system_prompt)
    cut = _has_boundary(system_prompt) and (path == 2 or system_prompt.layout == "split")
    attribution, identity, front, behind = _groups(system_prompt.parts)
    if not cut:
        return _blocks(
            (attribution, None, False),
            (identity, "org", True),
            ([*front, *behind], "org", False),
        )
    return _blocks(
        (attribution, None, False),
        (identity, None, False),
        (front, "global" if path == 2 else "org", True),
        (behind, None if path == 2 else "org", False),
    )


def _has_boundary(system_prompt: SystemPrompt) -> bool:
    return any(part.kind == "boundary" for part in system_prompt.parts)


def _groups(
    parts: Sequence[PromptPart],
) -> tuple[list[PromptPart], list[PromptPart], list[PromptPart], list[PromptPart]]:
    """(attribution, identity, in front of the boundary, behind it), by kind alone."""
    attribution = [p for p in parts if p.kind == "attribution"]
    identity = [p for p in parts if p.kind == "identity"]
    front: list[PromptPart] = []
    behind: list[PromptPart] = []
    target = front
    for part in parts:
        match part.kind:
            case "attribution" | "identity":
                pass
            case "boundary":
                target = behind
            case _:
                target.append(part)
    return attribution, identity, front, behind


def _blocks(*groups: tuple[list[PromptPart], CacheScope | None, bool]) -> list[SystemPromptBlock]:
    return [
        SystemPromptBlock(SEPARATOR.join(p.text for p in parts), scope, tuple(p.name for p in parts), static_end)
        for parts, scope, static_end in groups
        if parts
    ]
