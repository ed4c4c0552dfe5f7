"""Contents by their names, as loose objects of a git repository: git reads what we write here, and we what git writes.

(gitformat-loose: a zlib stream of ``blob SIZE NUL content`` in ``objects/ab/cdef…``.)
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import zlib
from pathlib import Path

from agentcli.checkpoints.state import blob_id
from agentcli.paths import private_directory


class Objects:
    """``folder`` is the repository's ``objects`` directory; it is made when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, name: str) -> bool:
        return os.path.exists(self._path(name))

    def write(self, data: bytes) -> str:
        """Keeps the content; returns its name.  ``OSError`` if it can't be kept."""
        name = blob_id(data)
        path = self._path(name)
        if os.path.exists(path):
            return name
        private_directory(path.parent)
        temporary = path.parent / f"tmp_obj_{secrets.token_hex(8)}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(zlib.compress(b"blob %d\0" % len(data) + data, 1))
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        return name

    def read(self, name: str) -> bytes:
        """``OSError`` where it is missing or damaged."""
        path = self._path(name)
        try:
            data = zlib.decompress(path.read_bytes()).partition(b"\0")[2]
        except zlib.error as error:
            raise OSError(errno.EIO, "Damaged", str(path)) from error
        if blob_id(data) != name:
            raise OSError(errno.EIO, "Damaged", str(path))
        return data

    def size(self) -> int:
        """Bytes on disk of all objects."""
        total = 0
        for folder, _, names in os.walk(self._folder):
            for name in names:
                with contextlib.suppress(OSError):
                    total += (Path(folder) / name).stat().st_size
        return total

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name[2:]
