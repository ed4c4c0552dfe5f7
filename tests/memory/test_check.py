"""What the linter finds in memory files."""

from __future__ import annotations

import os
from pathlib import Path

from agentcli.memory.approvals import Approvals
from agentcli.memory.check import check
from agentcli.memory.places import read_places
from agentcli.settings.merged import Settings
from tests.memory.worlds import write


def found(project: Path) -> list[str]:
    places = read_places(project, Settings(()), os.environ, managed=project / "none")
    return [str(f).replace(str(project), "P") for f in check(places, Approvals.load(None, places.main))]


def test_nothing(project: Path) -> None:
    write(project / "CLAUDE.md", "# a\n\n- run the tests with make test\n\n## b\n")
    assert found(project) == []


def test_everything(project: Path) -> None:
    write(project / "src" / "a.py", "")
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    text = f"""\
# Style
- Always use tabs for indentation.
@docs/gone.md
## Style
# style
- Run the whole suite before a commit.
key {key}
- Don't use tabs for indentation!
```
# Style
- Run the whole suite before a commit.
"""
    write(project / "CLAUDE.md", text)
    write(project / "CLAUDE.local.md", "\n" * 199 + "* run **the whole suite** before a commit\n\n")
    write(project / ".claude" / "rules" / "dead.md", '---\npaths: "lib/**"\n---\nx')
    write(project / ".claude" / "rules" / "live.md", '---\npaths: "src/*.py"\n---\nx')
    write(project / ".claude" / "rules" / "broken.md", "---\npaths: *.py\n---\nx")
    assert [line.partition(". Put a glob")[0] for line in found(project)] == [
        "P/CLAUDE.md:3: @docs/gone.md names no file; the import is left as text",
        "P/.claude/rules/broken.md:2: expected alphabetic or numeric character, but found '.'",
        "P/CLAUDE.md: a code fence (```) is never closed",
        "P/CLAUDE.md:5: the heading 'style' stands in line 1 already",
        "P/CLAUDE.md:7: looks like an AWS access key; it is sent with every request",
        "P/CLAUDE.local.md: 201 lines; above 200 single instructions are easily missed",
        "P/CLAUDE.md:8: says the opposite of P/CLAUDE.md:2",
        "P/CLAUDE.local.md:200: the same rule stands in P/CLAUDE.md:6",
        "P/.claude/rules/dead.md: no file matches its paths (lib/**): it is never loaded",
    ]


def test_imports_are_looked_at_too(project: Path) -> None:
    write(project / "CLAUDE.md", "- keep functions short please\n@more.md")
    write(project / "more.md", "- Keep functions short, please.\n")
    assert found(project) == ["P/more.md:1: the same rule stands in P/CLAUDE.md:1"]
