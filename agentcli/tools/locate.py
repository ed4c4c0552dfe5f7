"""From the name that the model gives to the file, and from the file to a name that the model can give back.

The exact name always wins; nothing is trimmed or normalised before it was tried.
"""

from __future__ import annotations

import difflib
import os
import stat
from pathlib import Path

from agentcli.errors import ToolError
from agentcli.files import target_of
from agentcli.paths import quoted
from agentcli.ports.tools import Workspace
from agentcli.text import clean
from agentcli.tools.differences import fold, unusual

_KERNEL = ("/proc", "/sys", "/dev")
_SHOWN_ENTRIES = 20


def locate(name: str, workspace: Workspace) -> Path:
    """The path that an argument names; it need not exist.  ``ToolError`` if it can't be a path."""
    if not name:
        raise ToolError("The path is empty. Give the path of a file.")
    if "\0" in name:
        raise ToolError("The path holds a NUL character. Give the path without it.")
    return workspace.resolve(name)


def spell(path: Path, workspace: Workspace) -> str:
    """How tools name a path: relative to the working directory where it lies inside, else absolute.

    Given back to a tool unchanged it names the same file, as long as the working directory stays.
    """
    try:
        text = str(path.relative_to(workspace.cwd))
    except ValueError:
        text = str(path)
    if text.startswith("~"):
        text = f"./{text}"
    return quoted(text)


def regular_file(path: Path, name: str, workspace: Workspace) -> Path:
    """The real path of an existing regular file.  ``ToolError`` says what is there instead, and what to do."""
    try:
        real = target_of(path)
        found = real.stat()
    except FileNotFoundError:
        raise ToolError(_missing(path, name, workspace)) from None
    except OSError as error:
        raise ToolError(f"{name} can't be read: {error.strerror}.") from error
    mode = found.st_mode
    if stat.S_ISDIR(mode):
        raise ToolError(f"{name} is a directory. List it with Glob, or name a file in it.{_listing(real)}")
    if str(real).startswith(tuple(f"{k}/" for k in _KERNEL)) or not stat.S_ISREG(mode):
        raise ToolError(f"{name} is {_kind(mode)}, not a file on disk. If you need its content, use Bash.")
    return real


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe (FIFO)"
    if stat.S_ISSOCK(mode):
        return "a socket"
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        return "a device"
    return "a file of the kernel"


def _listing(directory: Path) -> str:
    names = sorted(_entries(directory))
    if not names:
        return " It is empty."
    shown = ", ".join(quoted(n) for n in names[:_SHOWN_ENTRIES])
    more = len(names) - _SHOWN_ENTRIES
    return f" It holds: {shown}" + (f" and {more} more." if more > 0 else ".")


def _missing(path: Path, name: str, workspace: Workspace) -> str:
    text = f"{name} does not exist."
    if os.path.islink(path):
        return f"{name} is a link to {clean(os.readlink(path))}, which does not exist."
    parent = path.parent
    if not os.path.isdir(parent):
        while not os.path.isdir(parent):
            parent = parent.parent
        text += f" Its directory does not exist either; the nearest one is {quoted(str(parent))}."
        below = workspace.cwd / str(path).lstrip("/")
        near = [below] if os.path.exists(below) else []
    else:
        near = [parent / n for n in _similar(path.name, _entries(parent))]
    if near:
        text += " Did you mean " + " or ".join(_hint(p, path.name, workspace) for p in near) + "?"
    elif not Path(name).is_absolute():
        text += f" The working directory is {quoted(str(workspace.cwd))}."
    return text


def _similar(name: str, entries: list[str]) -> list[str]:
    """Names that only look the same first, then those with few other letters."""
    alike = sorted(e for e in entries if fold(e).casefold() == fold(name).casefold())
    return alike[:3] or difflib.get_close_matches(name, entries, n=3)


def _hint(path: Path, wanted: str, workspace: Workspace) -> str:
    odd = unusual(path.name) or (unusual(wanted) and "plain characters")
    return f"{spell(path, workspace)!r}" + (f" (with {odd})" if odd else "")


def _entries(directory: Path) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []
