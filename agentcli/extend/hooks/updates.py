"""``updatedPermissions`` of a hook's answer, in the field names of the stream-json protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast, get_args

from agentcli.ports.permissions import PERMISSION_MODES, Behavior, Destination, PermissionUpdate

_DESTINATIONS = get_args(Destination)
_BEHAVIORS = get_args(Behavior)


def permission_updates(value: object) -> tuple[PermissionUpdate, ...]:
    """The updates that can be understood; anything else changes no permission."""
    return tuple(_updates(value if isinstance(value, list) else []))


def _updates(items: list[Any]) -> Iterator[PermissionUpdate]:
    for item in items:
        if not isinstance(item, dict) or item.get("destination", "session") not in _DESTINATIONS:
            continue
        destination = cast("Destination", item.get("destination", "session"))
        match item.get("type"):
            case "addRules" | "replaceRules" | "removeRules" as kind if item.get("behavior") in _BEHAVIORS:
                yield PermissionUpdate(
                    kind, rules=_rules(item.get("rules")), behavior=item["behavior"], destination=destination
                )
            case "setMode" if item.get("mode") in PERMISSION_MODES:
                yield PermissionUpdate("setMode", mode=item["mode"], destination=destination)
            case "addDirectories" | "removeDirectories" as kind:
                paths = item.get("directories")
                texts = tuple(p for p in paths if isinstance(p, str)) if isinstance(paths, list) else ()
                yield PermissionUpdate(kind, directories=texts, destination=destination)
            case _:
                continue


def _rules(value: object) -> tuple[str, ...]:
    found = []
    for rule in value if isinstance(value, list) else []:
        if isinstance(rule, dict) and isinstance(rule.get("toolName"), str):
            content = rule.get("ruleContent")
            found.append(f"{rule['toolName']}({content})" if content else rule["toolName"])
    return tuple(found)
