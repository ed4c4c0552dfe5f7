"""Signals and readers who leave: one result for each prompt, the right exit code, nothing left running."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from agentcli.runtime.options import SessionOptions
from agentcli.ui.headless.options import HeadlessOptions, Streams
from agentcli.ui.headless.run import run_headless
from tests.api import ApiServer, Gate, reply, text, tool_use
from tests.e2e.program import AGENTCLI
from tests.ui.headless.client import Client, running, until

KINDS = pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)], ids=["INT", "TERM", "HUP"]
)
HOOK = """
import os, signal, sys

class AtImport:
    '''Sends this process a signal when a module is about to be loaded.'''

    def find_spec(self, name, path=None, target=None):
        if name == os.environ["AT_IMPORT"]:
            os.kill(os.getpid(), int(os.environ["SIGNAL"]))
        return None

sys.meta_path.insert(0, AtImport())
"""


def send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


async def ended(client: Client, code: int) -> list[bool]:
    """After the signal: the exit code is the signal's; which results are errors."""
    while await client.line() is not None:
        pass
    assert await client.task == code
    assert client.lines[-1]["type"] == "result"
    return [x["is_error"] for x in client.of("result")]


@KINDS
async def test_while_the_model_answers(number: signal.Signals, code: int, api: ApiServer, project: Path) -> None:
    gate = Gate()
    api.play(reply("Hel", gate, "lo"))
    async with running(partial=True) as client:
        client.say("go")
        await client.until(lambda x: x["type"] == "stream_event" and x["event"]["type"] == "content_block_delta")
        send(number)
        assert await ended(client, code) == [True]
        gate.open()
    assert [x["aborted"] for x in client.of("assistant")] == [True]


@KINDS
async def test_while_a_tool_runs(number: signal.Signals, code: int, api: ApiServer, project: Path) -> None:
    command = "echo $$ > pid.new; mv pid.new pid; sleep 300"
    api.play(reply(tool_use("Bash", {"command": command})))
    async with running(options={"permission_mode": "bypassPermissions"}) as client:
        client.say("go")
        client.say("never begun", uuid="u2")
        await until((project / "pid").exists)
        send(number)
        assert await ended(client, code) == [True, True]
    assert [x.get("user_message_uuid") for x in client.of("result")] == [None, "u2"]
    assert not Path(f"/proc/{(project / 'pid').read_text().strip()}").exists()
    assert len(api.requests) == 1


async def test_while_a_question_is_open(api: ApiServer, project: Path) -> None:
    api.play(reply(tool_use("Bash", {"command": "touch made"})))
    async with running(permission_prompts=True) as client:
        client.say("go")
        await client.asked("can_use_tool")
        send(signal.SIGTERM)
        assert await ended(client, 143) == [True]
    assert not (project / "made").exists()


async def test_before_the_first_line(api: ApiServer, project: Path) -> None:
    async with running() as client:
        await until(lambda: signal.getsignal(signal.SIGTERM) != signal.SIG_DFL)
        send(signal.SIGTERM)
        assert await ended(client, 143) == [True]


async def test_between_two_prompts_there_is_nothing_to_report(api: ApiServer, project: Path) -> None:
    api.play("done")
    async with running() as client:
        client.say("go")
        await client.kind("result")
        send(signal.SIGTERM)
        assert await ended(client, 143) == [False]


async def test_a_signal_behind_the_result_changes_nothing(api: ApiServer, project: Path) -> None:
    command = {"command": "trap '' TERM; touch began; while :; do sleep 1; done", "run_in_background": True}
    api.play(reply(tool_use("Bash", command)), "done")
    async with running("go", streaming=False, options={"permission_mode": "bypassPermissions"}) as client:
        await client.kind("result")
        send(signal.SIGTERM)
        assert await ended(client, 0) == [False]


async def test_the_reader_leaves_in_the_middle(api: ApiServer, project: Path) -> None:
    command = "echo $$ > pid.new; mv pid.new pid; sleep 300"
    api.play(reply(text("x" * 100), tool_use("Bash", {"command": command})), "never asked")
    read, write = os.pipe()
    options = SessionOptions(cwd=project, interactive=False, permission_mode="bypassPermissions")
    os.close(read)
    code = await run_headless(options, "go", HeadlessOptions(output_format="stream-json"), streams=Streams(None, write))
    os.close(write)
    assert code == 141
    assert len(api.requests) <= 1
    pid = project / "pid"
    assert not (pid.exists() and Path(f"/proc/{pid.read_text().strip()}").exists())


async def test_a_reader_who_takes_nothing_does_not_hold_up_the_end(
    api: ApiServer, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentcli.ui.headless.run.PATIENCE", 0.05)
    api.play(reply(text("word " * 30_000)))
    read, write = os.pipe()
    work = asyncio.create_task(
        run_headless(
            SessionOptions(cwd=project, interactive=False),
            "go",
            HeadlessOptions(output_format="stream-json"),
            streams=Streams(None, write),
        )
    )
    await api.arrived(1, finished=True)
    send(signal.SIGTERM)
    async with asyncio.timeout(20):
        assert await work in (0, 143)  # the turn may be over when the signal comes; its end may not wait
    os.close(read)
    os.close(write)


@pytest.mark.parametrize(("closed", "code", "out"), [(0, 0, "fine\n"), (1, 141, ""), (2, 0, "fine\n")])
def test_closed_standard_streams(closed: int, code: int, out: str, api: ApiServer, project: Path) -> None:
    """No file of the session takes the place of a stream that was closed."""
    api.play("fine")
    line = f'exec "$@" {closed}>&-'
    done = subprocess.run(
        ["/bin/sh", "-c", line, "sh", *AGENTCLI, "-p", "hi"],
        cwd=project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, out), done.stderr
    assert len(api.requests) == (0 if closed == 1 else 1)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("module", ["agentcli.cli.chat", "agentcli.runtime.build"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"])
def test_while_the_program_loads(
    number: signal.Signals, code: int, module: str, world: Path, project: Path, api: ApiServer
) -> None:
    hooks = world / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(HOOK)
    env = {**os.environ, "PYTHONPATH": str(hooks), "AT_IMPORT": module, "SIGNAL": str(int(number))}
    done = subprocess.run(
        [*AGENTCLI, "-p", "hi", "--output-format", "json"],
        cwd=project,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr
    result = json.loads(done.stdout)
    assert (result["type"], result["is_error"], result["error_type"]) == ("result", True, "interrupted")
    assert b"Traceback" not in done.stderr
    assert api.requests == []
