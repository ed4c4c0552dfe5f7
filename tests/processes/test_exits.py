"""Nothing outlives agentcli, however it ends; and servers with pipes end with it."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentcli.processes import ProcessManager, environment
from tests.processes.looking import alive, unique_seconds, until, wait_for

HOST = """
import asyncio, signal, sys
from pathlib import Path
from agentcli.processes import ProcessManager, environment

async def main(polite, seconds):
    manager = ProcessManager()
    loop = asyncio.get_running_loop()
    ending = asyncio.Event()
    if polite:
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ending.set)
    cwd = Path.cwd()
    shell = f"sleep {seconds} & (setsid sh -c 'trap \\"\\" TERM HUP; sleep {seconds} & wait' &) ; sleep {seconds}"
    await manager.run(["bash", "-c", f"sleep {seconds} & true"], cwd, env=environment())
    call = asyncio.create_task(manager.run(["bash", "-c", shell], cwd, env=environment()))
    server = await manager.start(
        [sys.executable, "stubborn.py", seconds], cwd, env=environment(), stdin="pipe", stdout="pipe", stderr="discard"
    )
    print((await server.stdout.readline()).decode().strip(), flush=True)
    await ending.wait()
    call.cancel()
    await manager.close()

asyncio.run(main(sys.argv[1] == "polite", sys.argv[2]))
"""
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", sys.argv[1]], start_new_session=True)
print("ready", flush=True)
for line in sys.stdin:
    print("answer to " + line.strip(), flush=True)
time.sleep(300)
"""


def end_a_host(project: Path, number: int, manners: str) -> None:
    seconds = unique_seconds()
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, manners, seconds], cwd=project, stdout=subprocess.PIPE, start_new_session=True
    )
    assert host.stdout is not None
    with host.stdout:
        assert host.stdout.readline() == b"ready\n"
        wait_for(lambda: len(alive(f"sleep {seconds}")) >= 6)
        host.send_signal(number)
        host.wait(timeout=60)
        wait_for(lambda: alive(seconds) == [])


@pytest.mark.parametrize("manners", ["polite", "rude"])
@pytest.mark.parametrize("name", ["SIGHUP", "SIGTERM", "SIGINT", "SIGKILL"])
def test_whatever_ends_agentcli_ends_everything(project: Path, name: str, manners: str, soak: bool) -> None:
    (project / "stubborn.py").write_text(STUBBORN)
    for _ in range(13 if soak else 2 if name == "SIGKILL" else 1):
        end_a_host(project, signal.Signals[name], manners)


@pytest.fixture
def server(project: Path) -> list[str]:
    (project / "stubborn.py").write_text(STUBBORN)
    (project / "wrap.sh").write_text(f'#!/bin/sh\n"{sys.executable}" stubborn.py "$1" & wait\n')
    return ["sh", "wrap.sh"]


async def test_a_server_is_talked_to_and_ended_with_what_it_started(
    manager: ProcessManager, project: Path, server: list[str]
) -> None:
    seconds = unique_seconds()
    log = (project / "log").open("wb")
    with log:
        running = await manager.start(
            [sys.executable, "stubborn.py", seconds],
            project,
            env=environment(),
            stdin="pipe",
            stdout="pipe",
            stderr=log.fileno(),
        )
    assert running.stdin is not None
    assert running.stdout is not None
    assert await running.stdout.readline() == b"ready\n"
    await running.stdin.write(b"hello\n")
    assert await running.stdout.readline() == b"answer to hello\n"
    running.stdin.close()
    assert await running.terminate(grace=0.2)
    assert alive(seconds) == []
    assert (running.state().signal, running.ended) == (signal.SIGKILL, True)
    assert await running.stdout.read() == b""
    with pytest.raises(BrokenPipeError):
        await running.stdin.write(b"more\n")


async def test_reconnecting_does_not_add_up(manager: ProcessManager, project: Path, server: list[str]) -> None:
    seconds = unique_seconds()
    for _ in range(4):
        running = await manager.start([*server, seconds], project, env=environment(), stdin="pipe", stdout="pipe")
        assert running.stdout is not None
        assert await running.stdout.readline() == b"ready\n"
        assert await running.terminate(grace=0.1)
        assert alive(seconds) == []
    assert manager.running == ()


async def test_everything_is_closed_at_once_and_in_time(project: Path, server: list[str]) -> None:
    manager = ProcessManager()
    seconds = unique_seconds()
    for _ in range(4):
        running = await manager.start([*server, seconds], project, env=environment(), stdout="pipe")
        assert running.stdout is not None
        assert await running.stdout.readline() == b"ready\n"
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await manager.close()
    assert loop.time() - begun < 2.5
    assert alive(seconds) == []


async def test_a_server_that_dies_is_seen(manager: ProcessManager, project: Path) -> None:
    running = await manager.start(["sh", "-c", "read line; exit 4"], project, env=environment(), stdin="pipe")
    assert running.stdin is not None
    await running.stdin.write(b"go\n")
    await running.wait_ended()
    assert running.state().exit_code == 4
    await until(lambda: manager.running == ())
