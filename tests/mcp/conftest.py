from __future__ import annotations

from pathlib import Path

import pytest

from tests.mcp.world import Servers, World


@pytest.fixture
def mcp(world: Path, project: Path) -> World:
    """Servers to be added with ``mcp.servers.add``, and a room with ``mcp.open()``."""
    scripts = world / "scripts"
    scripts.mkdir()
    return World(project, Servers(scripts))
