"""What a command line is made of, once it is read.  Frozen, free of the parser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PieceKind = Literal["text", "glob", "variable", "hole"]
Via = Literal["line", "substitution", "function", "transparent", "script", "argument", "privileged", "remote"]
"""How a command comes to run: written in the line itself; inside ``$( )`` or the like; in a function's body; behind a
wrapper that changes nothing about it (``timeout 5``); in a text that a shell is given (``bash -c``, ``eval``,
``trap``); as an argument of a program that runs it (``find -exec``, ``watch``); as another user; on another machine."""
RedirectKind = Literal["read", "write", "dup", "heredoc", "herestring"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a word.  ``text``: literal characters, quotes and escapes resolved.  ``glob``: an unquoted pattern
    character.  ``variable``: the value of one variable, ``text`` is its name.  ``hole``: anything else that is only
    known when it runs, ``text`` as written.  Unquoted variables and holes may become any number of words."""

    kind: PieceKind
    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command, as the shell would hand it over.  ``tilde``: it begins with an unquoted ``~``."""

    pieces: tuple[Piece, ...]
    tilde: bool = False

    @property
    def text(self) -> str:
        """The value where it is known; variables as ``$NAME``, other expansions as written."""
        return "".join(f"${p.text}" if p.kind == "variable" else p.text for p in self.pieces)

    @property
    def literal(self) -> str | None:
        """The value, if nothing of it depends on the run."""
        return self.text if all(p.kind == "text" for p in self.pieces) else None

    @property
    def dynamic(self) -> bool:
        return any(p.kind in {"variable", "hole"} for p in self.pieces)

    @property
    def glob(self) -> bool:
        return any(p.kind == "glob" for p in self.pieces)

    @property
    def quoted(self) -> bool:
        """Some part stood in quotes or was escaped."""
        return any(p.quoted for p in self.pieces)

    @property
    def may_be_flag(self) -> bool:
        """Whether the word, or one that it becomes, can begin with ``-``."""
        if not self.pieces:
            return False
        if self.literal is not None:
            return self.text.startswith("-")
        if any(p.kind in {"variable", "hole"} and not p.quoted for p in self.pieces):
            return True
        first = self.pieces[0]
        return first.kind != "text" or first.text.startswith("-")


def names(text: str) -> frozenset[str]:
    """A set of names, written as one text."""
    return frozenset(text.split())


def word(text: str) -> Word:
    """A literal word."""
    return Word((Piece("text", text),) if text else ())


@dataclass(frozen=True, slots=True)
class Assignment:
    """``NAME=value``.  ``prefix``: for one command only; ``exported``: reaches the environment of later commands."""

    name: str
    value: Word
    prefix: bool = False
    exported: bool = False


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirection.  ``target`` is the file (``read``, ``write``) or the here-string; ``body`` the text of a
    here-document, ``None`` where it holds expansions.  ``directories`` as in ``SimpleCommand``."""

    kind: RedirectKind
    operator: str
    target: Word | None = None
    body: str | None = None
    directories: tuple[str, ...] | None = ("",)


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """A command that the line would run.

    ``directories`` are the places where it may run, relative to where the line starts (``""``), symbolic
    (``sub/..``, ``~``); ``None``: anywhere.  ``parent`` is the index of the command that runs this one.  ``problem``
    says why it can't be judged.  ``piped``: its input comes from another command of the line.
    """

    words: tuple[Word, ...]
    source: str
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    directories: tuple[str, ...] | None = ("",)
    via: Via = "line"
    parent: int | None = None
    problem: str = ""
    piped: bool = False

    @property
    def name(self) -> str:
        """The first word: the program, function or builtin.  Empty for a bare assignment or redirection."""
        return self.words[0].text if self.words else ""

    @property
    def program(self) -> str:
        """The last component of the name."""
        return self.name.rsplit("/", 1)[-1]

    @property
    def argv(self) -> tuple[str, ...]:
        return tuple(w.text for w in self.words)

    @property
    def arguments(self) -> tuple[Word, ...]:
        return self.words[1:]

    @property
    def text(self) -> str:
        """The words with one space between them; a word with white space or shell characters stays recognisable."""
        return " ".join(shown(w) for w in self.words)

    @property
    def dynamic(self) -> bool:
        return any(w.dynamic or w.glob for w in self.words)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A whole line.  Not ``understood``: some of it can't be judged, ``reason`` says why; the commands that were found
    are listed all the same, since deny rules hold for them.  ``functions`` are names that the line defines (functions
    and aliases); ``assignments`` those that stay in force for later commands of the line.  ``caution`` says why nothing
    of the line counts as harmless, though it is understood."""

    text: str
    commands: tuple[SimpleCommand, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    understood: bool = True
    reason: str = ""
    functions: frozenset[str] = frozenset()
    assignments: tuple[Assignment, ...] = ()
    caution: str = ""


_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-^~*?[]{}!#$")


def shown(item: Word) -> str:
    """A word as it can be written in a shell again: quoted where it needs to be."""
    text = item.text
    if text and all(c in _PLAIN or ord(c) > 127 for c in text):
        return text
    if any(p.kind != "text" for p in item.pieces):
        return '"' + text.replace('"', '\\"') + '"' if item.quoted else text
    return "'" + text.replace("'", "'\\''") + "'"
