"""Killed at any moment: neither the project nor the store is broken, and what was changed can be taken back."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentcli.runtime.options import Resume
from tests.checkpoints.desk import tree, work

HOST = """
import asyncio, sys
from pathlib import Path
from tests.checkpoints.desk import work

async def main():
    async with work(Path.cwd(), session_id="killed") as at:
        await at.shell("for f in a; do echo 1 > $f; done")
        await at.shell(sys.argv[1])

asyncio.run(main())
"""


@pytest.mark.parametrize("command", ["for f in a c; do echo 2 > $f; done; touch b", "echo 2 > a; rm c; touch b"])
async def test_a_session_that_was_killed_in_a_command(project: Path, command: str) -> None:
    (project / "a").write_text("0\n")
    (project / "c").write_text("0\n")
    root = Path(__file__).resolve().parents[2]
    code = f"import sys; sys.path.insert(0, {str(root)!r})\n{HOST}"
    host = subprocess.Popen([sys.executable, "-c", code, f"{command}; sleep 987"], cwd=project)
    deadline = time.monotonic() + 60
    while not (project / "b").exists():
        assert host.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    host.send_signal(signal.SIGKILL)
    host.wait()
    async with work(project, resume=Resume(query="killed")) as at:
        assert sorted(await at.plan()) == ["a", "b", "c"]
        assert await at.rewind() == []
        assert {n: s[2] for n, s in tree(project).items()} == {"a": b"1\n", "c": b"0\n"}
        assert await at.rewind(1) == []
        assert {n: s[2] for n, s in tree(project).items()} == {"a": b"0\n", "c": b"0\n"}
        assert at.told == []


async def test_a_damaged_store_is_mended(project: Path, home: Path) -> None:
    (project / "a").write_text("0\n")
    async with work(project) as at:
        await at.shell("for f in a b; do echo 1 > $f; done")
        session_id = at.session.id
    (kept,) = home.rglob("checkpoints")
    (kept / "store" / "index").write_bytes(b"DIRC garbage")
    (kept / "store" / "index.lock").write_bytes(b"")
    log = (kept / "log.jsonl").read_bytes()
    (kept / "log.jsonl").write_bytes(log + b'{"v":1,"kind":"change","path":"/x","bef')
    async with work(project, resume=Resume(query=session_id)) as at:
        await at.shell("for f in a c; do echo 2 > $f; done")
        assert at.told == []
        assert await at.plan() == {"a": "changed", "c": "removed"}
        assert await at.rewind(1) == []
        assert tree(project) == {"a": ("file", 0o644, b"0\n")}
    assert all(json.loads(line) for line in (kept / "log.jsonl").read_bytes().splitlines() if b"bef" not in line[-20:])


async def test_an_object_that_is_lost_is_named_and_nothing_is_touched(project: Path, home: Path) -> None:
    (project / "a").write_text("0\n")
    (project / "b").write_text("other\n")
    async with work(project) as at:
        await at.shell("for f in a b; do echo 1 > $f; done")
        (kept,) = home.rglob("checkpoints")
        oid = "573541ac9702dd3969c9bc859d2b91ec1f7e6e56"
        lost = kept / "store" / "objects" / oid[:2] / oid[2:]
        lost.chmod(0o600)
        lost.write_bytes(b"damaged")
        assert await at.plan() == {"a": "content", "b": "changed"}
        assert await at.rewind() == []
    assert {n: s[2] for n, s in tree(project).items()} == {"a": b"1\n", "b": b"other\n"}


async def test_a_store_that_cant_be_written_is_said_once_and_work_goes_on(project: Path, home: Path) -> None:
    async with work(project) as at:
        (at.session.directory() / "checkpoints").write_text("in the way")
        await at.shell("echo 1 > a")
        await at.shell("echo 2 > a; echo b > b")
        assert (project / "a").read_text() == "2\n"
        assert len(at.told) == 1
        assert "can't be kept for /rewind" in at.told[0] or "can't be taken back" in at.told[0]
