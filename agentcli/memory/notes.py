"""A line that the user adds to a memory file with ``#``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from agentcli.errors import UserError
from agentcli.files import (
    FileChanged,
    create_file,
    decode,
    encode,
    looks_binary,
    read_stamped,
    replace_file,
    to_newlines,
)
from agentcli.i18n import IN_ENGLISH, Texts
from agentcli.memory.places import Places
from agentcli.memory.values import Scope
from agentcli.text import clean

TRIES = 5


@dataclass(frozen=True, slots=True)
class NoteTarget:
    """A file that a note may go to.  ``tree`` is for ``add_note``."""

    path: Path
    scope: Scope
    label: str
    exists: bool
    tree: Path | None = None


def note_targets(places: Places, t: Texts = IN_ENGLISH) -> tuple[NoteTarget, ...]:
    """Where a note may go, the most usual first: the project's file, the user's own for the project, the user's."""
    project = next((p for p in _project_files(places) if os.path.isfile(p)), places.root / "CLAUDE.md")
    wanted: list[tuple[Path, Scope, str]] = [
        (project, "project", t("memory.note.project")),
        (places.root / "CLAUDE.local.md", "local", t("memory.note.local")),
    ]
    if places.start != places.root and os.path.isfile(places.start / "CLAUDE.md"):
        wanted.insert(0, (places.start / "CLAUDE.md", "project", t("memory.note.here")))
    if places.user is not None:
        wanted.append((places.user / "CLAUDE.md", "user", t("memory.note.user")))
    return tuple(
        NoteTarget(path, scope, label, os.path.isfile(path), None if scope == "user" else places.root)
        for path, scope, label in wanted
    )


def _project_files(places: Places) -> list[Path]:
    names = ["CLAUDE.md", ".claude/CLAUDE.md", *(["AGENTS.md"] if places.agents_md != "never" else [])]
    return [places.root / name for name in names]


def add_note(path: Path, text: str, *, tree: Path | None = None, t: Texts = IN_ENGLISH) -> Path:
    """Appends the text as a list item; makes the file if there is none.  Returns the real path.

    Encoding, line ends and everything else about the file stay.  ``tree`` is the project of a project's file: a link
    that leads out of it is refused.  ``UserError`` if nothing was written.
    """
    words = clean(text).strip()
    if not words:
        raise UserError(t("memory.note.empty"))
    item = "- " + "\n  ".join(words.splitlines())
    real = path.resolve()
    if tree is not None and not real.is_relative_to(tree.resolve()):
        raise UserError(t("memory.note.link", path=path, real=real))
    try:
        for _ in range(TRIES):
            try:
                return _append(path, item, t)
            except (FileChanged, FileExistsError):
                continue
    except OSError as error:
        raise UserError(t("memory.note.failed", path=path, error=error.strerror)) from error
    except UnicodeEncodeError as error:
        raise UserError(t("memory.note.encoding", path=path, encoding=error.encoding)) from error
    raise UserError(t("memory.note.raced", path=path))


def _append(path: Path, item: str, t: Texts) -> Path:
    if not os.path.exists(path):
        return create_file(path, f"{item}\n".encode())
    data, stamp = read_stamped(path)
    decoded = None if looks_binary(data) else decode(data)
    if decoded is None:
        raise UserError(t("memory.note.binary", path=path))
    form, old = decoded.format, decoded.text
    before = "" if not old or old.endswith(("\n", "\r")) else "\n"
    added = encode(to_newlines(f"{before}{item}\n", form.newline), form)[len(form.bom) :]
    return replace_file(path, data + added, expect=stamp)
