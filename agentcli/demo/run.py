"""Runs the demonstration and says honestly how it ended."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from agentcli.demo.repository import create, tests_pass
from agentcli.demo.script import OVER, PROMPT, answers
from agentcli.runtime.options import SessionOptions

INTRODUCTION = """\
agentcli demo: a scripted model (its answers are fixed, nothing is sent anywhere) repairs a small repository.
Everything else is real: the loop, the tools, the permission questions, the edit, the test run.
"""


def run_demo(*, auto: bool) -> int:
    """Plays the demonstration.  Exit code 0 only if the repository's tests pass at the end."""
    with tempfile.TemporaryDirectory(prefix="agentcli-demo-") as name:
        repository = Path(name).resolve() / "durations"
        repository.mkdir()
        create(repository)
        sys.stdout.write(f"{INTRODUCTION}Repository: {repository}\n\n")
        sys.stdout.flush()
        asyncio.run(_play(repository, auto=auto))
        if tests_pass(repository):
            sys.stdout.write(
                "\nThe repository's tests pass. Next: set ANTHROPIC_API_KEY and run `agentcli` in yours.\n"
            )
            return 0
        sys.stdout.write("\nThe repository's tests still fail (the edit was refused or interrupted).\n")
        return 1


def _options(repository: Path) -> SessionOptions:
    python = Path(sys.executable).parent
    return SessionOptions(
        cwd=repository,
        setting_sources=(),
        persist=False,
        bare=True,
        environment={"PATH": f"{python}{os.pathsep}{os.environ.get('PATH', os.defpath)}"},
    )


async def _play(repository: Path, *, auto: bool) -> None:
    from agentcli.model.scripted import ScriptedClient, say

    client = ScriptedClient(answers(repository), delay=0.02 if sys.stdout.isatty() else 0.0, otherwise=say(OVER))
    if not auto and sys.stdin.isatty() and sys.stdout.isatty():
        from agentcli.ui.terminal.app import run_terminal

        await run_terminal(_options(repository), first_prompt=PROMPT, client=client)
        return
    from agentcli.demo.watch import watch

    await watch(_options(repository), PROMPT, client)
