"""One definition file (agent, skill, command, output style): its front matter, its body, and what is wrong with it.

Nearly every file spells its front matter as plain ``name: value`` lines; those are read without a YAML parser, so that
hundreds of files cost the start a few milliseconds.  Whatever is spelled in another way goes to the parser.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from agentcli.errors import UserError
from agentcli.frontmatter import FrontMatterError, read_front_matter

MAX_BYTES = 1_000_000
"""A larger file is no definition."""
PROSE = frozenset({"description", "when_to_use", "when-to-use", "argument-hint"})
"""Keys whose one-line value may be any text, also what YAML would refuse (``Use it when: …``, ``[file] [mode]``)."""
_FENCE = "---"
_LINE = re.compile(r"([A-Za-z][\w-]*):(?:[ \t]+(.*))?")
_TRUTHS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NOT_TEXT = frozenset({"y", "n", "yes", "no", "on", "off", "null"})
_NUMBER = re.compile(r"[1-9]\d{0,8}")
_QUOTED = re.compile(r"\"[^\"\\]*\"|'[^']*'")
_HARD = object()


class DefinitionError(UserError):
    """The file can't be used; the text names file and line."""


@dataclass(frozen=True, slots=True)
class Document:
    """``fenced`` says whether the file has front matter at all; ``head`` are its lines, for line numbers."""

    path: Path
    values: Mapping[str, Any]
    body: str
    fenced: bool
    head: tuple[str, ...] = ()

    def line_of(self, key: str) -> int:
        """The line of a key, from 1; 1 where it is not there."""
        found = (n for n, line in enumerate(self.head, 2) if line.startswith(f"{key}:"))
        return next(found, 1)


def read_document(path: Path) -> Document:
    """Reads the file.  ``DefinitionError`` when it can't be read or its front matter is broken."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DefinitionError(f"{path}: can't be read: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise DefinitionError(f"{path}: {len(data):,} bytes are too much; {MAX_BYTES:,} at most")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DefinitionError(f"{path}: is not UTF-8 text (byte {error.start + 1:,})") from error
    return parse_document(text, path)


def parse_document(text: str, path: Path) -> Document:
    """The text of a file as a document.  ``DefinitionError`` as above."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        return Document(path, {}, "\n".join(lines), fenced=False)
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise DefinitionError(f"{path}:1: the front matter is not closed. Put a line with --- behind it.")
    head = tuple(lines[1:end])
    values = _plain(head)
    if values is None:
        try:
            values = dict(_parsed(head, path))
        except RecursionError:
            raise DefinitionError(f"{path}:2: the front matter is nested too deeply") from None
    return Document(path, values, "\n".join(lines[end + 1 :]), fenced=True, head=head)


def _plain(head: tuple[str, ...]) -> dict[str, Any] | None:
    """The values of plain ``name: value`` lines; ``None`` where the YAML parser has to decide."""
    values: dict[str, Any] = {}
    for line in head:
        stripped = line.rstrip()
        if not stripped or stripped.startswith("#"):
            continue
        found = _LINE.fullmatch(stripped)
        if found is None or found[1] in values:
            return None
        value = _scalar(found[1], (found[2] or "").strip())
        if value is _HARD:
            return None
        values[found[1]] = value
    return values


def _scalar(key: str, text: str) -> Any:
    """A value that means the same to YAML; ``_HARD`` where that is not certain."""
    if not text:
        return None
    if _QUOTED.fullmatch(text):
        return text[1:-1]
    if key in PROSE and text[0].isalnum() and " #" not in text and not text.endswith(":"):
        return _HARD if _odd(text) else text
    if text in _TRUTHS:
        return _TRUTHS[text]
    if _NUMBER.fullmatch(text):
        return int(text)
    plain = text[0].isalpha() and ": " not in text and " #" not in text and not text.endswith(":")
    return text if plain and not _odd(text) else _HARD


def _odd(text: str) -> bool:
    """Whether YAML could read a word as something else than text."""
    return text.lower() in _NOT_TEXT or text in _TRUTHS or text[0].isdigit()


def _parsed(head: tuple[str, ...], path: Path) -> Mapping[str, Any]:
    """By the YAML parser; if that refuses the spelling, once more with one-line values taken as they stand."""
    source = "\n".join([_FENCE, *head, _FENCE, ""])
    try:
        return _with_literal_hint(read_front_matter(source, source=path).values, head)
    except FrontMatterError as error:
        quoted = [_quoted(line, following) for line, following in zip(head, (*head[1:], ""), strict=True)]
        try:
            return read_front_matter("\n".join([_FENCE, *quoted, _FENCE, ""]), source=path).values
        except FrontMatterError:
            raise DefinitionError(str(error)) from error


def _quoted(line: str, following: str) -> str:
    found = _LINE.fullmatch(line.rstrip())
    value = (found[2] or "").strip() if found else ""
    if found is None or not value or following.startswith((" ", "\t", "-")):
        return line
    if value[0] in "\"'|>" or (value[0] in "[{" and found[1] not in PROSE):
        return line
    return f"{found[1]}: {json.dumps(value, ensure_ascii=False)}" if value not in _TRUTHS else line


def _with_literal_hint(values: Mapping[str, Any], head: tuple[str, ...]) -> Mapping[str, Any]:
    """``argument-hint: [issue]`` is a list to YAML, and meant as text."""
    if not isinstance(values.get("argument-hint"), list | dict):
        return values
    line = next((h for h in head if h.startswith("argument-hint:")), "argument-hint:")
    return {**values, "argument-hint": line.partition(":")[2].strip()}


@dataclass(slots=True)
class Fields:
    """Takes typed values out of a document.  What is wrong with an optional one is a warning, and it counts as not
    given; ``DefinitionError`` where the definition would mean something else without it."""

    document: Document
    warnings: list[str] = field(default_factory=list)

    def place(self, key: str) -> str:
        return f"{self.document.path}:{self.document.line_of(key)}"

    def warn(self, key: str, problem: str) -> None:
        self.warnings.append(f"{self.place(key)}: {key} {problem}; ignored")

    def text(self, *keys: str) -> str:
        """The first of the keys that is set, as text."""
        for key in keys:
            value = self.document.values.get(key)
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                return str(value).strip()
            if value is not None:
                self.warn(key, "must be a text")
        return ""

    def flag(self, key: str, default: bool = False) -> bool:
        value = self.document.values.get(key)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        word = str(value).strip().lower()
        if word in ("true", "false"):
            return word == "true"
        self.warn(key, "must be true or false")
        return default

    def number(self, key: str) -> int | None:
        value = self.document.values.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
            return value
        if isinstance(value, str) and value.strip().isdecimal() and int(value) > 0:
            return int(value)
        self.warn(key, "must be a whole number above 0")
        return None

    def choice(self, key: str, known: tuple[str, ...]) -> str | None:
        value = self.document.values.get(key)
        if value is None or value in known:
            return cast("str | None", value)
        # Only a plain value is shown: what YAML's references make of a small list can be endless.
        shown = repr(value) if isinstance(value, str | int | float) else "a list"
        self.warn(key, f"must be one of {', '.join(known)}, not {shown}")
        return None

    def names(self, *keys: str) -> tuple[str, ...] | None:
        """A list of names, also written in one line with commas or blanks; ``None`` where no key is set.
        ``DefinitionError`` where it is neither: a list of tools that can't be read must not count as "all"."""
        for key in keys:
            value = self.document.values.get(key)
            if value is None:
                continue
            if isinstance(value, str):
                return split_names(value)
            if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
                raise DefinitionError(f"{self.place(key)}: {key} must be a list of names")
            return tuple(v.strip() for v in value if v.strip())
        return None


def split_names(text: str) -> tuple[str, ...]:
    """``Read, Bash(git add:*) Grep`` as names: split at commas and blanks outside of parentheses."""
    names, depth, current = [], 0, ""
    for character in text + ",":
        depth += (character == "(") - (character == ")" and depth > 0)
        if depth == 0 and (character == "," or character.isspace()):
            names.append(current)
            current = ""
        else:
            current += character
    return tuple(n for n in (*names, current.rstrip(",").strip()) if n)
