"""The session's memory: instruction files and the agent's own notes."""

from __future__ import annotations

from collections.abc import Callable

from agentcli.env import truthy
from agentcli.memory import AskOutside, MemoryRoom, auto_places, read_places
from agentcli.modes.select import proactive_active
from agentcli.runtime.world import World


def make_memory(world: World, warn: Callable[[str], None], *, ask: AskOutside | None = None) -> MemoryRoom | None:
    """``None`` with ``--bare`` and ``CLAUDE_CODE_SIMPLE``: whoever chooses them wants none of it.

    Files of a project that is not trusted are read all the same: they are text for the model, they run nothing.
    """
    if world.bare or truthy("CLAUDE_CODE_SIMPLE", world.env):
        return None
    options = world.options
    places = read_places(
        world.workspace.start,
        world.settings,
        world.env,
        add_dirs=options.add_dirs,
        sources=options.setting_sources,
    )
    features = world.features
    auto = auto_places(
        places,
        world.settings,
        world.env,
        world.home,
        team=features("TEAMMEM"),
        daily_log=features("KAIROS") and proactive_active(features, active=options.proactive),
    )
    return MemoryRoom(places, home=world.home, auto=auto, warn=warn, ask=ask, create=options.persist)
