"""For whom commands are started: whoever ends first takes what its commands left running along."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_OWNER: ContextVar[str] = ContextVar("agentcli_process_owner", default="")


def owner() -> str:
    """The present owner; empty for the session itself."""
    return _OWNER.get()


@contextmanager
def owned_by(name: str) -> Iterator[None]:
    """Commands started meanwhile, in this task and those that it starts, are this owner's."""
    token = _OWNER.set(name)
    try:
        yield
    finally:
        _OWNER.reset(token)
