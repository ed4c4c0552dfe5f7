"""Whether servers' tools are rendered in front of the prompt or deferred: decided once per conversation.

``ENABLE_TOOL_SEARCH``: ``true`` (and not set) defers them; ``auto`` and ``auto:N`` render them in front while they fit
into N % (10) of the model's window; ``false`` always does.  A server whose entry has ``alwaysLoad`` is always in front.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agentcli.conversation import ConversationCache
from agentcli.env import TRUTHY
from agentcli.mcp.tools import definition
from agentcli.ports.model import ToolSpec
from agentcli.text import estimate_tokens

PLACE = "mcp_tools"
WAY = "mcp_way"
PERCENT = 10
Place = Literal["front", "deferred"]
Way = Literal["references", "dispatcher"]
_AUTO = re.compile(r"auto(?::(\d{1,3}))?")


@dataclass(frozen=True, slots=True)
class Wish:
    """What the environment asks for; ``percent`` is for ``auto``."""

    place: Literal["front", "deferred", "auto"]
    percent: int = PERCENT


def wish(env: Mapping[str, str]) -> Wish:
    text = env.get("ENABLE_TOOL_SEARCH", "").strip().lower()
    auto = _AUTO.fullmatch(text)
    if auto:
        return Wish("auto", min(int(auto[1]), 100) if auto[1] else PERCENT)
    if text and text not in TRUTHY:
        return Wish("front") if text in ("false", "0", "no", "off") else Wish("deferred")
    return Wish("deferred")


@dataclass(slots=True)
class Deferral:
    """``references`` says whether the model's server takes tool references, ``window`` is the model's in tokens.

    What was decided is kept among the conversation's choices, for a resume, and here, since those are emptied by a
    compaction, in the middle of the conversation.
    """

    cache: ConversationCache
    wish: Wish
    references: Callable[[], bool]
    window: Callable[[], int]
    _decided: dict[str, str] = field(default_factory=dict)

    def begin_anew(self) -> None:
        """A new conversation decides anew."""
        self._decided.clear()

    @property
    def place(self) -> Place:
        """Until it is decided, what it will most probably be."""
        decided = self._decided.get(PLACE) or self.cache.choices.get(PLACE)
        if decided is None:
            return "front" if self.wish.place == "front" else "deferred"
        return "front" if decided == "front" else "deferred"

    @property
    def way(self) -> Way:
        """How a deferred tool is brought in: decided with the first question."""
        usual = "references" if self.references() else "dispatcher"
        return "references" if self._latch(WAY, usual) == "references" else "dispatcher"

    def decide(self, specs: Sequence[ToolSpec], *, complete: bool) -> None:
        """Decides for this conversation, if that has not been done.  ``complete``: every server has been heard, so that
        the size is known."""
        place = self.wish.place
        if place == "auto":
            size = sum(estimate_tokens(definition(s)) for s in specs)
            place = "front" if complete and size <= self.window() * self.wish.percent / 100 else "deferred"
        self._latch(PLACE, place)
        if WAY in self._decided:
            self._latch(WAY, "")

    def _latch(self, choice: str, value: str) -> str:
        decided = self._decided.get(choice, value)
        self._decided[choice] = str(self.cache.latch(choice, decided))
        return self._decided[choice]
