"""The memory of one conversation: what it was told, what is due when a file is touched, and what has changed since."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path

from agentcli.memory.approvals import Approvals
from agentcli.memory.discovery import identify, start_files
from agentcli.memory.loading import Loader, managed_setting
from agentcli.memory.nested import due_files
from agentcli.memory.places import Places
from agentcli.memory.render import path_of, render_nested, render_section, told_elements
from agentcli.memory.values import Findings, MemoryFile
from agentcli.memory.watch import Watch, change_text
from agentcli.messages import Message, TextBlock
from agentcli.ports.prompt import Moment, Reminder

Settle = Callable[[Findings], Awaitable[bool]]
"""Asks about files outside the tree where that is due; whether something may be loaded now that could not before."""


class InstructionMemory:
    """Instruction files of one conversation (the main one's, or a subagent's).

    ``start`` holds what the prompt's section says, ``nested`` what came by reminder.  Nothing that was sent is ever
    changed: whatever is new is said in a reminder, once.
    """

    def __init__(
        self, places: Places, approvals: Approvals, *, settle: Settle, report: Callable[[Findings], None]
    ) -> None:
        self.places = places
        self.start: list[MemoryFile] = []
        self.nested: list[MemoryFile] = []
        self._approvals = approvals
        self._settle = settle
        self._report = report
        self._loader = Loader(places, approvals)
        self._watch = Watch()
        self._begun = False

    @property
    def findings(self) -> Findings:
        return self._loader.findings

    async def section(self) -> str | None:
        """Reads what holds from the start and renders it.  Nothing counts as told by reminder any more."""
        self._load()
        if await self._settle(self.findings):
            self._load()
        self._report(self.findings)
        return render_section(self.start)

    def resume(self, sections: Mapping[str, str | None], messages: Iterable[Message]) -> None:
        """Takes over what a resumed conversation has been told, from the very texts that were sent: the restored values
        of the prompt's sections and the messages.  A conversation that was told nothing stays as it is.

        What has changed on disk since then is said before the next step.
        """
        sent = told_elements(sections.get("memory") or "")
        for message in messages:
            for block in message.content:
                if isinstance(block, TextBlock) and block.origin == "reminder":
                    sent |= told_elements(block.text)
        if not sent and "memory" not in sections:
            return
        self._load()
        known = {f.path for f in self.start}
        self.nested = self._again(self._loader, [p for p in map(path_of, sent) if p not in known])
        self._remember()
        self._watch.believe(sent)
        self._report(self.findings)

    def begin_anew(self) -> None:
        """After a compaction or ``/clear``: what came by reminder counts as not told."""
        if self._begun:
            self._load()

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        if not self._begun:
            return []
        match moment:
            case "file_touched":
                return await self._touched(paths)
            case "before_step":
                return self._changes()
            case "first_message":  # a conversation taken back to its beginning keeps the prompt that it had
                return self._changes() if self._watch.believes else []
            case "after_compaction":
                return []

    async def _touched(self, paths: Sequence[Path]) -> list[Reminder]:
        """What the directories and rules of these files say that was not said yet, in one reminder."""
        self._watch.own(paths)
        real = [p.resolve() for p in paths]
        before = self.findings.copy()
        files = due_files(self._loader, real)
        if await self._settle(self.findings):
            self._loader.findings = before
            for file in files:
                self._loader.release(file.path)
            files = [*self._again(self._loader, [f.path for f in files]), *due_files(self._loader, real)]
        self._report(self.findings)
        if not files:
            return []
        self.nested += files
        self._watch.add(files, self.findings.directories)
        return [Reminder("memory", render_nested(files))]

    def _changes(self) -> list[Reminder]:
        """What was edited by somebody else since it was told."""
        own = self._watch.taken_own()
        if not self._watch.stale():
            return []
        fresh, start = load_start(self.places, self._approvals)
        nested = self._again(fresh, [f.path for f in self.nested])
        news = self._watch.differences([*start, *nested])
        self._loader, self.start, self.nested = fresh, start, nested
        self._remember()
        self._report(self.findings)
        return [Reminder(f"memory-changed:{n.path}", change_text(n)) for n in news if not n.sources & own]

    def _load(self) -> None:
        self._loader, self.start = load_start(self.places, self._approvals)
        self.nested = []
        self._watch = Watch()
        self._begun = True
        self._remember()

    def _again(self, loader: Loader, paths: Iterable[Path]) -> list[MemoryFile]:
        """Loads files that had been loaded by reminder."""
        found = [identify(p, self.places) for p in paths if os.path.exists(p)]
        loaded = [loader.load(f, "nested_traversal", matched=True) for f in found]
        return [f for f in loaded if f is not None]

    def _remember(self) -> None:
        self._watch.remember([*self.start, *self.nested], self.places, self.findings.directories)


def load_start(places: Places, approvals: Approvals) -> tuple[Loader, list[MemoryFile]]:
    """Everything that holds from the start, in order, and the loader that knows what was claimed."""
    loader = Loader(places, approvals)
    setting = managed_setting(places)
    files = start_files(places, loader.findings, loader.may_follow)
    return loader, [*([setting] if setting else []), *loader.load_all(files)]
