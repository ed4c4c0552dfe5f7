"""A kill while agents work: what they changed is there, and nothing of theirs runs any more."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.api import ApiServer, Gate, after, reply
from tests.e2e.harness import until
from tests.e2e.program import AGENTCLI
from tests.e2e.test_agent_servers import noting_server
from tests.e2e.test_subagents import task
from tests.e2e.test_worktrees import here


async def test_a_kill_leaves_the_worktree_and_no_server(home: Path, repo: Path) -> None:
    pids = repo.parent / "pids"
    definition = {
        "description": "works",
        "prompt": "You work.",
        "isolation": "worktree",
        "mcpServers": {"own": noting_server(repo.parent, pids, "look")},
    }
    with ApiServer() as api:
        api.play(reply(task("write and wait", "worker")))
        api.lane("write and wait", lambda r: here(r, "half.txt", "half\n"), after(Gate(), "never"))
        env = {**os.environ, "ANTHROPIC_API_KEY": api.key, "ANTHROPIC_BASE_URL": api.url}
        mode = ("--permission-mode", "bypassPermissions", "--allow-dangerously-skip-permissions")
        program = subprocess.Popen(
            [*AGENTCLI, "-p", "go", "--agents", json.dumps({"worker": definition}), *mode],
            cwd=repo,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            await until(lambda: sum("write and wait" in r.opening for r in api.requests) == 2, seconds=60)
            (pid,) = [int(text) for text in pids.read_text().split()]
            assert Path(f"/proc/{pid}").exists()
        finally:
            program.kill()
            program.wait()
        await until(lambda: not Path(f"/proc/{pid}").exists(), seconds=30)
    (tree,) = [p for p in (repo / ".claude" / "worktrees").iterdir() if p.is_dir()]
    assert (tree / "half.txt").read_text() == "half\n"
    assert f"worktree-{tree.name}" in subprocess.check_output(["git", "branch"], cwd=repo, text=True)
