"""Walks the tree of a line and lists its commands with the places where they may run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from agentcli.shell.compounds import Compounds
from agentcli.shell.directories import START, Dirs, after_cd, join
from agentcli.shell.evaluating import evaluates, give, names_taken
from agentcli.shell.expressions import Outcome, Scope
from agentcli.shell.inner import Inner
from agentcli.shell.redirects import read_redirect
from agentcli.shell.tree import RESERVED, doubts, lone_dash, parse_tree
from agentcli.shell.values import Assignment, Piece, Redirect, SimpleCommand, Word
from agentcli.shell.words import WORD_NODES, NotUnderstood, source_of
from agentcli.shell.wrappers import unwrap

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST = 8
MOST = 400
"""Commands of one line; a line with more is not understood."""
_IGNORED = frozenset({"comment", "heredoc_start", "heredoc_end", "heredoc_content", "file_descriptor"})
REDIRECT_NODES = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})


class Walker(Compounds):
    """The statements of a line."""

    def __init__(self) -> None:
        super().__init__()
        self._moving_functions = False
        self._statements: dict[str, Callable[[Node, Dirs, Scope], Outcome]] = {
            "command": self._command,
            "redirected_statement": self._redirected,
            "pipeline": self._pipeline,
            "list": self._list,
            "subshell": self._subshell,
            "compound_statement": self._compound,
            "do_group": self._compound,
            "if_statement": self._branches,
            "elif_clause": self._branches,
            "else_clause": self._branches,
            "case_statement": self._branches,
            "case_item": self._branches,
            "while_statement": self._loop,
            "for_statement": self._loop,
            "c_style_for_statement": self._loop,
            "function_definition": self._function,
            "negated_command": self._negated,
            "test_command": self._test,
            "declaration_command": self._declaration,
            "unset_command": self._declaration,
            "variable_assignment": self._assignment,
            "variable_assignments": self._branches,
        }

    def script(self, root: Node, dirs: Dirs, scope: Scope) -> Outcome:
        """The statements of a program, or of anything that holds a sequence of them."""
        return self._sequence(root.children, dirs, scope)

    def text(self, text: str, dirs: Dirs, scope: Scope) -> Outcome:
        """A text that some shell is given."""
        if scope.depth >= DEEPEST:
            self.problems.append("shells inside of shells, too deep to follow")
            return None, None
        tree = parse_tree(text)
        self.problems += doubts(tree, text)
        return self.script(tree.root_node, dirs, replace(scope, depth=scope.depth + 1))

    def _statement(self, node: Node, dirs: Dirs, scope: Scope) -> Outcome:
        if len(self.commands) > MOST:
            if "too many commands" not in self.problems:
                self.problems.append("too many commands")
            return dirs, dirs
        handler = self._statements.get(node.type)
        if handler is not None:
            return handler(node, dirs, scope)
        if node.type in _IGNORED:
            return dirs, dirs
        if node.type in WORD_NODES or node.type in {"array", "subscript"} or node.type.endswith("_expression"):
            self._expressions(node, dirs, scope)
            return dirs, dirs
        if node.type in REDIRECT_NODES:
            self.redirects += self._redirect(node, dirs, scope)
            return dirs, dirs
        if node.is_named:
            self.problems.append("it could not be parsed" if node.is_error else f"a {node.type.replace('_', ' ')}")
            self._sequence(node.children, None, scope)
        return dirs, dirs

    def _sequence(self, nodes: Iterable[Node], dirs: Dirs, scope: Scope) -> Outcome:
        here: Dirs = dirs
        outcome: Outcome = (dirs, dirs)
        before: Dirs = dirs
        for node in nodes:
            if not node.is_named:
                if node.type == "&":
                    here, outcome = before, (before, before)
                continue
            before = here
            outcome = self._statement(node, here, scope)
            here = join(*outcome)
        return outcome

    def _list(self, node: Node, dirs: Dirs, scope: Scope, *, redirects: list[Node] | None = None) -> Outcome:
        parts = [c for c in node.children if c.is_named and c.type != "comment"]
        operator = next((c.type for c in node.children if c.type in {"&&", "||"}), "")
        if len(parts) != 2 or not operator:
            self.problems.append("a list that could not be read")
            return self._sequence(node.children, None, scope)
        success, failure = self._statement(parts[0], dirs, scope)
        here = success if operator == "&&" else failure
        second = (
            self._with_redirects(parts[1], redirects, here, scope)
            if redirects
            else self._statement(parts[1], here, scope)
        )
        if operator == "&&":
            return second[0], join(failure, second[1])
        return join(success, second[0]), second[1]

    def _pipeline(self, node: Node, dirs: Dirs, scope: Scope, *, redirects: list[Node] | None = None) -> Outcome:
        parts = [c for c in node.children if c.is_named and c.type != "comment"]
        piped = scope
        for child in parts:
            if redirects and child is parts[-1]:
                self._with_redirects(child, redirects, dirs, piped)
            else:
                self._statement(child, dirs, piped)
            piped = replace(scope, piped=True)
        return dirs, dirs

    def _subshell(self, node: Node, dirs: Dirs, scope: Scope) -> Outcome:
        self._sequence(node.children, dirs, scope)
        return dirs, dirs

    def _negated(self, node: Node, dirs: Dirs, scope: Scope) -> Outcome:
        success, failure = self._sequence(node.children, dirs, scope)
        return failure, success

    def _function(self, node: Node, dirs: Dirs, scope: Scope) -> Outcome:
        del dirs
        parts = [c for c in node.children if c.is_named]
        if not parts:
            self.problems.append("a function that could not be read")
            return None, None
        self.functions.add(source_of(parts[0]))
        inside = replace(scope, via="function" if scope.via == "line" else scope.via)
        for body in parts[1:]:
            if self._statement(body, START, inside) != (START, START):
                self._moving_functions = True
        # It may be called from anywhere.
        return START, START

    def _redirected(self, node: Node, dirs: Dirs, scope: Scope) -> Outcome:
        nodes = [c for c in node.children if c.type in REDIRECT_NODES]
        body = next((c for c in node.children if c.is_named and c.type not in REDIRECT_NODES), None)
        outcome = self._with_redirects(body, nodes, dirs, scope)
        for child in nodes:
            if child.type == "heredoc_redirect":
                outcome = self._behind_heredoc(child, outcome, scope)
        return outcome

    def _with_redirects(self, body: Node | None, nodes: list[Node], dirs: Dirs, scope: Scope) -> Outcome:
        """The tree hangs the redirections of ``a && b > f`` around the whole; they belong to the last command."""
        if body is not None and body.type == "list":
            return self._list(body, dirs, scope, redirects=nodes)
        if body is not None and body.type == "pipeline":
            return self._pipeline(body, dirs, scope, redirects=nodes)
        redirects = tuple(r for n in nodes for r in self._redirect(n, dirs, scope))
        self.redirects += redirects
        if body is None:
            return dirs, dirs
        if body.type == "command":
            dash = body.parent is not None and lone_dash(body.parent)
            return self._command(body, dirs, scope, redirects=redirects, dash=dash)
        return self._statement(body, dirs, scope)

    def _behind_heredoc(self, node: Node, outcome: Outcome, scope: Scope) -> Outcome:
        """``cat <<E | grep x`` and ``cat <<E && ls``: the rest of the line hangs below the redirection."""
        operator = ""
        for child in node.children:
            if child.type in {"&&", "||"}:
                operator = child.type
            elif child.type == "pipeline":
                self._pipeline(child, outcome[0], replace(scope, piped=True))
            elif child.type in self._statements:
                here = outcome[0] if operator == "&&" else outcome[1] if operator else join(*outcome)
                after = self._statement(child, here, scope)
                outcome = (join(outcome[0], after[0]), join(outcome[1], after[1]))
            elif child.type == "file_redirect":
                self.redirects += self._redirect(child, outcome[0], scope)
        return outcome

    def _redirect(self, node: Node, dirs: Dirs, scope: Scope) -> list[Redirect]:
        self._expressions(node, dirs, scope)
        try:
            found = read_redirect(node, dirs)
        except NotUnderstood as error:
            self.problems.append(str(error))
            return []
        return [found] if found else []

    def _command(
        self, node: Node, dirs: Dirs, scope: Scope, *, redirects: tuple[Redirect, ...] = (), dash: bool = False
    ) -> Outcome:
        words: list[Word] = []
        assignments: list[Assignment] = []
        more: list[Redirect] = []
        reserved = ""
        for child in node.children:
            if child.type == "variable_assignment":
                assignments.append(self._assigned(child, dirs, scope, prefix=True))
            elif child.type in REDIRECT_NODES:
                more += self._redirect(child, dirs, scope)
            elif child.type == "command_name":
                reserved = source_of(child) if source_of(child) in RESERVED else ""
                self._expressions(child, dirs, scope)
                words += self._words(child.children[0]) if child.children else []
            elif child.type == "$":
                if child.next_sibling is None or child.next_sibling.start_byte != child.end_byte:
                    words.append(Word((Piece("text", "$"),)))
            else:
                self._expressions(child, dirs, scope)
                words += self._words(child)
        if dash:
            words.append(Word((Piece("text", "-"),)))
        if reserved and reserved != "coproc":
            self.problems.append(f"a {reserved} that is out of place")
        self.redirects += more
        command = SimpleCommand(tuple(words), source_of(node), tuple(assignments), (*redirects, *more))
        return self._run(command, dirs, scope)

    def _run(self, command: SimpleCommand, dirs: Dirs, scope: Scope) -> Outcome:
        """Records a command and everything that it runs."""
        index = self._add(command, dirs, scope)
        here = self.commands[index]
        if here.name in self.functions and self._moving_functions:
            return None, None
        outcome = (dirs, dirs) if here.name in self.functions else after_cd(here, dirs)
        for inner in unwrap(here):
            moved = self._inner(inner, here, index, dirs, scope)
            if inner.same_shell:
                outcome = (join(outcome[0], moved[0]), join(outcome[1], moved[1]))
        return outcome

    def _inner(self, inner: Inner, outer: SimpleCommand, index: int, dirs: Dirs, scope: Scope) -> Outcome:
        if inner.problem:
            self.commands[index] = replace(self.commands[index], problem=inner.problem)
            return dirs, dirs
        self.functions |= inner.defines
        here = None if inner.elsewhere else dirs
        inside = Scope(inner.via, index, scope.piped, scope.depth)
        if inner.script is not None:
            return self.text(inner.script, here, inside)
        assignments = (*outer.assignments, *inner.assignments) if inner.via == "transparent" else inner.assignments
        return self._run(SimpleCommand(inner.words, outer.source, assignments, outer.redirects), here, inside)

    def _add(self, command: SimpleCommand, dirs: Dirs, scope: Scope) -> int:
        problem = command.problem
        if command.words and any(p.kind != "text" for p in command.words[0].pieces):
            problem = "the name of the program is only known when it runs"
        problem = problem or evaluates(command)
        self._tested |= names_taken(command)
        give(command, self._arithmetic)
        self.commands.append(
            replace(
                command,
                directories=dirs or None,
                via=scope.via,
                parent=scope.parent,
                piped=scope.piped,
                problem=problem,
            )
        )
        return len(self.commands) - 1
