"""Programs and builtins that run other commands: what they run, and how.

A wrapper that can't be taken apart for sure yields a ``problem``: the line then counts as not understood.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agentcli.shell.inner import Inner, assignment_word, joined_script, skip_options
from agentcli.shell.runners import SPECIAL
from agentcli.shell.scripts import shell_script
from agentcli.shell.values import Assignment, SimpleCommand, Via, names

SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ash", "mksh"})
SAME_SHELL = frozenset({"command", "builtin", "time", "noglob"})
"""Behind these a ``cd`` moves the shell of the line."""


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
    "pkexec": _options("u user", 0, "privileged"),
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
    if command.program == "env" and rest and rest[0].literal == "-":
        rest = rest[1:]
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
        here = command.program in SAME_SHELL
        yield Inner(options.via, rest, assignments=tuple(assignments), elsewhere=elsewhere, same_shell=here)
