"""What a subagent sees of the session: its prompt, the user, the hooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from agentcli.agent.subagent import REPORT
from agentcli.conversation import ConversationCache, SystemPrompt
from agentcli.extend.agents import AgentDefinition
from agentcli.extend.hooks.room import HookRoom
from agentcli.memory import MemoryRoom
from agentcli.ports.permissions import (
    Answer,
    ApprovalRequest,
    Approver,
    HookEvent,
    Hooks,
    HookVerdict,
)
from agentcli.ports.prompt import PromptSources, StepContext
from agentcli.prompt.context import NO_SOURCES, PromptContext
from agentcli.prompt.identity import attribution_part
from agentcli.prompt.section import clear_system_prompt_sections
from agentcli.prompt.subagent import subagent_head_text, subagent_system_prompt
from agentcli.runtime.extended import JointHooks
from agentcli.runtime.site import Site


class AgentPrompt:
    """A subagent's prompt and memory.  The prompt stays as it was built until the conversation begins anew.

    ``tree`` is the work tree whose instruction files it gets, where that is not the session's."""

    def __init__(
        self,
        context: Callable[[], PromptContext],
        body: str,
        cache: ConversationCache,
        memory: MemoryRoom | None,
        *,
        tree: Path | None = None,
    ) -> None:
        self._context = context
        self._body = body
        self._cache = cache
        self.additional: tuple[str, ...] = ()
        """The further directories that the prompt names."""
        self.memory = memory.branch(tree) if memory is not None else None
        self._prompt = self._built()
        self._switched = False

    def model_switched(self) -> None:
        """The prompt names the model, and a switched one has no cache to lose."""
        self._switched = True

    async def effective(self, step: StepContext) -> SystemPrompt:
        if self._switched:
            self._prompt, self._switched = self._built(), False
        return self._prompt

    async def report(self) -> str | None:
        """What every subagent is told about its report."""
        return REPORT

    async def memory_text(self) -> str | None:
        """The head reminder: the memory files."""
        if self.memory is None:
            return None
        sources: PromptSources = replace(NO_SOURCES, memory=self.memory.section)
        # Asked where a conversation begins (anew), so that nothing that was read before counts.
        return await subagent_head_text(self._context(), sources, ConversationCache())

    def begin_anew(self) -> None:
        clear_system_prompt_sections(self._cache)
        self._prompt = self._built()

    def _built(self) -> SystemPrompt:
        context = self._context()
        self.additional = context.environment.additional
        prompt = subagent_system_prompt(context, self._body)
        if not context.attribution:
            return prompt
        return replace(prompt, parts=(attribution_part(context.attribution), *prompt.parts))


@dataclass(frozen=True, slots=True)
class AgentApprover:
    """Asks the user in the agent's name.  An answer that stops something stops the call, not the session's turn."""

    approver: Approver
    agent: str
    task: str

    async def ask(self, request: ApprovalRequest) -> Answer:
        answer = await self.approver.ask(replace(request, agent=self.agent, task=self.task))
        return replace(answer, interrupt=False)


@dataclass(frozen=True, slots=True)
class AgentHooks:
    """Hooks that don't know of agents themselves: those of a whole session's turn are not an agent's."""

    hooks: Hooks
    agent: str
    id: str

    async def fire(self, event: HookEvent) -> HookVerdict:
        if event.name == "UserPromptSubmit":
            return HookVerdict()
        fields = {**(event.fields or {}), "agent_id": self.id, "agent_type": self.agent}
        if event.name == "Stop":
            return await self.hooks.fire(HookEvent("SubagentStop", self.agent, fields))
        return await self.hooks.fire(HookEvent(event.name, event.matcher, fields))


def hooks_for(hooks: Hooks, definition: AgentDefinition, id: str, site: Site) -> Hooks:
    """The session's hooks as they are while an agent works, with those of its definition."""
    if isinstance(hooks, HookRoom):
        return hooks.for_agent(definition, id, cwd=site.start if site.tree is not None else None)
    if isinstance(hooks, JointHooks):
        return JointHooks(hooks_for(hooks.first, definition, id, site), hooks_for(hooks.second, definition, id, site))
    return AgentHooks(hooks, definition.name, id)
