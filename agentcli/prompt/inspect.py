"""The effective prompt explained: every byte by part, with policy, scope and size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from agentcli.conversation import (
    CacheScope,
    Layout,
    PartKind,
    Policy,
    PromptLevel,
    PromptPart,
    SystemPrompt,
    SystemPromptBlock,
)
from agentcli.messages import Json
from agentcli.prompt.section import SystemPromptSection
from agentcli.prompt.split import SEPARATOR, CachePath, cache_path, split_sys_prompt_prefix
from agentcli.text import estimate_tokens


@dataclass(frozen=True, slots=True)
class PromptRow:
    """One part.  ``bytes`` are UTF-8 bytes of its text as sent, ``tokens`` an estimate; ``included`` is false for a
    section that has nothing to say here."""

    name: str
    region: str
    policy: Policy
    reason: str
    scope: CacheScope | None
    bytes: int
    tokens: int
    included: bool


@dataclass(frozen=True, slots=True)
class PromptReport:
    """``total_bytes`` of all blocks is the sum of the rows' bytes and of ``separator_bytes``."""

    level: PromptLevel
    append: bool
    path: CachePath
    layout: Layout
    rows: tuple[PromptRow, ...]
    blocks: tuple[SystemPromptBlock, ...]
    cache_controls: tuple[Json | None, ...]
    separator_bytes: int
    total_bytes: int
    total_tokens: int

    def to_json(self) -> dict[str, Any]:
        """The object of ``agentcli prompt --json``."""
        return {
            "level": self.level,
            "append": self.append,
            "path": self.path,
            "layout": self.layout,
            "sections": [
                {
                    "name": row.name,
                    "region": row.region,
                    "policy": row.policy,
                    "reason": row.reason,
                    "scope": row.scope,
                    "bytes": row.bytes,
                    "tokens": row.tokens,
                    "included": row.included,
                }
                for row in self.rows
            ],
            "blocks": [
                {"text": block.text, "scope": block.scope, "cache_control": control}
                for block, control in zip(self.blocks, self.cache_controls, strict=True)
            ],
        }

    def table(self) -> list[tuple[str, ...]]:
        """Header, a line per part in the order of sending, separators and sum; for a person.  ``reasons`` go below."""
        lines: list[tuple[str, ...]] = [("part", "region", "policy", "scope", "bytes", "tokens")]
        for row in self.rows:
            size = (f"{row.bytes:,}", f"~{row.tokens:,}") if row.included else ("–", "–")
            lines.append((row.name, row.region, row.policy, row.scope or "none", *size))
        lines.append(("blank lines between parts", "", "", "", f"{self.separator_bytes:,}", ""))
        lines.append(("sum", "", "", "", f"{self.total_bytes:,}", f"~{self.total_tokens:,}"))
        return lines

    def reasons(self) -> list[str]:
        """Why each volatile part is volatile, a line each."""
        return [f"{row.name} is {row.policy}: {row.reason}" for row in self.rows if row.reason]

    def raw(self) -> str:
        """The blocks exactly as sent, each behind a line that numbers it and names its scope."""
        return "\n".join(
            f"--- block {number}, scope {block.scope or 'none'}, {_size(block.text):,} bytes ---\n{block.text}"
            for number, block in enumerate(self.blocks, 1)
        )


def inspect_prompt(
    system_prompt: SystemPrompt,
    *,
    sections: Sequence[SystemPromptSection] = (),
    skip_global_cache_for_system_prompt: bool = False,
    cache_controls: Sequence[Json | None] | None = None,
    tokens: Callable[[str], int] = estimate_tokens,
) -> PromptReport:
    """Explains a prompt.

    ``sections`` is the registry that it was resolved from: those that came out empty are listed as not included.
    ``cache_controls`` is what the breakpoint plan put on each block (``None``: nothing is marked); ``ValueError`` when
    there are not as many as blocks.
    """
    skip = skip_global_cache_for_system_prompt
    blocks = split_sys_prompt_prefix(system_prompt, skip_global_cache_for_system_prompt=skip)
    controls = [None] * len(blocks) if cache_controls is None else list(cache_controls)
    if len(controls) != len(blocks):
        raise ValueError(f"{len(blocks)} blocks, but {len(controls)} cache marks")
    sent = [p for p in system_prompt.parts if p.kind != "boundary"]
    scopes = {name: block.scope for block in blocks for name in block.parts}
    rows = [_row(part, scopes.get(part.name), tokens) for part in sent]
    total = sum(_size(block.text) for block in blocks)
    return PromptReport(
        level=system_prompt.level,
        append=system_prompt.append,
        path=cache_path(system_prompt, skip_global_cache_for_system_prompt=skip),
        layout=system_prompt.layout,
        rows=tuple(_with_left_out(rows, sections)),
        blocks=tuple(blocks),
        cache_controls=tuple(controls),
        separator_bytes=sum(_size(SEPARATOR) * (len(block.parts) - 1) for block in blocks),
        total_bytes=total,
        total_tokens=sum(row.tokens for row in rows),
    )


def _row(part: PromptPart, scope: CacheScope | None, tokens: Callable[[str], int]) -> PromptRow:
    size, count = _size(part.text), tokens(part.text)
    return PromptRow(part.name, _region(part.kind), part.policy, part.reason, scope, size, count, included=True)


def _with_left_out(rows: list[PromptRow], sections: Sequence[SystemPromptSection]) -> list[PromptRow]:
    """Puts the sections that have nothing to say where they would stand."""
    result = list(rows)
    place = next((i for i, row in enumerate(result) if row.region == "dynamic"), len(result))
    for section in sections:
        found = next((i for i, row in enumerate(result) if row.name == section.name), None)
        if found is None:
            empty = PromptRow(section.name, "dynamic", section.policy, section.reason, None, 0, 0, included=False)
            result.insert(place, empty)
            place += 1
        else:
            place = found + 1
    return result


def _region(kind: PartKind) -> str:
    match kind:
        case "boundary":
            return ""
        case (
            "attribution"
            | "identity"
            | "static"
            | "dynamic"
            | "override"
            | "coordinator"
            | "agent"
            | "custom"
            | "append"
        ):
            return kind
        case _:
            assert_never(kind)


def _size(text: str) -> int:
    return len(text.encode("utf-8"))
