"""Runs a shell command."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentcli.env import number, truthy
from agentcli.errors import SetupError, ToolError
from agentcli.messages import Json
from agentcli.ports.display import CommandDisplay, Display
from agentcli.ports.jobs import Jobs
from agentcli.ports.sandbox import LEAVE, CommandSandbox
from agentcli.ports.tools import Effect, ToolContext, ToolResult, text_result
from agentcli.text import clean
from agentcli.tools.base import BuiltinTool
from agentcli.tools.bash_cage import Cage, hint
from agentcli.tools.bash_run import DEFAULT_LIMIT, Foreground, check_command, may_move, not_started, perform
from agentcli.tools.bash_shell import Shell
from agentcli.tools.schema import param, parse

_HIGHEST_LIMIT = 150_000


@dataclass(frozen=True, slots=True)
class BashParams:
    command: str
    timeout: int | None = param("ms", default=None, minimum=1)
    description: str = param("What it does, 5-10 words", default="")
    run_in_background: bool = param(default=False)
    outside: bool = param(name=LEAVE, default=False, told=False)


class Bash(BuiltinTool[BashParams]):
    """``read_only`` judges a whole command line; what it calls read-only runs beside other reading calls.

    ``environ`` are the settings' variables: ``BASH_DEFAULT_TIMEOUT_MS``, ``BASH_MAX_TIMEOUT_MS``,
    ``BASH_MAX_OUTPUT_LENGTH``, ``CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR``.  ``sandbox`` confines the commands that
    it covers.
    """

    name = "Bash"
    code = __file__
    key = "command"

    def __init__(
        self,
        shell: Shell,
        jobs: Jobs,
        *,
        read_only: Callable[[str], bool] = lambda command: False,
        environ: Mapping[str, str] | None = None,
        sandbox: CommandSandbox | None = None,
    ) -> None:
        super().__init__(BashParams)
        self._shell = shell
        self._jobs = jobs
        self._read_only = read_only
        self._environ = os.environ if environ is None else environ
        self._sandbox = sandbox

    def check(self, input: Json) -> None:
        check_command(parse(BashParams, input).command)

    def effect(self, input: Json) -> Effect:
        command = input.get("command")
        alone = not isinstance(command, str) or input.get("run_in_background") or not self._reads(command)
        return "write" if alone else "read"

    def _reads(self, command: str) -> bool:
        """Whether it may run beside others: it changes nothing, and the shell's directory neither."""
        return not may_move(command) and self._read_only(command)

    def preview(self, input: Json, ctx: ToolContext) -> Display | None:
        return CommandDisplay(clean(str(input.get("command", ""))), summary=clean(str(input.get("description") or "")))

    async def call(self, params: BashParams, ctx: ToolContext) -> ToolResult:
        command = check_command(params.command)
        cage = self._cage(params, ctx)
        env = {**self._shell.environment(ctx.environment), **cage.environment}
        if params.run_in_background:
            return await self._start(command, params, ctx, env, cage)
        how = Foreground(
            env,
            ctx.output,
            ctx.spill,
            cage=cage,
            timeout=self._timeout(params.timeout),
            limit=min(number("BASH_MAX_OUTPUT_LENGTH", DEFAULT_LIMIT, self._environ) or DEFAULT_LIMIT, _HIGHEST_LIMIT),
            follow=not self._reads(command) and not truthy("CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR", self._environ),
        )
        return await perform(self._shell, command, ctx.workspace, how)

    def _cage(self, params: BashParams, ctx: ToolContext) -> Cage:
        """What the command runs in."""
        sandbox = self._sandbox
        if sandbox is None or not sandbox.covers({"command": params.command, LEAVE: params.outside}):
            return Cage()
        try:
            wrap = sandbox.wrap(ctx.workspace)
        except OSError as error:
            raise ToolError(f"The sandbox could not be prepared: {error.strerror}: {error.filename}") from error
        return Cage(wrap, sandbox.environment, hint(sandbox), ends_all=sandbox.ends_all)

    def _timeout(self, wish: int | None) -> float:
        """In seconds: the wish, else the default, at most the maximum."""
        highest = number("BASH_MAX_TIMEOUT_MS", 600_000, self._environ) or 600_000
        default = number("BASH_DEFAULT_TIMEOUT_MS", 120_000, self._environ) or 120_000
        return min(default if wish is None else wish, max(highest, default)) / 1000

    async def _start(
        self, command: str, params: BashParams, ctx: ToolContext, env: Mapping[str, str], cage: Cage
    ) -> ToolResult:
        limit = None if params.timeout is None else params.timeout / 1000
        try:
            job = await self._jobs.start(
                command,
                ctx.workspace.cwd,
                environment=env,
                description=params.description,
                time_limit=limit,
                wrap=cage.wrap,
            )
        except (OSError, SetupError) as error:
            raise not_started(error) from error
        ends = f"It is ended after {limit:g} s" if limit is not None else "It has no time limit"
        text = (
            f"Started in the background as {job.id}. {ends}. You are told when it ends; meanwhile "
            f"BashOutput {job.id} gives its new output and KillShell {job.id} ends it."
        )
        return text_result(text, summary=f"in the background as {job.id}")
