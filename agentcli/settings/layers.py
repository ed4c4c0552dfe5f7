"""The files that settings come from, each read by itself."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from agentcli.errors import SettingsError, UsageError
from agentcli.paths import claude_home
from agentcli.settings.git import git_root, is_tracked, main_checkout
from agentcli.settings.jsonfile import BrokenFile, JsonObject, parse_object, read_document
from agentcli.settings.schema import KEYS, PERMISSION_KEYS, PROTECTIVE, Where, describe, fits

Scope = Literal["managed", "flag", "local", "project", "user"]
SCOPES: tuple[Scope, ...] = ("managed", "flag", "local", "project", "user")
"""Highest precedence first."""
SCOPE_NAMES: dict[Scope, str] = {
    "managed": "managed settings",
    "flag": "--settings",
    "local": "local settings",
    "project": "project settings",
    "user": "user settings",
}
MANAGED = Path("/etc/claude-code/managed-settings.json")
COUNTS_IN: dict[Where, frozenset[Scope]] = {
    "any": frozenset(SCOPES),
    "user": frozenset({"managed", "flag", "user"}),
    "private": frozenset({"managed", "flag", "user", "local"}),
    "managed": frozenset({"managed"}),
}


@dataclass(frozen=True, slots=True)
class Source:
    """Where a layer is read from.  ``base`` is the directory that ``/x`` in its path rules stands for."""

    scope: Scope
    path: Path | None
    base: Path
    inline: str | None = None

    @property
    def label(self) -> str:
        return SCOPE_NAMES[self.scope] + (f" ({self.path})" if self.path else "")


@dataclass(frozen=True, slots=True)
class Layer:
    """One file's settings.  ``error`` says why the file could not be used; ``unsafe`` that deny or ask rules of it
    may be missing from ``data``; ``foreign`` that others may have written it, so that it needs trust."""

    source: Source
    data: JsonObject = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    error: str = ""
    unsafe: bool = False
    foreign: bool = False
    exists: bool = True
    blank: bool = False
    """The file is there and holds nothing but white space."""


def sources(
    cwd: Path,
    env: Mapping[str, str],
    *,
    flag: str | None = None,
    managed: Path = MANAGED,
    only: Iterable[str] | None = None,
) -> tuple[Source, ...]:
    """The layers of a session that starts in ``cwd``, highest first.

    ``flag`` is the value of ``--settings`` (a file or JSON text), ``only`` that of ``--setting-sources`` (of ``user``,
    ``project``, ``local``; managed settings and the command line always count).  ``UsageError`` for an unknown source.
    """
    wanted = set(only) if only is not None else {"user", "project", "local"}
    if wrong := wanted - {"user", "project", "local"}:
        raise UsageError(f"--setting-sources: {', '.join(sorted(wrong))}: use user, project, local")
    root = git_root(cwd) or cwd
    found = [Source("managed", part, part.parent) for part in _managed_files(managed)]
    if flag is not None and flag.strip():
        found.append(_flag_source(flag, cwd))
    if "local" in wanted:
        # A linked work tree shares the user's own settings with its main checkout.
        found.append(Source("local", main_checkout(root) / ".claude" / "settings.local.json", cwd))
    if "project" in wanted:
        found.append(Source("project", root / ".claude" / "settings.json", root))
    home = claude_home(env)
    if "user" in wanted and home is not None and home / "settings.json" != root / ".claude" / "settings.json":
        found.append(Source("user", home / "settings.json", home))
    elif "user" in wanted and home is not None:
        found = [s for s in found if s.scope != "project"]
        found.append(Source("user", home / "settings.json", home))
    return tuple(found)


def _managed_files(main: Path) -> list[Path]:
    """The main file and the drop-ins beside it; of drop-ins the later name wins, and all win over the main file."""
    try:
        parts = sorted(main.with_suffix(".d").glob("*.json"), reverse=True)
    except OSError:
        parts = []
    return [*(p for p in parts if not p.name.startswith(".")), main]


def _flag_source(flag: str, cwd: Path) -> Source:
    if flag.lstrip().startswith("{"):
        return Source("flag", None, cwd, inline=flag)
    path = Path(flag).expanduser()
    path = path if path.is_absolute() else cwd / path
    if not os.path.exists(path):
        raise UsageError(f"--settings: no file {path} (and the text is not a JSON object)")
    return Source("flag", path, path.parent)


def read_layer(source: Source, project_root: Path | None) -> Layer:
    """Reads one source.  Never raises for what a file holds: see ``Layer.error`` and ``Layer.warnings``."""
    foreign = source.scope == "project"
    blank = False
    try:
        if source.inline is not None:
            data: JsonObject | None = parse_object(source.inline, Path("--settings"))
        else:
            document = read_document(source.path) if source.path else None
            data = document.data if document else None
            blank = document is not None and not document.text.strip()
    except BrokenFile as error:
        return Layer(source, error=str(error), unsafe=True, foreign=foreign)
    if data is None:
        return Layer(source, exists=False, foreign=foreign)
    if source.scope == "local" and source.path and project_root is not None:
        foreign = is_tracked(source.path, source.path.parent.parent)
    return replace(_checked(source, data, foreign), blank=blank)


def _checked(source: Source, data: JsonObject, foreign: bool) -> Layer:
    kept: JsonObject = {}
    warnings: list[str] = []
    unknown: list[str] = []
    unsafe = False
    where = str(source.path or "--settings")
    for name, value in data.items():
        key = KEYS.get(name)
        if key is None:
            unknown.append(name)
            kept[name] = value
        elif source.scope not in COUNTS_IN[key.where]:
            warnings.append(f"{where}: {name} does not count in {SCOPE_NAMES[source.scope]}; ignored")
        elif not fits(value, key):
            warnings.append(f"{where}: {name} must be {describe(key)}; ignored")
            unsafe = unsafe or name == "permissions"
        elif name == "permissions":
            kept[name], more, unsafe = _permissions(value, where)
            warnings += more
        else:
            kept[name] = value
    error = f"{where}: permissions could not be read" if unsafe else ""
    return Layer(source, kept, tuple(warnings), tuple(unknown), error, unsafe, foreign)


def _permissions(value: JsonObject, where: str) -> tuple[JsonObject, list[str], bool]:
    """The usable part of ``permissions``, warnings, and whether a guarding list was lost."""
    kept: JsonObject = {}
    warnings: list[str] = []
    unsafe = False
    for name, item in value.items():
        key = PERMISSION_KEYS.get(name)
        if key is None:
            warnings.append(f"{where}: permissions.{name} is not known")
            kept[name] = item
        elif not fits(item, key):
            warnings.append(f"{where}: permissions.{name} must be {describe(key)}; ignored")
            unsafe = unsafe or name in PROTECTIVE
        elif key.kind == "strings":
            kept[name], more = _texts(item, f"{where}: permissions.{name}")
            warnings += more
        else:
            kept[name] = item
    return kept, warnings, unsafe


def _texts(items: list[Any], where: str) -> tuple[list[str], list[str]]:
    good = [i for i in items if isinstance(i, str)]
    bad = [f"{where}[{n}]: {i!r} is not a text; ignored" for n, i in enumerate(items) if not isinstance(i, str)]
    return good, bad


def broken(layers: Iterable[Layer]) -> SettingsError | None:
    """The first file that can't be used, as an error for print mode; ``None`` when all can."""
    for layer in layers:
        if layer.error:
            return SettingsError(layer.error)
    return None
