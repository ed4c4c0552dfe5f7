"""Where a session runs: environment, settings, trust, directories.  Read once at the start."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agentcli.clock import SystemClock
from agentcli.env import truthy
from agentcli.modes.select import coordinator_active
from agentcli.paths import agentcli_home
from agentcli.ports.sessions import Clock
from agentcli.ports.tools import Workspace
from agentcli.runtime.options import SessionOptions
from agentcli.settings.features import Features, read_features
from agentcli.settings.live import SettingsFiles
from agentcli.settings.merged import Settings
from agentcli.settings.trust import TrustStore, project_of


@dataclass(slots=True)
class World:
    """``env`` is the process's environment with the session's and the settings' variables; ``home`` is
    ``AGENTCLI_HOME`` or ``None`` where there is none."""

    options: SessionOptions
    env: Mapping[str, str]
    home: Path | None
    files: SettingsFiles
    workspace: Workspace
    clock: Clock

    @property
    def settings(self) -> Settings:
        return self.files.current

    @property
    def features(self) -> Features:
        """The feature flags that are on."""
        return read_features(self.settings.get("features"), self.env)

    @property
    def bare(self) -> bool:
        """``--bare``: nothing of the directory or the user is read but what the command line names."""
        return self.options.bare


def read_world(options: SessionOptions, *, clock: Clock | None = None) -> World:
    """Reads the settings.  ``UserError`` for a wrong ``--settings``; in print mode also for a broken file."""
    from agentcli.settings.layers import broken

    own = {**os.environ, **options.environment}
    home = agentcli_home(own)
    files = SettingsFiles.load(
        options.cwd,
        own,
        flag=options.settings or None,
        only=() if options.bare else options.setting_sources,
        trusted=options.trust or TrustStore(own).trusted(project_of(options.cwd, own)),
    )
    error = broken(files.current.layers)
    if error is not None and not options.interactive:
        raise error
    workspace = Workspace(options.cwd, options.cwd, list(options.add_dirs))
    workspace.extra_roots += _more_roots(files.current, options.cwd)
    return World(options, {**own, **files.current.environment}, home, files, workspace, clock or SystemClock())


def scratch_enabled(world: World) -> bool:
    """A scratch directory is there unless the setting ``scratchpad`` or ``CLAUDE_CODE_SIMPLE`` says otherwise."""
    return world.settings.flag("scratchpad", True) and not truthy("CLAUDE_CODE_SIMPLE", world.env)


def _more_roots(settings: Settings, cwd: Path) -> list[Path]:
    found = []
    for text, source in settings.directories:
        path = Path(text).expanduser()
        path = path if path.is_absolute() else (cwd if source.scope == "local" else source.base) / path
        if os.path.isdir(path):
            found.append(path.resolve())
    return found


def bound(values: object, name: str) -> float | None:
    """A positive number of a settings object, such as a budget; ``None`` for anything else."""
    value = values.get(name) if isinstance(values, dict) else None
    usable = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return float(value) if usable and value is not None else None


def instructions_by_reminder(world: World) -> bool:
    """Whether what MCP servers say reaches the model as reminders: by the setting ``mcpInstructionsDelta``, and where
    the prompt that would hold it is replaced (its section could not tell of a server that comes late)."""
    options = world.options
    replaced = bool(options.system_prompt.strip() or options.agent) or coordinator_active(world.features, world.env)
    return replaced or world.settings.flag("mcpInstructionsDelta", True)
