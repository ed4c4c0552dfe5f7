"""Puts imported files into the places where they are named."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from agentcli.memory.comments import Document, Line, read_lines
from agentcli.memory.imports import MOST, Mention, escaped_path, find_mentions
from agentcli.memory.reading import Unusable, read_content, real_path
from agentcli.memory.render import defuse, render_import
from agentcli.memory.values import Found, MemoryFile, Skipped
from agentcli.text import clean

if TYPE_CHECKING:
    from agentcli.memory.loading import Loader

HOPS = 4
TEXT_ENDINGS = frozenset({".md", ".markdown", ".mdx", ".mdc", ".txt", ".rst", ".adoc"})


@dataclass(frozen=True, slots=True)
class _Target:
    """A mention that names a file."""

    mention: Mention
    path: Path
    end: int


class Splicer:
    """For one loaded file and everything that it imports.  ``owner`` claims the imported files."""

    def __init__(self, loader: Loader, found: Found, *, owner: Path) -> None:
        self._loader = loader
        self._found = found
        self._owner = owner

    def expand(self, document: Document, importer: Path, *, hop: int = 0) -> tuple[str, tuple[MemoryFile, ...]]:
        """The text with each import behind the line that names it, or in the line's stead where nothing else is in it.

        ``importer`` is the real path of the document: relative paths begin beside it.
        """
        mentions = find_mentions(document.lines)
        if len(mentions) == MOST:
            self._loader.findings.warn(f"{importer}: more than {MOST:,} times @; the rest is not looked at for imports")
        targets = self._targets(mentions, importer)
        by_line = {n: list(group) for n, group in groupby(targets, key=lambda t: t.mention.line)}
        lines: list[str] = []
        imported: list[MemoryFile] = []
        for line in document.lines:
            here = by_line.get(line.number, ())
            files = [f for t in here if (f := self._import(t, importer, hop + 1)) is not None]
            imported += files
            if not (files and _alone(line, here)):
                lines.append(defuse(line.text))
            lines += [render_import(f.path, f.text) for f in files]
        text = clean("\n".join(lines)).strip("\n")
        return f"{text}\n{document.open_fence}" if document.open_fence else text, tuple(imported)

    def _targets(self, mentions: Sequence[Mention], importer: Path) -> Iterator[_Target]:
        """What the mentions name; those that lie inside one that was understood are left alone."""
        line = end = -1
        for mention in mentions:
            if mention.line == line and mention.start < end:
                continue
            target = self._resolve(mention, importer)
            if target is not None:
                line, end = mention.line, target.end
                yield target

    def _resolve(self, mention: Mention, importer: Path) -> _Target | None:
        directory = None
        for reading in mention.readings:
            path = self._path(reading.path, importer)
            kind = _kind(path)
            if kind == "file":
                return _Target(mention, path, reading.end)
            directory = directory or (path if kind == "directory" else None)
        named, problem = self._problem(mention, importer)
        if problem:
            self._skip(mention, importer, problem, named=named)
        elif directory is not None:
            self._skip(mention, importer, "names a directory; only files are imported", quiet=True)
        elif mention.readings and "/" in mention.readings[0].path:
            self._skip(mention, importer, "names no existing file; taken as text", quiet=True)
        return None

    def _path(self, text: str, importer: Path) -> Path:
        if text == "~" or text.startswith("~/"):
            home = self._loader.places.user_home
            return (home / text[2:]) if home is not None else importer.parent / text
        return importer.parent / text

    def _problem(self, mention: Mention, importer: Path) -> tuple[str, str]:
        """The spelling and why it is no import, where somebody seems to have meant one; empty for an ordinary ``@``."""
        quoted = mention.quoted
        if quoted and (_like_text(quoted) or self._is_file(quoted, importer)):
            wrong = mention.rest[: len(quoted) + 2]
            return wrong, f"is not an import: paths are not quoted here. Write @{escaped_path(quoted)}"
        for longer in mention.longer():
            if self._is_file(longer, importer):
                return longer, f"is not an import: a blank needs a backslash. Write @{escaped_path(longer)}"
        for reading in mention.readings:
            if problem := self._unsupported(reading.path, importer):
                return escaped_path(reading.path), problem
        return "", ""

    def _unsupported(self, text: str, importer: Path) -> str:
        if "\\" in text and self._is_file(text.replace("\\", "/"), importer):
            return "is not an import: write / between directories"
        if not _like_text(text):
            return ""
        if "://" in text:
            return "is not an import: only files of this machine can be imported"
        if text.startswith(("$", "%")):
            return "is not an import: variables are not replaced. Write ~/ or a path"
        if any(c in text for c in "*?"):
            return "is not an import: name each file; wildcards are not replaced"
        return "" if text.startswith(("/", "~", "@")) else "names no file; the import is left as text"

    def _is_file(self, text: str, importer: Path) -> bool:
        return _kind(self._path(text, importer)) == "file"

    def _import(self, target: _Target, importer: Path, hop: int) -> MemoryFile | None:
        loader, found, mention = self._loader, self._found, target.mention
        try:
            real = loader.first_name(real_path(target.path))
            if real in loader.claims:
                return None
            if hop > HOPS:
                self._skip(mention, importer, f"is more than {HOPS} imports deep; left as text")
                return None
            if found.scope != "managed" and (pattern := loader.excludes.pattern_for(target.path, real)) is not None:
                self._skip(mention, importer, f"is excluded by claudeMdExcludes ({pattern})", quiet=True)
                return None
            if why := loader.allowed(real, found.tree, wanted_by=importer, line=mention.line):
                self._skip(mention, importer, f"{why}; left as text")
                return None
            content = read_content(real)
        except Unusable as error:
            self._skip(mention, importer, f"is not imported: the file {error}")
            return None
        loader.claim(real, self._owner)
        loader.measure(real, content)
        document = read_lines(content.text)
        loader.note_unclosed(real, document)
        text, imports = self.expand(document, real, hop=hop)
        path = Path(os.path.normpath(target.path))
        return MemoryFile(path, real, found.scope, "import", text, content.size, "include", (), imports, content.stamp)

    def _skip(self, mention: Mention, importer: Path, why: str, *, named: str = "", quiet: bool = False) -> None:
        named = named or escaped_path(mention.readings[0].path if mention.readings else mention.rest.partition(" ")[0])
        skipped = Skipped(importer, self._found.scope, why, mention.line, f"@{named}")
        self._loader.findings.skip(skipped, level="note" if quiet else "warning")


def _alone(line: Line, targets: Iterable[_Target]) -> bool:
    """Whether the line holds the import and nothing else."""
    only = list(targets)
    return len(only) == 1 and line.text.strip() == line.text[only[0].mention.start : only[0].end]


def _kind(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return ""
    return "file" if stat.S_ISREG(mode) else "directory" if stat.S_ISDIR(mode) else "other"


def _like_text(text: str) -> bool:
    """Whether the name is that of a text file: nobody writes so about a person or a package."""
    return os.path.splitext(text)[1].lower() in TEXT_ENDINGS
