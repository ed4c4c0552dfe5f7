"""Private state of ours: mode 0600, replaced atomically."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path


def write_private(path: Path, data: bytes) -> None:
    """Replaces a file of ours atomically, mode 0600.  The old content is whole if this fails (``OSError``)."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def open_private_append(path: Path) -> int:
    """A file descriptor for appending to a file of ours, created with mode 0600 whatever the umask.

    A symlink in its place is refused (``OSError``), a pipe or a device too: nobody is waited for.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is not a regular file")
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, 0o600)
    return descriptor
