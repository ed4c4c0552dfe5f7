"""The lines that say what agentcli is.  They belong to prompts of ours; a prompt that somebody gives has none."""

from __future__ import annotations

from agentcli.conversation import PromptPart

MAIN_IDENTITY = "You are agentcli, an interactive coding agent for the terminal."
SUBAGENT_IDENTITY = "You are a subagent of agentcli, a coding agent for the terminal."
CLI_SYSPROMPT_PREFIXES = frozenset({MAIN_IDENTITY, SUBAGENT_IDENTITY})

ATTRIBUTION_PREFIX = "x-anthropic-billing-header"


def identity_part(text: str = MAIN_IDENTITY) -> PromptPart:
    return PromptPart("identity", "identity", text)


def attribution_part(version: str) -> PromptPart:
    """The attribution header: names agentcli and its version, nothing else and nobody else."""
    return PromptPart("attribution", "attribution", f"{ATTRIBUTION_PREFIX}: client=agentcli; version={version}")
