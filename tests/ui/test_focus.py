"""Whether the user is there: asked of the terminal where somebody wants to know, told to the ticks; Esc ends them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.api import ApiServer
from tests.ui.pty import Program
from tests.ui.scripted import ScriptedSession
from tests.ui.theatre import theatre

ON, OFF, CAME, WENT = "\x1b[?1004h", "\x1b[?1004l", "\x1b[I", "\x1b[O"


async def test_the_terminal_is_asked_only_where_somebody_wants_to_know() -> None:
    async with theatre(ScriptedSession()) as show:
        show.keys(f"{WENT}{CAME}typed")
        await show.see("❯ typed")
    assert "?1004" not in "".join(show.wire.writes)


async def test_a_listener_hears_of_the_focus_and_nothing_else_changes() -> None:
    heard: list[bool] = []
    async with theatre(ScriptedSession()) as show:
        show.session.asking.watch_focus(heard.append)
        show.keys("dra")
        await show.see("❯ dra")
        assert "".join(show.wire.writes).count(ON) == 1
        show.keys(f"{WENT}ft{CAME}{WENT}")
        await show.see("❯ draft")
        await show.until(lambda: len(heard) == 3)
        show.session.asking.watch_focus(None)
        assert "".join(show.wire.writes).count(OFF) == 1
        show.session.asking.watch_focus(heard.append)
    assert heard == [False, True, False]
    written = "".join(show.wire.writes)
    assert written.rindex(OFF) > written.rindex(ON)


@pytest.mark.pty
def test_the_ticks_are_told_and_escape_at_rest_ends_them(project: Path) -> None:
    settings = json.dumps({"proactive": {"idle": 0.2}})
    with ApiServer(*["Looked."] * 200) as api:
        env = {
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": api.key,
            "AGENTCLI_FEATURE_PROACTIVE": "1",
        }
        argv = [sys.executable, "-m", "agentcli", "--proactive", "--settings", settings]
        with Program(argv, cwd=project, env=env) as program:
            program.wait(lambda: ON in program.raw, "focus reports")
            program.send(WENT)
            program.wait(lambda: any("The user is away." in json.dumps(r.json) for r in api.requests), "away")
            program.send(CAME)
            program.wait(lambda: any("The user is here." in json.dumps(r.json) for r in api.requests), "here")
            assert any("(tick)" in r.last_text for r in api.requests)
            program.send("\x1b")
            program.wait_for("no longer works on its own")
            program.wait_gone("Esc stops")
            sent = len(api.requests)
            program.send("/status\r")
            program.wait_for("/status")
            assert len(api.requests) == sent
            program.send("\x04")
            assert program.wait_exit() == 0
            assert program.raw.rindex(OFF) > program.raw.rindex(ON)
