"""The record of everything that stands in front of the messages, for a resume that sends the same bytes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from agentcli.agent.state import SessionState
from agentcli.conversation import SystemPrompt
from agentcli.ports.model import ToolSpec
from agentcli.ports.sessions import PrefixRecord


def prefix_record(state: SessionState, system: SystemPrompt) -> PrefixRecord:
    cache = state.cache
    return PrefixRecord(
        sections=dict(cache.sections),
        absent=dict(cache.absent),
        choices=dict(cache.choices),
        beta_headers=tuple(cache.beta_headers),
        tools=tuple(_tool(t) for t in state.tools),
        model=state.model,
        effort=state.effort,
        thinking=state.thinking,
        start_date=state.start_date,
        system=asdict(system),
    )


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.input_schema,
        "deferred": spec.deferred,
        "mcp": spec.mcp,
        "raw": spec.raw,
    }
