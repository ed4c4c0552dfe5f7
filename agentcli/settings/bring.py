"""What a project would bring, were it trusted: what the trust question shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agentcli.settings.jsonfile import BrokenFile, JsonObject, read_document
from agentcli.settings.layers import Layer
from agentcli.settings.merged import TIGHTENING, Settings
from agentcli.text import one_line, strip_ansi

Kind = Literal["hook", "MCP server", "allow rule", "directory", "environment", "helper", "status line", "setting"]
HELPERS = frozenset({"apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper"})
_COMMANDS = frozenset({"statusLine", "subagentStatusLine", "fileSuggestion"})
_APART = frozenset({"permissions", "hooks", "env", "mcpServers", "$schema"}) | HELPERS | _COMMANDS


@dataclass(frozen=True, slots=True)
class Brought:
    """One thing: what it is, in one line, and the file that brings it."""

    kind: Kind
    text: str
    path: str

    def __post_init__(self) -> None:
        # It is shown on a terminal before anybody said that the file may be trusted.
        object.__setattr__(self, "text", one_line(strip_ansi(self.text), 200))

    @property
    def line(self) -> str:
        return f"{self.kind}: {self.text}"


def brought(settings: Settings, root: Path) -> tuple[Brought, ...]:
    """Everything of the project's files that does not act before it is trusted: settings that others may have written,
    and the servers of ``.mcp.json``."""
    found: list[Brought] = []
    for layer in settings.layers:
        if layer.foreign and layer.data:
            found += _of_layer(layer)
    found += _servers_of(root / ".mcp.json")
    return tuple(found)


def _of_layer(layer: Layer) -> Iterator[Brought]:
    path = str(layer.source.path)
    data = layer.data
    yield from (Brought("hook", text, path) for text in _hooks(data.get("hooks")))
    yield from (Brought("MCP server", text, path) for text in _servers(data.get("mcpServers")))
    permissions = data.get("permissions", {})
    yield from (Brought("allow rule", text, path) for text in permissions.get("allow", ()))
    yield from (Brought("directory", text, path) for text in permissions.get("additionalDirectories", ()))
    yield from (Brought("environment", f"{name}={value}", path) for name, value in data.get("env", {}).items())
    yield from (Brought("helper", f"{name}: {data[name]}", path) for name in sorted(HELPERS & data.keys()))
    for name in sorted(_COMMANDS & data.keys()):
        yield Brought("status line" if name == "statusLine" else "helper", f"{name}: {_command(data[name])}", path)
    others = {f"permissions.{k}": v for k, v in permissions.items() if k not in TIGHTENING}
    for name in ("permissions.allow", "permissions.additionalDirectories"):
        others.pop(name, None)
    others |= {k: v for k, v in data.items() if k not in _APART}
    yield from (Brought("setting", f"{name} = {_short(value)}", path) for name, value in sorted(others.items()))


def _hooks(value: Any) -> Iterator[str]:
    for event, groups in (value if isinstance(value, dict) else {}).items():
        for group in groups if isinstance(groups, list) else []:
            inner = group.get("hooks", []) if isinstance(group, dict) else []
            for hook in inner if isinstance(inner, list) else []:
                yield f"{event}: {_command(hook)}"


def _servers(value: Any) -> Iterator[str]:
    for name, server in (value if isinstance(value, dict) else {}).items():
        yield f"{name}: {_command(server)}"


def _command(value: Any) -> str:
    if not isinstance(value, dict):
        return _short(value)
    arguments = value.get("args")
    parts = [value.get("command") or value.get("url") or value.get("prompt") or value.get("type") or "?"]
    parts += arguments if isinstance(arguments, list) else []
    return _short(" ".join(str(p) for p in parts))


def _short(value: Any) -> str:
    return one_line(strip_ansi(str(value)), 200)


def _servers_of(path: Path) -> Iterator[Brought]:
    try:
        document = read_document(path)
    except BrokenFile as error:
        yield Brought("MCP server", f"(can't be read: {error})", str(path))
        return
    data: JsonObject = document.data if document else {}
    yield from (Brought("MCP server", text, str(path)) for text in _servers(data.get("mcpServers")))
