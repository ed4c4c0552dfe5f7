"""The shadow repository on disk: what git needs to take a directory for one, and what it must not do there."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from agentcli.files import write_private
from agentcli.paths import private_directory

_CONFIG = """[core]
\trepositoryformatversion = 0
\tbare = false
\tfilemode = true
\tsymlinks = true
\tautocrlf = false
\tsafecrlf = false
\tlooseCompression = 1
\tsharedRepository = 0600
\tlogAllRefUpdates = false
"""
_MAC = "\tignorecase = true\n\tprecomposeunicode = true\n"
_ATTRIBUTES = b"* -text -filter -ident !eol !working-tree-encoding\n"
"""Every file as it is: no filter of the project runs, no line ending changes (gitattributes: this file wins)."""
_LONGEST = 1024 * 1024


def prepare(folder: Path, root: Path, hidden: Iterable[Path], ignored: str) -> None:
    """Makes the repository, or makes one usable whose process was killed.  ``ignored`` is the user's own list of
    ignored files.  ``OSError`` if it can't be."""
    for name in ("", "objects", "refs", "info"):
        private_directory(folder / name)
    for lock in folder.glob("*.lock"):
        lock.unlink(missing_ok=True)
    lists = [git_directory(root) / "info" / "exclude"]
    lists += [Path(ignored).expanduser()] if ignored else []
    parts = [*(_pattern(d, root) for d in hidden), *(_text(path) for path in lists)]
    _write(folder / "info" / "exclude", b"\n".join(p for p in parts if p) + b"\n")
    secure(folder)


def secure(folder: Path) -> None:
    """Before every use: whatever a command may have written there, nothing in it makes git run something."""
    _write(folder / "HEAD", b"ref: refs/heads/none\n")
    _write(folder / "config", (_CONFIG + (_MAC if sys.platform == "darwin" else "")).encode())
    _write(folder / "info" / "attributes", _ATTRIBUTES)
    for name in ("commondir", "config.worktree", "objects/info/alternates"):
        (folder / name).unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    if os.path.islink(path) or not os.path.isfile(path) or path.read_bytes() != data:
        write_private(path, data)


def _pattern(directory: Path, root: Path) -> bytes:
    """The directory as a pattern, if it lies inside the project."""
    real = directory.resolve()
    if real == root or not real.is_relative_to(root):
        return b""
    text = str(real.relative_to(root))
    for special in "\\*?[":
        text = text.replace(special, "\\" + special)
    return f"/{text}/".encode(errors="surrogateescape")


def _text(path: Path) -> bytes:
    with contextlib.suppress(OSError):
        if os.path.isfile(path):
            with path.open("rb") as file:
                return file.read(_LONGEST)
    return b""


def git_directory(root: Path) -> Path:
    """Where the project's own repository keeps what all its work trees share."""
    marker = root / ".git"
    with contextlib.suppress(OSError, ValueError):
        if os.path.isfile(marker):
            private = root / marker.read_text(encoding="utf-8").strip().removeprefix("gitdir:").strip()
            common = private / "commondir"
            return private / common.read_text(encoding="utf-8").strip() if os.path.isfile(common) else private
    return marker
