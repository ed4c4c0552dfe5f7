"""When to try again.  The SDK's own retries are off: these are the only ones.

The server's word comes first: ``retry-after-ms``, then ``retry-after`` in seconds or as a date, is never undercut and
hardly exceeded.  Without it the wait doubles from half a second up to 32 seconds, with jitter.  A server that asks for
more than ``MAX_WAIT`` (ten minutes) is not slept through: the turn ends with a line that says so.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime

from agentcli.env import number

MAX_WAIT = 600.0
MAX_RETRIES = 10
RETRIES_CAP = 15
FIRST_WAIT = 0.5
LONGEST_WAIT = 32.0
OVERLOADS_BEFORE_FALLBACK = 3
LONGEST_ASKED = 1e9
"""Seconds; a server that asks for more asks for ever."""


@dataclass(slots=True)
class RetryPolicy:
    """``retries`` further attempts after the first (``CLAUDE_CODE_MAX_RETRIES``, at most 15)."""

    retries: int = MAX_RETRIES
    max_wait: float = MAX_WAIT
    random: random.Random = field(default_factory=random.Random)

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> RetryPolicy:
        return cls(min(number("CLAUDE_CODE_MAX_RETRIES", MAX_RETRIES, env), RETRIES_CAP))

    def delay(self, attempt: int, retry_after: float | None) -> float:
        """Seconds before the retry that follows the failed attempt number ``attempt`` (from 1)."""
        if retry_after is not None:
            return retry_after + self.random.uniform(0, min(1.0, retry_after * 0.05))
        wait = min(FIRST_WAIT * 2.0 ** (attempt - 1), LONGEST_WAIT)
        return wait * self.random.uniform(0.75, 1.0)


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """The time that the server asks for; ``None`` without one or when it can't be read.

    A date counts from the response's own ``date`` header, where there is one, since clocks differ.
    """
    milliseconds = _float(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    text = headers.get("retry-after")
    seconds = _float(text)
    if seconds is not None:
        return max(0.0, seconds)
    due = _date(text)
    if due is None:
        return None
    return max(0.0, (due - (_date(headers.get("date")) or now)).total_seconds())


def _float(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return max(-LONGEST_ASKED, min(value, LONGEST_ASKED)) if value is not None and math.isfinite(value) else None


def _date(text: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None
