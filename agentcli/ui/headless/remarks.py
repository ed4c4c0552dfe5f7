"""Standard error: everything that a person should know and a program must not take for an answer."""

from __future__ import annotations

import sys
from contextlib import suppress

from agentcli.events import Event, FallbackUsed, Notice, RetryScheduled
from agentcli.model.figures import money
from agentcli.text import one_line, plural


def tell(event: Event) -> None:
    """What a person should know, on standard error."""
    match event:
        case RetryScheduled():
            seconds = f"{event.delay:.0f} s" if event.delay >= 1 else "a moment"
            say(f"{event.message}; trying again in {seconds} ({event.attempt}/{event.max_attempts})")
        case FallbackUsed():
            say(fallback_words(event))
        case Notice():
            say(event.text)
        case _:
            pass


def fallback_words(event: FallbackUsed) -> str:
    """Who answers for the rest of the turn, and what that costs."""
    price = f", about {money(event.cost)}" if event.cost is not None else ""
    cost = f"; {plural(event.uncached_tokens, 'token')} are read uncached{price}" if event.uncached_tokens else ""
    return f"{event.previous} is overloaded: the rest of the turn goes to {event.model}{cost}."


def say(text: str) -> None:
    with suppress(OSError, ValueError):  # nobody reads our complaints: the run goes on
        sys.stderr.write(f"agentcli: {one_line(text, 2000)}\n")
        sys.stderr.flush()


def say_whole(text: str) -> None:
    """``say`` for a text whose lines matter."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"agentcli: {text}\n")
        sys.stderr.flush()
