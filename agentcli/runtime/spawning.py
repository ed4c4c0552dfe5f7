"""A subagent is hired: which kind it is, where it works, and what it gets for that."""

from __future__ import annotations

from dataclasses import replace

from agentcli.agent.closing import to_the_end
from agentcli.agent.subagent import Hire, Kit
from agentcli.errors import ToolError, UserError
from agentcli.extend.agents import AgentDefinition, agent_kinds
from agentcli.ports.tools import ToolCall
from agentcli.runtime.outfit import FOLDER, Outfit
from agentcli.runtime.parent import Parent
from agentcli.runtime.site import Site
from agentcli.runtime.worktree import Worktrees

__all__ = ["FOLDER", "Spawning"]


class Spawning:
    """``agent.subagent.Outfitter`` of a session."""

    def __init__(self, parent: Parent) -> None:
        self._parent = parent
        self._worktrees = Worktrees(parent.world, parent.means.processes, parent.hooks)
        self._sites: dict[str, Site] = {}
        """Where agents work, by id; those that are not in it work where the session does."""

    async def __call__(self, hire: Hire) -> Kit:
        definition = self._definition(hire)
        hire.crew.kinds = agent_kinds(definition.tools)
        site = await self._site(hire, definition)
        try:
            return await Outfit(self._parent, hire, definition, site, self._worktrees).kit()
        except BaseException:
            await to_the_end(self._give_up(hire, site))
            raise

    def _definition(self, hire: Hire) -> AgentDefinition:
        """``ToolError`` for a kind that there is not, or that a rule ``Agent(KIND)`` denies, whoever asks for it and
        however it is spelled."""
        try:
            found = self._parent.extensions.agent(hire.order.agent)
        except UserError as error:
            raise ToolError(f"{error}") from error
        decision = self._parent.gate.check(ToolCall(hire.id, "Agent", {"subagent_type": found.name}))
        if decision.behavior == "deny" and decision.rule:
            raise ToolError(f"The agent {found.name} can't be started: {decision.reason}.")
        return found

    async def _site(self, hire: Hire, definition: AgentDefinition) -> Site:
        """A worktree of its own, or the place of whoever hires it."""
        if "worktree" in (hire.order.isolation, definition.isolation):
            site = Site.in_tree(await self._worktrees.make(definition.name), self._parent.world)
            self._sites[hire.id] = site
        elif hire.above in self._sites:
            site = self._sites[hire.id] = replace(self._sites[hire.above], own=False)
        else:
            site = Site.of_session(self._parent.world)
        return site

    async def _give_up(self, hire: Hire, site: Site) -> None:
        self._sites.pop(hire.id, None)
        if site.own and site.tree is not None:
            await self._worktrees.leave(site.tree)
