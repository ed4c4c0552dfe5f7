"""Words, assignments and expansions: what they evaluate, and the commands inside of them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from agentcli.shell.arithmetic import Arithmetic
from agentcli.shell.directories import Dirs
from agentcli.shell.evaluating import holds_command, literal_holds_command
from agentcli.shell.tree import SUBSTITUTIONS, hidden_command
from agentcli.shell.values import Assignment, Piece, Redirect, SimpleCommand, Via, Word, names, word
from agentcli.shell.words import NotUnderstood, read_word, read_words, source_of

if TYPE_CHECKING:
    from tree_sitter import Node

Outcome: TypeAlias = tuple[Dirs, Dirs]
"""Where the shell may stand afterwards: if the command succeeded, if it failed."""
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=")
STATEMENTS = names(
    "command redirected_statement pipeline list subshell compound_statement do_group if_statement elif_clause "
    "else_clause case_statement case_item while_statement for_statement c_style_for_statement function_definition "
    "negated_command declaration_command unset_command variable_assignments"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """Around what is being walked: how it comes to run, by which command, and how deep in texts of shells."""

    via: Via = "line"
    parent: int | None = None
    piped: bool = False
    depth: int = 0


class Expressions(ABC):
    """Collects.  ``problems`` make the line not understood; everything found so far is kept all the same."""

    def __init__(self) -> None:
        self.commands: list[SimpleCommand] = []
        self.redirects: list[Redirect] = []
        self.functions: set[str] = set()
        self.assignments: list[Assignment] = []
        self.problems: list[str] = []
        self.caution = ""
        self._arithmetic = Arithmetic()
        self._tested: set[str] = set()

    @abstractmethod
    def _sequence(self, nodes: Iterable[Node], dirs: Dirs, scope: Scope) -> Outcome:
        """Walks the statements among the nodes, one after the other."""

    def _assigned(
        self, node: Node, dirs: Dirs, scope: Scope, *, prefix: bool = False, exported: bool = False
    ) -> Assignment:
        for child in node.children:
            self._expressions(child, dirs, scope)
        name = IDENTIFIER.match(source_of(node))
        if not _ASSIGNMENT.match(source_of(node)):
            self.problems.append("an assignment that bash takes for a command")
        value = node.children[-1] if node.children[-1].is_named and len(node.children) > 2 else None
        text = Word(()) if value is None else self._one(value)
        if value is not None and value.type == "array":
            self._keys(value)
        found = Assignment(name[0] if name else source_of(node), text, prefix, exported)
        self._arithmetic.given(found.name, text)
        return found

    def _keys(self, array: Node) -> None:
        """``([$x]=1)``: what stands in front of the ``=`` is a subscript."""
        for item in array.children:
            if source_of(item).startswith("["):
                self._arithmetic.expression(item)

    def _words(self, node: Node) -> list[Word]:
        if node.type == "comment" or (not node.is_named and node.type in {";", "&"}):
            return []
        try:
            return read_words(node)
        except NotUnderstood as error:
            self.problems.append(str(error))
            return [Word((Piece("hole", source_of(node)),))]

    def _one(self, node: Node, *, replace_text: str = "") -> Word:
        if replace_text:
            return Word((Piece("text", replace_text),))
        try:
            return read_word(node)
        except NotUnderstood:
            return Word((Piece("hole", source_of(node)),))

    def _evaluated(self, node: Node) -> None:
        """Arithmetic evaluates what its variables hold."""
        self._arithmetic.expression(node)
        if hidden_command(node):
            self.problems.append("arithmetic that evaluates a command")

    def _expressions(self, node: Node, dirs: Dirs, scope: Scope) -> None:
        """Finds the substitutions below a word, a redirection, a test or an arithmetic expression."""
        stack = [node]
        while stack:
            here = stack.pop()
            if here.type in SUBSTITUTIONS:
                via: Via = "substitution" if scope.via in {"line", "function"} else scope.via
                self._sequence(here.children, dirs, replace(scope, via=via, piped=False))
                continue
            if here.type == "arithmetic_expansion":
                self._evaluated(here)
            elif here.type == "subscript":
                for child in here.children[1:]:
                    self._evaluated(child)
            elif here.type == "simple_expansion":
                self._bracket(here)
            elif here.type == "expansion":
                self._parameter(here)
            elif here.type == "heredoc_body" and hidden_command(here):
                self._heredoc_doubt(here)
            if here.type in STATEMENTS:
                if here.parent is not None and here.parent.type == "heredoc_redirect":
                    continue
                self.problems.append("a command in a strange place")
            stack.extend(reversed(here.children))

    def _bracket(self, node: Node) -> None:
        """``$path[$x]``: zsh takes it for a subscript without braces and in quotes too."""
        if node.parent is None:
            return
        behind = (node.parent.text or b"")[node.end_byte - node.parent.start_byte :].decode("utf-8", "replace")
        if behind.startswith("["):
            self._arithmetic.subscript(behind[1:].partition("]")[0])

    def _heredoc_doubt(self, node: Node) -> None:
        start = next((c for c in node.parent.children if c.type == "heredoc_start"), None) if node.parent else None
        if start is None or not set("'\"\\") & set(source_of(start)):
            self.problems.append("an expansion in a here-document that could not be read")

    def _parameter(self, node: Node) -> None:
        text = source_of(node)
        if hidden_command(node):
            self.problems.append("an expansion that could not be read")
        if re.search(r"@[A-Za-z]\}\Z", text) or text.startswith("${!"):
            self.problems.append("an expansion that evaluates a variable's value")
        if named := re.match(r"\$\{([A-Za-z_][A-Za-z0-9_]*):?=", text):
            self.assignments.append(Assignment(named[1], Word((Piece("hole", text),))))
            self._arithmetic.given(named[1], Word((Piece("hole", text),)))
        elif offset := re.match(r"\$\{[A-Za-z0-9_@*]+(?:\[[^\]]*\])?:(?![-=?+])", text):
            for child in node.children:
                if child.start_byte - node.start_byte >= len(offset[0].encode()):
                    self._evaluated(child)

    def finish(self) -> None:
        """What can only be said when all is read: variables that the shell evaluates may hold commands."""
        for item in self.assignments:
            if item.name in self._tested and holds_command(item):
                self.problems.append(f"${item.name}, whose value holds a command that a builtin may evaluate")
        problems, self.caution = self._arithmetic.judge()
        self.problems += problems
        if self.caution and any(literal_holds_command(w) for w in self._all_words()):
            self.problems.append(f"{self.caution}, in a line that writes a command where a subscript stands")

    def _all_words(self) -> Iterator[Word]:
        yield from (item.value for item in self.assignments)
        for redirect in self.redirects:
            yield from (w for w in (redirect.target, word(redirect.body or "")) if w is not None)
        for command in self.commands:
            yield from command.words
            yield from (item.value for item in command.assignments)
