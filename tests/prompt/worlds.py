"""A context, sources that count, and a source of prompts, for the tests of this room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from agentcli.conversation import ConversationCache
from agentcli.ports.model import ModelInfo
from agentcli.ports.prompt import PromptSources, StepContext
from agentcli.prompt.context import PromptContext, PromptModel
from agentcli.prompt.effective import PromptLevels
from agentcli.prompt.environment import Environment
from agentcli.prompt.source import PromptSource

ENVIRONMENT = Environment(cwd="/srv/app", git=True, platform="linux", shell="bash", os_version="Linux 6.1.0")
MODELS = {
    "claude-sonnet-5": ModelInfo(
        "claude-sonnet-5", "Claude Sonnet 5", 200_000, 64_000, 1024, knowledge_cutoff="March 2026"
    ),
    "claude-haiku-5": ModelInfo("claude-haiku-5", "Claude Haiku 5", 200_000, 64_000, 1024),
}
STEP = StepContext("claude-sonnet-5")
CONTEXT = PromptContext(
    environment=ENVIRONMENT,
    model=PromptModel.of(MODELS["claude-sonnet-5"]),
    start_date="2026-11-30",
    tools=frozenset({"Bash", "Read", "Write", "Edit", "Glob", "Grep", "TodoWrite"}),
)


def context(**changes: Any) -> PromptContext:
    return replace(CONTEXT, **changes)


@dataclass
class Texts:
    """What the other rooms say; change a field and the next compute says that.  An exception is raised."""

    memory: str | Exception | None = None
    skills: str | Exception | None = None
    agents: str | Exception | None = None
    mcp_instructions: str | Exception | None = None
    coordinator: str | Exception | None = None
    asked: Counter[str] = field(default_factory=Counter)

    def sources(self) -> PromptSources:
        return PromptSources(
            memory=self._say("memory"),
            skills=self._say("skills"),
            agents=self._say("agents"),
            mcp_instructions=self._say("mcp_instructions"),
            coordinator=self._say("coordinator"),
        )

    def _say(self, name: str) -> Callable[[], Awaitable[str | None]]:
        async def say() -> str | None:
            self.asked[name] += 1
            text = getattr(self, name)
            if isinstance(text, Exception):
                raise text
            return text

        return say


@dataclass
class World:
    """A prompt source with all its strings in hand."""

    source: PromptSource
    texts: Texts
    cache: ConversationCache
    warnings: list[str]
    global_scope: bool = False


def world(
    *, levels: PromptLevels | None = None, texts: Texts | None = None, global_scope: bool = False, **changes: Any
) -> World:
    texts = texts or Texts()
    cache = ConversationCache()
    warnings: list[str] = []
    made: World
    source = PromptSource(
        context(**changes),
        cache=cache,
        sources=texts.sources(),
        describe_model=MODELS.__getitem__,
        levels=levels,
        global_scope=lambda: made.global_scope,
        warn=warnings.append,
    )
    made = World(source, texts, cache, warnings, global_scope)
    return made
