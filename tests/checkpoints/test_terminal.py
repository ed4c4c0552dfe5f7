"""``/diff`` and ``/rewind`` in the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api import ApiServer, reply, tool_use
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
