"""Completion of the input line: slash commands at its start, files behind an ``@``."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from agentcli.ui.terminal.input.files import FileIndex

_COMMAND = re.compile(r"^/([\w:.-]*)$")
_MENTION = re.compile(r'(?:^|(?<=[\s("\']))@(?:"([^"\n]*)|([^\s"]*))$')
FILES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A slash command as the menu shows it, without its slash."""

    name: str
    description: str
    hint: str = ""


class InputCompleter(Completer):
    """``commands`` is asked anew each time, so that commands that appear later are found."""

    def __init__(self, commands: Callable[[], Sequence[CommandEntry]], files: FileIndex) -> None:
        self._commands = commands
        self._files = files

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        command = _COMMAND.match(before)
        if command:
            yield from self._command(command[1])
            return
        mention = _MENTION.search(document.current_line_before_cursor)
        if mention:
            query = mention[1] if mention[1] is not None else mention[2]
            yield from _files(self._files.search(query, FILES_SHOWN), mention.group(0))

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """The search of a large tree runs in a thread, so that typing never waits for it."""
        if _MENTION.search(document.current_line_before_cursor):
            found = await asyncio.to_thread(lambda: list(self.get_completions(document, complete_event)))
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


def _files(paths: Sequence[str], typed: str) -> Iterable[Completion]:
    for path in paths:
        quoted = f'@"{path}"' if re.search(r"\s", path) else f"@{path}"
        text = quoted if path.endswith("/") else quoted + " "
        yield Completion(text, -len(typed), display=path)
