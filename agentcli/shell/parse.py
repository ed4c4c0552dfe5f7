"""From a line to every command that it would run.

::

    line = parse("cd sub && timeout 5 git push | tee log")
    [c.text for c in line.commands]   # cd sub · timeout 5 git push · git push · tee log

A wrapper (``timeout``) and what it runs are two commands, the second with ``parent`` pointing at the first.
"""

from __future__ import annotations

from agentcli.shell.expressions import Scope
from agentcli.shell.tree import doubts, parse_tree
from agentcli.shell.values import CommandLine
from agentcli.shell.walk import Walker

LONGEST = 10_000
"""Characters.  A longer line is not read at all (and so always asked about)."""


def parse(text: str) -> CommandLine:
    """Reads a line.  Never raises: what can't be read is ``understood=False`` with the reason."""
    if len(text) > LONGEST:
        return CommandLine(text, understood=False, reason=f"it has more than {LONGEST:,} characters")
    if any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        return CommandLine(text, understood=False, reason="it is not valid Unicode")
    tree = parse_tree(text)
    walker = Walker()
    walker.problems += doubts(tree, text)
    walker.script(tree.root_node, ("",), Scope())
    walker.finish()
    return CommandLine(
        text=text,
        commands=tuple(walker.commands),
        redirects=tuple(walker.redirects),
        understood=not walker.problems,
        reason="; ".join(dict.fromkeys(walker.problems)),
        functions=frozenset(walker.functions),
        assignments=tuple(walker.assignments),
        caution=walker.caution,
    )
