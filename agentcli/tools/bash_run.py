"""One command line in the foreground, from the directory it starts in to the result."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentcli.errors import SetupError, ToolError
from agentcli.messages import TextBlock
from agentcli.ports.display import CommandDisplay
from agentcli.ports.tools import ToolResult, Workspace
from agentcli.processes import Finished
from agentcli.text import clean
from agentcli.tools.bash_cage import Cage
from agentcli.tools.bash_exit import answer, describe
from agentcli.tools.bash_live import LiveOutput
from agentcli.tools.bash_shell import Shell, ShellRun
from agentcli.tools.bash_text import present

DEFAULT_LIMIT = 30_000
_MOVES = re.compile(r"(?<![\w-])(?:cd|pushd|popd|chdir)(?![\w-])")


def may_move(command: str) -> bool:
    """Whether the line could change the shell's directory."""
    return bool(_MOVES.search(command))


def check_command(command: str) -> str:
    """The command, if it can be run as it stands; ``ToolError`` otherwise."""
    if not command.strip():
        raise ToolError("The command is empty. Say what to run.")
    if "\0" in command:
        raise ToolError("The command contains a NUL character, which no shell can take. Write it as an escape.")
    if clean(command) != command:
        raise ToolError(
            "The command contains half of a Unicode character (a lone surrogate). Nothing was run. Send it again "
            "with the whole character, or write it as an escape ($'\\U0001F600')."
        )
    return command


def not_started(error: OSError | SetupError) -> ToolError:
    """What the model is told when there is no shell to run its command."""
    reason = str(error)
    if isinstance(error, OSError):
        reason = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or reason
    return ToolError(f"The command could not be started: {clean(reason)}")


@dataclass(frozen=True, slots=True)
class Foreground:
    """How a command line is run.

    ``timeout`` is in seconds; ``limit`` are characters of output for the model; ``follow`` says whether the workspace
    moves with the shell.
    """

    env: Mapping[str, str]
    output: Callable[[str], None]
    spill: Callable[[str, str], Path]
    timeout: float | None = None
    limit: int = DEFAULT_LIMIT
    follow: bool = True
    cage: Cage = field(default_factory=Cage)


async def perform(shell: Shell, command: str, workspace: Workspace, how: Foreground) -> ToolResult:
    """Runs the line and makes its result.  ``ToolError`` if the shell can't be started."""
    notes = []
    if not os.path.isdir(workspace.cwd):
        notes.append(f"{workspace.cwd} is gone; ran in {workspace.start}")
        workspace.cwd = workspace.start
    live = LiveOutput(how.output)
    try:
        done = await shell.run(
            command, workspace.cwd, env=how.env, timeout=how.timeout, on_output=live.feed, wrap=how.cage.wrap
        )
    except (OSError, SetupError) as error:
        raise not_started(error) from error
    finally:
        live.close()
    finished = done.finished
    text = present(finished.output, how.limit, how.spill)
    meaning = answer(command, finished.exit_code, text)
    state = _state(finished, meaning, how.timeout)
    if state:
        notes.append(state)
    if finished.left_running and not how.cage.ends_all:
        notes.append("something that it started is still running; it ends with the session at the latest")
    moved = _move(workspace, done, command, follow=how.follow)
    if moved:
        notes.append(moved)
    failed = finished.timed_out or finished.flooded or (finished.exit_code != 0 and not meaning)
    if confined := how.cage.explain(text, failed=failed):
        notes.append(confined)
    body = "\n\n".join(part for part in (text, "\n".join(f"[{clean(note)}]" for note in notes)) if part)
    return ToolResult(
        (TextBlock(body or "(no output)"),),
        CommandDisplay(command, text, finished.exit_code, state),
        is_error=failed,
        structured={
            "exit_code": finished.exit_code,
            "signal": finished.signal,
            "timed_out": finished.timed_out,
            "seconds": round(finished.seconds, 3),
            "cwd": clean(str(workspace.cwd)),
        },
    )


def _state(finished: Finished, meaning: str, timeout: float | None) -> str:
    if finished.timed_out:
        limit = f"{timeout:g} s" if timeout is not None else "its limit"
        return (
            f"timed out after {limit}; the command and everything that it had started was ended. Output above is what "
            "it had written"
        )
    if finished.flooded:
        return f"ended because it wrote more than {finished.output.total:,} bytes"
    if meaning:
        return f"exit code {finished.exit_code}: {meaning}"
    return describe(finished.exit_code, finished.signal) if finished.exit_code else ""


def _move(workspace: Workspace, done: ShellRun, command: str, *, follow: bool) -> str:
    """Moves the workspace to where the shell ended; what to tell about it."""
    if not follow:
        return ""
    if done.cwd is None:
        return f"working directory: still {workspace.cwd}" if may_move(command) else ""
    if done.cwd == workspace.cwd.resolve():
        return ""
    if not workspace.contains(done.cwd):
        return f"{done.cwd} is outside the working directories; working directory reset to {workspace.cwd}"
    workspace.cwd = done.cwd
    return f"working directory is now {done.cwd}"


async def run_user_command(
    shell: Shell,
    command: str,
    workspace: Workspace,
    *,
    output: Callable[[str], None],
    spill: Callable[[str, str], Path],
) -> ToolResult:
    """``!command``: the user's own line, with their own environment (pager, editor, ``TERM``) but without our keys,
    and without a time limit.  ``ToolError`` if the shell can't be started."""
    how = Foreground(shell.user_environment(), output, spill)
    return await perform(shell, check_command(command), workspace, how)
