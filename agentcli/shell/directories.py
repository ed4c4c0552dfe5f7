"""Where the commands of a line run: the working directory is followed through ``cd``, symbolically."""

from __future__ import annotations

from typing import TypeAlias

from agentcli.shell.values import SimpleCommand

Dirs: TypeAlias = tuple[str, ...] | None
"""Possible places, relative to where the line starts (``""``); ``None``: anywhere; ``()``: the shell has ended."""
START: Dirs = ("",)
MOST = 4


def join(*many: Dirs) -> Dirs:
    """Any of them."""
    found: dict[str, None] = {}
    for one in many:
        if one is None:
            return None
        found |= dict.fromkeys(one)
    return tuple(sorted(found)) if len(found) <= MOST else None


def below(place: str, target: str) -> str:
    """``target`` as seen from ``place``; absolute and ``~`` targets stand for themselves."""
    if target.startswith(("/", "~/")) or target == "~":
        return target
    return f"{place}/{target}" if place else target


def after_cd(command: SimpleCommand, dirs: Dirs) -> tuple[Dirs, Dirs]:
    """Where the shell stands after the command, if it succeeded and if it failed."""
    if command.name in {"source", ".", "popd"}:
        return None, None
    if command.name == "exit":
        return (), ()
    if command.name not in {"cd", "pushd", "chdir"}:
        return dirs, dirs
    operands = [w for w in command.arguments if w.literal is None or not _option(w.text)]
    if dirs is None or len(operands) > 1:
        return None, dirs
    if not operands:
        return (("~",) if command.name == "cd" else None), dirs
    target = operands[0]
    known = target.literal is not None and target.text not in {"-", ""} and not target.text.startswith("+")
    if not known or (target.text.startswith("~") and not _home(target.text, target.tilde)):
        return None, dirs
    text = target.text if not target.text.startswith("~") or target.tilde else "./" + target.text
    return tuple(sorted({below(d, text) for d in dirs})), dirs


def _option(text: str) -> bool:
    return text == "--" or (len(text) > 1 and text[0] == "-" and set(text[1:]) <= set("PLe@n"))


def _home(text: str, tilde: bool) -> bool:
    """A ``~`` that is a literal character, or that means the home directory (not another user's)."""
    return not tilde or text == "~" or text.startswith("~/")
