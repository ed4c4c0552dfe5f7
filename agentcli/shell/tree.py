"""The syntax tree of a line, and the checks that it accounts for every character of it.

tree-sitter repairs what it can't parse and treats some white space and escapes otherwise than bash does.  Wherever
tree and bash could see different words, the line counts as not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from agentcli.shell.values import names
from agentcli.shell.words import WORD_NODES, source_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

LOOSE = frozenset(
    {"string", "translated_string", "heredoc_body", "expansion", "regex", "extglob_pattern", "heredoc_redirect"}
)
"""Nodes of which the text between the children is content, not layout."""
SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_WITH_WORDS = frozenset({"command", "declaration_command", "unset_command", "redirected_statement"})
_ONE_LINE = _WITH_WORDS | {
    "file_redirect",
    "herestring_redirect",
    "concatenation",
    "variable_assignment",
    "command_name",
}
REDIRECTS = frozenset({"file_redirect", "herestring_redirect"})
_SPACED = frozenset({"compound_statement", "negated_command"})
_LAYOUT = re.compile(r"(?:[ \t\n]|\\\n)*\Z")
_DASH = re.compile(r"[ \t]+-[ \t]+\Z")
_HIDDEN = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$\((?!\()|[<>]\()")
_BAD_CHARACTER = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]")
RESERVED = names("if then else elif fi do done case esac while until for select function in { } ! [[ ]] coproc")


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse_tree(text: str) -> Tree:
    return _parser().parse(text.encode("utf-8", "surrogateescape"))


def doubts(tree: Tree, text: str) -> Iterator[str]:
    """Why the tree may not be what bash sees; nothing when it can be relied on."""
    if found := _BAD_CHARACTER.search(text):
        yield f"it holds the character U+{ord(found[0]):04X}"
    if tree.root_node.has_error:
        yield "it could not be parsed"
        return
    yield from _node_doubts(tree.root_node, text.encode("utf-8", "surrogateescape"))


def _node_doubts(node: Node, data: bytes) -> Iterator[str]:
    stack = [node]
    while stack:
        here = stack.pop()
        children = here.children
        stack.extend(children)
        if _shifted(here):
            yield "tokens that do not stand where they should"
        if here.type == "comment":
            before = data[here.start_byte - 1 : here.start_byte]
            if before and before not in b" \t\n;&|()":
                yield "a # inside a word"
        if _opens(here) and not data[here.end_byte : here.end_byte + 1].isspace():
            yield f"a {here.type} that is not apart"
        if here.type in WORD_NODES and here.type not in LOOSE and not children and "`" in _first(here):
            yield "backticks that could not be read"
        if children and here.type not in LOOSE:
            yield from _gaps(here, children, data)
        if here.type in SUBSTITUTIONS and source_of(here).lstrip().startswith("`") and b"\\" in (here.text or b""):
            yield "escapes inside of backticks"


def _shifted(node: Node) -> bool:
    """Recovery of the parser can put a token over other characters than its own."""
    text = source_of(node).strip(" \t\n")
    if not node.is_named:
        return bool(text) and text != node.type
    if node.type == "heredoc_start":
        return "<" in text or text.startswith("-")
    return node.type == "simple_expansion" and any(c.isspace() for c in text)


def _opens(node: Node) -> bool:
    return node.type in {"{", "!"} and node.parent is not None and node.parent.type in _SPACED


def _first(node: Node) -> str:
    text = source_of(node)
    return "" if node.type in {"raw_string", "ansi_c_string"} else re.sub(r"\\.", "", text)


def _gaps(node: Node, children: list[Node], data: bytes) -> Iterator[str]:
    position = node.start_byte if node.parent is not None else 0
    end = node.end_byte if node.parent is not None else len(data)
    previous: Node | None = None
    for child in children:
        gap = data[position : child.start_byte].decode("utf-8", "replace")
        if not _LAYOUT.match(gap) and not (node.type == "redirected_statement" and _DASH.match(gap)):
            yield f"characters that could not be placed ({gap.strip()[:20]!r})"
        elif node.type in _ONE_LINE and "\n" in gap.replace("\\\n", ""):
            yield "a line end inside of a command"
        elif "\\\n" in gap and not gap.replace("\\\n", ""):
            yield "a line that is continued inside a word"
        elif not gap and previous is not None and node.type in _WITH_WORDS:
            translated = previous.type == "$" and child.type == "string"
            if previous.type in REDIRECTS and _wordlike(child):
                yield "a word that touches a redirection"
            if _wordlike(previous) and _wordlike(child) and not translated:
                yield "words that are not apart"
        position = child.end_byte
        previous = child
    rest = data[position:end].decode("utf-8", "replace")
    if not _LAYOUT.match(rest):
        yield f"characters that could not be placed ({rest.strip()[:20]!r})"


def _wordlike(node: Node) -> bool:
    return node.type in WORD_NODES or node.type in {"command_name", "variable_assignment", "$"}


def hidden_command(node: Node) -> bool:
    """Whether the node's text, without the substitutions that the tree shows, still holds the start of one."""
    data = node.text or b""
    base = node.start_byte
    kept = bytearray(data)
    stack = list(node.children)
    while stack:
        child = stack.pop()
        if child.type in SUBSTITUTIONS:
            kept[child.start_byte - base : child.end_byte - base] = b" " * (child.end_byte - child.start_byte)
        else:
            stack.extend(child.children)
    return bool(_HIDDEN.search(kept.decode("utf-8", "replace")))


def lone_dash(node: Node) -> bool:
    """``cat - <<E``: the tree drops a ``-`` that stands between a command and its redirection."""
    data = node.text or b""
    edges = [(c.start_byte - node.start_byte, c.end_byte - node.start_byte) for c in node.children]
    gaps = [data[a[1] : b[0]] for a, b in pairwise(edges)]
    return any(_DASH.match(g.decode("utf-8", "replace")) for g in gaps)
