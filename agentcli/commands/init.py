"""``/init``: has the agent study the repository and write its CLAUDE.md, under the ordinary permissions."""

from __future__ import annotations

import os
from pathlib import Path

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.ports.frontend import UserInput

WORDS = Path(__file__).with_name("init.md")


async def run(context: CommandContext, arguments: str) -> CommandResult:
    return CommandResult(prompt=UserInput(init_prompt(context.session.workspace.start, arguments)))


def init_prompt(directory: Path, wishes: str = "") -> str:
    """The message that starts the work; an existing file is named, so that it is improved instead of replaced."""
    parts = [WORDS.read_text(encoding="utf-8").strip()]
    present = next(
        (p for p in (directory / "CLAUDE.md", directory / ".claude" / "CLAUDE.md") if os.path.isfile(p)), None
    )
    if present is not None:
        parts.append(f"There is one: {present}. Read it first and edit it.")
    if wishes:
        parts.append(f"The user asks in particular: {wishes}")
    return "\n\n".join(parts)


COMMAND = Command("init", "Write a CLAUDE.md for this repository", run, argument_hint="[what matters]")
