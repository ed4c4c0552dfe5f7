"""What a project's memory files may load from outside the project: decided once per file by the user, and kept.

Instructions of a project that is not trusted are still read: they are text for the model, not code.  What they may not
do is to bring other files of this machine into the conversation.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentcli.errors import SetupError
from agentcli.files import open_private_append, write_private
from agentcli.paths import private_directory

FILE = "memory-imports.json"


@dataclass(slots=True)
class Approvals:
    """The decisions of one project.  ``project`` is the real path of its (main) checkout; a moved project is another
    one.  ``home`` is ``None`` where nothing can be stored: decisions hold for this session then.

    What is approved is a real path, never a name: a link that is bent elsewhere is asked about again.  A directory
    stands for everything in it.
    """

    home: Path | None
    project: Path
    allowed: set[Path] = field(default_factory=set)
    refused: set[Path] = field(default_factory=set)

    @classmethod
    def load(cls, home: Path | None, project: Path) -> Approvals:
        """A file that can't be read approves nothing."""
        approvals = cls(home, project)
        entry = _read(home / FILE).get(str(project)) if home is not None else None
        if isinstance(entry, dict):
            approvals.allowed = _paths(entry.get("allowed"))
            approvals.refused = _paths(entry.get("refused"))
        return approvals

    def decided(self, target: Path) -> bool | None:
        """Whether the real path may be loaded; ``None`` while nobody has said."""
        chain = (target, *target.parents)
        if any(p in self.refused for p in chain):
            return False
        return True if any(p in self.allowed for p in chain) else None

    def decide(self, targets: Sequence[Path], *, allow: bool) -> None:
        """Takes the decision over and stores it.  ``SetupError`` if it can't be stored; it holds for this session."""
        (self.allowed if allow else self.refused).update(targets)
        (self.refused if allow else self.allowed).difference_update(targets)
        if self.home is None:
            return
        try:
            self._store(targets, allow=allow)
        except OSError as error:
            raise SetupError(f"{self.home / FILE}: can't be written ({error.strerror})") from error

    def _store(self, targets: Sequence[Path], *, allow: bool) -> None:
        """Joins the decision with what other processes have stored meanwhile."""
        assert self.home is not None
        private_directory(self.home)
        path = self.home / FILE
        with _locked(self.home / f"{FILE}.lock"):
            try:
                projects = _parse(path.read_bytes())
            except FileNotFoundError:
                projects = {}
            except (ValueError, TypeError):
                path.replace(path.with_suffix(".json.broken"))
                projects = {}
            now = Approvals(None, self.project)
            entry = projects.get(str(self.project))
            if isinstance(entry, dict):
                now.allowed, now.refused = _paths(entry.get("allowed")), _paths(entry.get("refused"))
            now.decide(targets, allow=allow)
            projects[str(self.project)] = {
                "allowed": sorted(map(str, now.allowed)),
                "refused": sorted(map(str, now.refused)),
            }
            write_private(path, json.dumps(projects, indent=2, sort_keys=True).encode() + b"\n")


def _read(path: Path) -> dict[str, Any]:
    try:
        return _parse(path.read_bytes())
    except (OSError, ValueError, TypeError):
        return {}


def _parse(data: bytes) -> dict[str, Any]:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise TypeError("not an object")
    return value


def _paths(value: object) -> set[Path]:
    return {Path(v) for v in value if isinstance(v, str)} if isinstance(value, list) else set()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One writer at a time, where the system has file locks."""
    descriptor = open_private_append(path)
    try:
        try:
            import fcntl
        except ImportError:
            pass
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
