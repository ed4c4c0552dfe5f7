"""Where a session's memory files may lie: read once at the start."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agentcli.env import truthy
from agentcli.globs import Match, compile_glob
from agentcli.memory.values import AgentsMd
from agentcli.paths import claude_home, user_home
from agentcli.settings.git import git_root, main_checkout
from agentcli.settings.merged import Settings

PACKAGES = frozenset({"node_modules", "site-packages", "dist-packages", ".git"})
"""Directories of other people's code: what is in them is data, whatever its name."""
SOURCES = ("user", "project", "local")
_MANAGED = {
    "darwin": "/Library/Application Support/ClaudeCode/CLAUDE.md",
    "win32": "C:\\Program Files\\ClaudeCode\\CLAUDE.md",
}


def managed_path(platform: str = sys.platform) -> Path:
    """Where the organisation's file lies on this system."""
    return Path(_MANAGED.get(platform, "/etc/claude-code/CLAUDE.md"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """``start`` is the real path of the session's directory, ``root`` that of its work tree (or ``start``), ``main``
    the checkout that a linked work tree belongs to (else ``root``)."""

    start: Path
    root: Path
    main: Path
    user: Path | None
    """``~/.claude``."""
    user_home: Path | None = None
    extra: tuple[Path, ...] = ()
    """Added directories whose files count."""
    managed: Path
    managed_text: str = ""
    """The managed setting ``claudeMd``."""
    sources: frozenset[str] = frozenset(SOURCES)
    agents_md: AgentsMd = "fallback"
    excludes: tuple[str, ...] = ()
    enabled: bool = True
    """Off: of the instruction files only the organisation's are read."""

    def tree_of(self, directory: Path) -> Path:
        """What files of that directory may load without asking: the work tree; above it, their own directory."""
        return self.root if directory.is_relative_to(self.root) else directory

    def chain(self) -> list[Path]:
        """The directories from the file system's root down to the start."""
        return [*reversed(self.start.parents), self.start]

    def of_main_checkout(self, directory: Path) -> bool:
        """Whether the directory belongs to the main checkout around a nested work tree, which has its own copy."""
        return (
            self.main != self.root
            and self.root.is_relative_to(self.main)
            and directory.is_relative_to(self.main)
            and not directory.is_relative_to(self.root)
        )

    def of_package(self, directory: Path) -> bool:
        """Whether the directory lies in an installed package."""
        top = next((r for r in (self.root, *self.extra) if directory.is_relative_to(r)), directory)
        return not PACKAGES.isdisjoint(directory.relative_to(top).parts)

    def below(self, path: Path) -> list[Path]:
        """The directories whose files load when ``path`` is touched, parents first: those between the start (or, in
        another branch of the work tree, the last directory above the start) and the file."""
        chain = set(self.chain())
        top = next((r for r in (self.root, *self.extra) if path.is_relative_to(r)), None)
        if top is None:
            return []
        return [d for d in reversed(path.parents) if d.is_relative_to(top) and d not in chain and d not in self.extra]


def read_places(
    start: Path,
    settings: Settings,
    env: Mapping[str, str],
    *,
    add_dirs: Iterable[Path] = (),
    sources: Iterable[str] = SOURCES,
    managed: Path | None = None,
) -> Places:
    """``sources`` are those of ``--setting-sources``; ``managed`` takes the place of the system's file."""
    real = start.resolve()
    root = git_root(real) or real
    claude, home = claude_home(env), user_home(env)
    wanted = settings.get("agentsMd")
    excludes = settings.get("claudeMdExcludes", [])
    extra = [d.resolve() for d in add_dirs] if truthy("CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD", env) else []
    return Places(
        start=real,
        root=root,
        main=main_checkout(root),
        user=claude.resolve() if claude else None,
        user_home=home.resolve() if home else None,
        extra=tuple(dict.fromkeys(extra)),
        managed=managed or managed_path(),
        managed_text=_managed_text(settings),
        sources=frozenset(sources),
        agents_md=wanted if wanted in ("always", "never") else "fallback",
        excludes=tuple(e for e in excludes if isinstance(e, str)) if isinstance(excludes, list) else (),
        enabled=not truthy("CLAUDE_CODE_DISABLE_CLAUDE_MDS", env),
    )


def _managed_text(settings: Settings) -> str:
    for layer in settings.layers:
        if layer.source.scope == "managed" and isinstance(text := layer.data.get("claudeMd"), str):
            return text
    return ""


@dataclass(frozen=True, slots=True)
class Excludes:
    """``claudeMdExcludes``: globs against absolute paths, ``~/`` being the home."""

    matches: tuple[tuple[str, Match], ...]
    problems: tuple[str, ...] = ()

    @classmethod
    def of(cls, places: Places) -> Excludes:
        matches, problems = [], []
        for pattern in places.excludes:
            text = f"{pattern}**" if pattern.endswith("/") else pattern
            if text.startswith("~/") and places.user_home is not None:
                text = f"{places.user_home.as_posix()}/{text[2:]}"
            try:
                matches.append((pattern, compile_glob(text)))
            except ValueError as error:
                problems.append(f"claudeMdExcludes: {error}")
        return cls(tuple(matches), tuple(problems))

    def pattern_for(self, *paths: Path) -> str | None:
        """The first pattern that matches one of the paths (as found, real)."""
        names = [p.as_posix() for p in paths]
        return next((pattern for pattern, match in self.matches if any(map(match, names))), None)
