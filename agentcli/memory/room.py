"""The room as the session holds it: the prompt's section, reminders, listings, approvals."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agentcli.errors import SetupError
from agentcli.memory.agent_notes import AgentNotes, NotesScope, notes_directory
from agentcli.memory.approvals import Approvals
from agentcli.memory.auto import AutoMemory, AutoPlaces
from agentcli.memory.conversation import InstructionMemory, load_start
from agentcli.memory.loading import Loader
from agentcli.memory.places import Places
from agentcli.memory.values import Findings, MemoryFile, Outside, Skipped
from agentcli.messages import Message, TextBlock
from agentcli.ports.prompt import Moment, Remaining, Reminder

AskOutside = Callable[[Sequence[Outside]], Awaitable[bool | None]]
"""Asks the user whether these files may be loaded from outside the project: all of them or none; ``None`` leaves it
open."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What is on disk now, in the order in which it is read: ``files`` from the start on and those that came by
    reminder, ``indexes`` of notes with their sizes in bytes, ``waiting`` rules with their patterns."""

    files: tuple[MemoryFile, ...]
    skipped: tuple[Skipped, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    waiting: tuple[tuple[Path, tuple[str, ...]], ...]
    indexes: tuple[tuple[Path, int], ...] = ()


class MemoryRoom:
    """Memory of a session.  Implements ``ports.prompt.ReminderSource`` for its main conversation.

    ``home`` is ``AGENTCLI_HOME`` or ``None``; ``warn`` gets each warning once, as a sentence for the user; ``ask`` is
    asked about files outside the project (``None``: nobody can answer, such files are left out with a warning).
    ``create`` makes the directory of the agent's notes.
    """

    def __init__(
        self,
        places: Places,
        *,
        home: Path | None,
        auto: AutoPlaces | None = None,
        warn: Callable[[str], None] = lambda text: None,
        ask: AskOutside | None = None,
        create: bool = True,
    ) -> None:
        self.places = places
        self.approvals = Approvals.load(home, places.main)
        self.auto = AutoMemory(auto, create=create) if auto is not None else None
        self.ask = ask
        self._create = create
        self._warn = warn
        self._warned: set[str] = set()
        self._asked: set[Path] = set()
        self._main = self.branch()

    async def section(self) -> str | None:
        """The memory section of the prompt (``PromptSources.memory``): instruction files, then the agent's notes."""
        instructions = await self._main.section()
        notes = self.auto.section() if self.auto is not None else None
        if self.auto is not None:
            self._tell(self.auto.warnings)
        return "\n\n".join(t for t in (instructions, notes) if t) or None

    def branch(self, tree: Path | None = None) -> InstructionMemory:
        """The memory of a subagent: instruction files of its own conversation (``section``, ``collect``), without the
        notes.  ``tree`` is the work tree that it works in, where that is another."""
        places = self.places if tree is None else replace(self.places, start=tree.resolve(), root=tree.resolve())
        return InstructionMemory(places, self.approvals, settle=self._settle, report=self._report)

    def notes_of(self, agent: str, scope: NotesScope) -> AgentNotes | None:
        """The notes that a kind of subagent keeps; ``None`` where there is no place for them."""
        directory = notes_directory(self.places, scope, agent)
        if directory is None:
            self._tell([f"agent {agent}: there is no usable directory for its memory ({scope}); it works without"])
            return None
        return AgentNotes(directory, create=self._create, warn=lambda text: self._tell([text]))

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        """Instructions of places that were just touched, and what was edited meanwhile; each once."""
        reminders = await self._main.collect(moment, paths=paths)
        if self.auto is not None and moment == "file_touched":
            reminders += self.auto.touched(paths)
        if self.auto is not None and moment == "before_step":
            reminders += self.auto.changes()
        return reminders

    def begin_anew(self) -> None:
        """Call after a compaction and with ``/clear``: what came by reminder counts as not told."""
        self._main.begin_anew()

    def resume(self, sections: Mapping[str, str | None], messages: Iterable[Message]) -> None:
        """Call when a session is resumed, with the restored section values and messages."""
        self._main.resume(sections, messages)
        if self.auto is not None:
            self.auto.resume()

    def rewound(self, remaining: Remaining) -> None:
        """``ports.prompt.Rewindable``."""
        self._main.resume(remaining.sections, remaining.messages)
        if self.auto is not None:
            texts = (b.text for m in remaining.messages for b in m.content if isinstance(b, TextBlock))
            self.auto.rewound("\n".join([*(s for s in remaining.sections.values() if s), *texts]))

    def loaded(self) -> tuple[MemoryFile, ...]:
        """What the main conversation has been told, in order; empty before its first request."""
        return (*self._main.start, *self._main.nested)

    def skipped(self) -> tuple[Skipped, ...]:
        return tuple(self._main.findings.skipped)

    def survey(self) -> Survey:
        """Looks at the disk, without any effect on the conversation."""
        loader, start = load_start(self.places, self.approvals)
        nested = [f for f in self._main.nested if os.path.exists(f.path)]
        findings = loader.findings
        skipped = dict.fromkeys([*findings.skipped, *self._main.findings.skipped])
        return Survey(
            files=(*start, *nested),
            skipped=tuple(skipped),
            warnings=tuple(dict.fromkeys([*findings.warnings, *self._main.findings.warnings])),
            notes=tuple(findings.notes),
            waiting=self._waiting(loader),
            indexes=tuple(
                (i, i.stat().st_size) for i in (self.auto.indexes() if self.auto else ()) if os.path.isfile(i)
            ),
        )

    def writable_directories(self) -> tuple[Path, ...]:
        """Where the agent may write without asking: the directory of its own notes, by its real path."""
        return (self.auto.places.personal.resolve(),) if self.auto is not None else ()

    def decide(self, targets: Sequence[Path], *, allow: bool) -> None:
        """Stores a decision about files outside the project.  ``SetupError`` if it can't be stored."""
        self.approvals.decide(targets, allow=allow)

    def _waiting(self, loader: Loader) -> tuple[tuple[Path, tuple[str, ...]], ...]:
        told = {f.path for f in self._main.nested}
        return tuple((r.found.path, r.patterns) for r in loader.path_rules.values() if r.found.path not in told)

    async def _settle(self, findings: Findings) -> bool:
        open_questions = [o for o in findings.outside if o.target not in self._asked]
        if not open_questions or self.ask is None:
            return False
        self._asked.update(o.target for o in open_questions)
        answer = await self.ask(open_questions)
        if answer is None:
            return False
        try:
            self.approvals.decide([o.target for o in open_questions], allow=answer)
        except SetupError as error:
            self._tell([str(error)])
        return True

    def _report(self, findings: Findings) -> None:
        self._tell(findings.warnings)

    def _tell(self, texts: Iterable[str]) -> None:
        for text in texts:
            if text not in self._warned:
                self._warned.add(text)
                self._warn(text)
