"""One headless run: open, one turn, exactly one result, close.  Signals end the turn, never the contract."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from agentcli.errors import UserError
from agentcli.events import Event, Notice, RetryScheduled, ToolFinished
from agentcli.ports.frontend import UserInput
from agentcli.runtime.build import open_session
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.session import Session
from agentcli.text import one_line
from agentcli.ui.headless.result import EXIT_SIGINT, EXIT_SIGTERM, RunResult, not_started

OutputFormat = Literal["text", "json"]
SIGNALS: dict[signal.Signals, int] = {signal.SIGINT: EXIT_SIGINT, signal.SIGTERM: EXIT_SIGTERM}
if hasattr(signal, "SIGHUP"):
    SIGNALS[signal.SIGHUP] = EXIT_SIGTERM


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlessOptions:
    output_format: OutputFormat = "text"


@dataclass(slots=True)
class Watch:
    """What a run has to remember beside the turn's own outcome."""

    session: Session
    denials: list[dict[str, Any]] = field(default_factory=list)
    signal: int = 0

    def hear(self, event: Event) -> None:
        match event:
            case ToolFinished(denied=True):
                self._denied(event)
            case RetryScheduled():
                seconds = f"{event.delay:.0f} s" if event.delay >= 1 else "a moment"
                _say(f"{event.message}; trying again in {seconds} ({event.attempt}/{event.max_attempts})")
            case Notice():
                _say(event.text)
            case _:
                pass

    def interrupt(self, code: int) -> None:
        self.signal = self.signal or code
        self.session.interrupt()

    def _denied(self, event: ToolFinished) -> None:
        call = {"tool_name": event.name, "tool_use_id": event.tool_use_id}
        self.denials.append({**call, "tool_input": self.session.call_input(event.tool_use_id)})


async def run_headless(options: SessionOptions, prompt: str, how: HeadlessOptions) -> int:
    """Runs the prompt and prints the result; returns the exit code of ``agentcli.cli.main``."""
    try:
        session = await open_session(options)
    except UserError as error:
        if how.output_format == "json":
            _write(json.dumps(not_started(str(error)), ensure_ascii=False) + "\n")
        raise
    watch = Watch(session)
    remove = session.events.subscribe(watch.hear)
    session.start()
    try:
        with _signals(watch.interrupt):
            result = await _turn(session, watch, UserInput(prompt), strict=options.strict_permissions)
            _print(result, how)
    finally:
        remove()
        await session.close()
    return result.exit_code


async def _turn(session: Session, watch: Watch, prompt: UserInput, *, strict: bool) -> RunResult:
    turn = await session.run(prompt)
    return RunResult(
        turn=turn,
        session_id=session.id,
        usage=turn.usage,
        total_cost=session.run_cost(),
        by_model=session.model_usage(),
        denials=watch.denials,
        signal=watch.signal if turn.outcome == "interrupted" else 0,
        strict_permissions=strict,
    )


def _print(result: RunResult, how: HeadlessOptions) -> None:
    if how.output_format == "json":
        _write(json.dumps(result.to_json(), ensure_ascii=False) + "\n")
    elif not result.is_error:
        _write(result.turn.text.rstrip("\n") + "\n")
    if result.error:
        _say(result.error)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _say(text: str) -> None:
    sys.stderr.write(f"agentcli: {one_line(text, 2000)}\n")


@contextmanager
def _signals(interrupt: Callable[[int], None]) -> Iterator[None]:
    """The first signal ends the turn in order; its exit code is told at the end."""
    loop = asyncio.get_running_loop()
    caught = []
    for number, code in SIGNALS.items():
        try:
            loop.add_signal_handler(number, interrupt, code)
            caught.append(number)
        except (NotImplementedError, RuntimeError):  # Windows, or not the main thread: KeyboardInterrupt does it
            continue
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
