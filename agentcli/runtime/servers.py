"""The session's MCP servers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agentcli.conversation import ConversationCache
from agentcli.events import Emit
from agentcli.mcp import Configuration, Ground, McpRoom, Wiring, make_room
from agentcli.processes import ProcessManager
from agentcli.runtime.asking import Questions
from agentcli.runtime.models import Models
from agentcli.runtime.world import World, instructions_by_reminder


def make_wiring(
    world: World,
    models: Models,
    *,
    emit: Emit,
    cache: ConversationCache,
    directory: Callable[[], Path],
    model: Callable[[], str],
) -> Wiring:
    """What servers have of the session."""
    return Wiring(
        emit=emit,
        cache=cache,
        directory=directory,
        interactive=world.options.interactive,
        references=models.takes_references,
        window=lambda: models.info(model()).window,
        delta=instructions_by_reminder(world),
    )


def make_servers(
    world: World,
    processes: ProcessManager,
    wiring: Wiring,
    *,
    front: Questions,
    more: Callable[[Configuration, Ground], Configuration],
) -> McpRoom | None:
    """``None`` where no server is configured.  Nothing is started yet.  ``UsageError`` for a wrong ``--mcp-config``.
    ``more`` adds those that come from somewhere else than the configuration.

    A project's servers act only when it is trusted, or when the user approved just these entries.
    """
    options = world.options
    ground = Ground(
        cwd=world.workspace.start,
        settings=world.settings,
        env=world.env,
        given=options.mcp_config,
        strict=options.strict_mcp_config,
        bare=options.bare,
        trusted=options.trust,
        elicitor=front,
        clients=front.clients,
        roots=lambda: world.workspace.roots,
    )
    found = more(ground.configuration(), ground)
    if not found.servers and not found.broken and not found.warnings:
        return None
    return make_room(ground, processes, wiring, inline=found)
