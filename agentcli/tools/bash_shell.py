"""The user's shell: which one, their aliases and functions, and the directory in which a command leaves it."""

from __future__ import annotations

import asyncio
import itertools
import os
import shlex
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentcli.errors import SetupError
from agentcli.files import write_private
from agentcli.paths import private_directory, user_home
from agentcli.ports.sandbox import Wrap
from agentcli.processes import Finished, Limits, ProcessManager, Running, environment, without_keys

Kind = Literal["bash", "zsh", "sh"]
SNAPSHOT_LIMIT = 3.0
"""Seconds that the user's start-up file may take; a slower one is gone without."""
_MARK = "agentcli-snapshot"
_ASKING_ALIASES = (
    'for n in rm cp mv ln; do case "$(alias "$n" 2>/dev/null)" in *" -i"*|*--interactive*) unalias "$n";; esac; done'
)
"""``alias rm='rm -i'`` asks a person who is not there, and the file stays without an error."""
_DUMP = {"bash": "declare -f; alias -p", "zsh": "functions; alias -L"}


@dataclass(frozen=True, slots=True)
class ShellRun:
    """A finished command line.  ``cwd`` is where the shell was when it ended, ``None`` if it could not tell (killed,
    replaced by ``exec``, or the command set an EXIT trap of its own and exited)."""

    finished: Finished
    cwd: Path | None


def choose_program(env: Mapping[str, str]) -> tuple[str, str]:
    """The shell that runs commands, and a warning if the wish in ``CLAUDE_CODE_SHELL`` can't be met.

    ``CLAUDE_CODE_SHELL``, else ``SHELL``, if it is a bash or zsh that can be run; else bash, zsh or ``/bin/sh``.
    """
    wish = env.get("CLAUDE_CODE_SHELL", "")
    warning = ""
    if wish:
        found = shutil.which(wish, path=env.get("PATH"))
        if found and kind_of(found) != "sh":
            return found, ""
        warning = f"CLAUDE_CODE_SHELL={wish} is not a bash or zsh that can be run; another shell is used."
    for name in (env.get("SHELL", ""), "bash", "zsh"):
        found = shutil.which(name, path=env.get("PATH")) if name else None
        if found and kind_of(found) != "sh":
            return found, warning
    return "/bin/sh", warning


def kind_of(program: str) -> Kind:
    name = Path(program).name
    return "bash" if name.startswith("bash") else "zsh" if name.startswith("zsh") else "sh"


class Shell:
    """Runs command lines in the user's shell, each in a new process.

    ``directory`` is a private directory of the session.  ``base`` gives the environment to start from (by default this
    process's), ``hidden`` names that children must not see besides our keys.  ``startup`` says whether the user's
    start-up file is asked for aliases and functions; ``env_files`` are sourced before each command, those that exist.
    ``wrap`` of a run may put a sandbox around the shell's command, which must let it write in ``records`` and nowhere
    else in ``directory``: what is sourced later stands there.
    """

    def __init__(
        self,
        manager: ProcessManager,
        directory: Path,
        *,
        base: Callable[[], Mapping[str, str]] = lambda: os.environ,
        hidden: Iterable[str] = (),
        startup: bool = True,
        env_files: Sequence[Path] = (),
    ) -> None:
        self._manager = manager
        self._directory = directory
        self._base = base
        self._hidden = tuple(hidden)
        self._startup = startup
        self._env_files = tuple(env_files)
        self._numbers = itertools.count(1)
        self._snapshot: asyncio.Task[Path | None] | None = None
        self.program, self.warning = choose_program(base())
        self.kind = kind_of(self.program)

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        """For the model's commands: see ``processes.environment``."""
        return environment(self._base(), drop=self._hidden, extra=extra)

    def user_environment(self) -> dict[str, str]:
        """For the user's own commands: theirs, without our keys."""
        return without_keys(self._base(), drop=self._hidden)

    def prepare(self) -> None:
        """Begins to read the user's aliases and functions, once; the first command waits for it, a few seconds at
        most."""
        if self._snapshot is None:
            self._snapshot = asyncio.create_task(self._take_snapshot())

    async def run(
        self,
        command: str,
        cwd: Path,
        *,
        env: Mapping[str, str],
        timeout: float | None = None,
        on_output: Callable[[bytes], None] | None = None,
        limits: Limits | None = None,
        wrap: Wrap = list,
    ) -> ShellRun:
        """Runs a command line to its end; see ``ProcessManager.run``."""
        record = self._record_file()
        try:
            finished = await self._manager.run(
                wrap(await self._argv(record)),
                cwd,
                env=env,
                stdin=command.encode(),
                timeout=timeout,
                on_output=on_output,
                limits=limits,
            )
            return ShellRun(finished, None if finished.timed_out else _recorded(record))
        finally:
            if record is not None:
                record.unlink(missing_ok=True)

    async def start(
        self, command: str, cwd: Path, *, env: Mapping[str, str], limits: Limits | None = None, wrap: Wrap = list
    ) -> Running:
        """Starts a command line that runs beside the others."""
        argv = wrap(await self._argv(None))
        return await self._manager.start(argv, cwd, env=env, stdin=command.encode(), limits=limits)

    async def _argv(self, record: Path | None) -> Sequence[str]:
        """The shell with a preamble that evaluates the command line from standard input.

        That way no other process sees the line in a process list (a ``pkill -f`` in it would find its own shell), no
        length is too long, and aliases work.  The line itself runs with nothing on standard input: POSIX expands the
        words of a command before its redirections are made.
        """
        self.prepare()
        assert self._snapshot is not None
        snapshot = await asyncio.shield(self._snapshot)
        steps = []
        if snapshot is not None:
            aliases = "shopt -s expand_aliases; " if self.kind == "bash" else ""
            steps.append(f"{aliases}. {shlex.quote(str(snapshot))} >/dev/null 2>&1")
        for file in self._env_files:
            quoted = shlex.quote(str(file))
            steps.append(f"[ ! -f {quoted} ] || . {quoted}")
        if record is not None:
            trap = f"\\command pwd -P >| {shlex.quote(str(record))} 2>/dev/null"
            steps.append(f"\\trap {shlex.quote(trap)} EXIT")
        steps.append('\\eval "$(\\command cat)" </dev/null')
        return [self.program, "-c", "; ".join(steps), self.kind]

    @property
    def records(self) -> Path:
        """Where shells write the directory in which they end."""
        return self._directory / "cwd"

    def _record_file(self) -> Path | None:
        """Where the shell writes its last directory; ``None`` where nothing can be written."""
        try:
            return private_directory(self.records) / f"{next(self._numbers)}"
        except OSError:
            return None

    async def _take_snapshot(self) -> Path | None:
        """The user's aliases and functions as a file to source; ``None`` if there are none or it takes too long."""
        if not self._startup or self.kind == "sh" or not self._has_startup_file():
            return None
        script = f"{_ASKING_ALIASES}; printf '\\n{_MARK}\\n'; {_DUMP[self.kind]}; printf '\\n{_MARK}\\n'"
        try:
            running = await self._manager.start(
                [self.program, "-i", "-c", script], self._home(), env=self.environment({}), stderr="discard"
            )
            try:
                async with asyncio.timeout(SNAPSHOT_LIMIT):
                    await running.wait()
            except TimeoutError:
                return None
            finally:
                running.order_end(grace=0.5)
                text = running.finish().output.head.partition(f"\n{_MARK}\n".encode())[2]
            dump, whole, _ = text.partition(f"\n{_MARK}\n".encode())
            if not whole or not dump.strip():
                return None
            path = private_directory(self._directory) / "shell-snapshot.sh"
            write_private(path, dump)
            return path
        except (OSError, SetupError):
            return None

    def _home(self) -> Path:
        home = user_home(self._base())
        return home if home is not None and os.path.isdir(home) else Path("/")

    def _has_startup_file(self) -> bool:
        env = self._base()
        if self.kind == "zsh":
            return (Path(env.get("ZDOTDIR") or self._home()) / ".zshrc").is_file()
        return (self._home() / ".bashrc").is_file()


def _recorded(record: Path | None) -> Path | None:
    """The directory that the shell wrote."""
    if record is None:
        return None
    try:
        data = record.read_bytes()
    except OSError:
        return None
    return Path(os.fsdecode(data.removesuffix(b"\n"))) if data.startswith(b"/") else None
