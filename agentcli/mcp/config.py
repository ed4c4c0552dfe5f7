"""Which servers there are: every source, the nearest entry of a name, and what is wrong with the others.

Sources, nearest first: ``--mcp-config`` (with ``--strict-mcp-config`` nothing else), local (ours for this project, then
Claude Code's, then ``settings.local.json``), project (``.mcp.json`` in the working directory and above it up to the git
root, then the project's settings), user (ours, Claude Code's, the user's settings), managed settings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from agentcli.errors import SettingsError, UsageError
from agentcli.mcp.entries import parse_entry
from agentcli.mcp.store import SERVERS, ServerStore, foreign_file, in_project
from agentcli.mcp.values import SCOPES, BrokenEntry, Scope, ServerEntry
from agentcli.messages import Json
from agentcli.settings.git import git_root
from agentcli.settings.jsonfile import BrokenFile, JsonObject, parse_object, read_document
from agentcli.settings.merged import Settings
from agentcli.settings.trust import Project, project_of

PROJECT_FILE = ".mcp.json"
_SCOPE_OF: Mapping[str, Scope] = {
    "managed": "managed",
    "flag": "flag",
    "local": "local",
    "project": "project",
    "user": "user",
}


@dataclass(frozen=True, slots=True)
class Configuration:
    """``servers`` by name, sorted.  ``warnings`` are files that could not be read at all."""

    project: Project
    servers: tuple[ServerEntry, ...] = ()
    broken: tuple[BrokenEntry, ...] = ()
    warnings: tuple[str, ...] = ()
    shadowed: tuple[ServerEntry, ...] = ()
    """Entries that a nearer one of the same name hides."""

    def get(self, name: str) -> ServerEntry | None:
        return next((s for s in self.servers if s.name == name), None)


@dataclass(frozen=True, slots=True)
class _Found:
    """The ``mcpServers`` object of one source."""

    scope: Scope
    origin: str
    base: Path
    servers: Any


@dataclass(slots=True)
class _Reader:
    cwd: Path
    env: Mapping[str, str]
    project: Project
    warnings: list[str] = field(default_factory=list)

    def flag(self, given: str) -> _Found:
        """``UsageError`` for a file or text that can't be used: the user has just typed it."""
        text = given.strip()
        try:
            if text.startswith("{"):
                data: JsonObject = parse_object(text, Path("--mcp-config"))
                origin = "--mcp-config"
            else:
                path = Path(given).expanduser()
                path = path if path.is_absolute() else self.cwd / path
                document = read_document(path)
                if document is None:
                    raise UsageError(f"--mcp-config: no file {path} (and the text is not a JSON object)")
                data, origin = document.data, str(path)
        except BrokenFile as error:
            raise UsageError(f"--mcp-config: {error}") from error
        if not isinstance(data.get(SERVERS), dict):
            raise UsageError(f'{origin}: must hold {{"mcpServers": {{NAME: ENTRY}}}}')
        return _Found("flag", origin, self.cwd, data[SERVERS])

    def files(self, store: ServerStore) -> Iterator[_Found]:
        ours = self._data(store.path)
        theirs = self._data(foreign_file(self.env))
        keys = dict.fromkeys((self.project.key, self.cwd))
        for path, data in ((store.path, ours), (foreign_file(self.env), theirs)):
            for key in keys:
                yield _Found("local", str(path), self.cwd, in_project(data, key))
        for path in self.project_files():
            yield _Found("project", str(path), path.parent, self._data(path).get(SERVERS))
        for path, data in ((store.path, ours), (foreign_file(self.env), theirs)):
            yield _Found("user", str(path), self.cwd, data.get(SERVERS))

    def settings(self, settings: Settings) -> Iterator[_Found]:
        for layer in settings.layers:
            scope = _SCOPE_OF[layer.source.scope]
            # A local file that others may have written is as foreign as the project's own.
            scope = "project" if layer.foreign else scope
            yield _Found(scope, layer.source.label, self.cwd, layer.data.get(SERVERS))

    def project_files(self) -> list[Path]:
        """``.mcp.json`` here and above, up to the git root; outside a repository only here."""
        here = self.cwd.resolve()
        root = git_root(here)
        above = [p for p in here.parents if root is not None and p.is_relative_to(root)]
        return [d / PROJECT_FILE for d in (here, *above)]

    def _data(self, path: Path | None) -> JsonObject:
        if path is None:
            return {}
        try:
            document = read_document(path)
        except BrokenFile as error:
            if str(error) not in self.warnings:
                self.warnings.append(f"{error}; its MCP servers are left out")
            return {}
        return document.data if document else {}


def read_configuration(
    cwd: Path,
    settings: Settings,
    env: Mapping[str, str],
    *,
    given: Sequence[str] = (),
    strict: bool = False,
    bare: bool = False,
) -> Configuration:
    """Reads every source.  ``given`` are the values of ``--mcp-config``; ``bare`` and ``strict`` leave only them.

    Never raises for what a file holds, but for ``given`` (``UsageError``).
    """
    project = project_of(cwd, env)
    reader = _Reader(cwd, env, project)
    found = [reader.flag(text) for text in given]
    if not strict and not bare:
        found += reader.files(ServerStore(project.key, env))
        found += reader.settings(settings)
    elif bare and not strict:
        found += [f for f in reader.settings(settings) if f.scope in ("flag", "managed")]
    return _joined(project, found, reader, settings, env)


def inline_configuration(
    cwd: Path,
    settings: Settings,
    env: Mapping[str, str],
    servers: Mapping[str, Any],
    *,
    base: Path,
    scope: Scope,
    origin: str,
) -> Configuration:
    """Servers that a definition (of an agent) brings along: whoever brings one uses it, so its tools stand in front.
    Servers start in ``base``.  Never raises for what is in them."""
    project = project_of(cwd, env)
    reader = _Reader(cwd, env, project)
    found = _joined(project, [_Found(scope, origin, base, dict(servers))], reader, settings, env)
    return replace(found, servers=tuple(replace(s, always_load=True) for s in found.servers))


def _joined(
    project: Project, found: list[_Found], reader: _Reader, settings: Settings, env: Mapping[str, str]
) -> Configuration:
    servers: dict[str, ServerEntry] = {}
    broken: dict[str, BrokenEntry] = {}
    shadowed: list[ServerEntry] = []
    for source in sorted(found, key=lambda f: SCOPES.index(f.scope)):
        if source.servers is None:
            continue
        if not isinstance(source.servers, dict):
            reader.warnings.append(f"{source.origin}: mcpServers must be an object; left out")
            continue
        for name, raw in source.servers.items():
            try:
                entry = _entry(name, raw, source, settings, env)
            except SettingsError as error:
                if name not in servers:
                    broken.setdefault(name, BrokenEntry(name, source.scope, source.origin, str(error)))
                continue
            if name in servers or name in broken:
                shadowed.append(entry)
            else:
                servers[name] = entry
    by_name = [servers[n] for n in sorted(servers)]
    return Configuration(
        project, tuple(by_name), tuple(broken[n] for n in sorted(broken)), tuple(reader.warnings), tuple(shadowed)
    )


def _entry(name: str, raw: Any, source: _Found, settings: Settings, env: Mapping[str, str]) -> ServerEntry:
    if not name.strip():
        raise SettingsError("a server needs a name")
    entry = parse_entry(name, raw, scope=source.scope, origin=source.origin, base=source.base, env=env)
    if not allowed(entry, settings):
        raise SettingsError("is not allowed by the settings allowedMcpServers/deniedMcpServers")
    return entry


def allowed(entry: ServerEntry, settings: Settings) -> bool:
    """By ``allowedMcpServers`` and ``deniedMcpServers``: lists of ``{"serverName": …}``, ``{"serverCommand": [...]}``
    or ``{"serverUrl": "https://*.example.com/*"}``.  A denial wins; an allow list names all that may be."""
    denied = settings.get("deniedMcpServers", [])
    if any(_matches(entry, rule) for rule in denied):
        return False
    permitted = settings.get("allowedMcpServers")
    return permitted is None or any(_matches(entry, rule) for rule in permitted)


def _matches(entry: ServerEntry, rule: Any) -> bool:
    if isinstance(rule, str):
        return rule == entry.name
    if not isinstance(rule, dict):
        return False
    if "serverCommand" in rule:
        return entry.transport == "stdio" and rule["serverCommand"] == [entry.command, *entry.args]
    if "serverUrl" in rule:
        return bool(entry.url) and fnmatchcase(entry.url, str(rule["serverUrl"]))
    return rule.get("serverName") == entry.name


def content_of(entry: ServerEntry | Json) -> Json:
    """What an approval is bound to: the entry as it was written."""
    raw = entry.raw if isinstance(entry, ServerEntry) else entry
    plain: Json = json.loads(json.dumps(raw))
    return plain
