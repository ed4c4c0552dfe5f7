"""Replacing a file's content so that nothing else about it changes, and nothing is lost if it fails half-way."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class FileChanged(OSError):
    """Somebody else wrote the file between our reading and our writing."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells one state of a file from another without reading it."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> Stamp:
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def read_stamped(path: Path) -> tuple[bytes, Stamp]:
    """The content and the state it belongs to.  Never blocks: what is no regular file is an ``OSError``."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
        return file.read(), Stamp.of(found)


def target_of(path: Path) -> Path:
    """The real file behind a name: every link followed; of a dangling link, the file that would be created.

    ``OSError`` (ELOOP) for links that go in circles.
    """
    try:
        return path.resolve()
    except RuntimeError as error:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error


def replace_file(path: Path, data: bytes, *, expect: Stamp | None = None) -> Path:
    """Gives an existing file new content; returns its real path.  Links to it stay links.

    Mode bits, owner, group, extended attributes and hard links stay.  The file is replaced atomically by a temporary
    one beside it; only where that would lose something (several hard links, a foreign owner, a directory that can't be
    written) it is written in place, with the old content put back if that fails.  ``FileChanged`` if its state is not
    ``expect``; any other ``OSError`` leaves the old content whole.
    """
    real = target_of(path)
    found = real.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "Not a regular file", str(real))
    if not os.access(real, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        # Its mode says that nobody should write it; a rename beside it would go round that.
        raise PermissionError(errno.EACCES, "The file is read-only", str(real))
    _check(real, expect)
    if found.st_nlink > 1 or not _replace_beside(real, data, found, expect):
        _write_in_place(real, data)
    return real


def create_file(path: Path, data: bytes) -> Path:
    """Makes a new file and the directories above it, modes as the umask has it; returns its real path.

    A dangling link is followed.  ``FileExistsError`` if somebody made the file meanwhile.
    """
    real = target_of(path)
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(real.parent)) from error
    with _temporary(real, data, 0o666) as temporary:
        try:
            os.link(temporary, real)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            if os.path.exists(real):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(real)) from None
            temporary.replace(real)
    _sync_directory(real.parent)
    return real


def _check(real: Path, expect: Stamp | None) -> None:
    if expect is not None and Stamp.of(real.stat()) != expect:
        raise FileChanged(errno.EBUSY, "The file was changed by somebody else meanwhile", str(real))


def _replace_beside(real: Path, data: bytes, found: os.stat_result, expect: Stamp | None) -> bool:
    """``False`` where the directory or the owner does not allow it; nothing has happened then."""
    try:
        with _temporary(real, data, 0o600) as temporary:
            _copy_metadata(real, temporary, found)
            _check(real, expect)
            temporary.replace(real)
    except PermissionError:
        return False
    _sync_directory(real.parent)
    return True


@contextlib.contextmanager
def _temporary(real: Path, data: bytes, mode: int) -> Iterator[Path]:
    """A file beside the real one with the data safely on disk; gone at the end if it was not renamed."""
    temporary = real.parent / f".agentcli-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temporary, _NEW, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _copy_metadata(real: Path, temporary: Path, found: os.stat_result) -> None:
    """Owner first (changing it clears setuid bits), then attributes, then mode.  ``PermissionError`` if not allowed."""
    if hasattr(os, "chown"):
        made = temporary.stat()
        if (made.st_uid, made.st_gid) != (found.st_uid, found.st_gid):
            os.chown(temporary, found.st_uid, found.st_gid)
    if hasattr(os, "listxattr"):
        for name in _attributes(real):
            with contextlib.suppress(OSError):  # kept where the file system lets us
                os.setxattr(temporary, name, os.getxattr(real, name))
    temporary.chmod(stat.S_IMODE(found.st_mode))


def _attributes(real: Path) -> list[str]:
    try:
        return os.listxattr(real)
    except OSError:  # a file system without extended attributes
        return []


def _write_in_place(real: Path, data: bytes) -> None:
    """Room is reserved before the first old byte is touched; whatever fails after that, the old content is put back.

    While the bytes are being written a copy of the old content stands beside the file, for the case of a crash.
    """
    old = real.read_bytes()
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(PermissionError):  # no copy where the directory can't be written
            stack.enter_context(_temporary(real, old, 0o600))
        with real.open("r+b", buffering=0) as file:
            try:
                _reserve(file.fileno(), len(data))
                _write_all(file.fileno(), data)
            except BaseException:
                _write_all(file.fileno(), old)
                raise


def _reserve(descriptor: int, size: int) -> None:
    if size and hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(descriptor, 0, size)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
                raise


def _write_all(descriptor: int, data: bytes) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)


def _sync_directory(directory: Path) -> None:
    with contextlib.suppress(OSError):  # not every system lets a directory be opened
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
