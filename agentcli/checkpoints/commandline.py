"""What a shell line may do to files, as far as it says so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from agentcli.shell import (
    CommandLine,
    Redirect,
    SimpleCommand,
    Word,
    destroys,
    files_of,
    only_reads,
    parse,
    removal_targets,
    removes,
)

MOST_FILES = 100
_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"})


@dataclass(frozen=True, slots=True)
class LineFacts:
    """``reads``: the line changes no file.  ``destroys``: it may throw work away.  ``files`` are those that it names
    as written, moved or removed (whatever stands there now, or nothing); no directories."""

    reads: bool
    destroys: bool = False
    files: tuple[Path, ...] = ()


def facts(command: str, cwd: Path) -> LineFacts:
    line = parse(command)
    if _reads(line):
        return LineFacts(True)
    named = dict.fromkeys(islice(_files(line, cwd), MOST_FILES))
    return LineFacts(False, any(destroys(c) or removes(c) for c in line.commands), tuple(named))


def _reads(line: CommandLine) -> bool:
    if not line.understood or line.functions or line.caution:
        return False
    harmless = all(r.kind != "write" or (r.target is not None and r.target.literal in _NOWHERE) for r in line.redirects)
    return harmless and not any(c.words and only_reads(c) for c in line.commands)


def _files(line: CommandLine, cwd: Path) -> Iterator[Path]:
    for redirect in line.redirects:
        if redirect.kind == "write" and redirect.target is not None and redirect.target.literal not in _NOWHERE:
            yield from _places(redirect.target, redirect, cwd)
    for command in line.commands:
        if command.words:
            yield from _of_command(command, cwd)


def _of_command(command: SimpleCommand, cwd: Path) -> Iterator[Path]:
    named = files_of(command)
    for word in (*named.writes, *removal_targets(command), *(named.reads if command.program == "mv" else ())):
        yield from _places(word, command, cwd)
    if command.program not in {"cp", "mv", "install", "ln"}:
        return
    for word in named.writes:  # into a directory, under the same names
        for target in _places(word, command, cwd, directories=True):
            if _directory(target):
                yield from (target / Path(w.text).name for w in named.reads if w.literal)


def _places(word: Word, where: SimpleCommand | Redirect, cwd: Path, *, directories: bool = False) -> Iterator[Path]:
    """Where the word may lead; nothing where that is only known when the line runs."""
    text = word.literal
    if not text or "\0" in text:
        return
    bases = where.directories if where.directories is not None else () if not text.startswith("/") else ("",)
    for base in bases:
        path = _expanded(base, base.startswith("~"), cwd) / _expanded(text, word.tilde, Path())
        if directories or not _directory(path):
            yield path


def _directory(path: Path) -> bool:
    try:
        return os.path.isdir(path) and not os.path.islink(path)
    except OSError:  # a name that is too long
        return False


def _expanded(text: str, tilde: bool, base: Path) -> Path:
    path = Path(text)
    if tilde and (text == "~" or text.startswith("~/")):
        try:
            return path.expanduser()
        except RuntimeError:
            return base / path
    return base / path
