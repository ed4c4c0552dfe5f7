"""All layers as one: each value with its origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from agentcli.settings.jsonfile import JsonObject
from agentcli.settings.layers import Layer, Source

RuleKind = Literal["allow", "ask", "deny"]
REPLACED_LISTS = frozenset({"fallbackModel", "availableModels"})
"""Lists of which the highest wins; every other list is joined over all files."""
TIGHTENING = frozenset({"deny", "ask", "disableBypassPermissionsMode", "disableAutoMode"})
"""What ``permissions`` of a file counts before its project is trusted."""


@dataclass(frozen=True, slots=True)
class Value:
    """One setting: dotted key, value, and the files it comes from (several for joined lists), highest first."""

    key: str
    value: Any
    origins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleText:
    """One permission rule as it stands in a file."""

    kind: RuleKind
    text: str
    source: Source


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force.  ``layers`` stand highest first; of foreign ones only what tightens counts until
    ``trusted``."""

    layers: tuple[Layer, ...]
    trusted: bool = False

    def active(self, layer: Layer) -> JsonObject:
        """What of a layer counts."""
        if not layer.foreign or self.trusted:
            return layer.data
        permissions = layer.data.get("permissions", {})
        tightening = {k: v for k, v in permissions.items() if k in TIGHTENING}
        kept: JsonObject = {"permissions": tightening} if tightening else {}
        if layer.data.get("disableAllHooks") is True:
            kept["disableAllHooks"] = True
        return kept

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a dotted key (``permissions.defaultMode``): objects merged, lists joined, else the highest."""
        found = self.value(key)
        return default if found is None else found.value

    def value(self, key: str) -> Value | None:
        """The value with its origins; ``None`` when no file sets it."""
        found = [(v, layer.source.label) for layer in self.layers if (v := _at(self.active(layer), key)) is not None]
        if not found:
            return None
        merged, used = found[0][0], [found[0][1]]
        for value, label in found[1:]:
            joined = merge(merged, value, key)
            if joined != merged:
                merged = joined
                used.append(label)
        return Value(key, merged, tuple(used))

    def text(self, key: str) -> str | None:
        value = self.get(key)
        return value if isinstance(value, str) else None

    def flag(self, key: str, default: bool = False) -> bool:
        value = self.get(key)
        return value if isinstance(value, bool) else default

    def keys(self) -> tuple[str, ...]:
        """The top-level keys that are set, sorted."""
        return tuple(sorted({k for layer in self.layers for k in self.active(layer)}))

    def values(self) -> tuple[Value, ...]:
        """Every leaf (objects taken apart), sorted by key: what ``config list`` shows."""
        leaves = {path for layer in self.layers for path in _leaves(self.active(layer), "")}
        found = (self.value(path) for path in sorted(leaves))
        return tuple(v for v in found if v is not None)

    def rules(self) -> tuple[RuleText, ...]:
        """Every permission rule that counts, highest file first.  Where managed settings say that only their rules
        count, allow rules of others are left out; deny and ask rules always count."""
        managed_only = any(
            layer.source.scope == "managed" and layer.data.get("allowManagedPermissionRulesOnly") is True
            for layer in self.layers
        )
        found: list[RuleText] = []
        kinds: tuple[RuleKind, ...] = ("deny", "ask", "allow")
        for layer in self.layers:
            permissions = self.active(layer).get("permissions", {})
            for kind in kinds:
                if kind == "allow" and managed_only and layer.source.scope != "managed":
                    continue
                found += [RuleText(kind, text, layer.source) for text in permissions.get(kind, ())]
        return tuple(found)

    @property
    def directories(self) -> tuple[tuple[str, Source], ...]:
        """``permissions.additionalDirectories`` with the file that each comes from."""
        return tuple(
            (text, layer.source)
            for layer in self.layers
            for text in self.active(layer).get("permissions", {}).get("additionalDirectories", ())
        )

    @property
    def environment(self) -> dict[str, str]:
        """``env`` of all files.  Values that are not texts are taken as JSON spells them."""
        values = self.get("env", {})
        return {k: v if isinstance(v, str) else _spelled(v) for k, v in values.items()}

    @property
    def bypass_disabled(self) -> bool:
        return any(
            self.active(layer).get("permissions", {}).get("disableBypassPermissionsMode") == "disable"
            for layer in self.layers
        )

    @property
    def errors(self) -> tuple[str, ...]:
        """Files that can't be used, one line each."""
        return tuple(layer.error for layer in self.layers if layer.error)

    @property
    def unsafe(self) -> tuple[str, ...]:
        """Why deny or ask rules may be missing: while this is not empty nothing may be allowed silently."""
        return tuple(layer.error for layer in self.layers if layer.unsafe)

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(w for layer in self.layers for w in layer.warnings)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Keys that agentcli does not know, with their file."""
        return tuple(f"{name} in {layer.source.label}" for layer in self.layers for name in layer.unknown)


def merge(high: Any, low: Any, key: str = "") -> Any:
    """``high`` over ``low``: objects by key, lists one behind the other without repeats, anything else ``high``."""
    if isinstance(high, dict) and isinstance(low, dict):
        joined = dict(high)
        for name, value in low.items():
            joined[name] = merge(joined[name], value, name) if name in joined else value
        return joined
    if isinstance(high, list) and isinstance(low, list) and key.rsplit(".", maxsplit=1)[-1] not in REPLACED_LISTS:
        return high + [item for item in low if item not in high]
    return high


def _at(data: Any, key: str) -> Any:
    """The value below a dotted key.  A key that holds dots itself is found whole first."""
    if not isinstance(data, dict):
        return None
    if key in data:
        return data[key]
    for end in range(len(key) - 1, 0, -1):
        if key[end] == "." and key[:end] in data:
            found = _at(data[key[:end]], key[end + 1 :])
            if found is not None:
                return found
    return None


def _leaves(data: JsonObject, prefix: str) -> list[str]:
    found: list[str] = []
    for name, value in data.items():
        path = f"{prefix}{name}"
        found += _leaves(value, path + ".") if isinstance(value, dict) and value else [path]
    return found


def _spelled(value: Any) -> str:
    import json

    return json.dumps(value)
