"""Tests, declarations, loops' heads and arithmetic commands: what they give to variables and what they evaluate."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from agentcli.shell.arithmetic import NUMERIC_TESTS, UNKNOWN
from agentcli.shell.directories import Dirs, join
from agentcli.shell.evaluating import evaluated_test
from agentcli.shell.expressions import IDENTIFIER, Expressions, Outcome, Scope
from agentcli.shell.tree import hidden_command
from agentcli.shell.values import Assignment, Piece, SimpleCommand, Word
from agentcli.shell.words import source_of

if TYPE_CHECKING:
    from tree_sitter import Node

_TEST = re.compile(r"\[\s.*\s\]\Z|\[\[\s.*\s\]\]\Z|\(\(.*\)\)\Z", re.DOTALL)
_TERMINAL = re.compile(r"(?<!\S)-t\s+(\S+)")
_DECLARED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\Z|=)")


class Compounds(Expressions):
    """What is neither a simple command nor a sequence of commands."""

    @abstractmethod
    def _statement(self, node: Node, dirs: Dirs, scope: Scope) -> Outcome:
        """Walks one statement."""

    @abstractmethod
    def _add(self, command: SimpleCommand, dirs: Dirs, scope: Scope) -> int:
        """Records a command; its index."""

    def _compound(self, node: Node, dirs: Dirs, scope: Scope) -> Outcome:
        if node.children and node.children[0].type == "((":
            self._evaluated(node)
            for child in node.children:
                self._expressions(child, dirs, scope)
            return dirs, dirs
        return self._sequence(node.children, dirs, scope)

    def _branches(self, node: Node, dirs: Dirs, scope: Scope) -> Outcome:
        return self._some(node.children, dirs, scope)

    def _some(self, parts: Iterable[Node], dirs: Dirs, scope: Scope) -> Outcome:
        """Parts of which some run: afterwards the shell may stand where it stood or where any part led."""
        reached = dirs
        for child in parts:
            if child.is_named:
                reached = join(reached, *self._statement(child, reached, scope))
        return reached, reached

    def _loop(self, node: Node, dirs: Dirs, scope: Scope) -> Outcome:
        """A body that moves may move again each time: then it may run anywhere."""
        mark = len(self.commands), len(self.redirects)
        parts = list(node.children)
        if node.type == "for_statement":
            self._loop_variable(node)
        elif node.type == "c_style_for_statement":
            parts = self._header(node, dirs, scope)
        reached = self._some(parts, dirs, scope)[0]
        if reached == dirs:
            return dirs, dirs
        for index in range(mark[0], len(self.commands)):
            self.commands[index] = replace(self.commands[index], directories=None)
        for index in range(mark[1], len(self.redirects)):
            self.redirects[index] = replace(self.redirects[index], directories=None)
        return None, None

    def _header(self, node: Node, dirs: Dirs, scope: Scope) -> list[Node]:
        """``for ((i=0; i<3; i++))``; gives the statements behind it."""
        kinds = [c.type for c in node.children]
        if "((" not in kinds or "))" not in kinds:
            self.problems.append("a loop that could not be read")
            return list(node.children)
        opening, closing = kinds.index("(("), kinds.index("))")
        for child in node.children[opening + 1 : closing]:
            self._evaluated(child)
            for part in child.children:
                self._expressions(part, dirs, scope)
        return node.children[closing + 1 :]

    def _loop_variable(self, node: Node) -> None:
        parts = list(node.children)
        name = next((source_of(c) for c in parts if c.type == "variable_name"), "")
        self.assignments.append(Assignment(name, Word((Piece("hole", f"${name}"),))))
        kinds = [c.type for c in parts]
        if kinds[:1] != ["for"] or "in" not in kinds:
            self._arithmetic.given(name, UNKNOWN)
            return
        for child in parts[kinds.index("in") + 1 :]:
            if child.type in {";", "do_group", "compound_statement"}:
                break
            for item in self._words(child):
                self._arithmetic.given(name, item)

    def _test(self, node: Node, dirs: Dirs, scope: Scope) -> Outcome:
        text = source_of(node)
        lines = text.startswith("[") and not text.startswith("[[") and "\n" in text.replace("\\\n", "")
        if lines or not _TEST.match(text):
            self.problems.append("a test that could not be read")
        if text.startswith("[[") and any(o in text for o in NUMERIC_TESTS):
            self._comparisons(node)
        elif text.startswith("(("):
            self._evaluated(node)
        if hidden_command(node):
            self.problems.append("a test that evaluates a command")
        if wrong := evaluated_test(text):
            self.problems.append(wrong)
        for terminal in _TERMINAL.findall(text):
            self._arithmetic.subscript(terminal)
        self._tested |= set(IDENTIFIER.findall(text))
        self._expressions(node, dirs, scope)
        return dirs, dirs

    def _comparisons(self, test: Node) -> None:
        """``[[ … -eq … ]]`` evaluates both sides."""
        found = False
        stack = list(test.children)
        while stack:
            here = stack.pop()
            operators = [c for c in here.children if c.type == "test_operator" and source_of(c) in NUMERIC_TESTS]
            if here.type == "binary_expression" and operators:
                found = True
                for child in here.children:
                    if child not in operators:
                        self._evaluated(child)
            else:
                stack.extend(here.children)
        if not found:
            self._evaluated(test)

    def _declaration(self, node: Node, dirs: Dirs, scope: Scope) -> Outcome:
        words: list[Word] = []
        exported = node.children[0].type == "export" or "x" in source_of(node).split(" ", 2)[1:2][:1]
        for child in node.children:
            if child.type == "variable_assignment":
                self._assignment(child, dirs, scope, exported=exported)
                words.append(self._one(child.children[0], replace_text=source_of(child)))
            else:
                self._expressions(child, dirs, scope)
                words += self._words(child)
        if hidden_command(node):
            self.problems.append("a declaration that evaluates a command")
        self._declared(words[1:])
        self._add(SimpleCommand(tuple(words), source_of(node)), dirs, scope)
        return dirs, dirs

    def _declared(self, words: list[Word]) -> None:
        """Names that are only known when it runs are evaluated; ``-i`` (zsh: ``-F``, ``-E``) makes variables that
        evaluate what they are given, ``-n`` such that stand for the name they are given."""
        plain = [w for w in words if not w.text.startswith("-")]
        evaluating = any(re.match(r"-\w*[iFEn]", w.text) for w in words)
        for item in plain:
            name = _DECLARED.match(item.pieces[0].text) if item.pieces and item.pieces[0].kind == "text" else None
            if name is None or (item.dynamic and item.pieces[0].quoted):
                self._arithmetic.word(item)
            elif evaluating:
                self._arithmetic.integer(name[1])

    def _assignment(self, node: Node, dirs: Dirs, scope: Scope, *, exported: bool = False) -> Outcome:
        self.assignments.append(self._assigned(node, dirs, scope, exported=exported))
        return dirs, dirs
