"""Which instructions hold for a file, and why."""

from __future__ import annotations

import os
from pathlib import Path

from agentcli.memory.approvals import Approvals
from agentcli.memory.places import read_places
from agentcli.memory.why import explain
from agentcli.settings.merged import Settings
from tests.memory.worlds import write

ON_THE_WAY = "stands in a directory on the way to the file"


def reasons(project: Path, path: Path, home: Path) -> list[tuple[str, str, str]]:
    places = read_places(project, Settings(()), os.environ, managed=project / "none")
    found = explain(path, places, Approvals.load(None, places.main))
    short = {str(project): "P", str(home): "~"}
    return [(str(r.path).replace(str(project), "P").replace(str(home), "~"), r.when, r.why) for r in found if short]


def test_why(project: Path, home: Path) -> None:
    write(home / ".claude" / "CLAUDE.md", "U")
    write(home / ".claude" / "rules" / "t.md", '---\npaths: "**/*.ts"\n---\nT')
    write(project.parent / "CLAUDE.md", "A")
    write(project / "CLAUDE.md", "@docs/x.md")
    write(project / "docs" / "x.md", "X")
    write(project / ".claude" / "rules" / "all.md", "R")
    write(project / ".claude" / "rules" / "py.md", '---\npaths: ["lib/**", "src/**/*.py"]\n---\nR')
    write(project / "src" / "CLAUDE.md", "S")
    write(project / "src" / ".claude" / "rules" / "c.md", '---\npaths: "*.c"\n---\nC')
    (project / "src" / "CLAUDE.local.md").symlink_to("CLAUDE.md")
    above = str(project.parent)
    assert reasons(project, project / "src" / "new" / "a.py", home) == [
        ("~/.claude/CLAUDE.md", "start", "the user's own, for all projects"),
        (f"{above}/CLAUDE.md", "start", "the project's, shared by its team; of a directory above"),
        ("P/CLAUDE.md", "start", "the project's, shared by its team; of the working directory; with x.md"),
        ("P/.claude/rules/all.md", "start", "the project's, shared by its team; a rule without paths"),
        ("P/.claude/rules/py.md", "touched", "the project's, shared by its team; its pattern src/**/*.py matches"),
        (
            "P/src/CLAUDE.md",
            "touched",
            "the project's, shared by its team; stands in a directory on the way to the file",
        ),
        ("~/.claude/rules/t.md", "never", "its paths (**/*.ts) don't match"),
        ("P/src/.claude/rules/c.md", "never", "its paths (*.c) don't match"),
        ("P/src/CLAUDE.local.md", "never", f"is loaded already, by way of {project}/src/CLAUDE.md"),
    ]


def test_a_directory_is_asked_about_itself(project: Path, home: Path) -> None:
    write(project / "src" / "CLAUDE.md", "S")
    assert [(p, when) for p, when, _ in reasons(project, project / "src", home)] == [("P/src/CLAUDE.md", "touched")]
