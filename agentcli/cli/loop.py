"""``agentcli loop PROMPT``: a prompt again and again, until it is done or a bound is reached."""

from __future__ import annotations

import asyncio
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from agentcli.errors import UsageError
from agentcli.events import Event, Notice, TurnFinished
from agentcli.modes.loop import REASONS, Loop, LoopEnd, LoopPlan
from agentcli.ports.permissions import PERMISSION_MODES, PermissionMode
from agentcli.runtime.build import open_session
from agentcli.runtime.looping import SessionTurns
from agentcli.runtime.options import SessionOptions
from agentcli.text import plural

CODES = {"done": 0, "rounds": 3, "money": 3, "time": 3, "stopped": 130, "failed": 1}
"""As of a headless run: 3 is a bound that was reached, 130 an interruption."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopWish:
    """What the command line asks for."""

    plan: LoopPlan
    model: str | None = None
    permission_mode: str | None = None
    allowed_tools: tuple[str, ...] = ()


def run_loop(wish: LoopWish) -> int:
    """Runs the loop in this directory; answers go to standard output, remarks to standard error."""
    return asyncio.run(_run(wish))


async def _run(wish: LoopWish) -> int:
    options = SessionOptions(
        cwd=Path.cwd(),
        interactive=False,
        query_source="print",
        model=wish.model,
        permission_mode=_mode(wish.permission_mode),
        allowed_tools=wish.allowed_tools,
        max_budget_usd=wish.plan.usd,
        loop=wish.plan,
    )
    session = await open_session(options)
    session.events.subscribe(_show)
    session.start()
    try:
        turns = SessionTurns(session, session.agent, session.ledger)
        rounds: list[int] = []

        def begun(number: int) -> None:
            rounds.append(number)
            _say(f"round {number}")

        loop = Loop(turns, wish.plan, session.world.clock, on_round=begun)
        end = await _interruptible(loop) or LoopEnd("stopped", len(rounds))
    finally:
        await session.close()
    if end.last is not None and end.last.error:
        _say(end.last.error)
    _say(f"{REASONS[end.reason]} after {plural(end.rounds, 'round')}; session {session.id}")
    return CODES[end.reason]


async def _interruptible(loop: Loop) -> LoopEnd | None:
    """SIGINT and SIGTERM end the round in order, and the loop with it: ``None`` then."""
    task = asyncio.ensure_future(loop.run())
    running = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        running.add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return None
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            running.remove_signal_handler(number)


def _mode(text: str | None) -> PermissionMode | None:
    if text is None:
        return None
    found = next((mode for mode in PERMISSION_MODES if mode == text), None)
    if found is None:
        raise UsageError(f"--permission-mode {text!r}: one of {', '.join(PERMISSION_MODES)}")
    return found


def _show(event: Event) -> None:
    match event:
        case TurnFinished(text=text) if text.strip():
            sys.stdout.write(text.rstrip() + "\n")
            sys.stdout.flush()
        case Notice(severity="warning" | "error", text=text):
            _say(text)
        case _:
            pass


def _say(text: str) -> None:
    sys.stderr.write(f"agentcli: {text}\n")
    sys.stderr.flush()
