"""Programs and builtins that run other commands: what they run, and how.

A wrapper that can't be taken apart for sure yields a ``problem``: the line then counts as not understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agentcli.shell.values import Assignment, Piece, SimpleCommand, Via, Word, names, word

REST = Word((Piece("hole", "…"),))
"""Words that are added when the command runs (``xargs``, ``find -exec … +``)."""
SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ash", "mksh", "fish"})


@dataclass(frozen=True, slots=True)
class Inner:
    """One thing that a wrapper runs: words, or a ``script`` (text for a shell).

    ``same_shell``: it runs in the shell of the line (``eval``), so that it can move it.  ``elsewhere``: in a directory
    that isn't known.  ``defines``: names that mean something else afterwards (``alias``).
    """

    via: Via = "transparent"
    words: tuple[Word, ...] = ()
    script: str | None = None
    assignments: tuple[Assignment, ...] = ()
    problem: str = ""
    same_shell: bool = False
    elsewhere: bool = False
    defines: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Options:
    """How a wrapper's own options are told from the command behind them.  ``valued``: options that take the next word
    (short ones as one letter); ``operands``: words of its own between options and command."""

    via: Via = "transparent"
    valued: frozenset[str] = frozenset()
    operands: int = 0
    elsewhere: frozenset[str] = frozenset()
    assignments: bool = False


def _options(
    valued: str = "", operands: int = 0, via: Via = "transparent", *, elsewhere: str = "", env: bool = False
) -> Options:
    return Options(via, names(valued), operands, names(elsewhere), env)


WRAPPERS: dict[str, Options] = {
    "timeout": _options("k kill-after s signal", 1),
    "gtimeout": _options("k kill-after s signal", 1),
    "time": _options("f format o output"),
    "nice": _options("n adjustment"),
    "nohup": _options(),
    "noglob": _options(),
    "stdbuf": _options("i o e input output error"),
    "command": _options(),
    "builtin": _options(),
    "coproc": _options(),
    "exec": _options("a"),
    "env": _options("u unset C chdir", elsewhere="C chdir", env=True),
    "busybox": _options(),
    "toybox": _options(),
    "caffeinate": _options("t w"),
    "chronic": _options(),
    "unbuffer": _options(),
    "setarch": _options("", 1),
    "setsid": _options("", 0, "argument"),
    "ionice": _options("c class n classdata p pid P pgid u uid", 0, "argument"),
    "chrt": _options("T P D sched-runtime sched-period sched-deadline p pid", 1, "argument"),
    "taskset": _options("", 1, "argument"),
    "strace": _options("e E o p s S u a b I P O X", 0, "argument"),
    "ltrace": _options("e o p s S u a A D F l n w x", 0, "argument"),
    "chroot": _options("", 1, "privileged", elsewhere="*"),
    "sudo": _options(
        "u user g group h host p prompt C close-from D chdir R chroot T command-timeout U other-user r role t type "
        "a auth-type c login-class",
        0,
        "privileged",
        elsewhere="D chdir R chroot i login",
        env=True,
    ),
    "doas": _options("a C u", 0, "privileged", env=True),
    "runuser": _options("u user g group G supp-group w", 0, "privileged"),
    "unshare": _options("S G R w setuid setgid root wd", 0, "argument", elsewhere="R root w wd"),
    "nsenter": _options("t target S setuid G setgid", 0, "argument", elsewhere="r root w wd"),
    "firejail": _options("", 0, "argument"),
    "dbus-run-session": _options("config-file dbus-daemon", 0, "argument"),
    "systemd-run": _options("u unit p property E setenv d M H uid gid nice slice description", 0, "privileged"),
}


def unwrap(command: SimpleCommand) -> Iterator[Inner]:
    """What the command runs.  Nothing for an ordinary program."""
    name = command.program
    if not command.words or command.words[0].literal is None:
        return
    if name in SHELLS:
        from agentcli.shell.scripts import shell_script

        yield from shell_script(command)
        return
    special = SPECIAL.get(name)
    if special is not None:
        yield from special(command)
        return
    options = WRAPPERS.get(name)
    if options is not None and not (name == "command" and _asks_only(command)):
        yield from _plain(command, options)


def _asks_only(command: SimpleCommand) -> bool:
    """``command -v x`` only says what x is."""
    first = command.arguments[0].text if command.arguments else ""
    return len(first) > 1 and first[0] == "-" and set(first[1:]) <= set("vVp") and set(first[1:]) != {"p"}


def _plain(command: SimpleCommand, options: Options) -> Iterator[Inner]:
    split = skip_options(command.arguments, options.valued)
    if split is None:
        yield Inner(problem=f"options of {command.program} that are only known when it runs")
        return
    used, rest = split
    rest = rest[options.operands :]
    assignments: list[Assignment] = []
    while options.assignments and rest and (found := assignment_word(rest[0])):
        assignments.append(found)
        rest = rest[1:]
    if options.assignments and (split_string := used & {"S", "split-string"}):
        yield Inner(problem=f"{command.program} -{min(split_string)}, which splits a text into words")
        return
    if command.program in {"sudo", "doas", "runuser"} and used & {"s", "shell", "i", "login"} and rest:
        yield from joined_script(rest, options.via, command.program)
        return
    if rest:
        elsewhere = bool(options.elsewhere & used) or "*" in options.elsewhere
        yield Inner(options.via, rest, assignments=tuple(assignments), elsewhere=elsewhere)


def skip_options(words: tuple[Word, ...], valued: frozenset[str]) -> tuple[frozenset[str], tuple[Word, ...]] | None:
    """The names of the options in front, and the words behind them; ``None`` when a word might be an option."""
    used: set[str] = set()
    position = 0
    while position < len(words):
        item = words[position]
        if item.literal is None:
            if item.may_be_flag:
                return None
            break
        text = item.text
        if text == "--":
            position += 1
            break
        if not text.startswith("-") or text == "-":
            break
        position += 1
        if text.startswith("--"):
            name, equals, _ = text[2:].partition("=")
            used.add(name)
            position += name in valued and not equals
            continue
        for index, letter in enumerate(text[1:], 1):
            used.add(letter)
            if letter in valued:
                position += index == len(text) - 1
                break
    return frozenset(used), words[position:]


def assignment_word(item: Word) -> Assignment | None:
    """``NAME=value`` as an argument (``env``, ``sudo``)."""
    match = re.match(r"([A-Za-z_][A-Za-z0-9_]*)=", item.text)
    if match is None or item.pieces[0].kind != "text" or len(item.pieces[0].text) < match.end():
        return None
    first = Piece("text", item.pieces[0].text[match.end() :], item.pieces[0].quoted)
    return Assignment(match[1], Word((first, *item.pieces[1:])), prefix=True)


def joined_script(words: tuple[Word, ...], via: Via, name: str, *, same_shell: bool = False) -> Iterator[Inner]:
    """Arguments that a program joins with spaces and gives to a shell."""
    if all(w.literal is not None for w in words):
        yield Inner(via, script=" ".join(w.text for w in words), same_shell=same_shell, elsewhere=via == "remote")
    else:
        yield Inner(problem=f"{name} runs a text that is only known when it runs")


def _script(item: Word, via: Via, name: str, *, same_shell: bool = False) -> Inner:
    if item.literal is None:
        return Inner(problem=f"{name} runs a text that is only known when it runs")
    return Inner(via, script=item.text, same_shell=same_shell)


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
        yield _script(words[0], "script", "trap")


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
        yield from (_script(w, "argument", "flock") for w in rest[1:2])
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
        if item.text in {"-c", "--command"} and index + 1 < len(words):
            yield _script(words[index + 1], "privileged", command.program)
        elif item.text.startswith("--command="):
            yield _script(word(item.text.partition("=")[2]) if item.literal else item, "privileged", command.program)


def _git(command: SimpleCommand) -> Iterator[Inner]:
    """``git -c alias.x='!cmd'``."""
    words = command.arguments
    for index, item in enumerate(words[:-1]):
        if item.text != "-c":
            continue
        value = words[index + 1]
        key, _, text = value.text.partition("=")
        if not key.lower().startswith("alias."):
            continue
        if value.literal is None:
            yield Inner(problem="a git alias that is only known when it runs")
        elif text.startswith("!"):
            yield Inner("script", script=text[1:])


SPECIAL: dict[str, Callable[[SimpleCommand], Iterator[Inner]]] = {
    "eval": _eval,
    "trap": _trap,
    "alias": _alias,
    "xargs": _xargs,
    "find": _find,
    "gfind": _find,
    "watch": _watch,
    "flock": _flock,
    "ssh": _ssh,
    "parallel": _parallel,
    "su": _su,
    "script": _su,
    "git": _git,
}
