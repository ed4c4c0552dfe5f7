"""A headless prompt's mentions go along with it, too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.api import ApiServer


def test_a_mentioned_file_is_sent_and_named_on_standard_error(project: Path) -> None:
    (project / "a.py").write_text("one\n")
    with ApiServer("Seen.") as api:
        env = {**os.environ, "ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": api.key}
        command = [sys.executable, "-m", "agentcli", "-p", "What is in @a.py?"]
        done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=60, check=True)
        texts = [block["text"] for block in api.requests[0].json["messages"][0]["content"]]
    assert done.stdout == "Seen.\n"
    assert done.stderr == "agentcli: Attached: a.py (1 line)\n"
    assert texts[-1] == "What is in @a.py?"
    assert "The user mentions a.py. It was read just now:\n1\tone\n" in texts[-2]
