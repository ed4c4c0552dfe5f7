"""From parsed arguments to a running front end: which one, by the flags and by what the streams are."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, Literal, TextIO

from agentcli.env import truthy
from agentcli.errors import UsageError
from agentcli.ports.model import QuerySource
from agentcli.runtime.options import SessionOptions

EXIT_PIPE = 141
STDIN_LIMIT = 10_000_000
"""Characters of piped text that are taken (facts: the field's documented limit of 10 MB)."""


STDIN_WAIT = 3.0
"""Seconds to wait for piped text beside a prompt: an inherited pipe that nobody writes to must not hang a script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    options: SessionOptions
    prompt: str = ""
    headless: bool = False
    output_format: Literal["text", "json", "stream-json"] = "text"
    input_format: Literal["text", "stream-json"] = "text"
    partial: bool = False
    replay: bool = False
    subagent_text: bool = False
    json_schema: str | None = None
    permission_prompt_tool: str = ""
    ui_language: str | None = None
    flat: bool = False
    """For a screen reader."""


def launch(given: Launch) -> int:
    """Runs headless where it is asked for or where no terminal is, else the terminal; returns the exit code."""
    if given.json_schema is not None and not given.headless and given.output_format == "text":
        raise UsageError("--json-schema needs -p: it is for programs that read the answer")
    if given.headless or given.output_format != "text" or given.input_format != "text":
        return _headless(given)
    if _is_terminal(sys.stdin) and _is_terminal(sys.stdout):
        return _terminal(given)
    if _is_terminal(sys.stdin) and not given.prompt:
        raise UsageError('output is not a terminal: give a prompt (agentcli -p "…") or run it in a terminal')
    return _headless(given)


def _headless(given: Launch) -> int:
    _check(given)
    if sys.stdout is None:
        sys.stderr.write("agentcli: standard output is closed: nobody could read the answer\n")
        return EXIT_PIPE
    piping = given.input_format == "stream-json"
    prompt = given.prompt if piping else _with_stdin(given.prompt)
    if not prompt.strip() and not piping and not given.options.proactive:
        raise UsageError('no prompt: agentcli -p "…", or pipe text into it; without -p it needs a terminal')
    from agentcli.ui.headless.options import HeadlessOptions, Streams
    from agentcli.ui.headless.run import run_headless

    tool = given.permission_prompt_tool
    asks = piping and tool == "stdio"
    how = HeadlessOptions(
        output_format=given.output_format,
        input_format=given.input_format,
        partial=given.partial,
        replay=given.replay,
        subagent_text=given.subagent_text,
        json_schema=given.json_schema,
        permission_prompts=asks,
        permission_tool="" if tool == "stdio" else tool,
        states=truthy("CLAUDE_CODE_SDK_READS_SESSION_STATE", os.environ),
    )
    source: QuerySource = "sdk" if piping else "print"
    options = replace(given.options, interactive=False, query_source=source, answers_permissions=bool(tool))
    if given.output_format == "stream-json":  # its lines say everything, and programs give --verbose unasked
        options = replace(options, verbose=False)
    return _run(lambda: run_headless(options, prompt, how, streams=Streams(_descriptor(sys.stdin))))


def _run(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """The exit code.  A signal that comes when the run is over changes nothing about it."""
    codes: list[int] = []

    async def whole() -> None:
        codes.append(await work())

    try:
        asyncio.run(whole())
    except KeyboardInterrupt:
        if not codes:
            raise
    return codes[0]


def _check(given: Launch) -> None:
    """``UsageError`` for combinations that can't be meant."""
    lines = given.output_format == "stream-json"
    if given.input_format == "stream-json" and not lines:
        raise UsageError("--input-format stream-json needs --output-format stream-json")
    if given.partial and not lines:
        raise UsageError("--include-partial-messages needs --output-format stream-json")
    if given.replay and given.input_format != "stream-json":
        raise UsageError("--replay-user-messages needs --input-format stream-json and --output-format stream-json")
    if given.json_schema is not None and given.options.proactive:
        raise UsageError("--json-schema and --proactive can't be used together: many turns have no one answer")
    if given.permission_prompt_tool == "stdio" and given.input_format != "stream-json":
        raise UsageError("--permission-prompt-tool stdio needs --input-format stream-json")
    if given.permission_prompt_tool not in ("", "stdio") and not given.permission_prompt_tool.startswith("mcp__"):
        raise UsageError(f"--permission-prompt-tool {given.permission_prompt_tool!r}: stdio, or mcp__SERVER__TOOL")


def _descriptor(stream: TextIO | None) -> int | None:
    """The stream's file descriptor; ``None`` where it is closed or was never there."""
    try:
        return stream.fileno() if stream is not None else None
    except (OSError, ValueError):
        return None


def _terminal(given: Launch) -> int:
    from agentcli.ui.terminal.app import run_terminal

    options, prompt = given.options, given.prompt
    chosen = options.resume
    if chosen is not None and not chosen.newest and not chosen.query:
        if chosen.fork:
            raise UsageError("--fork-session needs a session: --resume ID or --continue")
        # No session is named: the terminal's own picker asks for one.
        options, prompt = replace(options, resume=None), "/resume"
    return asyncio.run(run_terminal(options, first_prompt=prompt, language=given.ui_language, flat=given.flat))


def _is_terminal(stream: object) -> bool:
    try:
        return bool(getattr(stream, "isatty", bool)())
    except ValueError:  # the stream was closed before we began
        return False


def _has_data(descriptor: int) -> bool:
    """Whether bytes or an end of file come within ``STDIN_WAIT`` (select works on every kind of descriptor here)."""
    import select

    ready, _, _ = select.select([descriptor], [], [], STDIN_WAIT)
    return bool(ready)


def _with_stdin(prompt: str) -> str:
    """The prompt, and behind it what was piped in, fenced so that it can't be taken for the request itself."""
    descriptor = _descriptor(sys.stdin)
    if descriptor is None or _is_terminal(sys.stdin):
        return prompt
    if prompt.strip() and not _has_data(descriptor):
        sys.stderr.write(f"agentcli: nothing on standard input after {STDIN_WAIT:g} s; going on without it\n")
        return prompt
    data = sys.stdin.buffer.read(STDIN_LIMIT + 1)
    if len(data) > STDIN_LIMIT:
        raise UsageError(f"more than {STDIN_LIMIT:,} bytes on standard input; write them to a file and name it")
    piped = data.decode("utf-8", "replace").strip("\n")
    if not piped.strip():
        return prompt
    if not prompt.strip():
        return piped
    fence = "```"
    while fence in piped:
        fence += "`"
    return f"{prompt}\n\n{fence}\n{piped}\n{fence}"
