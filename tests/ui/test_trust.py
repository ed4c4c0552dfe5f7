"""Before a project's own settings act, the person is asked: no is the default, and what was not asked does not act."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentcli.i18n import Texts
from agentcli.mcp.approval import Guard
from agentcli.mcp.config import read_configuration
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.trusting import TrustQuestion, trust_question
from agentcli.runtime.world import read_world
from agentcli.settings.trust import project_of
from agentcli.ui.terminal.plain_lines import PlainDialogs, PlainView
from tests.ui.scripted import ScriptedSession
from tests.ui.theatre import theatre

SETTINGS = {
    "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch hooked\u001b[2J"}]}]},
    "permissions": {"allow": ["Bash(make *)", "Bash(npm *)"]},
    "env": {"ANTHROPIC_BASE_URL": "http://elsewhere.example"},
}


@pytest.fixture
def question(repo: Path) -> TrustQuestion:
    (repo / ".claude").mkdir()
    (repo / ".claude" / "settings.json").write_text(json.dumps(SETTINGS))
    found = trust_question(SessionOptions(cwd=repo))
    assert found is not None
    return found


def asked_again(repo: Path) -> bool:
    return trust_question(SessionOptions(cwd=repo)) is not None


async def test_everything_is_shown_with_its_file_before_the_session_begins(question: TrustQuestion, repo: Path) -> None:
    async with theatre(ScriptedSession(), question=question, columns=120) as show:
        await show.see("Do you trust this project?")
        for text in ("hook: SessionStart: touch hooked", "allow rule: Bash(npm *)", "ANTHROPIC_BASE_URL=http"):
            assert text in show.screen
        assert str(repo / ".claude" / "settings.json")[-40:] in show.screen.replace("\n", "")
        assert "❯ 1. No" in show.screen
        assert show.session.started == 0


@pytest.mark.parametrize("key", ["\r", "1", "\x1b"])
async def test_no_is_the_default_and_says_what_does_not_act(key: str, question: TrustQuestion, repo: Path) -> None:
    async with theatre(ScriptedSession(), question=question, columns=100) as show:
        await show.see("1. No")
        show.time += 1
        show.keys(key)
        await show.see("does not act: hook ×1, allow rule ×2, environment ×1")
        assert (show.session.started, show.session.trusted) == (1, False)
    assert asked_again(repo)


async def test_a_yes_is_kept_and_the_session_begins_trusted(question: TrustQuestion, repo: Path) -> None:
    async with theatre(ScriptedSession(), question=question) as show:
        await show.see("2. Yes")
        show.time += 1
        show.keys("2")
        await show.see("/help")
        assert (show.session.started, show.session.trusted) == (1, True)
        assert "does not act" not in show.everything
    assert not asked_again(repo)


async def test_a_yes_holds_for_the_servers_that_it_showed(repo: Path) -> None:
    def server(name: str, command: str) -> dict[str, Any]:
        return {name: {"command": command}}

    def verdicts() -> dict[str, str]:
        options = SessionOptions(cwd=repo)
        world = read_world(options)
        guard = Guard(project_of(repo, world.env), world.settings, world.env)
        return {s.name: guard.verdict(s) for s in read_configuration(repo, world.settings, world.env).servers}

    (repo / ".mcp.json").write_text(json.dumps({"mcpServers": {**server("one", "a"), **server("two", "b")}}))
    question = trust_question(SessionOptions(cwd=repo))
    async with theatre(ScriptedSession(), question=question) as show:
        await show.see("MCP server: one: a")
        show.time += 1
        show.keys("2")
        await show.see("/help")
    assert verdicts() == {"one": "yes", "two": "yes"}
    (repo / ".mcp.json").write_text(json.dumps({"mcpServers": {**server("one", "a"), **server("two", "c")}}))
    assert verdicts() == {"one": "yes", "two": "changed"}


async def test_what_was_typed_before_is_no_answer_and_not_lost(question: TrustQuestion) -> None:
    async with theatre(ScriptedSession(), question=question) as show:
        show.keys("make 2 things\r")
        await show.see("❯ make 2 things")
        assert show.session.started == 0
        show.time += 1
        show.keys("1")
        await show.see("/help")
        await show.until(lambda: show.caret_text == "❯ make 2 things")


async def test_control_c_leaves_without_a_session(question: TrustQuestion, repo: Path) -> None:
    async with theatre(ScriptedSession(), question=question) as show:
        await show.see("2. Yes")
        show.keys("\x03")
        await show.until(show.result.done)
        assert (show.result.result(), show.session.started) == (130, 0)
    assert asked_again(repo)


async def test_a_long_list_is_printed_whole_above(repo: Path) -> None:
    (repo / ".claude").mkdir()
    rules = [f"Bash(tool{n} *)" for n in range(40)]
    (repo / ".claude" / "settings.json").write_text(json.dumps({"permissions": {"allow": rules}}))
    async with theatre(ScriptedSession(), question=trust_question(SessionOptions(cwd=repo)), columns=60) as show:
        await show.see("1. No")
        await show.see("allow rule ×40 (listed above)")
        await show.until(lambda: all(rule in show.everything for rule in rules))


class _Given:
    """Lines that somebody types."""

    def __init__(self, *lines: str | None) -> None:
        self.lines = list(lines)
        self.shown = ""

    async def ask(self, prompt: str) -> str | None:
        self.shown += prompt
        return self.lines.pop(0)

    def write(self, text: str) -> None:
        self.shown += text


@pytest.mark.parametrize(("line", "answer"), [("", False), ("1", False), ("2", True), (None, False)])
async def test_by_lines_no_is_the_default_too(line: str | None, answer: bool, question: TrustQuestion) -> None:
    lines: Any = _Given(line)
    texts = Texts("ko")
    assert await PlainDialogs(lines, PlainView(lines, texts), texts).trust(question) is answer
    assert "신뢰하시겠습니까?" in lines.shown
    assert "훅: SessionStart: touch hooked\n" in lines.shown
