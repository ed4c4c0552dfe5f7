"""What the scripted model says.  Tools, permissions, files and test runs are real; only the answers are fixed."""

from __future__ import annotations

from pathlib import Path

from agentcli.demo.repository import TEST_COMMAND
from agentcli.model.scripted import Answer, call, say

PROMPT = "A test fails. Find out why and fix it."
OVER = "The model of this demonstration is scripted, and its script is over. `/exit` leaves."
WRONG = "total = int(part[1]) * _SECONDS[part[2]]"
RIGHT = "total += int(part[1]) * _SECONDS[part[2]]"


def answers(repository: Path) -> list[Answer]:
    """The answers, one a request, for the repository in this directory."""
    module = str(repository / "duration.py")
    tests = str(repository / "test_duration.py")
    return [
        say(
            "I'll run the tests first, to see what fails.", call("Bash", command=TEST_COMMAND, description="Run tests")
        ),
        say(
            "`1h30m` comes out as 1800 seconds: the hour is lost. Let me read the code and its tests.",
            call("Read", file_path=module),
            call("Read", file_path=tests),
        ),
        say(
            "The loop **assigns** each part to `total` instead of adding it, so only the last unit counts.",
            call("Edit", file_path=module, old_string=WRONG, new_string=RIGHT),
        ),
        say("Now the tests again.", call("Bash", command=TEST_COMMAND, description="Run tests")),
        say(
            "Fixed. In `duration.py`, `parse` overwrote `total` with every part; it now adds them up, "
            "so `1h30m` is 5400 seconds.\n\n- one line changed\n- all three tests pass\n\n"
            "That is the end of the script. `/cost` and `/cache` show what a real session would have cost; "
            "`/exit` leaves."
        ),
    ]
