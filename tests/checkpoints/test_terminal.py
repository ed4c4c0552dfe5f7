"""``/diff`` and ``/rewind`` in the whole program, with a terminal and without."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api import ApiServer, reply, tool_use
from tests.checkpoints.desk import work
from tests.ui.test_whole import agentcli


@pytest.mark.pty
def test_a_change_is_shown_and_taken_back(project: Path) -> None:
    (project / "a.txt").write_text("one\ntwo\n")
    command = "sed -i s/two/2/ a.txt; touch new"
    steps = (reply(tool_use("Bash", {"command": command})), "All done.")
    mode = ("--permission-mode", "bypassPermissions", "--allow-dangerously-skip-permissions")
    with ApiServer(*steps) as api, agentcli(api, project, *mode) as program:
        program.wait_for("❯")
        program.send("change it\r")
        program.wait_for("All done.")
        program.wait_gone("Esc stops")
        program.send("/diff\r")
        program.wait_for("+2")
        program.wait_for("-two")
        program.send("/rewind\r")
        program.wait_for("Back to before which message?")
        program.send("1")
        program.wait_for("What goes back?")
        program.wait_for("new: is removed")
        program.send("1")
        program.wait_for("Restored files: 2")
        program.wait_for("❯ change it")
        assert (project / "a.txt").read_text() == "one\ntwo\n"
        assert not (project / "new").exists()
        program.send("\x15\x04")
        assert program.wait_exit() == 0


async def test_headless_prints_the_difference_as_it_is(project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    async with work(project) as at:
        await at.shell("echo two > a.txt")
        session_id = at.session.id
    command = [sys.executable, "-m", "agentcli", "--resume", session_id, "-p"]
    env = {**os.environ, "ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    shown = await asyncio.to_thread(subprocess.run, [*command, "/diff"], env=env, capture_output=True, text=True)
    assert shown.stdout == "**Files: 1 +1 −1**\n\n`a.txt`: changed +1 −1\n\n```diff\n@@ -1 +1 @@\n-one\n+two\n```\n"
    done = await asyncio.to_thread(
        subprocess.run, [*command, "/rewind 0 code"], env=env, capture_output=True, text=True
    )
    assert done.stdout == "Restored files: 1. `/rewind undo` takes that back.\n"
    assert (project / "a.txt").read_text() == "one\n"
