"""The text of a skill or command, with arguments, commands' output and files put in.

The text is taken apart first and filled in afterwards: what an argument, a command or a file brings is never looked at
again, so that no value can turn into a command.

=============================================== =====================================================================
``$ARGUMENTS``                                  all arguments as typed; put at the end where the text has no place
``$ARGUMENTS[N]``, ``$N``                       the Nth argument, counted from 0, quoted as in a shell
``$name``                                       by the names in ``arguments``
``${CLAUDE_SESSION_ID}``, ``${CLAUDE_EFFORT}``,
``${CLAUDE_SKILL_DIR}``,
``${CLAUDE_PROJECT_DIR}``                       as they say
``!`command` ``                                 at a line's start or behind a blank: the output; also a block fenced
                                                with three backticks and ``!``
``@file``                                       the file's text, behind the whole
``\\$1``                                         ``$1`` itself
=============================================== =====================================================================
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentcli.errors import UserError
from agentcli.extend.skills import Skill
from agentcli.ports.skills import RunLine
from agentcli.text import clean, head_tail

OUTPUT_LIMIT = 30_000
"""Characters of one command's output, and of one file."""
FILES_LIMIT = 20
OFF = "[commands in skills are switched off by the settings]"
UNTRUSTED = "[not run: this project is not trusted]"
_PLACES = re.compile(
    r"""\\(?P<escaped>\$(?:ARGUMENTS|\d+|[A-Za-z_]\w*|\{CLAUDE_))
    |\$ARGUMENTS\[(?P<item>\d{1,4})\]
    |\$(?P<all>ARGUMENTS)\b
    |\$\{(?P<variable>CLAUDE_[A-Z_]+)\}
    |\$(?P<number>\d{1,4})(?!\d)(?![.,]\d)
    |\$(?P<name>[A-Za-z_]\w*)""",
    re.VERBOSE,
)
_COMMANDS = re.compile(
    r"^[ \t]*```![ \t]*\n(?P<block>.*?)^[ \t]*```[ \t]*$|(?:(?<=\s)|^)!`(?P<line>[^`\n]+)`", re.DOTALL | re.MULTILINE
)
_CODE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"(?:(?<=\s)|^|(?<=[(\"']))@(?P<path>[^\s@`]+)", re.MULTILINE)


def _never_read(path: Path) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where and with what a text is expanded.  ``run`` ``None``: nothing can be run here; ``may_read`` is asked before
    a file is put in; ``shell_allowed`` is the setting ``disableSkillShellExecution`` turned round."""

    cwd: Path
    project: Path | None
    session_id: str = ""
    effort: str = ""
    run: RunLine | None = None
    may_read: Callable[[Path], bool] = _never_read
    shell_allowed: bool = True


@dataclass(slots=True)
class Arguments:
    """The arguments of one invocation, and whether the text had a place for them."""

    typed: str
    names: Sequence[str]
    variables: Mapping[str, str]
    used: bool = False
    words: list[str] = field(init=False)

    def __post_init__(self) -> None:
        try:
            self.words = shlex.split(self.typed)
        except ValueError:  # an apostrophe in prose
            self.words = self.typed.split()

    def fill(self, text: str) -> str:
        return _PLACES.sub(self._value, text)

    def _value(self, found: re.Match[str]) -> str:
        if found["escaped"]:
            return found["escaped"]
        if found["variable"]:
            return self.variables.get(found["variable"], found[0])
        if found["all"]:
            self.used = True
            return self.typed
        if found["name"]:
            if found["name"] not in self.names:
                return found[0]
            return self._word(self.names.index(found["name"]))
        number = int(found["item"] or found["number"])
        if number >= len(self.words) and number > 9 and not found["item"]:
            return found[0]  # $100 is a price
        return self._word(number)

    def _word(self, number: int) -> str:
        self.used = True
        return self.words[number] if number < len(self.words) else ""


async def expand(skill: Skill, body: str, typed: str, world: Surroundings) -> str:
    """The whole text.  ``UserError`` names a command that was refused or failed."""
    variables = {
        "CLAUDE_SESSION_ID": world.session_id,
        "CLAUDE_EFFORT": world.effort,
        "CLAUDE_SKILL_DIR": str(skill.directory),
        "CLAUDE_PROJECT_DIR": str(world.project or world.cwd),
    }
    arguments = Arguments(clean(typed), skill.arguments, variables)
    parts: list[str] = []
    plain: list[str] = []
    end = 0
    for found in _COMMANDS.finditer(body):
        plain.append(body[end : found.start()])
        parts.append(arguments.fill(plain[-1]))
        command = arguments.fill(found["block"] if found["block"] is not None else found["line"]).strip()
        parts.append(await _output(skill, command, world))
        end = found.end()
    plain.append(body[end:])
    parts.append(arguments.fill(plain[-1]))
    text = "".join(parts).strip()
    if arguments.typed.strip() and not arguments.used:
        text += f"\n\nARGUMENTS: {arguments.typed}"
    names = [arguments.fill(name) for piece in plain for name in _files_named(piece)]
    return "\n\n".join([text, *_contents(names, world, skill)])


async def _output(skill: Skill, command: str, world: Surroundings) -> str:
    if not skill.trusted:
        return UNTRUSTED
    if not world.shell_allowed:
        return OFF
    if world.run is None:
        raise UserError(f"/{skill.name}: the command `{command}` can't be run here")
    done = await world.run(command, skill.allowed_tools)
    if done.refused:
        hint = "Allow it in the permission rules, or with allowed-tools in the file."
        raise UserError(f"/{skill.name}: the command `{command}` is not allowed: {done.refused}. {hint}")
    output = _cut(clean(done.output).strip("\n"))
    if done.exit_code:
        raise UserError(
            f"/{skill.name}: the command `{command}` failed with exit code {done.exit_code}: {output}".rstrip(": ")
        )
    return output


def _cut(text: str) -> str:
    cut = head_tail(text, OUTPUT_LIMIT)
    return f"{cut.head}\n[… {cut.dropped:,} characters left out …]\n{cut.tail}" if cut.dropped else text


def _files_named(text: str) -> list[str]:
    """Paths behind ``@``, code left out."""
    return [found["path"] for found in _FILE.finditer(_CODE.sub("", text))]


def _contents(names: list[str], world: Surroundings, skill: Skill) -> list[str]:
    """Each readable file once, as a fenced block.  Anything else behind an ``@`` is taken for a word."""
    found: dict[Path, str] = {}
    for name in names:
        for path in _candidates(name, world.cwd):
            text = _text(path, world, skill) if path not in found and len(found) < FILES_LIMIT else None
            if text is not None:
                found[path] = text
                break
    return [_fenced(path, text) for path, text in found.items()]


def _candidates(name: str, cwd: Path) -> list[Path]:
    """The name as written, then without punctuation behind it."""
    names = dict.fromkeys([name, name.rstrip(".,;:!?)]}\"'")])
    return [Path(n).expanduser() if n.startswith("~/") else cwd / n for n in names if n]


def _text(path: Path, world: Surroundings, skill: Skill) -> str | None:
    inside = (world.project or world.cwd).resolve()
    try:
        if not os.path.isfile(path) or not (skill.trusted or path.resolve().is_relative_to(inside)):
            return None
        if not world.may_read(path):
            return None
        with path.open("rb") as file:
            data = file.read(4 * OUTPUT_LIMIT + 1)
    except (OSError, ValueError):
        return None
    return None if b"\0" in data else _cut(data.decode("utf-8", "replace"))


def _fenced(path: Path, text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{path}:\n{fence}\n{text.rstrip()}\n{fence}"
