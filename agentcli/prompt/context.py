"""Everything that a prompt depends on, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass

from agentcli.conversation import Layout
from agentcli.ports.model import ModelInfo
from agentcli.ports.prompt import PromptSources
from agentcli.prompt.environment import Environment


@dataclass(frozen=True, slots=True)
class PromptModel:
    """The model as the prompt names it: display name, exact id, knowledge cutoff (``None``: unknown, left out)."""

    name: str
    id: str
    knowledge_cutoff: str | None = None

    @classmethod
    def of(cls, info: ModelInfo) -> PromptModel:
        return cls(info.name, info.id, info.knowledge_cutoff)


@dataclass(frozen=True, slots=True)
class OutputStyle:
    """``keep_coding_instructions`` false leaves the coding part of the static region out."""

    name: str
    text: str
    keep_coding_instructions: bool = False


@dataclass(frozen=True, slots=True)
class ProactiveWords:
    """Texts of proactive mode; given only while it is active, so that its module is loaded only then."""

    identity: str
    section: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptContext:
    """What the prompt of a conversation depends on.  Where a text is optional, empty means "not set".

    The permission mode, the rules, ``HOME`` and the user are not in it: no byte of a prompt may depend on them.
    """

    environment: Environment
    model: PromptModel
    start_date: str
    """ISO date of the session's start; a later day is told as a reminder."""
    tools: frozenset[str] = frozenset()
    """Names of the tools that the conversation has, deferred ones too."""
    interactive: bool = True
    """Whether somebody can answer a question."""
    language: str = ""
    output_style: OutputStyle | None = None
    scratch_directory: str = ""
    """Path of the session's scratch directory, where it has one.  Only the first reminder names it."""
    tool_result_clearing: bool = False
    """Whether old tool results may be cleared from the history."""
    mcp_instructions_delta: bool = True
    """Whether instructions of MCP servers reach the model as reminders instead of a section."""
    simple: bool = False
    """``CLAUDE_CODE_SIMPLE``."""
    proactive: ProactiveWords | None = None
    layout: Layout = "split"
    global_scope: bool = False
    """What ``should_use_global_cache_scope`` says."""
    attribution: str = ""
    """agentcli's version where the attribution header is switched on."""


async def _silent() -> str | None:
    return None


NO_SOURCES = PromptSources(_silent, _silent, _silent, _silent, _silent)
"""Sources that have nothing to say."""
