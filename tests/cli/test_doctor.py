"""``agentcli doctor``: what is broken in the files of a project, with file and line, as a run says it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agentcli.cli.doctor import run_doctor
from agentcli.i18n import Texts
from agentcli.runtime.doctor import examine

BROKEN = {
    "mcp": (".mcp.json", '{\n "mcpServers": {\n  "a": {"command": 3}\n }\n}', 3),
    "agents": (".claude/agents/a.md", "---\nname: [x\n---\nhi", 3),
    "skills": (".claude/skills/x/SKILL.md", "---\nname: [x\n---\nhi", 3),
    "commands": (".claude/commands/c.md", "---\ndescription: q\nallowed-tools: {}\n---\nhi", 3),
    "output style": (".claude/output-styles/s.md", "---\nname: [\n---\nhi", 3),
    "memory": (".claude/rules/r.md", "---\npaths: {a: 3}\n---\nhi", 2),
    "hooks": (".claude/settings.json", '{\n "model": "m",\n "hooks": {\n  "Stop": 3\n }\n}', 4),
}


def write(project: Path, name: str, text: str) -> None:
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("topic", BROKEN)
def test_a_broken_file_is_named_with_its_line(topic: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, text, line = BROKEN[topic]
    write(project, name, text)
    run_doctor(as_json=True)
    found = [f for f in json.loads(capsys.readouterr().out) if f["topic"] == topic]
    assert len(found) == 1, found
    assert re.search(rf"{re.escape(str(project / name))}\)?:{line}\b", found[0]["text"]), found
    assert found[0]["state"] == "note"
    assert found[0]["todo"]


def test_sound_files_are_not_mentioned(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, ".claude/agents/a.md", "---\nname: a\ndescription: b\n---\nhi")
    write(project, ".mcp.json", '{"mcpServers": {"a": {"command": "x"}}}')
    run_doctor(as_json=True)
    assert not {f["topic"] for f in json.loads(capsys.readouterr().out)} & set(BROKEN)


def test_a_style_that_there_is_not_is_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, ".claude/settings.json", '{"outputStyle": "nosuch"}')
    run_doctor(as_json=False)
    assert "output style 'nosuch'" in capsys.readouterr().out


async def test_the_findings_are_told_in_korean_too(project: Path) -> None:
    found = {f.topic: f for f in await examine(project, Texts("ko"))}
    assert "Python" in found["agentcli"].text
    assert found["settings"].text == "없음. 기본값을 씁니다"
    assert found["terminal"].text.endswith(": 여기에서는 -p 실행만 됩니다")
