"""Chooses between a sub-command and a conversation, and turns every expected failure into one clear line.

Exit codes: 0 success · 1 error result · 2 usage or configuration · 3 limit reached · 4 permission needed and nobody to
ask (``--strict-permissions``) · 130 SIGINT · 141 the reader of our output is gone · 143 SIGTERM.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import pairwise

from agentcli.errors import Bug, UserError

SUBCOMMANDS: tuple[str, ...] = (
    "demo",
    "doctor",
    "loop",
    "prompt",
    "permissions",
    "config",
    "memory",
    "mcp",
    "sessions",
)
EXIT_USAGE = 2
EXIT_SIGINT = 130
EXIT_PIPE = 141
EXIT_SIGTERM = 143


class _Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP came before a front end was there to take it."""


def run(argv: list[str] | None = None) -> int:
    """Runs the program and returns its exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    _reserve_streams()
    try:
        with _listening() if _wants_result(arguments) else nullcontext():
            return _dispatch(arguments)
    except UserError as error:
        sys.stderr.write(f"agentcli: {error}\n")
        _print_result(arguments, str(error), "invalid_configuration")
        return EXIT_USAGE
    except _Terminated:
        _print_result(arguments, "interrupted by SIGTERM before it began", "interrupted")
        return EXIT_SIGTERM
    except KeyboardInterrupt:
        _print_result(arguments, "interrupted by SIGINT before it began", "interrupted")
        return EXIT_SIGINT
    except BrokenPipeError:
        _silence_stdout()
        return EXIT_PIPE
    except Bug as error:
        sys.stderr.write(f"agentcli: a bug in agentcli: {error}\nPlease report it with what you did.\n")
        return 1


def _dispatch(arguments: list[str]) -> int:
    try:
        os.getcwd()
    except OSError as error:
        raise UserError(f"the working directory can't be used ({error.strerror}): cd to one that exists") from error
    if arguments and arguments[0] in SUBCOMMANDS:
        from agentcli.cli.subcommands import run_subcommand

        return run_subcommand(arguments)
    if len(arguments) == 1:
        _refuse_misspelt(arguments[0])
    from agentcli.cli.chat import run_chat

    return run_chat(arguments)


def _refuse_misspelt(word: str) -> None:
    """``agentcli docter`` is a typo, not a prompt; a prompt has blanks or is unlike every sub-command."""
    if word.startswith("-") or not word.isalpha():
        return
    from difflib import get_close_matches

    close = get_close_matches(word.lower(), SUBCOMMANDS, n=1, cutoff=0.75)
    if close:
        raise UserError(f"unknown command {word!r}; did you mean `agentcli {close[0]}`? (a prompt: agentcli -- {word})")


def _wants_result(arguments: list[str]) -> bool:
    """Whether a program reads the output: it gets a result even when the run can't begin."""
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    formats = [b for a, b in pairwise(words) if a == "--output-format"] + [
        word.partition("=")[2] for word in words if word.startswith("--output-format=")
    ]
    return formats[-1:] in (["json"], ["stream-json"])


def _reserve_streams() -> None:
    """Closed standard streams lead nowhere: the next file that is opened must not take their place."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  # lives as long as the program


@contextmanager
def _listening() -> Iterator[None]:
    """From the first moment on signals end the program with a result."""

    def end(number: int, frame: object) -> None:
        raise _Terminated

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = [(number, signal.signal(number, end)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _print_result(arguments: list[str], message: str, kind: str) -> None:
    if not _wants_result(arguments):
        return
    from agentcli.ui.headless.result import not_started

    line = json.dumps(not_started(message, kind=kind), ensure_ascii=False) + "\n"
    with suppress(OSError):  # the reader may be gone as well
        os.write(1, line.encode())


def _silence_stdout() -> None:
    """So that the interpreter's own flush at exit does not fail a second time."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
