"""What sessions there are, without reading them whole."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentcli.messages import TextBlock, message_from_record
from agentcli.sessions.journal import DELTA_START
from agentcli.text import clean, one_line

HEAD = 512 * 1024
"""Bytes at the beginning of a file in which its first prompt is looked for."""
TAIL = 256 * 1024
"""Bytes at the end of a file in which the last words are looked for."""
TITLE_START = b'{"v":1,"kind":"title"'


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session for a list.  ``modified`` in seconds since the epoch; ``size`` in bytes."""

    id: str
    path: Path
    modified: float
    size: int
    cwd: str
    first_prompt: str
    title: str = ""

    @property
    def label(self) -> str:
        """The title, else the first prompt, on one line."""
        return self.title or one_line(self.first_prompt, 80) or "(no prompt)"


def list_sessions(folder: Path, *, cwd: Path | None = None) -> list[SessionInfo]:
    """The folder's sessions, newest first.  Two directories may share a folder's name: ``cwd`` keeps those that began
    there.  A file that can't be read is left out."""
    try:
        paths = sorted(folder.glob("*.jsonl"))
    except OSError:
        return []
    found = [info for info in (describe(p) for p in paths) if info is not None]
    wanted = [i for i in found if cwd is None or not i.cwd or i.cwd == str(cwd)]
    return sorted(wanted, key=lambda i: (-i.modified, i.id))


def describe(path: Path) -> SessionInfo | None:
    """``None`` for an empty file and one that can't be read."""
    try:
        stat = path.stat()
        if not os.path.isfile(path) or stat.st_size == 0:
            return None
        with path.open("rb") as file:
            head = file.read(HEAD)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
                title = _title(whole)
    except (OSError, ValueError):
        return None
    cwd, prompt = _beginning(head.split(b"\n"))
    return SessionInfo(path.stem, path, stat.st_mtime, stat.st_size, cwd, prompt, title)


def last_words(path: Path, count: int = 4) -> list[tuple[str, str]]:
    """(role, text on one line) of the last messages with words in them, oldest first; nothing where the file can't be
    read."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL))
            lines = file.read().split(b"\n")
    except OSError:
        return []
    found: list[tuple[str, str]] = []
    for line in reversed(lines):
        entry = _parsed(line)
        text = one_line(_said(entry), 400) if entry.get("kind") == "message" else ""
        if text:
            found.append((str(entry["message"]["role"]), text))
        if len(found) == count:
            break
    return found[::-1]


def _said(entry: dict[str, Any]) -> str:
    """The words of a message, of a person or of the model."""
    try:
        message = message_from_record(entry["message"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return ""
    own = [b.text for b in message.content if isinstance(b, TextBlock) and b.origin in ("user", "model")]
    return clean(" ".join(own))


def search(infos: Iterable[SessionInfo], query: str) -> list[SessionInfo]:
    """Those whose title, first prompt or id contains every word of the query, in any case; order kept."""
    words = query.lower().split()
    return [i for i in infos if all(w in f"{i.title}\n{i.first_prompt}\n{i.id}".lower() for w in words)]


def _beginning(lines: Iterable[bytes]) -> tuple[str, str]:
    cwd = ""
    for line in lines:
        entry = _parsed(line)
        if entry.get("kind") == "start":
            cwd = clean(str(entry.get("cwd") or cwd))
        elif entry.get("kind") == "message":
            text = _words(entry)
            if text:
                return cwd, text
    return cwd, ""


def _words(entry: dict[str, Any]) -> str:
    try:
        message = message_from_record(entry["message"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return ""
    return clean(message.text().strip()) if message.role == "user" else ""


def _parsed(line: bytes) -> dict[str, Any]:
    if line.startswith(DELTA_START):
        return {}
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _title(whole: mmap.mmap) -> str:
    at = whole.rfind(TITLE_START)
    while at >= 0:
        end = whole.find(b"\n", at)
        entry = _parsed(whole[at : end if end >= 0 else len(whole)])
        if isinstance(entry.get("title"), str):
            return clean(str(entry["title"]))
        at = whole.rfind(TITLE_START, 0, at)
    return ""
