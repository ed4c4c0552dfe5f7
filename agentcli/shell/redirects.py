"""Redirections."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentcli.shell.directories import Dirs
from agentcli.shell.values import Redirect, RedirectKind, Word
from agentcli.shell.words import NotUnderstood, read_word, source_of

if TYPE_CHECKING:
    from tree_sitter import Node

_DESCRIPTOR = re.compile(r"\d+|\{[A-Za-z_][A-Za-z0-9_]*\}")
OPERATORS: dict[str, RedirectKind] = {
    "<": "read",
    ">": "write",
    ">>": "write",
    ">|": "write",
    "&>": "write",
    "&>>": "write",
    "<>": "write",
    "<&": "dup",
    ">&": "dup",
    "<&-": "dup",
    ">&-": "dup",
    "<<<": "herestring",
    "<<": "heredoc",
    "<<-": "heredoc",
}


def read_redirect(node: Node, dirs: Dirs) -> Redirect | None:
    """The redirection of a node; ``None`` for one without effect on files.  ``NotUnderstood`` if it can't be read."""
    operator = next((c.type for c in node.children if c.type in OPERATORS), "")
    if not operator:
        raise NotUnderstood("a redirection that could not be read")
    descriptor = next((source_of(c) for c in node.children if c.type == "file_descriptor"), "0")
    if not _DESCRIPTOR.fullmatch(descriptor):
        raise NotUnderstood("a word that touches a redirection")
    kind = OPERATORS[operator]
    if kind == "heredoc":
        return Redirect(kind, operator, body=_body(node), directories=dirs)
    targets = [c for c in node.children if c.is_named and c.type != "file_descriptor"]
    if operator in {"<&-", ">&-"} and not targets:
        return None
    if len(targets) != 1:
        raise NotUnderstood("a redirection with words behind its target")
    if targets[0].type == "process_substitution":
        return None
    target = read_word(targets[0])
    if kind == "dup":
        return _duplicate(operator, target, dirs)
    return Redirect(kind, operator, target, directories=dirs)


def _duplicate(operator: str, target: Word, dirs: Dirs) -> Redirect | None:
    """``2>&1`` moves descriptors; ``>&file`` writes a file."""
    text = target.literal
    if (text is not None and text.rstrip("-").isdecimal()) or text == "-":
        return None
    if operator == "<&":
        raise NotUnderstood("a descriptor that is only known when it runs")
    return Redirect("write", operator, target, directories=dirs)


def _body(node: Node) -> str | None:
    """The text of a here-document, ``None`` if it holds expansions."""
    start = next((c for c in node.children if c.type == "heredoc_start"), None)
    body = next((c for c in node.children if c.type == "heredoc_body"), None)
    if start is None:
        raise NotUnderstood("a here-document that could not be read")
    if body is None:
        return ""
    text = source_of(body)
    if set("'\"\\") & set(source_of(start)):
        return text
    return None if "$" in text or "`" in text or "\\" in text else text
