"""Killed at any moment, a session holds everything that was shown and its conversation is valid."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentcli.messages import TextBlock, ToolResultBlock, repair
from agentcli.sessions import load

ROOT = Path(__file__).resolve().parents[2]


def run_and_kill(path: Path, dice: random.Random) -> list[dict[str, str]]:
    """Starts an engine that shows what it does on stdout, kills it after a random number of shown lines and a random
    moment more; returns what was shown."""
    command = [sys.executable, "-m", "tests.sessions.host", str(path), str(dice.randrange(1 << 30))]
    shown: list[dict[str, str]] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as host:
        assert host.stdout is not None
        for _ in range(dice.randrange(1, 400)):
            line = host.stdout.readline()
            if not line:
                break
            shown.append(json.loads(line))
        time.sleep(dice.random() / 500)  # not a synchronisation: the moment of death is meant to be any
        host.send_signal(signal.SIGKILL)
        rest = host.stdout.read()
    shown += [json.loads(line) for line in rest.split(b"\n")[:-1] if line]
    return shown


@pytest.mark.timeout(900)
def test_killed_at_any_moment_nothing_that_was_shown_is_missing(home: Path, soak: bool) -> None:
    dice = random.Random(7)
    path = home / "s.jsonl"
    shown: list[dict[str, str]] = []
    for number in range(200 if soak else 20):
        if number % 5 == 0:
            path = home / f"s{number}.jsonl"
            shown = []
        shown += run_and_kill(path, dice)
        loaded = load(path)
        assert not repair(loaded.messages).notes
        blocks = [b for m in loaded.messages for b in m.content]
        said = [b.text for b in blocks if isinstance(b, TextBlock)]
        results = {b.tool_use_id for b in blocks if isinstance(b, ToolResultBlock) and not b.is_error}
        prompts = [s["prompt"] for s in shown if "prompt" in s]
        assert [t for t in said if t.startswith("prompt ")][: len(prompts)] == prompts
        assert {s["result"] for s in shown if "result" in s} <= results
        text = "".join(s["text"] for s in shown if "text" in s)
        kept = "".join(
            b.text for m in loaded.messages if m.role == "assistant" for b in m.content if isinstance(b, TextBlock)
        )
        assert _in_order(text, kept)


def _in_order(shown: str, kept: str) -> bool:
    """Whether every shown character stands in what was kept, in order (more may have been kept than was shown)."""
    rest = iter(kept)
    return all(c in rest for c in shown)
