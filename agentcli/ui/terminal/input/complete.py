"""Completion of the input line: slash commands at its start, files and MCP resources behind an
``@``."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from agentcli.text import one_line
from agentcli.ui.terminal.input.files import FileIndex
from agentcli.ui.terminal.output.pen import safe

_COMMAND = re.compile(r"^/([\w:.-]*)$")
_MENTION = re.compile(r'(?:^|(?<=[\s("\']))@(?:"([^"\n]*)|([^\s"]*))$')
FILES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A slash command as the menu shows it, without its slash."""

    name: str
    description: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class MentionEntry:
    """Something besides files that can be mentioned; ``text`` begins with its ``@``.  With a ``template``, which is
    shown, it is only the beginning of what has to be typed."""

    text: str
    description: str
    template: str = ""


class InputCompleter(Completer):
    """``commands`` and ``mentions`` are asked anew each time, so that what appears later is found."""

    def __init__(
        self,
        commands: Callable[[], Sequence[CommandEntry]],
        files: FileIndex,
        mentions: Callable[[], Sequence[MentionEntry]] = tuple,
    ) -> None:
        self._commands = commands
        self._files = files
        self._mentions = mentions

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        command = _COMMAND.match(before)
        if command:
            yield from self._command(command[1])
            return
        mention = _MENTION.search(document.current_line_before_cursor)
        if mention:
            yield from self._mention(mention, self._mentions())

    def _mention(self, mention: re.Match[str], others: Sequence[MentionEntry]) -> Iterable[Completion]:
        """Others than files come first where their beginning was typed, last where it is only a part of them."""
        query = mention[1] if mention[1] is not None else mention[2]
        typed, letters = mention.group(0), query.casefold()
        names = [(entry, entry.text[1:].casefold()) for entry in others]
        begun = [e for e, name in names if letters and name.startswith(letters)]
        holding = [e for e, name in names if letters in name and e not in begun]
        yield from _entries(begun[:FILES_SHOWN], typed)
        yield from _files(self._files.search(query, FILES_SHOWN), typed)
        yield from _entries(holding[:FILES_SHOWN], typed)

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """The search of a large tree runs in a thread, so that typing never waits for it."""
        mention = _MENTION.search(document.current_line_before_cursor)
        if mention and not _COMMAND.match(document.text_before_cursor):
            others = self._mentions()  # asked here: what they stand in changes on this thread
            found = await asyncio.to_thread(lambda: list(self._mention(mention, others)))
        else:
            found = list(self.get_completions(document, complete_event))
        for completion in found:
            yield completion

    def _command(self, typed: str) -> Iterable[Completion]:
        entries = self._commands()
        starts = [e for e in entries if e.name.startswith(typed)]
        inside = [e for e in entries if e not in starts and typed in e.name]
        for entry in [*starts, *inside]:
            shown = f"/{entry.name} {entry.hint}".rstrip()
            text = f"/{entry.name} " if entry.hint else f"/{entry.name}"
            yield Completion(text, -len(typed) - 1, display=shown, display_meta=entry.description)


def _entries(entries: Sequence[MentionEntry], typed: str) -> Iterable[Completion]:
    for entry in entries:
        shown = one_line(safe(entry.template or entry.text[1:]), 200)
        text = entry.text if entry.template else f"{entry.text} "
        about = one_line(safe(entry.description), 200)
        yield Completion(text, -len(typed), display=shown, display_meta=about)


def _files(paths: Sequence[str], typed: str) -> Iterable[Completion]:
    for path in paths:
        quoted = f'@"{path}"' if re.search(r"\s", path) else f"@{path}"
        text = quoted if path.endswith("/") else quoted + " "
        yield Completion(text, -len(typed), display=path)
