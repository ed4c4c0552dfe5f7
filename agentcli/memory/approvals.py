"""What a project's memory files may load from outside the project: decided once per file by the user, and kept.

Instructions of a project that is not trusted are still read: they are text for the model, not code.  What they may not
do is to bring other files of this machine into the conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentcli.errors import SetupError
from agentcli.settings.jsonfile import JsonObject
from agentcli.settings.statefile import StateFile

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
        if home is not None:
            approvals._take(StateFile(home / FILE).read())
        return approvals

    def decided(self, target: Path) -> bool | None:
        """Whether the real path may be loaded; ``None`` while nobody has said."""
        chain = (target, *target.parents)
        if any(p in self.refused for p in chain):
            return False
        return True if any(p in self.allowed for p in chain) else None

    def decide(self, targets: Sequence[Path], *, allow: bool) -> None:
        """Takes the decision over and stores it.  ``SetupError`` if it can't be stored; it holds for this session."""
        self._put(targets, allow=allow)
        if self.home is None:
            return

        def change(data: JsonObject) -> None:
            """Joins the decision with what other processes have stored meanwhile."""
            stored = Approvals(None, self.project)
            stored._take(data)
            stored._put(targets, allow=allow)
            data[str(self.project)] = {
                "allowed": sorted(map(str, stored.allowed)),
                "refused": sorted(map(str, stored.refused)),
            }

        path = self.home / FILE
        try:
            StateFile(path).change(change)
        except OSError as error:
            raise SetupError(f"{path}: can't be written ({error.strerror})") from error

    def _put(self, targets: Sequence[Path], *, allow: bool) -> None:
        (self.allowed if allow else self.refused).update(targets)
        (self.refused if allow else self.allowed).difference_update(targets)

    def _take(self, data: JsonObject) -> None:
        entry = data.get(str(self.project))
        if isinstance(entry, dict):
            self.allowed = _paths(entry.get("allowed"))
            self.refused = _paths(entry.get("refused"))


def _paths(value: object) -> set[Path]:
    return {Path(v) for v in value if isinstance(v, str)} if isinstance(value, list) else set()
