"""All of the prompt room behind its two ports: the effective prompt of a step, and the reminders that go with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from agentcli.conversation import ConversationCache, PromptLevel, PromptPart, SystemPrompt
from agentcli.messages import Json
from agentcli.ports.model import ModelInfo
from agentcli.ports.prompt import Moment, PromptSources, Remaining, Reminder, StepContext
from agentcli.prompt.assemble import default_level, dynamic_sections, get_system_prompt
from agentcli.prompt.context import PromptContext, PromptModel
from agentcli.prompt.dynamic import env_info_simple
from agentcli.prompt.effective import PromptLevels, Winner, build_effective_system_prompt
from agentcli.prompt.head import head_sections, head_text
from agentcli.prompt.identity import attribution_part
from agentcli.prompt.inspect import PromptReport, inspect_prompt
from agentcli.prompt.section import SystemPromptSection, Warn, forget_section, late_section_texts


class PromptSource:
    """Implements ``ports.prompt.SystemPromptSource`` and ``ReminderSource`` for one conversation after the other.

    ``context`` is read at every step and may be replaced; what is memoised follows it from the next clearing of the
    cache on.  ``describe_model`` gives the catalog's entry for a model id, ``global_scope`` says at each step whether
    the API takes the global cache scope (``boundary.should_use_global_cache_scope``), ``warn`` gets a sentence for the
    user when a section fails.
    """

    def __init__(
        self,
        context: PromptContext,
        *,
        cache: ConversationCache,
        sources: PromptSources,
        describe_model: Callable[[str], ModelInfo],
        levels: PromptLevels | None = None,
        global_scope: Callable[[], bool] = lambda: False,
        warn: Warn | None = None,
    ) -> None:
        self.context = context
        self.levels = replace(levels or PromptLevels(), coordinator=sources.coordinator)
        self._cache = cache
        self._sources = sources
        self._describe_model = describe_model
        self._global_scope = global_scope
        self._warn = warn
        self._head_told: int | None = None
        """Generation of the cache for which the head reminder was given."""

    async def effective(self, step: StepContext) -> SystemPrompt:
        """The prompt of this step, built anew from memoised sections: the same bytes until the cache is cleared."""
        context = self._at(step)

        async def default() -> tuple[PromptLevel, list[PromptPart]]:
            parts = await get_system_prompt(context, self._sources, self._cache, warn=self._warn)
            return default_level(context), parts

        prompt = await build_effective_system_prompt(
            self.levels,
            default,
            proactive=default_level(context) == "proactive",
            layout=context.layout,
            global_scope=context.global_scope,
        )
        if not context.attribution:
            return prompt
        return replace(prompt, parts=(attribution_part(context.attribution), *prompt.parts))

    def model_of(self, model: str) -> PromptModel:
        """The model as prompts name it."""
        return PromptModel.of(self._describe_model(model))

    def model_switched(self) -> None:
        """Has the environment section computed again at the next step: it names the model, and a switched model has no
        cache to lose."""
        forget_section(self._cache, env_info_simple.NAME)

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        """The head reminder where a conversation begins anew, and texts of failed sections once they can be had.

        After a compaction the head is built from what is true now, whether the cache has been cleared yet or not.
        """
        winner = await self.levels.winner()
        if moment == "after_compaction":
            return await self._head(winner, ConversationCache())
        reminders: list[Reminder] = []
        if moment == "first_message" and self._head_told != self._cache.generation:
            self._head_told = self._cache.generation
            reminders = await self._head(winner, self._cache)
        if self._cache.absent:
            late = await late_section_texts(self._sections(winner), self._cache)
            reminders += [Reminder(f"section:{name}", text) for name, text in late]
        return reminders

    def rewound(self, remaining: Remaining) -> None:
        """``ports.prompt.Rewindable``: a conversation that begins anew gets its head again."""
        if not remaining.messages:
            self._head_told = None

    async def report(
        self,
        step: StepContext,
        *,
        global_scope: bool = True,
        skip_global_cache_for_system_prompt: bool = False,
        cache_controls: Sequence[Json | None] | None = None,
    ) -> PromptReport:
        """The prompt of this step, explained.  ``global_scope`` false: the request gives a planned scope up."""
        prompt = await self.effective(step)
        prompt = replace(prompt, global_scope=prompt.global_scope and global_scope)
        default = any(part.kind in ("identity", "dynamic") for part in prompt.parts)
        return inspect_prompt(
            prompt,
            sections=dynamic_sections(self._at(step), self._sources) if default else (),
            skip_global_cache_for_system_prompt=skip_global_cache_for_system_prompt,
            cache_controls=cache_controls,
        )

    async def _head(self, winner: Winner | None, cache: ConversationCache) -> list[Reminder]:
        text = await head_text(winner, self.context, self._sources, cache, warn=self._warn)
        return [Reminder("session", text)] if text else []

    def _at(self, step: StepContext) -> PromptContext:
        return replace(
            self.context,
            model=self.model_of(step.model),
            interactive=step.interactive,
            layout=self._cache.latch("layout", self.context.layout),
            global_scope=self._global_scope(),
        )

    def _sections(self, winner: Winner | None) -> list[SystemPromptSection]:
        proactive = default_level(self.context) == "proactive"
        if winner is None or winner.keeps_default(proactive=proactive):
            return dynamic_sections(self.context, self._sources)
        return head_sections(self.context, self._sources)
