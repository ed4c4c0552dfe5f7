"""Between the ``Sleep`` tool and what may end its sleep early."""

from __future__ import annotations

from typing import Literal, Protocol

Woken = Literal["time", "user", "report"]
"""The time is over, the user wrote something, or a background task ended."""
REPORTED = "(A background agent has reported.)"
"""The words of a turn that begins because a background agent has reported."""


class Rest(Protocol):
    """``ToolContext.services["rest"]``."""

    async def sleep(self, seconds: float) -> Woken:
        """At most so long.  Cancelled like everything else."""
