"""Chooses between a sub-command and a conversation, and turns every expected failure into one clear line.

Exit codes: 0 success · 1 error result · 2 usage or configuration · 3 limit reached · 4 permission needed and nobody to
ask (``--strict-permissions``) · 130 SIGINT · 141 the reader of our output is gone · 143 SIGTERM.
"""

from __future__ import annotations

import os
import sys

from agentcli.errors import Bug, UserError

SUBCOMMANDS: tuple[str, ...] = ("demo", "doctor", "prompt", "permissions", "config", "memory")
EXIT_USAGE = 2
EXIT_SIGINT = 130
EXIT_PIPE = 141


def run(argv: list[str] | None = None) -> int:
    """Runs the program and returns its exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        return _dispatch(arguments)
    except UserError as error:
        sys.stderr.write(f"agentcli: {error}\n")
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_SIGINT
    except BrokenPipeError:
        _silence_stdout()
        return EXIT_PIPE
    except Bug as error:
        sys.stderr.write(f"agentcli: a bug in agentcli: {error}\nPlease report it with what you did.\n")
        return 1


def _dispatch(arguments: list[str]) -> int:
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


def _silence_stdout() -> None:
    """So that the interpreter's own flush at exit does not fail a second time."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
