"""Our own record of servers, ``mcp.json`` below ``AGENTCLI_HOME`` (mode 0600): those of the user, and those that
belong to one project but to nobody else who works on it.

The shape is that of ``~/.claude.json``, which is read too but never written::

    {"mcpServers": {NAME: ENTRY}, "projects": {PATH: {"mcpServers": {NAME: ENTRY}, "disabledMcpServers": [NAME]}}}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentcli.errors import SetupError
from agentcli.paths import agentcli_home, user_home
from agentcli.settings.jsonfile import BrokenFile, JsonObject, read_document
from agentcli.settings.statefile import StateFile

FILE = "mcp.json"
SERVERS = "mcpServers"
DISABLED = "disabledMcpServers"


def foreign_file(env: Mapping[str, str]) -> Path | None:
    """Claude Code's own state file: ``~/.claude.json``, or below ``CLAUDE_CONFIG_DIR``."""
    given = env.get("CLAUDE_CONFIG_DIR")
    if given:
        return Path(given).expanduser() / ".claude.json"
    home = user_home(env)
    return home / ".claude.json" if home else None


def in_project(data: JsonObject, project: Path, key: str = SERVERS) -> Any:
    """The value of a project in a file of this shape; ``None`` where there is none."""
    projects = data.get("projects")
    entry = projects.get(str(project)) if isinstance(projects, dict) else None
    return entry.get(key) if isinstance(entry, dict) else None


class ServerStore:
    """``project`` is the project's key (real path of its checkout)."""

    def __init__(self, project: Path, env: Mapping[str, str] | None = None) -> None:
        home = agentcli_home(env)
        self.path = home / FILE if home else None
        self._project = project
        self._off_now: dict[str, bool] = {}

    def read(self) -> JsonObject:
        """The whole file.  ``BrokenFile`` if it can't be used."""
        document = read_document(self.path) if self.path else None
        return document.data if document else {}

    def disabled(self) -> frozenset[str]:
        """Names that the user switched off here."""
        try:
            stored = in_project(self.read(), self._project, DISABLED)
        except BrokenFile:
            stored = None
        names = {n for n in stored if isinstance(n, str)} if isinstance(stored, list) else set()
        names |= {n for n, off in self._off_now.items() if off}
        return frozenset(names - {n for n, off in self._off_now.items() if not off})

    def set_disabled(self, name: str, off: bool) -> None:
        """``SetupError`` if it can't be stored; it holds for this session all the same."""
        self._off_now[name] = off

        def change(data: JsonObject) -> None:
            entry = _project_entry(data, self._project)
            names = [n for n in entry.get(DISABLED, []) if isinstance(n, str) and n != name]
            entry[DISABLED] = sorted([*names, name]) if off else names

        self._change(change)

    def add(self, scope: str, name: str, entry: JsonObject) -> list[Any]:
        """Stores an entry under ``user`` or ``local``; returns the one that stood there, if any.  ``SetupError`` if it
        can't be written."""
        before: list[Any] = []

        def change(data: JsonObject) -> None:
            servers = _servers(data if scope == "user" else _project_entry(data, self._project))
            before[:] = [servers[name]] if name in servers else []
            servers[name] = entry

        self._change(change)
        return before

    def remove(self, scope: str, name: str) -> bool:
        """Whether there was such an entry.  ``SetupError`` if the file can't be written."""
        found = False

        def change(data: JsonObject) -> None:
            nonlocal found
            servers = _servers(data if scope == "user" else _project_entry(data, self._project))
            found = servers.pop(name, None) is not None

        self._change(change)
        return found

    def _change(self, change: Callable[[JsonObject], None]) -> None:
        if self.path is None:
            raise SetupError("there is no home directory to keep servers in; set HOME or AGENTCLI_HOME")
        try:
            StateFile(self.path).change(change)
        except OSError as error:
            raise SetupError(f"{self.path}: can't be written ({error.strerror or error})") from error


def _servers(holder: JsonObject) -> JsonObject:
    servers = holder.get(SERVERS)
    if not isinstance(servers, dict):
        servers = holder[SERVERS] = {}
    return servers


def _project_entry(data: JsonObject, project: Path) -> JsonObject:
    projects = data.get("projects")
    if not isinstance(projects, dict):
        projects = data["projects"] = {}
    entry = projects.get(str(project))
    if not isinstance(entry, dict):
        entry = projects[str(project)] = {}
    return entry
