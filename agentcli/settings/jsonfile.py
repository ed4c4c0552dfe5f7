"""Settings files as they lie on disk: strict JSON objects, a byte order mark tolerated, errors with their place."""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from agentcli.errors import SettingsError

JsonObject: TypeAlias = dict[str, Any]

LIMIT = 4 * 1024 * 1024
"""Bytes.  A settings file above this is not one."""


class BrokenFile(SettingsError):
    """A settings file that can't be used as a whole.  ``str`` names file, line and column (0: no place known)."""

    def __init__(self, path: Path, what: str, *, line: int = 0, column: int = 0) -> None:
        place = f"{path}:{line}:{column}" if line else str(path)
        super().__init__(f"{place}: {what}")
        self.path = path
        self.what = what
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Document:
    """A file's object and the text it came from."""

    data: JsonObject
    text: str
    had_bom: bool = False


def read_document(path: Path) -> Document | None:
    """The file as an object; ``None`` where there is no file.  ``BrokenFile`` if it can't be used."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise BrokenFile(path, f"can't be read ({error.strerror})") from error
    if not stat.S_ISREG(found.st_mode):
        raise BrokenFile(path, "is not a regular file")
    if found.st_size > LIMIT:
        raise BrokenFile(path, f"is larger than {LIMIT // 1024 // 1024} MB")
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BrokenFile(path, f"can't be read ({error.strerror})") from error
    return parse_document(raw, path)


def parse_document(raw: bytes, path: Path) -> Document:
    """The bytes as an object.  An empty file (or one of white space) counts as ``{}``."""
    had_bom = raw.startswith(b"\xef\xbb\xbf")
    body = raw[3:] if had_bom else raw
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise BrokenFile(path, "is not UTF-8", line=line, column=1) from error
    return Document(parse_object(text, path) if text.strip() else {}, text, had_bom)


def parse_object(text: str, path: Path) -> JsonObject:
    """Strict JSON: no comments, no trailing commas, no ``NaN``, no key twice.  ``BrokenFile`` otherwise."""

    def pairs(items: list[tuple[str, Any]]) -> JsonObject:
        found: JsonObject = {}
        for key, value in items:
            if key in found:
                line, column = _second_place(text, key)
                raise BrokenFile(path, f"the key {key!r} stands twice in one object", line=line, column=column)
            found[key] = value
        return found

    def constant(name: str) -> NoReturn:
        raise BrokenFile(path, f"{name} is not JSON")

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        what, position = _say(error, text)
        line, column = _place(text, position)
        raise BrokenFile(path, what, line=line, column=column) from error
    except RecursionError as error:
        raise BrokenFile(path, "is nested too deeply") from error
    if not isinstance(value, dict):
        raise BrokenFile(path, "must hold a JSON object ({...})", line=1, column=1)
    return value


def _place(text: str, position: int) -> tuple[int, int]:
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def _second_place(text: str, key: str) -> tuple[int, int]:
    quoted = json.dumps(key, ensure_ascii=False)
    position = text.find(quoted, text.find(quoted) + 1)
    return (0, 0) if position < 0 else _place(text, position)


def _say(error: json.JSONDecodeError, text: str) -> tuple[str, int]:
    """What is wrong, and where; the same in every version of Python."""
    position = error.pos
    if text[position : position + 1] in {"}", "]"} and text[:position].rstrip().endswith(","):
        position = len(text[:position].rstrip()) - 1
    closing = text[position + 1 :].lstrip()[:1]
    if text[position : position + 1] == "," and closing in {"}", "]"}:
        return f"a comma before the closing {closing}", position
    if text[position : position + 2].startswith(("//", "/*", "#")):
        return "comments are not allowed in JSON", position
    if position >= len(text.rstrip()):
        return "the file ends before the object does", position
    return f"not valid JSON ({error.msg})", position
