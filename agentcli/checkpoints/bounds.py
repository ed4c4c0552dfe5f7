"""How far a look goes, and what is said where that is not far enough."""

from __future__ import annotations

from dataclasses import dataclass

SECONDS = 10.0
"""The time that one look may take."""
PATIENCE = 300.0
"""The time for one that nobody waits for."""
MOST_FILES = 50_000
MOST_BYTES = 512 * 1024 * 1024
"""Of new content, in one look."""
STORE_BYTES = 2 * 1024 * 1024 * 1024
"""What the store may hold on disk."""


class GaveUp(Exception):
    """The project can't be looked at; the text says why."""


class TooSlow(GaveUp):
    """The time was over.  What was copied until then is not copied again."""


@dataclass(frozen=True, slots=True)
class Bounds:
    seconds: float = SECONDS
    patience: float = PATIENCE
    files: int = MOST_FILES
    content: int = MOST_BYTES
    store: int = STORE_BYTES


class Failed(GaveUp):
    """git said no."""


class PathRefused(GaveUp):
    """One path can't be read."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} can't be read")
        self.name = name
