"""What was typed before, per project, across sessions.

One JSON line per entry: ``{"text": …, "pasted": [[start, end], …]}``.  Appended with one write each, so that two
sessions do not destroy each other's lines; a line that can't be read is passed over.  Not stored on disk: lines that
look like a secret, and entries over a megabyte (both can be recalled until the session ends).  A file that can't be
written costs one warning and nothing else.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from prompt_toolkit.history import History

from agentcli.files import open_private_append
from agentcli.paths import private_directory
from agentcli.text import clean
from agentcli.ui.terminal.input.chips import Chips, Span

MAX_ENTRIES = 1_000
READ_BYTES = 4 << 20
"""Only this much of the file's end is read, however large it is."""
MAX_ENTRY = 1 << 20
_SECRET = re.compile(
    r"sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|\bAKIA[0-9A-Z]{16}\b"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----|(?i:password|passwd|secret|api[_-]?key|token)\s*[=:]\s*\S{6,}"
)


class PromptHistory(History):
    """Entries are handed to the buffer with their pastes as chips.  ``path`` ``None``: this session only."""

    def __init__(self, path: Path | None, chips: Chips, warn: Callable[[str], None]) -> None:
        super().__init__()
        self._path = path
        self._chips = chips
        self._warn = warn
        self._warned = False

    def load_history_strings(self) -> Iterable[str]:
        """Newest first."""
        last = None
        for text, spans in reversed(self._read()):
            if text != last:
                yield self._chips.restore(text, spans)
            last = text

    def _read(self) -> list[tuple[str, tuple[Span, ...]]]:
        if self._path is None:
            return []
        try:
            with open(self._path, "rb", opener=_ordinary) as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - READ_BYTES))
                lines = file.read(READ_BYTES).split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            self._trouble(error)
            return []
        return [entry for line in lines[-MAX_ENTRIES - 1 :] if (entry := _parse(line))]

    def store_string(self, string: str) -> None:
        expanded = self._chips.expand(string)
        if self._path is None or len(expanded.text) > MAX_ENTRY or _SECRET.search(expanded.text):
            return
        record = {"text": clean(expanded.text), "pasted": [list(span) for span in expanded.spans]}
        line = json.dumps(record).encode() + b"\n"
        try:
            private_directory(self._path.parent)
            descriptor = open_private_append(self._path)
            try:
                os.write(descriptor, b"\n" + line if self._torn() else line)
            finally:
                os.close(descriptor)
        except OSError as error:
            self._trouble(error)

    def _torn(self) -> bool:
        """Whether the last line has no end, as a full disk leaves it: the next one must not be joined to it."""
        assert self._path is not None
        with open(self._path, "rb", opener=_ordinary) as file:
            if not file.seek(0, os.SEEK_END):
                return False
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"

    def _trouble(self, error: OSError) -> None:
        if not self._warned:
            self._warned = True
            self._warn(f"{self._path}: {error.strerror or error}")


def _ordinary(path: str, flags: int) -> int:
    """Opens a file without waiting for anybody.  ``OSError`` where a pipe or a device stands in its place."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is not a regular file")
    return descriptor


def _parse(line: bytes) -> tuple[str, tuple[Span, ...]] | None:
    try:
        record: Any = json.loads(line)
        text = record["text"]
        spans = tuple((int(a), int(b)) for a, b in record.get("pasted", ()))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return (clean(text), spans) if isinstance(text, str) and text else None
