"""The settings of a running session: read at the start, read again when a file changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agentcli.settings.git import git_root
from agentcli.settings.layers import MANAGED, Layer, Source, read_layer, sources
from agentcli.settings.merged import Settings


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What a second reading brought.  ``changed`` are top-level keys; ``problems`` is for the user: files that broke
    since, of which the last good state stays in force."""

    settings: Settings
    changed: tuple[str, ...]
    problems: tuple[str, ...]


class SettingsFiles:
    """Reads the layers and keeps the last good state of each.

    A file that breaks or is emptied while the session runs keeps its former rules; one that was broken at the start
    counts as ``unsafe`` until it can be read.
    """

    def __init__(self, found: tuple[Source, ...], *, project_root: Path | None, trusted: bool = False) -> None:
        self._sources = found
        self._root = project_root
        self._stamps = self._stamp()
        self._current = Settings(tuple(read_layer(s, project_root) for s in found), trusted)

    @classmethod
    def load(
        cls,
        cwd: Path,
        env: Mapping[str, str],
        *,
        flag: str | None = None,
        only: tuple[str, ...] | None = None,
        managed: Path = MANAGED,
        trusted: bool = False,
    ) -> SettingsFiles:
        """The settings of a session that starts in ``cwd`` (see ``layers.sources`` for the arguments)."""
        found = sources(cwd, env, flag=flag, managed=managed, only=only)
        return cls(found, project_root=git_root(cwd), trusted=trusted)

    @property
    def current(self) -> Settings:
        return self._current

    @property
    def sources(self) -> tuple[Source, ...]:
        return self._sources

    def trust(self, trusted: bool = True) -> Settings:
        """The project was trusted (or no longer is)."""
        self._current = replace(self._current, trusted=trusted)
        return self._current

    def stale(self) -> bool:
        """Whether a file looks different on disk since it was read (time, size, inode): cheap enough for each turn."""
        return self._stamp() != self._stamps

    def reload(self) -> Reloaded:
        """Reads every file again."""
        before = self._current
        self._stamps = self._stamp()
        problems: list[str] = []
        layers: list[Layer] = []
        for old, source in zip(before.layers, self._sources, strict=True):
            new = read_layer(source, self._root)
            if new.error and not old.unsafe and (old.exists or old.data):
                problems.append(f"{new.error}; its former settings stay in force")
                new = replace(old, warnings=(*old.warnings,))
            elif new.error:
                problems.append(new.error)
            elif new.blank and old.data:  # cut off while it was written, or by a full disk: nobody took rules back
                problems.append(f"{source.path}: is empty; its former settings stay in force ({{}} would end them)")
                new = old
            layers.append(new)
        self._current = Settings(tuple(layers), before.trusted)
        names = {*before.keys(), *self._current.keys()}
        changed = tuple(sorted(n for n in names if before.get(n) != self._current.get(n)))
        return Reloaded(self._current, changed, tuple(problems))

    def _stamp(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple(_file_stamp(s.path) for s in self._sources)


def _file_stamp(path: Path | None) -> tuple[int, int, int] | None:
    if path is None:
        return None
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
