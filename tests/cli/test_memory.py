"""``agentcli memory check`` and ``agentcli memory why``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentcli.cli.memory import run_memory_check, run_memory_why
from tests.memory.worlds import write


def test_check(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(project / "CLAUDE.md", "# a\n")
    assert run_memory_check() == 0
    assert capsys.readouterr().out == "Nothing found.\n"
    write(path, "# a\n# a\n")
    assert run_memory_check() == 1
    assert capsys.readouterr().out == f"{path}:2: the heading 'a' stands in line 1 already\n1 finding.\n"
    assert run_memory_check(as_json=True) == 1
    assert json.loads(capsys.readouterr().out) == [
        {"path": str(path), "line": 2, "kind": "duplicate", "text": "the heading 'a' stands in line 1 already"}
    ]


def test_why(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_memory_why("a.py") == 0
    assert capsys.readouterr().out == "There are no memory files here.\n"
    top = write(project / "CLAUDE.md", "TOP")
    rule = write(project / ".claude" / "rules" / "r.md", '---\npaths: "*.py"\n---\nPY')
    assert run_memory_why("a.py") == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[0] == "Told from the start:"
    assert printed.splitlines()[3] == "Told when the file is read, edited or written:"
    assert f"  {rule} (about " in printed
    assert run_memory_why("a.ts", as_json=True) == 0
    found = {r["path"]: r["when"] for r in json.loads(capsys.readouterr().out)}
    assert found == {str(top): "start", str(rule): "never"}


def test_settings_count(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project / "CLAUDE.md", "TOP")
    write(project / ".claude" / "settings.json", json.dumps({"claudeMdExcludes": ["**/CLAUDE.md"]}))
    run_memory_why("a.py")
    assert "is excluded by claudeMdExcludes (**/CLAUDE.md)" in capsys.readouterr().out
