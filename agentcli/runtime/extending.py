"""The session's extensions: what ``.claude`` directories bring."""

from __future__ import annotations

from agentcli.env import truthy
from agentcli.extend.agents import AgentDefinition
from agentcli.extend.room import Extensions
from agentcli.paths import claude_home
from agentcli.ports.skills import InvokedSkill
from agentcli.runtime.world import World


def make_extensions(world: World, *, agents: str = "") -> Extensions:
    """Reads everything.  With ``--bare`` and ``CLAUDE_CODE_SIMPLE`` only built-in things and the agents of the command
    line (``agents`` is its JSON; ``UsageError`` where that is wrong)."""
    nothing = world.bare or truthy("CLAUDE_CODE_SIMPLE", world.env)
    sources = () if nothing else world.options.setting_sources
    return Extensions.load(
        world.workspace.start,
        world.settings,
        user_dir=claude_home(world.env) if "user" in sources else None,
        trusted=world.settings.trusted,
        project="project" in sources,
        agents=agents,
    )


async def preloaded(extensions: Extensions, agent: AgentDefinition) -> list[InvokedSkill]:
    """The texts that an agent begins with.  ``UserError`` for a skill that there is not."""
    return await extensions.preloaded(agent)
