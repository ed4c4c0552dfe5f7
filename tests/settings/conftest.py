from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentcli.settings.live import SettingsFiles

Loader = Callable[..., SettingsFiles]


def put(path: Path, data: Any) -> Path:
    """Writes a settings file: an object as JSON, a text as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


@pytest.fixture
def user(home: Path) -> Path:
    return home / ".claude" / "settings.json"


@pytest.fixture
def local(project: Path) -> Path:
    return project / ".claude" / "settings.local.json"


@pytest.fixture
def shared(project: Path) -> Path:
    return project / ".claude" / "settings.json"


@pytest.fixture
def managed(world: Path) -> Path:
    return world / "etc" / "managed-settings.json"


@pytest.fixture
def load(home: Path, project: Path, managed: Path) -> Loader:
    """``load(flag=…, only=…, trusted=…)`` for a session in the project."""

    def make(**options: Any) -> SettingsFiles:
        return SettingsFiles.load(
            options.pop("cwd", project),
            options.pop("env", {"HOME": str(home)}),
            managed=managed,
            trusted=options.pop("trusted", True),
            **options,
        )

    return make
