"""What a confined command may do, as plain data; the two mechanisms turn it into their own language."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentcli.ports.tools import Workspace
from agentcli.settings.git import main_checkout

Access = Literal["write", "read", "none", "absent"]
"""What is allowed below a path.  ``absent``: nothing is there, and nothing may come there."""

CREDENTIALS = (
    ".ssh",
    ".aws",
    ".gnupg",
    ".azure",
    ".kube",
    ".config/gcloud",
    ".config/gh",
    ".docker/config.json",
    ".git-credentials",
    ".netrc",
    ".pypirc",
)
"""Below the home directory: keys and tokens that no command of the agent's needs to see."""
SOCKETS = ("/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock")
"""Whoever can talk to these is root outside of the sandbox."""
_WORKED_IN = ("worktrees", "agent-memory", "agent-memory-local")
"""Below ``.claude``: what a command may change all the same."""
_TOP_FILES = (".mcp.json", ".gitmodules", ".envrc", ".bashrc", ".zshrc", ".profile", ".bash_profile", ".gitconfig")
_EDITORS = (".vscode", ".idea", ".husky", ".devcontainer")


@dataclass(frozen=True, slots=True)
class Confines:
    """``paths``: real paths with what is allowed there and below; the longest path decides.  Everything else may be
    read.  ``network``: whether there is one."""

    paths: tuple[tuple[Path, Access], ...]
    network: bool = False

    def in_order(self) -> tuple[tuple[Path, Access], ...]:
        """Outer paths first, so that what comes later lies inside of what came before."""
        return tuple(sorted(self.paths, key=lambda entry: (len(entry[0].parts), str(entry[0]))))


@dataclass(frozen=True, slots=True)
class Wishes:
    """``sandbox.filesystem`` and ``sandbox.network`` of the settings, as real paths."""

    write: tuple[Path, ...] = ()
    no_write: tuple[Path, ...] = ()
    no_read: tuple[Path, ...] = ()
    read: tuple[Path, ...] = ()
    network: bool = False


@dataclass(frozen=True, slots=True)
class Guarded:
    """Files that deny rules of the permissions mean: ``unreadable`` (Read), ``unwritable`` (Edit)."""

    unreadable: tuple[Path, ...] = ()
    unwritable: tuple[Path, ...] = ()


def confines(
    workspace: Workspace,
    wishes: Wishes,
    guarded: Guarded,
    *,
    home: Path | None,
    own: Iterable[Path] = (),
    env: Mapping[str, str] | None = None,
) -> Confines:
    """What holds for a command in this workspace.  ``own`` are directories of the session that may be written."""
    roots = [root.resolve() for root in workspace.roots if os.path.isdir(root)]
    found: dict[Path, Access] = {}
    _set(found, "write", (*roots, *(_git_home(root) for root in roots), *wishes.write, *own))
    for root in roots:
        _settle(found, root)
    _set(found, "read", (*_homes_own(home), *wishes.no_write, *guarded.unwritable))
    _set(found, "none", (*_secrets(home), *_sockets(env or os.environ), *wishes.no_read))
    _set(found, "read", wishes.read)
    # Last: a narrower allowRead opens a region again, but never a file that a deny rule names.
    _set(found, "none", guarded.unreadable)
    return Confines(tuple(found.items()), wishes.network)


def _set(found: dict[Path, Access], access: Access, paths: Iterable[Path]) -> None:
    for path in paths:
        try:
            real = path.resolve()
            if os.path.exists(real) and real != Path("/"):
                found[real] = access
        except (OSError, RuntimeError):
            continue


def _git_home(root: Path) -> Path:
    """Of a linked work tree, the repository that its commits go to, if that knows the work tree."""
    main = main_checkout(root)
    return main / ".git" if main != root else root


def _settle(found: dict[Path, Access], root: Path) -> None:
    """What decides about later, unconfined steps is read-only: settings, hooks, git's own configuration.

    ``.git`` and ``.claude`` are entries of their own, so that neither can be moved away to put another in its place;
    what is not there yet must not come.
    """
    claude = root / ".claude"
    _set(found, "read", (claude, *(root / name for name in (*_TOP_FILES, *_EDITORS))))
    _set(found, "write", (claude / name for name in _WORKED_IN))
    git = root / ".git"
    repository = git if os.path.isdir(git) else _git_home(root)
    if repository != root:
        _set(found, "write", (repository,))
        _set(found, "read", (repository / "hooks", repository / "config", repository / "info" / "attributes"))
    if os.path.isfile(git):
        _set(found, "read", (git,))
    missing = (claude, *((repository / "hooks",) if repository != root else ()))
    found.update({path: "absent" for path in missing if not os.path.islink(path) and not os.path.exists(path)})


def _homes_own(home: Path | None) -> list[Path]:
    """Where a working directory holds the home directory: what the user's shell and tools start from."""
    if home is None:
        return []
    names = (".claude", ".agentcli", ".config", ".local/bin", "bin", ".bashrc", ".zshrc", ".profile", ".bash_profile")
    return [home / name for name in (*names, ".gitconfig", ".zshenv", ".bash_login")]


def _secrets(home: Path | None) -> list[Path]:
    return [] if home is None else [home / name for name in CREDENTIALS]


def _sockets(env: Mapping[str, str]) -> list[Path]:
    named = (env.get("SSH_AUTH_SOCK"), env.get("XDG_RUNTIME_DIR"))
    return [Path(p) for p in (*SOCKETS, *named) if p]
