"""The session's own private directory: oversized results, the shell's records, the scratch directory."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import mkdtemp

from agentcli.paths import private_directory


class SessionDirectory:
    """Made when it is first asked for: beside the session's file, else (nothing stored, a read-only home) a temporary
    one that goes with the session."""

    def __init__(self, wanted: Path | None) -> None:
        self._wanted = wanted
        self._path: Path | None = None
        self._temporary = False

    def __call__(self) -> Path:
        """The directory, mode 0700.  ``OSError`` if not even a temporary one can be made."""
        if self._path is None:
            self._path = self._beside() or self._make_temporary()
        return self._path

    @property
    def stored(self) -> bool:
        """Whether what is in it stays after the session."""
        self()
        return not self._temporary

    def remove_temporary(self) -> None:
        """At the end of the session.  Safe to call twice."""
        if self._temporary and self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)

    def _beside(self) -> Path | None:
        if self._wanted is None:
            return None
        try:
            return private_directory(self._wanted)
        except OSError:
            return None  # the journal has told it already

    def _make_temporary(self) -> Path:
        self._temporary = True
        return Path(mkdtemp(prefix="agentcli-"))
