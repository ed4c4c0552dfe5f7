"""A small JSON file of ours that several processes change: read, change and replace under a lock, mode 0600."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from agentcli.files import write_private
from agentcli.paths import private_directory
from agentcli.settings.edit import backup_of
from agentcli.settings.jsonfile import BrokenFile, JsonObject, read_document
from agentcli.settings.locks import locked


class StateFile:
    """``path`` may be missing.  A file that can't be read counts as empty; before it is written anew its content is
    moved aside (``x.json.broken``)."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> JsonObject:
        try:
            document = read_document(self.path)
        except BrokenFile:
            return {}
        return document.data if document else {}

    def change(self, change: Callable[[JsonObject], None]) -> None:
        """``OSError`` if it can't be written."""
        private_directory(self.path.parent)
        with locked(self.path.parent):
            data = self._readable()
            change(data)
            text = json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
            write_private(self.path, text.encode("utf-8", "surrogateescape"))

    def _readable(self) -> JsonObject:
        try:
            document = read_document(self.path)
        except BrokenFile:
            self.path.replace(next(p for p in backup_of(self.path) if not p.exists()))
            return {}
        return document.data if document else {}
