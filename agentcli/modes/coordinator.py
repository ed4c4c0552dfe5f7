"""Coordinator mode: the main thread plans, delegates to workers and puts their results together.

Loaded only where the feature ``COORDINATOR_MODE`` and the variable ``CLAUDE_CODE_COORDINATOR_MODE`` are both on.
"""

from __future__ import annotations

from pathlib import Path

from agentcli.prompt.words import read_words

DELEGATION_TOOLS = ("Agent", "SendMessage", "TaskStop")
LOOKING_TOOLS = ("Read", "Glob", "Grep")
COORDINATOR_TOOLS = (*LOOKING_TOOLS, *DELEGATION_TOOLS)
"""The coordinator's own tools, chosen at the start of the session; workers have the full set."""


async def coordinator_system_prompt() -> str:
    """The prompt of the coordinator level; the same bytes in every session."""
    return read_words(Path(__file__).with_suffix(".md"))
