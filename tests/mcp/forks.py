"""Processes of tests that need the ``mcp`` package: forked from one that has loaded it, so that it is paid once."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import runpy
import signal
import sys
from collections.abc import Callable
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

from agentcli.conversation import ConversationCache
from agentcli.mcp import Ground, Wiring, make_room
from agentcli.processes import ProcessManager
from agentcli.settings.merged import Settings

PRELOADED = ["mcp", "mcp.server", "mcp.client.sse", "mcp.client.auth", "uvicorn", "tests.mcp.forks"]


def start(target: Callable[..., Any], *arguments: Any) -> ForkServerProcess:
    context: ForkServerContext = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    process = context.Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def script(path: str, *arguments: str) -> None:
    """Runs a script as a program."""
    sys.argv = [path, *arguments]
    runpy.run_path(path, run_name="__main__")


def host(ready: Any, servers: str, directory: str, environment: dict[str, str]) -> None:
    """A program with a room: tells the states of its servers, then waits for a signal to end in good order."""
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    asyncio.run(_host(ready, servers, Path(directory), environment))


async def _host(ready: Any, servers: str, directory: Path, environment: dict[str, str]) -> None:
    processes = ProcessManager()
    ground = Ground(cwd=directory, settings=Settings(()), env=environment, given=[servers])
    wiring = Wiring(emit=lambda event: None, cache=ConversationCache(), directory=lambda: directory)
    room = make_room(ground, processes, wiring)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    room.start()
    await room.wait_first(20)
    ready.send([s.state for s in room.statuses()])
    await stop.wait()
    await room.close()
    await processes.close()
