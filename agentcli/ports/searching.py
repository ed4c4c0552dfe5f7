"""Between the WebSearch tool and whoever searches the web for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from agentcli.messages import Block


@dataclass(frozen=True, slots=True)
class WebQuery:
    """What to look for.  At most one of the two lists of domains is given; their subdomains are meant too."""

    query: str
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WebFindings:
    """``blocks`` is everything that was answered, in order: searches, their results, text with its citations.
    ``note`` says why that is not all of it."""

    blocks: tuple[Block, ...]
    note: str = ""


class WebSearcher(Protocol):
    async def search(self, query: WebQuery, told: Callable[[str], None]) -> WebFindings:
        """``told`` hears a line of each search that was made.  ``ToolError`` where nothing can be searched (no such
        server, the session's bound); ``TurnError`` and ``UserError`` of the model's client."""
