"""Keeping what answers bring: rules, modes and directories in settings files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentcli.errors import SetupError
from agentcli.ports.permissions import Destination, PermissionUpdate
from agentcli.settings.edit import edit_file
from agentcli.settings.jsonfile import JsonObject

LONGEST_RULE = 500
"""Characters.  A longer text is no rule that anybody would read again."""


@dataclass(frozen=True, slots=True)
class RuleStore:
    """The files behind the destinations: ``local`` (``.claude/settings.local.json`` of the main checkout),
    ``project`` (``.claude/settings.json``) and ``user``.  A destination without a file is refused (``SetupError``)."""

    local: Path | None = None
    project: Path | None = None
    user: Path | None = None

    def path(self, destination: Destination) -> Path:
        files = {"localSettings": self.local, "projectSettings": self.project, "userSettings": self.user}
        found = files.get(destination)
        if found is None:
            raise SetupError(f"there is no file to keep {destination} in; the change holds for this session")
        return found

    def save(self, update: PermissionUpdate) -> None:
        """Stores an update atomically; other keys and their order stay.  ``SettingsError`` if the file is broken or
        can't be written."""
        if any(len(rule) > LONGEST_RULE or "\n" in rule for rule in update.rules):
            raise SetupError("a rule of several lines or more than 500 characters is not stored")
        shared = update.destination == "projectSettings"
        edit_file(self.path(update.destination), lambda data: _change(data, update), private=not shared)


def _change(data: JsonObject, update: PermissionUpdate) -> None:
    permissions = data.setdefault("permissions", {})
    if not isinstance(permissions, dict):
        raise SetupError("permissions in the settings file is not an object; mend it first")
    match update.type:
        case "addRules":
            _extend(permissions, update.behavior, update.rules)
        case "replaceRules":
            permissions[update.behavior] = list(update.rules)
        case "removeRules":
            _reduce(permissions, update.behavior, update.rules)
        case "setMode":
            permissions["defaultMode"] = update.mode
        case "addDirectories":
            _extend(permissions, "additionalDirectories", update.directories)
        case "removeDirectories":
            _reduce(permissions, "additionalDirectories", update.directories)


def _extend(data: JsonObject, key: str, values: tuple[str, ...]) -> None:
    items = _list(data, key)
    items += [v for v in values if v not in items]


def _reduce(data: JsonObject, key: str, values: tuple[str, ...]) -> None:
    if key in data:
        data[key] = [v for v in _list(data, key) if v not in values]


def _list(data: JsonObject, key: str) -> list[Any]:
    items = data.setdefault(key, [])
    if not isinstance(items, list):
        raise SetupError(f"permissions.{key} in the settings file is not a list; mend it first")
    return items
