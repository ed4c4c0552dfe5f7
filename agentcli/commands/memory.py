"""``/memory``: the memory files in the order in which the model reads them; ``/memory edit N`` opens one, ``/memory why
PATH`` says what is loaded for a file, and by which rule."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.files import FileChanged, decode, encode, read_stamped, replace_file, to_newlines
from agentcli.i18n import IN_ENGLISH, Texts
from agentcli.memory import MemoryFile, Survey
from agentcli.memory.why import WHEN, Reason, explain
from agentcli.ports.frontend import Dialogs


async def run(context: CommandContext, arguments: str) -> CommandResult:
    room, t = context.session.memory, context.texts
    if room is None:
        return CommandResult(t("memory.off"))
    word, _, rest = arguments.partition(" ")
    match word:
        case "":
            return CommandResult(listing(room.survey(), t))
        case "why" if rest.strip():
            path = context.session.workspace.resolve(rest.strip())
            return CommandResult(because(explain(path, room.places, room.approvals, t), t))
        case "edit":
            return CommandResult(await edit(room.survey(), rest.strip(), context.dialogs, t))
        case _:
            raise UserError(t("memory.usage", given=word))


def because(reasons: Sequence[Reason], t: Texts = IN_ENGLISH) -> str:
    """Which files count for a path, and why each does or does not, as Markdown."""
    parts = []
    for when in WHEN:
        lines = [_reason_line(r, t) for r in reasons if r.when == when]
        if lines:
            parts.append("\n".join([f"**{t(f'memory.when.{when}')}**", "", *lines]))
    return "\n\n".join(parts) or t("memory.none")


def _reason_line(reason: Reason, t: Texts) -> str:
    size = f" ({t.count('count.token', reason.tokens)})" if reason.tokens else ""
    return f"- `{reason.path}`{size}: {reason.why}"


def editable(survey: Survey) -> list[Path]:
    """The files that have a number, in its order."""
    files = [f.path for f in survey.files if f.kind != "setting"]
    return [*files, *(path for path, _ in survey.waiting), *(path for path, _ in survey.indexes)]


def listing(survey: Survey, t: Texts = IN_ENGLISH) -> str:
    """What is read, what waits, what is left out and why, as Markdown."""
    number = {path: n for n, path in enumerate(editable(survey), 1)}
    parts: list[str] = []
    if survey.files:
        lines = [line for f in survey.files for line in _file_lines(f, number.get(f.path, 0), t)]
        parts.append(f"{t('memory.order')}\n\n" + "\n".join(lines))
    if survey.waiting:
        rules = [
            f"- {number[path]}. `{path}`: {', '.join(f'`{p}`' for p in patterns)}" for path, patterns in survey.waiting
        ]
        parts.append(f"{t('memory.waiting')}\n\n" + "\n".join(rules))
    if survey.indexes:
        lines = [f"- {number[path]}. `{path}`: {t.count('count.byte', size)}" for path, size in survey.indexes]
        parts.append(f"{t('memory.notes')}\n\n" + "\n".join(lines))
    told = {str(s) for s in survey.skipped}
    left_out = [str(s) for s in survey.skipped] + [w for w in survey.warnings if w not in told]
    if left_out:
        parts.append(f"{t('memory.warnings')}\n\n" + "\n".join(f"- {_literal(text)}" for text in left_out))
    if not survey.files and not survey.waiting:
        parts.insert(0, t("memory.init"))
    return "\n\n".join([*parts, *([t("memory.edit")] if number else [])])


def _literal(text: str) -> str:
    """The text as Markdown that shows it as it is: paths and globs are full of marks."""
    return text if "`" in text else f"`{text}`"


_LATE = {"nested_traversal": "memory.late.nested_traversal", "path_glob_match": "memory.late.path_glob_match"}


def _file_lines(file: MemoryFile, number: int, t: Texts) -> list[str]:
    size = f"{t.count('count.character', file.size)}, {t.count('count.token', file.tokens)}"
    what = t("memory.rule", scope=file.scope) if file.kind == "rule" else file.scope
    late = t(_LATE[file.reason]) if file.reason in _LATE else ""
    label = f"{number}. " if number else ""
    lines = [f"- {label}`{file.path}`: {what}, {size}{late}"]
    return [*lines, *_import_lines(file, "  ", t)]


def _import_lines(file: MemoryFile, indent: str, t: Texts) -> list[str]:
    lines: list[str] = []
    for one in file.imports:
        lines.append(f"{indent}- {t('memory.imports')} `{one.path}`: {t.count('count.character', one.size)}")
        lines += _import_lines(one, indent + "  ", t)
    return lines


async def edit(survey: Survey, number: str, dialogs: Dialogs, t: Texts = IN_ENGLISH) -> str:
    """Opens the file of that number in the editor and writes what comes back; encoding and line ends stay."""
    files = editable(survey)
    if not number.isdecimal() or not 1 <= int(number) <= len(files):
        raise UserError(t("memory.number", given=number, most=len(files)))
    path = files[int(number) - 1]
    try:
        data, stamp = read_stamped(path)
        decoded = decode(data)
        if decoded is None:
            raise UserError(t("memory.binary", path=path))
        before = decoded.text.replace("\r\n", "\n")
        after = await dialogs.edit(before, suffix=path.suffix or ".md")
        if after is None or after == before:
            return t("memory.unchanged", path=path)
        replace_file(path, encode(to_newlines(after, decoded.format.newline), decoded.format), expect=stamp)
    except FileChanged as error:
        raise UserError(t("memory.raced", path=path)) from error
    except UnicodeEncodeError as error:
        raise UserError(t("memory.encoding", path=path, encoding=error.encoding)) from error
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    return t("memory.written", path=path)


COMMAND = Command(
    "memory", "Show and edit memory files", run, argument_hint="[edit NUMBER | why PATH]", while_running=True
)
