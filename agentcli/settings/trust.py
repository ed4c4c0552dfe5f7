"""Which projects may bring settings that loosen or run something.

Trust is given to a project, not to a path that it was reached by: the key is the real path of the git root, or of the
directory itself where there is none (it then covers what lies below, but no repository of its own in there).  The home
directory, its parents and ``/`` are never trusted as a whole: a yes there lasts for the session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agentcli.paths import agentcli_home, user_home
from agentcli.settings.git import git_root, main_checkout
from agentcli.settings.jsonfile import JsonObject
from agentcli.settings.statefile import StateFile

FILE = "trust.json"


@dataclass(frozen=True, slots=True)
class Project:
    """What trust is about.  ``lasting``: a yes is kept; ``repository``: the key is a git root."""

    key: Path
    repository: bool
    lasting: bool


def project_of(cwd: Path, env: Mapping[str, str] | None = None) -> Project:
    """The project that a session in ``cwd`` works on.  A linked work tree belongs to its main checkout."""
    here = cwd.resolve()
    home = user_home(env)
    wide = {Path("/").resolve()} | ({home.resolve(), *home.resolve().parents} if home else set())
    root = git_root(here)
    if root is not None and root not in wide:
        return Project(main_checkout(root), repository=True, lasting=True)
    return Project(here, repository=False, lasting=here not in wide)


class TrustStore:
    """The record of trusted projects, ``trust.json`` below ``AGENTCLI_HOME``."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        home = agentcli_home(env)
        self._file = StateFile(home / FILE) if home else None
        self._session: set[Path] = set()

    def trusted(self, project: Project) -> bool:
        if project.key in self._session:
            return True
        if self._file is None or not project.lasting:
            return False
        known = self._file.read().get("projects", {})
        if not isinstance(known, dict):
            return False
        if project.repository:
            return _accepted(known, project.key)
        return any(_accepted(known, p, plain=p != project.key) for p in (project.key, *project.key.parents))

    def accept(self, project: Project, *, only_now: bool = False) -> str:
        """Trusts the project; returns why that holds for this session only, empty when it is kept."""
        self._session.add(project.key)
        if only_now:
            return "as asked"
        if not project.lasting:
            return f"{project.key} is never trusted as a whole"
        if self._file is None:
            return "there is no home directory to keep it in"

        def change(data: JsonObject) -> None:
            projects = data["projects"] = data["projects"] if isinstance(data.get("projects"), dict) else {}
            kind = "repository" if project.repository else "directory"
            when = datetime.now(UTC).isoformat(timespec="seconds")
            projects[str(project.key)] = {"accepted": when, "kind": kind}

        try:
            self._file.change(change)
        except OSError as error:
            return f"{self._file.path} can't be written ({error.strerror or error})"
        return ""

    def forget(self, project: Project) -> None:
        """Takes trust back.  ``OSError`` if the record can't be written."""
        self._session.discard(project.key)
        if self._file is not None and project.lasting:
            self._file.change(lambda data: _drop(data, str(project.key)))


def _accepted(known: JsonObject, path: Path, *, plain: bool = False) -> bool:
    """Whether the record holds the path; with ``plain`` only as a directory, which covers what lies below."""
    entry = known.get(str(path))
    if not isinstance(entry, dict) or not entry.get("accepted"):
        return False
    return not plain or entry.get("kind") == "directory"


def _drop(data: JsonObject, key: str) -> None:
    projects = data.get("projects")
    if isinstance(projects, dict):
        projects.pop(key, None)
