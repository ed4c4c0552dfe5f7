"""Looking at the processes of this machine."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path

_numbers = itertools.count(1)


def unique_seconds() -> str:
    """An argument for ``sleep`` that no other process has: a long time by which it can be found."""
    return f"{70000 + os.getpid() % 10000}.{next(_numbers):04d}"


def commands() -> dict[int, str]:
    """Every living process by its command line; zombies have none."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if line:
                found[int(entry.name)] = line.replace(b"\0", b" ").decode(errors="replace").strip()
    return found


def alive(*needles: str) -> list[str]:
    """Command lines that contain one of the needles."""
    return [line for line in commands().values() if any(needle in line for needle in needles)]


def zombies() -> list[int]:
    """Children of this process that ended and were not waited for."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] == "Z" and int(fields[1]) == os.getpid():
                found.append(int(entry.name))
    return found


def descriptors() -> set[str]:
    """What this process has open: numbers with their targets."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.add(f"{entry.name} {entry.readlink()}")
        except OSError:
            continue
    return found


WITHIN = 45.0
"""Seconds.  Only what fails takes so long; a loaded machine may be slow."""


def wait_for(condition: Callable[[], object], *, within: float = WITHIN) -> float:
    """Polls until the condition holds; the seconds that it took."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < within, "it did not happen in time"
        time.sleep(0.02)
    return time.monotonic() - begun


async def until(condition: Callable[[], object], *, within: float = WITHIN) -> float:
    """As ``wait_for``, while the event loop goes on."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < within, "it did not happen in time"
        await asyncio.sleep(0.02)
    return time.monotonic() - begun
