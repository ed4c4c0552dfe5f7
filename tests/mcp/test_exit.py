"""However a session ends, no server and nothing that a server started is left."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.mcp import forks
from tests.mcp.forks import start
from tests.mcp.world import RAW, World, processes_with, states, texts, tool, until


def stubborn(mcp: World, number: str) -> None:
    """A server that ignores the end of its input and TERM, behind a shell, with a child of its own."""
    mcp.servers.add("stubborn", tools=[], stubborn=True, ignores_term=True, grandchild=number)
    entry = mcp.servers.entries["stubborn"]
    line = " ".join([entry["command"], *entry["args"]])
    mcp.servers.entries["stubborn"] = {"command": "sh", "args": ["-c", f"exec 3<&0; {line} <&3 & wait"]}


async def test_closing_ends_stubborn_servers_and_their_children_in_time(mcp: World) -> None:
    stubborn(mcp, "4000.1")
    mcp.servers.add("polite", tools=[])
    mcp.servers.add("mute", mute=True)
    room = mcp.room()
    room.start()
    await room.manager.wait(15, ["stubborn", "polite"])
    assert states(room) == {"stubborn": "connected", "polite": "connected", "mute": "pending"}
    began = time.monotonic()
    await room.close()
    await room.close()
    await mcp.processes.close()
    assert time.monotonic() - began < 4
    await until(lambda: not processes_with("sleep 4000.1", str(mcp.servers.directory)), seconds=3)


async def test_connecting_again_many_times_adds_nothing_up(mcp: World) -> None:
    mcp.servers.add("s", tools=[tool("ok")])
    async with mcp.open() as room:
        for _ in range(10):
            await room.manager.reconnect("s")
            await room.manager.wait(10)
            assert texts(await mcp.call(room, "mcp__s__ok")) == ["ok {}"]
        assert len([p for p in processes_with(str(RAW)) if str(mcp.servers.directory) in p]) == 1
        zombies = [e for e in Path("/proc").glob("[0-9]*/stat") if _is_zombie_child(e)]
        assert zombies == []


def _is_zombie_child(stat: Path) -> bool:
    try:
        fields = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] == "Z" and int(fields[1]) == os.getpid()


async def test_a_crash_is_told_once_and_a_server_that_never_stays_is_given_up(mcp: World) -> None:
    calls = {"exit": {"exit": 3}}
    mcp.servers.add("d", tools=[tool("exit"), tool("ok")], calls=calls)
    async with mcp.open() as room:
        mcp.servers.rewrite("d", fail_times=1000, fail_file=str(mcp.cwd.parent / "count"))
        with pytest.raises(Exception, match="exited"):
            await mcp.call(room, "mcp__d__exit")
        await until(lambda: states(room) == {"d": "failed"}, seconds=20)
        assert mcp.notices == [
            "MCP server d was lost: exited (code 3). It is being connected again.",
            "MCP server d: exited (code 7): not ready yet (5 new attempts failed).",
        ]
        with pytest.raises(Exception, match=r"The MCP server d is not connected: exited \(code 7\): not ready yet"):
            await mcp.call(room, "mcp__d__ok")
        mcp.servers.rewrite("d", tools=[tool("ok")])
        await room.manager.reconnect("d")
        await room.manager.wait(10)
        assert texts(await mcp.call(room, "mcp__d__ok")) == ["ok {}"]


async def test_switching_off_ends_the_server_here_and_next_time(mcp: World) -> None:
    mcp.servers.add("s", tools=[tool("ok")])
    async with mcp.open() as room:
        await room.manager.switch("s", on=False)
        assert states(room) == {"s": "disabled"}
        assert not processes_with(str(mcp.servers.directory))
    mcp.processes = type(mcp.processes)()
    async with mcp.open() as room:
        assert states(room) == {"s": "disabled"}
        await room.manager.switch("s", on=True)
        await room.manager.wait(10)
        assert states(room) == {"s": "connected"}


@pytest.mark.timeout(1500)
def test_nothing_survives_the_end_of_agentcli(mcp: World, soak: bool) -> None:
    """SIGTERM, SIGHUP, SIGINT: an orderly end.  SIGKILL: the supervisors."""
    stubborn(mcp, "4000.2")
    mcp.servers.add("polite", tools=[])
    rng = random.Random(7)
    signals = [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
    for round in range(100 if soak else 10):
        number = signals[round % 4]
        ready, theirs = multiprocessing.Pipe(duplex=False)
        host = start(forks.host, theirs, mcp.servers.json, str(mcp.cwd), mcp.environment)
        try:
            if round % 8 == 4:
                time.sleep(rng.random())  # killed somewhere in the middle of its start
            else:
                assert ready.poll(20)
                assert ready.recv() == ["connected", "connected"]
        finally:
            os.kill(host.pid or 0, number)
        host.join(10)
        assert host.exitcode is not None
        deadline = time.monotonic() + 6
        while left := processes_with("sleep 4000.2", str(mcp.servers.directory)):
            assert time.monotonic() < deadline, (number, left)
            time.sleep(0.02)


async def test_cancelling_everything_at_once_leaves_nothing(mcp: World) -> None:
    for number in range(4):
        mcp.servers.add(f"s{number}", tools=[], start_delay=0.2)
    room = mcp.room()
    room.start()
    await asyncio.sleep(0)
    await room.close(0.5)
    await mcp.processes.close()
    await until(lambda: not processes_with(str(mcp.servers.directory)), seconds=5)
