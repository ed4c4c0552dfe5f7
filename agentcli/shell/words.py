"""Words: from nodes of the syntax tree to pieces, through quotes, escapes and braces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from agentcli.shell.values import Piece, Word

if TYPE_CHECKING:
    from tree_sitter import Node

MAXIMUM = 64
"""Words that one brace expression may become; more count as unknown."""
GLOB_CHARACTERS = frozenset("*?[")
PLAIN_NODES = frozenset(
    {"word", "number", "extglob_pattern", "regex", "variable_name", "test_operator", "file_descriptor"}
)
HOLES = frozenset({"expansion", "command_substitution", "process_substitution", "arithmetic_expansion"})
WORD_NODES = (
    PLAIN_NODES
    | HOLES
    | {
        "string",
        "raw_string",
        "ansi_c_string",
        "translated_string",
        "concatenation",
        "simple_expansion",
        "brace_expression",
    }
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}
_NAME = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?\Z")
_ANSI = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|(.))", re.DOTALL
)
_NOT_PLAIN = re.compile(r"(?<!\\)(?:\\\\)*[`\s;|&<>()\"']|(?<!\\)(?:\\\\)*\$[{A-Za-z0-9_$!?#@*-]")


class NotUnderstood(Exception):
    """A part of the line that can't be read for sure; ``str`` says why."""


def source_of(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "surrogateescape")


def read_words(node: Node) -> list[Word]:
    """The words that a node becomes: one, or several through braces.  ``NotUnderstood`` if it can't be read."""
    return expand_braces(list(pieces_of(node)))


def read_word(node: Node) -> Word:
    """The one word of a node where braces are not expanded (assignments, redirections)."""
    return _word(list(pieces_of(node)))


def pieces_of(node: Node) -> Iterator[Piece]:
    kind = node.type
    if kind == "concatenation":
        yield from _concatenation(node)
    elif kind in {"string", "translated_string"}:
        yield from _string(node)
    elif kind == "raw_string":
        yield Piece("text", source_of(node)[1:-1], quoted=True)
    elif kind == "ansi_c_string":
        yield Piece("text", _ansi(source_of(node)[2:-1]), quoted=True)
    elif kind in {"simple_expansion", "expansion"}:
        yield _expansion(node, quoted=False)
    elif kind in HOLES:
        yield Piece("hole", source_of(node))
    elif kind in PLAIN_NODES or kind == "brace_expression" or not node.is_named:
        yield from unquoted(source_of(node))
    else:
        raise NotUnderstood(f"a word of the kind {kind}")


def _concatenation(node: Node) -> Iterator[Piece]:
    position = node.start_byte
    for child in node.children:
        if child.start_byte != position or source_of(child)[:1].isspace():
            raise NotUnderstood("a word that is broken by white space")
        position = child.end_byte
        following = child.next_sibling
        if child.type == "$" and following is not None and following.type == "string":
            continue
        yield from pieces_of(child)


def _string(node: Node) -> Iterator[Piece]:
    """The inside of double quotes.  Text between the children (white space) belongs to it."""
    data = node.text or b""
    if not data.startswith((b'"', b'$"')):
        raise NotUnderstood("a string that is apart from its $")
    start = node.start_byte
    position = data.index(b'"') + 1
    end = len(data) - 1
    yield Piece("text", "", quoted=True)
    for child in node.children:
        if child.type in HOLES or child.type == "simple_expansion":
            text = child.text or b""
            blank = len(text) - len(text.lstrip(b" \t\n"))
            yield _quoted(data[position : child.start_byte - start + blank])
            yield _expansion(child, quoted=True)
            position = child.end_byte - start
        elif child.type == "string":
            yield from _string(child)
            return
    yield _quoted(data[position:end])


def _quoted(data: bytes) -> Piece:
    text = data.decode("utf-8", "surrogateescape")
    if re.search(r"(?<!\\)(?:\\\\)*(?:`|\$[({\[])", text):
        raise NotUnderstood("an expansion in quotes that could not be read")
    return Piece("text", re.sub(r'\\([$`"\\\n])', lambda m: "" if m[1] == "\n" else m[1], text), quoted=True)


def _expansion(node: Node, *, quoted: bool) -> Piece:
    text = source_of(node).lstrip(" \t\n")
    named = _NAME.match(text)
    return Piece("variable", named[1], quoted) if named else Piece("hole", text, quoted)


def _ansi(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        octal, hexa, short, long, control, other = match.groups()
        if octal or hexa or short or long:
            number = int(octal, 8) & 0xFF if octal else int(hexa or short or long, 16)
            if number == 0 or number > 0x10FFFF or (number > 0x7F and (octal or hexa)):
                raise NotUnderstood("an escape that is no character")
            return chr(number)
        if control:
            return chr(ord(control.upper()) & 0x1F)
        return _ESCAPES.get(other, other if other in "\\'\"?" else "\\" + other)

    return _ANSI.sub(replace, text)


def unquoted(text: str) -> Iterator[Piece]:
    """Characters outside of quotes: escapes resolved, pattern characters apart."""
    if _NOT_PLAIN.search(text):
        raise NotUnderstood("a word that could not be read")
    plain: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\" and position + 1 < len(text):
            if plain:
                yield Piece("text", "".join(plain))
                plain.clear()
            if text[position + 1] != "\n":
                yield Piece("text", text[position + 1], quoted=True)
            position += 2
            continue
        if character in GLOB_CHARACTERS:
            if plain:
                yield Piece("text", "".join(plain))
                plain.clear()
            yield Piece("glob", character)
        else:
            plain.append(character)
        position += 1
    if plain:
        yield Piece("text", "".join(plain))


def _word(pieces: list[Piece]) -> Word:
    """Joins neighbours of one kind; finds the tilde."""
    tilde = bool(pieces) and pieces[0] == Piece("text", pieces[0].text) and pieces[0].text.startswith("~")
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last is not None and last.kind == piece.kind == "text":
            joined[-1] = Piece("text", last.text + piece.text, last.quoted or piece.quoted)
        else:
            joined.append(piece)
    if all(p.kind == "text" and not p.text for p in joined):
        joined = [Piece("text", "", quoted=True)] if joined else []
    else:
        joined = [p for p in joined if p.text]
    return Word(tuple(joined), tilde)


def expand_braces(pieces: list[Piece]) -> list[Word]:
    """``a{b,c}`` becomes ``ab`` and ``ac``, nested ones too.  A sequence (``{1..9}``) stays one unknown word."""
    found = _expand(list(_atoms(pieces)))
    if len(found) > MAXIMUM:
        return [_word([Piece("hole", "".join(p.text for p in pieces))])]
    return [_word(atoms) for atoms in found]


def _atoms(pieces: list[Piece]) -> Iterator[Piece]:
    for piece in pieces:
        if piece.kind == "text" and not piece.quoted and ("{" in piece.text or "}" in piece.text or "," in piece.text):
            yield from (Piece("text", c) for c in piece.text)
        else:
            yield piece


def _expand(atoms: list[Piece]) -> list[list[Piece]]:
    for start, atom in enumerate(atoms):
        if not _is(atom, "{"):
            continue
        group = _group(atoms, start)
        if group is None:
            continue
        end, commas = group
        inner = atoms[start + 1 : end]
        if not commas:
            if ".." not in "".join(p.text for p in inner):
                continue
            whole = "".join(p.text for p in atoms[start : end + 1])
            middle: list[list[Piece]] = [[Piece("hole", whole)]]
        else:
            cuts = [start, *commas, end]
            middle = [m for a, b in pairwise(cuts) for m in _expand(atoms[a + 1 : b])]
        rest = _expand(atoms[end + 1 :])
        if len(middle) * len(rest) > MAXIMUM:
            return [[Piece("hole", "".join(p.text for p in atoms))]]
        return [atoms[:start] + m + r for m in middle for r in rest]
    return [atoms]


def _group(atoms: list[Piece], start: int) -> tuple[int, list[int]] | None:
    """The matching ``}`` and the commas on its level."""
    depth = 0
    commas: list[int] = []
    for position in range(start, len(atoms)):
        if _is(atoms[position], "{"):
            depth += 1
        elif _is(atoms[position], "}"):
            depth -= 1
            if depth == 0:
                return position, commas
        elif _is(atoms[position], ",") and depth == 1:
            commas.append(position)
    return None


def _is(atom: Piece, character: str) -> bool:
    return atom.kind == "text" and atom.text == character and not atom.quoted
