"""Changing one setting of a file: other keys and their order stay, nobody's text is lost."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentcli.errors import SettingsError
from agentcli.settings.jsonfile import BrokenFile, JsonObject, read_document
from agentcli.settings.locks import locked
from agentcli.settings.schema import wrong_value

_MISSING = object()


def set_value(path: Path, key: str, value: Any, *, private: bool = True) -> None:
    """Sets a dotted key (``permissions.defaultMode``).  ``SettingsError`` if the value has the wrong type, or the file
    is broken or can't be written."""
    if wrong := wrong_value(key, value):
        raise SettingsError(wrong)

    def change(data: JsonObject) -> None:
        *way, last = key.split(".")
        for name in way:
            inner = data.setdefault(name, {})
            if not isinstance(inner, dict):
                raise SettingsError(f"{path}: {name} is not an object, so {key} can't be set")
            data = inner
        data[last] = value

    edit_file(path, change, private=private)


def unset_value(path: Path, key: str) -> bool:
    """Removes a dotted key; objects that become empty stay.  False when it was not set."""
    found = False

    def change(data: JsonObject) -> None:
        nonlocal found
        *way, last = key.split(".")
        for name in way:
            inner = data.get(name)
            if not isinstance(inner, dict):
                return
            data = inner
        found = data.pop(last, _MISSING) is not _MISSING

    edit_file(path, change)
    return found


def edit_file(path: Path, change: Callable[[JsonObject], None], *, private: bool = True) -> None:
    """Reads, changes and replaces a settings file under a lock.

    A file that is broken is left as it is, with the reason; nothing of it is overwritten.  The new file keeps the old
    one's indentation, mode and byte order mark; a new one is for the user alone unless ``private`` is false.
    A symbolic link stays one.
    """
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(target.parent):
            document = read_document(target)
            data = document.data if document else {}
            before = json.dumps(data)
            change(data)
            if document is not None and json.dumps(data) == before:
                return
            indent = _indent(document.text) if document else 2
            text = json.dumps(data, indent=indent, ensure_ascii=False) + "\n"
            _replace(target, ("\ufeff" if document and document.had_bom else "") + text, private=private)
    except BrokenFile as error:
        raise SettingsError(f"{error}; nothing was stored and nothing overwritten: mend the file first") from error
    except OSError as error:
        raise SettingsError(f"{path} can't be written ({error.strerror or error})") from error


def _indent(text: str) -> int | str:
    for line in text.splitlines()[1:]:
        blank = line[: len(line) - len(line.lstrip())]
        if blank:
            return "\t" if blank[0] == "\t" else len(blank)
    return 2


def _replace(path: Path, text: str, *, private: bool) -> None:
    """Replaces the file atomically; an old one keeps its mode."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        elif not private:
            temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def backup_of(path: Path) -> Iterator[Path]:
    """Names for a copy of a file that is about to be given up: ``x.json.broken``, ``x.json.broken-1`` …"""
    yield path.with_name(path.name + ".broken")
    number = 1
    while True:
        yield path.with_name(f"{path.name}.broken-{number}")
        number += 1
