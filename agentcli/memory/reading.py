"""Reading a memory file: its text, or why it can't be had."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from agentcli.files import Stamp, decode, looks_binary, read_stamped
from agentcli.text import plain

LARGE = 40_000
"""Characters from which a file is loaded with a warning."""
LIMIT = 4 * 1024 * 1024
"""Bytes above which a file is not loaded (the field's documented limit)."""


class Unusable(Exception):
    """Why a file can't be used, in words that follow its name."""


@dataclass(frozen=True, slots=True)
class Content:
    text: str
    """Line ends are ``\\n``."""
    size: int
    """Characters."""
    stamp: Stamp
    """The state of the file that was read."""


def real_path(path: Path) -> Path:
    """The file behind all links.  ``Unusable`` for links in circles and names that no file can have."""
    try:
        return Path(os.path.realpath(path, strict=True))
    except ValueError as error:
        raise Unusable("is no possible file name") from error
    except OSError as error:
        raise Unusable(_words(error, path)) from error


def read_content(path: Path) -> Content:
    """The text of a file.  ``Unusable`` says why there is none."""
    try:
        found = path.stat()
        if found.st_size > LIMIT:
            raise Unusable(f"is larger than {LIMIT // 1024 // 1024} MB ({found.st_size:,} bytes); not loaded")
        data, stamp = read_stamped(path)
    except ValueError as error:
        raise Unusable("is no possible file name") from error
    except OSError as error:
        raise Unusable(_words(error, path)) from error
    if looks_binary(data):
        raise Unusable("is not a text file (it holds NUL bytes)")
    decoded = decode(data)
    if decoded is None or decoded.format.broken:
        raise Unusable(f"is not UTF-8 (line {_bad_line(data)}); save it as UTF-8")
    text = decoded.text.replace("\r\n", "\n")
    if decoded.format.newline == "\r":
        text = text.replace("\r", "\n")
    text = plain(text)
    return Content(text, len(text), stamp)


def _bad_line(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    return 1


def _words(error: OSError, path: Path) -> str:
    if os.path.isdir(path):
        return "is a directory, not a file"
    match error.errno:
        case errno.ENOENT:
            return "is a link to nothing" if os.path.islink(path) else "does not exist"
        case errno.ELOOP:
            return "is a link that goes in circles"
        case errno.EINVAL:
            return "is not a regular file"
        case _:
            return f"can't be read ({error.strerror or error})"
