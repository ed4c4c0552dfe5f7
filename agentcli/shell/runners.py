"""Programs and builtins that run other commands in ways of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from agentcli.shell.gitprograms import GIT_VARIABLES, git_program, git_setting
from agentcli.shell.inner import REST, Inner, joined_script, script_of, skip_options
from agentcli.shell.readonly_git import git_split
from agentcli.shell.scripts import STANDARD_INPUT, standard_input
from agentcli.shell.values import Piece, SimpleCommand, Word, names, word


def _eval(command: SimpleCommand) -> Iterator[Inner]:
    words = command.arguments
    if words and words[0].text == "--":
        words = words[1:]
    if words:
        yield from joined_script(words, "script", "eval", same_shell=True)


def _trap(command: SimpleCommand) -> Iterator[Inner]:
    words = command.arguments
    if words and words[0].text == "--":
        words = words[1:]
    if len(words) > 1 and words[0].text not in {"-", "", "-l", "-p", "-P"}:
        yield script_of(words[0], "script", "trap")


def _alias(command: SimpleCommand) -> Iterator[Inner]:
    for item in command.arguments:
        name, equals, _ = item.text.partition("=")
        if not equals:
            continue
        value = item.literal
        if value is None:
            yield Inner(problem="an alias whose meaning is only known when it runs")
        else:
            yield Inner("script", script=value.partition("=")[2], defines=frozenset({name}))


def _xargs(command: SimpleCommand) -> Iterator[Inner]:
    valued = names("I n P L d a E s max-args max-procs max-lines arg-file delimiter max-chars process-slot-var")
    split = skip_options(command.arguments, valued)
    if split is None:
        yield Inner(problem="options of xargs that are only known when it runs")
        return
    used, rest = split
    if not rest:
        return
    marker = _replacement(command.arguments[: len(command.arguments) - len(rest)])
    if marker:
        yield Inner(words=tuple(_with_hole(w, marker) for w in rest))
    elif used & {"i", "replace"}:
        yield Inner(words=tuple(_with_hole(w, "{}") for w in rest))
    else:
        yield Inner(words=(*rest, REST))


def _replacement(options: tuple[Word, ...]) -> str:
    for index, item in enumerate(options):
        if item.text == "-I" and index + 1 < len(options):
            return options[index + 1].text
        if re.match(r"-[0rtpxo]*I", item.text):
            return item.text.partition("I")[2] or (options[index + 1].text if index + 1 < len(options) else "{}")
        if item.text.startswith("--replace="):
            return item.text.partition("=")[2]
    return ""


def _with_hole(item: Word, marker: str) -> Word:
    if marker not in item.text:
        return item
    pieces: list[Piece] = []
    for piece in item.pieces:
        parts = piece.text.split(marker) if piece.kind == "text" else [piece.text]
        for index, part in enumerate(parts):
            if index:
                pieces.append(Piece("hole", marker, quoted=True))
            if part:
                pieces.append(Piece(piece.kind, part, piece.quoted))
    return Word(tuple(pieces))


def _find(command: SimpleCommand) -> Iterator[Inner]:
    words = command.arguments
    position = 0
    while position < len(words):
        if words[position].text in {"-exec", "-execdir", "-ok", "-okdir"}:
            away = words[position].text.endswith("dir")
            end = next((i for i in range(position + 1, len(words)) if words[i].text in {";", "+"}), len(words))
            inner = tuple(_with_hole(w, "{}") for w in words[position + 1 : end])
            if inner:
                yield Inner("argument", inner, elsewhere=away)
            position = end
        position += 1


def _fd(command: SimpleCommand) -> Iterator[Inner]:
    words = command.arguments
    for index, item in enumerate(words):
        if re.match(r"-[A-Za-z0]*[xX]\Z|--exec(?:-batch)?\Z", item.text):
            rest = words[index + 1 :]
            end = next((i for i, w in enumerate(rest) if w.text == ";"), len(rest))
            if rest[:end]:
                yield Inner("argument", (*(_with_hole(w, "{}") for w in rest[:end]), REST), elsewhere=True)
            return


def _source(command: SimpleCommand) -> Iterator[Inner]:
    """A file is an ordinary argument; what comes from other commands or stands in the line is not."""
    words = [w for w in command.arguments if w.text != "--"]
    if words and words[0].text.startswith("<("):
        yield Inner(problem=f"{command.program} runs what other commands write")
    elif words and words[0].literal in STANDARD_INPUT:
        yield from standard_input(command)


def _mapfile(command: SimpleCommand) -> Iterator[Inner]:
    """``-C``: run for every so many lines."""
    for before, item in pairwise(command.words):
        if re.match(r"-[st]*C\Z", before.text):
            yield script_of(item, "script", command.program, same_shell=True)


def _watch(command: SimpleCommand) -> Iterator[Inner]:
    split = skip_options(command.arguments, frozenset({"n", "interval", "q", "equexit"}))
    if split is None:
        yield Inner(problem="options of watch that are only known when it runs")
    elif split[1] and split[0] & {"x", "exec"}:
        yield Inner("argument", split[1])
    elif split[1]:
        yield from joined_script(split[1], "argument", "watch")
        # What was meant counts too: the words as they stand here, before they are joined.
        yield Inner("argument", split[1])


def _flock(command: SimpleCommand) -> Iterator[Inner]:
    split = skip_options(command.arguments, names("w wait timeout E conflict-exit-code"))
    if split is None:
        yield Inner(problem="options of flock that are only known when it runs")
        return
    rest = split[1][1:]
    if rest and rest[0].text in {"-c", "--command"}:
        yield from (script_of(w, "argument", "flock") for w in rest[1:2])
    elif rest:
        yield Inner("argument", rest)


def _ssh(command: SimpleCommand) -> Iterator[Inner]:
    split = skip_options(command.arguments, names("B b c D E e F I i J L l m O o p Q R S W w"))
    if split is None:
        yield Inner(problem="options of ssh that are only known when it runs")
        return
    rest = split[1][1:]
    if rest:
        yield from joined_script(rest, "remote", "ssh")
        if len(rest) > 1:
            # What was meant counts too: the words as they stand here, before they are joined.
            yield Inner("remote", rest, elsewhere=True)


def _parallel(command: SimpleCommand) -> Iterator[Inner]:
    yield Inner(problem=f"{command.program} builds its commands when it runs")


def _su(command: SimpleCommand) -> Iterator[Inner]:
    words = command.arguments
    for index, item in enumerate(words):
        if re.match(r"-[a-zA-Z]*c\Z|--command\Z", item.text) and index + 1 < len(words):
            yield script_of(words[index + 1], "privileged", command.program)
        elif item.text.startswith("--command="):
            value = word(item.text.partition("=")[2]) if item.literal is not None else item
            yield script_of(value, "privileged", command.program)


def _fish(command: SimpleCommand) -> Iterator[Inner]:
    if command.arguments:
        yield Inner(problem=f"{command.program} speaks another language")


def _git(command: SimpleCommand) -> Iterator[Inner]:
    """Aliases given in the line, and subcommands that run something."""
    before, after = git_split(command.arguments)
    for option, value in pairwise(before):
        if option.text == "-c":
            yield from git_setting(value)
    yield from (git_program(a.value.text) for a in command.assignments if a.name in GIT_VARIABLES)
    if after:
        yield from _git_runs(after[0].text, after[1:])


def _git_runs(name: str, words: tuple[Word, ...]) -> Iterator[Inner]:
    first = words[0].text if words else ""
    if name == "submodule" and first == "foreach":
        rest = tuple(w for w in words[1:] if w.text not in {"--recursive", "-q", "--quiet"})
        if rest:
            yield from joined_script(rest, "argument", "git submodule foreach")
    elif name == "bisect" and first == "run" and words[1:]:
        yield Inner("argument", words[1:])
    elif name in {"rebase", "difftool"}:
        given = [v for o, v in pairwise(words) if o.text in {"-x", "--exec", "--extcmd"}]
        given += [word(w.text.partition("=")[2]) for w in words if w.text.startswith(("--exec=", "--extcmd="))]
        yield from (script_of(v, "argument", f"git {name}") for v in given)
    elif name == "grep":
        opened = [re.match(r"(?:-O|--open-files-in-pager=)(.+)", w.text, re.DOTALL) for w in words]
        yield from (git_program(m[1]) for m in opened if m)


SPECIAL: dict[str, Callable[[SimpleCommand], Iterator[Inner]]] = {
    "eval": _eval,
    "trap": _trap,
    "alias": _alias,
    "xargs": _xargs,
    "source": _source,
    ".": _source,
    "mapfile": _mapfile,
    "readarray": _mapfile,
    "fd": _fd,
    "fdfind": _fd,
    "find": _find,
    "gfind": _find,
    "watch": _watch,
    "flock": _flock,
    "ssh": _ssh,
    "parallel": _parallel,
    "su": _su,
    "script": _su,
    "git": _git,
    "fish": _fish,
}
