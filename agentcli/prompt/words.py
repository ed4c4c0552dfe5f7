"""Texts live in Markdown files beside the code; this reads them as the same bytes everywhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def read_words(path: Path) -> str:
    """The file's text without blank lines around it; line ends are ``\\n`` however the file was checked out."""
    return path.read_text(encoding="utf-8").strip()


def one_line(value: str) -> str:
    """A name, path or setting for a place inside a line: control characters and line ends are escaped.

    Nothing is shortened or collapsed: a path stays usable.  Without it, a directory's name could add lines of its own
    to the prompt.
    """
    if value.isprintable():
        return value
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in value)
