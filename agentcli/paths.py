"""Where agentcli keeps its own things.  Never ``~/.claude``: that belongs to the user and to other tools."""

from __future__ import annotations

import json
import os
import re
import stat
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from agentcli.text import clean


def user_home(env: Mapping[str, str] | None = None) -> Path | None:
    """The home directory, or ``None`` where there is none (no ``HOME``, no account entry).

    A ``HOME`` that is not absolute (``~`` in a badly quoted unit file) is none: what is private would land in whatever
    directory we are started in.
    """
    values = os.environ if env is None else env
    home = values.get("HOME") or values.get("USERPROFILE")
    if home and os.path.isabs(home):
        return Path(home)
    return _account_home()


def _account_home() -> Path | None:
    try:
        home = Path.home()
        if not home.is_absolute():
            import pwd

            home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    except (RuntimeError, ImportError, KeyError):
        return None
    return home if home.is_absolute() else None


def agentcli_home(env: Mapping[str, str] | None = None) -> Path | None:
    """``AGENTCLI_HOME``, by default ``~/.agentcli``: sessions, history, auto memory, logs, approvals.

    ``None`` where neither is set: nothing is stored then, and the caller says so.
    """
    values = os.environ if env is None else env
    given = values.get("AGENTCLI_HOME")
    if given:
        return Path(given).expanduser()
    home = user_home(env)
    return home / ".agentcli" if home else None


def claude_home(env: Mapping[str, str] | None = None) -> Path | None:
    """``CLAUDE_CONFIG_DIR``, by default ``~/.claude``: the user's settings, agents, skills, commands.  Read only."""
    values = os.environ if env is None else env
    given = values.get("CLAUDE_CONFIG_DIR")
    if given:
        return Path(given).expanduser()
    home = user_home(env)
    return home / ".claude" if home else None


def others_home(home: Path | None) -> str:
    """A warning before ``home`` (``agentcli_home``) is made in somebody else's directory, as under ``sudo``: they could
    not write there afterwards.  Empty where all is well, or nothing would be made."""
    if home is None or os.path.exists(home) or not hasattr(os, "geteuid"):
        return ""
    place = next((p for p in home.parents if os.path.exists(p)), None)
    if place is None or place.stat().st_uid == os.geteuid() or not os.access(place, os.W_OK):
        return ""
    if place.stat().st_mode & stat.S_ISVTX:
        return ""  # a directory for everybody, such as /tmp
    return (
        f"{place} belongs to another user, and {home} will belong to you: they can't use it then. Set HOME or "
        "AGENTCLI_HOME to a place of your own."
    )


def project_slug(directory: Path) -> str:
    """The directory as one file name: every character that is not a letter or digit becomes ``-``."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(directory))


def private_directory(path: Path) -> Path:
    """Makes the directory (and its parents) with mode 0700 whatever the umask.  ``OSError`` if it can't be.

    A symlink in its place that somebody else owns is refused: fixed names are not followed through planted links.
    """
    missing = [p for p in (path, *path.parents) if not os.path.exists(p)]
    for directory in reversed(missing):
        directory.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid"):
        found = path.stat()
        if found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) & 0o077:
            path.chmod(0o700)
    return path


def quoted(text: str) -> str:
    """A name on one line: with control characters in it, as a JSON string."""
    shown = clean(text)
    return shown if shown.isprintable() or not _has_control(shown) else json.dumps(shown, ensure_ascii=False)


def unquoted(name: str) -> str:
    """The name that ``quoted`` shows as a JSON string; the text itself where it is no such form."""
    try:
        found = json.loads(name) if name.startswith('"') else ""
    except ValueError:
        return name
    return found if isinstance(found, str) and _has_control(found) and "\0" not in found else name


def _has_control(text: str) -> bool:
    return any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in text)


def as_listed(path: Path) -> Path:
    """The entry that a path with U+FFFD means: a name that is not valid Unicode stands like this in listings and has no
    other spelling.  The path itself where no entry, or more than one, looks like it."""
    if "\ufffd" not in str(path) or os.path.lexists(path):
        return path
    found = Path(path.anchor)
    for part in path.parts[1:]:
        exact = found / part
        if "\ufffd" in part and not os.path.lexists(exact):
            same = [e for e in _entries(found) if clean(e) == part]
            exact = found / same[0] if len(same) == 1 else exact
        found = exact
    return found


def _entries(directory: Path) -> list[str]:
    try:
        return os.listdir(directory)
    except (OSError, ValueError):
        return []
