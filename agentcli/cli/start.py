"""From parsed arguments to a running front end: which one, by the flags and by what the streams are."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, replace
from typing import Literal

from agentcli.errors import UsageError
from agentcli.runtime.options import SessionOptions

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


def launch(given: Launch) -> int:
    """Runs headless where it is asked for or where no terminal is, else the terminal; returns the exit code."""
    if given.headless or given.output_format != "text" or given.input_format != "text":
        return _headless(given)
    if _is_terminal(sys.stdin) and _is_terminal(sys.stdout):
        return _terminal(given)
    if _is_terminal(sys.stdin) and not given.prompt:
        raise UsageError('output is not a terminal: give a prompt (agentcli -p "…") or run it in a terminal')
    return _headless(given)


def _headless(given: Launch) -> int:
    from agentcli.ui.headless.run import HeadlessOptions, run_headless

    prompt = _with_stdin(given.prompt)
    if not prompt.strip():
        raise UsageError('no prompt: agentcli -p "…", or pipe text into it; without -p it needs a terminal')
    options = replace(given.options, interactive=False, query_source="print")
    if given.input_format != "text" or given.output_format == "stream-json":
        raise UsageError("stream-json is not available in this version; use --output-format text or json")
    return asyncio.run(run_headless(options, prompt, HeadlessOptions(output_format=given.output_format)))


def _terminal(given: Launch) -> int:
    from agentcli.ui.terminal.app import run_terminal

    return asyncio.run(run_terminal(given.options, first_prompt=given.prompt))


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
    if sys.stdin is None or sys.stdin.closed or _is_terminal(sys.stdin):
        return prompt
    if prompt.strip() and not _has_data(sys.stdin.fileno()):
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
