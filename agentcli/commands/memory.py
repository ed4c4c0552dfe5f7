"""``/memory``: the memory files in the order in which the model reads them; ``/memory edit N`` opens one, ``/memory why
PATH`` says what is loaded for a file, and by which rule."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.files import FileChanged, decode, encode, read_stamped, replace_file, to_newlines
from agentcli.memory import MemoryFile, Survey
from agentcli.memory.why import WHEN, Reason, explain
from agentcli.ports.frontend import Dialogs
from agentcli.text import plural

USAGE = "Use /memory, /memory edit NUMBER, or /memory why PATH."


async def run(context: CommandContext, arguments: str) -> CommandResult:
    room = context.session.memory
    if room is None:
        return CommandResult("This session reads no memory files.")
    word, _, rest = arguments.partition(" ")
    match word:
        case "":
            return CommandResult(listing(room.survey()))
        case "why" if rest.strip():
            path = context.session.workspace.resolve(rest.strip())
            return CommandResult(because(explain(path, room.places, room.approvals)))
        case "edit":
            return CommandResult(await edit(room.survey(), rest.strip(), context.dialogs))
        case _:
            raise UserError(f"/memory {word}: there is no such thing. {USAGE}")


def because(reasons: Sequence[Reason]) -> str:
    """Which files count for a path, and why each does or does not, as Markdown."""
    parts = []
    for when, title in WHEN.items():
        lines = [_reason_line(r) for r in reasons if r.when == when]
        if lines:
            parts.append("\n".join([f"**{title}**", "", *lines]))
    return "\n\n".join(parts) or "There are no memory files here."


def _reason_line(reason: Reason) -> str:
    size = f" (about {plural(reason.tokens, 'token')})" if reason.tokens else ""
    return f"- `{reason.path}`{size}: {reason.why}"


def editable(survey: Survey) -> list[Path]:
    """The files that have a number, in its order."""
    files = [f.path for f in survey.files if f.kind != "setting"]
    return [*files, *(path for path, _ in survey.waiting), *(path for path, _ in survey.indexes)]


def listing(survey: Survey) -> str:
    """What is read, what waits, what is left out and why, as Markdown."""
    number = {path: n for n, path in enumerate(editable(survey), 1)}
    parts: list[str] = []
    if survey.files:
        lines = [line for f in survey.files for line in _file_lines(f, number.get(f.path, 0))]
        parts.append("In the order in which the model reads them:\n\n" + "\n".join(lines))
    if survey.waiting:
        rules = [
            f"- {number[path]}. `{path}`: {', '.join(f'`{p}`' for p in patterns)}" for path, patterns in survey.waiting
        ]
        parts.append("Rules that come with the files they name:\n\n" + "\n".join(rules))
    if survey.indexes:
        lines = [f"- {number[path]}. `{path}`: {size:,} bytes" for path, size in survey.indexes]
        parts.append("The agent's own notes:\n\n" + "\n".join(lines))
    told = {str(s) for s in survey.skipped}
    left_out = [str(s) for s in survey.skipped] + [w for w in survey.warnings if w not in told]
    if left_out:
        parts.append("Not loaded, or worth a look:\n\n" + "\n".join(f"- {_literal(text)}" for text in left_out))
    if not survey.files and not survey.waiting:
        parts.insert(0, "There are no memory files here. /init writes a CLAUDE.md.")
    return "\n\n".join([*parts, *(["Edit one: /memory edit NUMBER"] if number else [])])


def _literal(text: str) -> str:
    """The text as Markdown that shows it as it is: paths and globs are full of marks."""
    return text if "`" in text else f"`{text}`"


def _file_lines(file: MemoryFile, number: int) -> list[str]:
    size = f"{plural(file.size, 'character')}, about {plural(file.tokens, 'token')}"
    what = f"{file.scope}{' rule' if file.kind == 'rule' else ''}"
    late = {"nested_traversal": ", told when a file there was used", "path_glob_match": ", told for its paths"}
    label = f"{number}. " if number else ""
    lines = [f"- {label}`{file.path}`: {what}, {size}{late.get(file.reason, '')}"]
    return [*lines, *_import_lines(file, "  ")]


def _import_lines(file: MemoryFile, indent: str) -> list[str]:
    lines: list[str] = []
    for one in file.imports:
        lines.append(f"{indent}- imports `{one.path}`: {plural(one.size, 'character')}")
        lines += _import_lines(one, indent + "  ")
    return lines


async def edit(survey: Survey, number: str, dialogs: Dialogs) -> str:
    """Opens the file of that number in the editor and writes what comes back; encoding and line ends stay."""
    files = editable(survey)
    if not number.isdecimal() or not 1 <= int(number) <= len(files):
        raise UserError(f"/memory edit {number}: give a number from 1 to {len(files)}, as /memory shows them.")
    path = files[int(number) - 1]
    try:
        data, stamp = read_stamped(path)
        decoded = decode(data)
        if decoded is None:
            raise UserError(f"{path} is not a text file.")
        before = decoded.text.replace("\r\n", "\n")
        after = await dialogs.edit(before, suffix=path.suffix or ".md")
        if after is None or after == before:
            return f"`{path}` is unchanged."
        replace_file(path, encode(to_newlines(after, decoded.format.newline), decoded.format), expect=stamp)
    except FileChanged as error:
        raise UserError(f"{path} was changed by somebody else meanwhile; nothing was written.") from error
    except UnicodeEncodeError as error:
        raise UserError(f"{path}: its encoding ({error.encoding}) lacks a character of the text.") from error
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    return f"`{path}` is written. A running conversation is told with its next request."


COMMAND = Command(
    "memory", "Show and edit memory files", run, argument_hint="[edit NUMBER | why PATH]", while_running=True
)
