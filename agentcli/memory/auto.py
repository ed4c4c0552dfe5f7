"""Auto memory: the agent's own notes, a directory for each project, its index in the prompt."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentcli.env import truthy
from agentcli.files import Stamp
from agentcli.memory.places import Places
from agentcli.memory.reading import Unusable, read_content
from agentcli.memory.render import attribute, defuse
from agentcli.memory.secrets import find_secrets
from agentcli.paths import private_directory, project_slug
from agentcli.ports.prompt import Reminder
from agentcli.settings.merged import Settings
from agentcli.text import clean, plural

INDEX = "MEMORY.md"
LINES = 200
BYTES = 25_000
TEAM = Path(".claude") / "memory"
AGENTS = Path(".claude") / "agent-memory"
_WORDS = Path(__file__)


@dataclass(frozen=True, slots=True)
class Index:
    """The part of an index that is sent.  ``dropped`` counts the lines that are not."""

    text: str
    dropped: int
    total_lines: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class AutoPlaces:
    """``personal`` is the directory where the agent writes without asking; ``team`` that of the project (``None``:
    off).  ``daily_log``: notes are appended to a log of the day.  ``words`` is the file that says how."""

    personal: Path
    team: Path | None = None
    daily_log: bool = False
    words: str = "auto_words.md"


def auto_places(
    places: Places,
    settings: Settings,
    env: Mapping[str, str],
    home: Path | None,
    *,
    team: bool = False,
    daily_log: bool = False,
) -> AutoPlaces | None:
    """Where the notes of this project lie; ``None`` where auto memory is off or nothing can be stored.

    Work trees and directories of one repository share them.
    """
    off = truthy("CLAUDE_CODE_DISABLE_AUTO_MEMORY", env) or truthy("CLAUDE_CODE_DISABLE_CLAUDE_MDS", env)
    if off or not settings.flag("autoMemoryEnabled", True) or home is None:
        return None
    chosen = _chosen_directory(settings, places)
    name = f"{project_slug(places.main)[-80:].lstrip('-')}-{hashlib.sha256(os.fsencode(places.main)).hexdigest()[:8]}"
    return AutoPlaces(chosen or home / "memory" / name, places.root / TEAM if team else None, daily_log)


def _chosen_directory(settings: Settings, places: Places) -> Path | None:
    """``autoMemoryDirectory``, absolute or below ``~/``.  A file that others may have written can't choose where the
    agent writes without asking, and nobody can choose a directory that holds the project or the home."""
    for layer in settings.layers:
        value = layer.data.get("autoMemoryDirectory")
        if layer.foreign or not isinstance(value, str) or not value.strip():
            continue
        path = Path(value).expanduser()
        wide = (places.root, places.start, *([places.user_home] if places.user_home else []))
        if path.is_absolute() and not any(w.is_relative_to(path.resolve()) for w in wide):
            return path
    return None


def cut_index(text: str) -> Index:
    """The first 200 lines and at most 25,000 bytes, cut at a line; only a first line that is longer than that is cut
    inside, between characters."""
    lines = text.removesuffix("\n").split("\n") if text else []
    kept: list[str] = []
    size = 0
    for line in lines[:LINES]:
        size += len(line.encode("utf-8", "replace")) + 1
        if size > BYTES:
            break
        kept.append(line)
    if lines and not kept:
        kept = [lines[0].encode("utf-8", "replace")[:BYTES].decode("utf-8", "ignore")]
        return Index(kept[0], len(lines), len(lines), len(text.encode("utf-8", "replace")))
    return Index("\n".join(kept), len(lines) - len(kept), len(lines), len(text.encode("utf-8", "replace")))


def refuse_secret(path: Path, text: str) -> str | None:
    """Why this text may not be written to a file of the team's notes or an agent's; ``None`` where it may.

    ``path`` is any file: other files are none of this function's business.
    """
    parts = path.parts
    if not any(parts[i : i + 2] in (TEAM.parts, AGENTS.parts) for i in range(len(parts) - 2)):
        return None
    found = find_secrets(text)
    if not found:
        return None
    return (
        f"line {found[0].line} looks like {found[0].kind}. Notes are committed with the project: write them without "
        "secrets, and say where the secret is kept instead."
    )


def refuse_link(path: Path, personal: Path) -> str | None:
    """Why a path below the personal directory may not be written: a link on the way leads out of it."""
    try:
        inside = path.resolve().is_relative_to(personal.resolve())
    except (OSError, RuntimeError) as error:
        return f"{path} is a link that can't be followed ({error})"
    return None if inside else f"{path} leads out of the memory directory, by way of a link"


class AutoMemory:
    """The notes of one conversation's project."""

    def __init__(self, places: AutoPlaces, *, create: bool = True) -> None:
        self.places = places
        self.warnings: list[str] = []
        self._create = create
        self._told: dict[Path, str] = {}
        self._stamps: dict[Path, Stamp | None] = {}
        self._own: set[Path] = set()
        self._full_told = 0
        self._unsaid: set[Path] = set()

    def section(self) -> str | None:
        """Guidance and indexes; ``None`` where the directory can't be made."""
        self.warnings = []
        self._unsaid.clear()
        personal = self.places.personal
        if self._create:
            try:
                private_directory(personal)
            except OSError as error:
                self.warnings.append(f"{personal}: can't be made ({error.strerror}); there is no auto memory")
                return None
        words = "auto_log_words.md" if self.places.daily_log else self.places.words
        parts = [_words(words, personal), self._element(personal)]
        if self.places.team is not None:
            parts += [_words("team_words.md", self.places.team), self._element(self.places.team)]
        return "\n\n".join(p for p in parts if p)

    def indexes(self) -> list[Path]:
        return [d / INDEX for d in (self.places.personal, self.places.team) if d is not None]

    def touched(self, paths: Sequence[Path]) -> list[Reminder]:
        """Makes files of the personal directory private, and says once when an index has grown beyond what is sent."""
        personal = self.places.personal.resolve()
        for path in [p for p in paths if p.resolve().is_relative_to(personal)]:
            _make_private(path, personal)
        own = {p.resolve() for p in paths}
        self._own |= own
        index = personal / INDEX
        if index not in own or self.places.daily_log:
            return []
        with contextlib.suppress(Unusable):
            cut = cut_index(read_content(index).text)
            if cut.dropped and cut.total_lines != self._full_told:
                self._full_told = cut.total_lines
                return [Reminder("memory-index", f"{index}: {_too_long(cut)}")]
        return []

    def changes(self) -> list[Reminder]:
        """Indexes that somebody else has changed, whole."""
        reminders = []
        own, self._own = self._own, set()
        for directory, before in list(self._told.items()):
            index = directory / INDEX
            again = index in self._unsaid
            if self._stamps.get(index) == _stamp(index) and not again:
                continue
            now = self._element(directory)
            if again:
                text = now or f"{index} is gone: there are no notes."
                reminders.append(Reminder("memory-index", f"The notes are others now.\n\n{text}"))
            elif now != before and index.resolve() not in own:
                text = now or f"{index} is gone: there are no notes."
                reminders.append(Reminder("memory-index", f"Another session has changed the notes.\n\n{text}"))
        self._unsaid.clear()
        return reminders

    def rewound(self, told: str) -> None:
        """``told`` is all that the conversation has been told and still holds: an index that is not in it, as it is
        now, is told again."""
        for index in self.indexes():
            element = self._element(index.parent)
            known = element in told if element else f'<memory path="{attribute(index)}"' not in told
            if not known:
                self._unsaid.add(index)

    def resume(self) -> None:
        """The indexes count as told: what the resumed conversation changed in them it knows."""
        for index in self.indexes():
            self._element(index.parent)

    def _element(self, directory: Path) -> str:
        """The index of a directory as the prompt has it; empty without one."""
        index = directory / INDEX
        self._stamps[index] = _stamp(index)
        text = self._read(index, directory)
        self._told[directory] = ""
        if text.strip():
            cut = cut_index(text)
            note = f"\n[{_too_long(cut)}]" if cut.dropped else ""
            what = "your own notes" if directory == self.places.personal else "the team's notes"
            body = defuse(clean(cut.text)).strip("\n")
            self._told[directory] = f'<memory path="{attribute(index)}" what="{what}">\n{body}{note}\n</memory>'
        return self._told[directory]

    def _read(self, index: Path, directory: Path) -> str:
        if not os.path.exists(index):
            return ""
        if (why := refuse_link(index, directory)) is not None:
            self.warnings.append(f"{why}; not loaded")
            return ""
        try:
            content = read_content(index)
        except Unusable as error:
            self.warnings.append(f"{index}: {error}")
            return ""
        cut = cut_index(content.text)
        if cut.dropped:
            self.warnings.append(f"{index}: {_too_long(cut)}")
        return content.text


def _too_long(cut: Index) -> str:
    return (
        f"Only a part of this index is loaded: it has {plural(cut.total_lines, 'line')} and {cut.total_bytes:,} bytes "
        f"(limits: {LINES} and {BYTES:,}); missing at the end: {plural(cut.dropped, 'line')}. "
        "Keep a line for each topic and move detail into topic files."
    )


def _words(name: str, directory: Path) -> str:
    text = _WORDS.with_name(name).read_text(encoding="utf-8").strip()
    return text.replace("{directory}", attribute(directory))


def _make_private(path: Path, personal: Path) -> None:
    """Mode 0600, and 0700 for the directories on the way, whatever the umask was when they were written."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):  # not ours, or gone again
        real = path.resolve()
        if stat.S_ISREG(real.stat().st_mode):
            real.chmod(0o600)
        for directory in real.parents:
            if not directory.is_relative_to(personal):
                break
            directory.chmod(0o700)


def _stamp(path: Path) -> Stamp | None:
    try:
        return Stamp.of(path.stat())
    except OSError:
        return None
