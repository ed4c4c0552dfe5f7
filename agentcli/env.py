"""Reading environment variables the documented way."""

from __future__ import annotations

import os
from collections.abc import Mapping

TRUTHY = frozenset({"1", "true", "yes", "on"})


def truthy(name: str, env: Mapping[str, str] | None = None) -> bool:
    """Whether the variable is ``1``, ``true``, ``yes`` or ``on``, in any case.  Anything else is false."""
    return (os.environ if env is None else env).get(name, "").strip().lower() in TRUTHY


def number(name: str, default: int, env: Mapping[str, str] | None = None) -> int:
    """A whole number of at least 0; anything else counts as not set."""
    text = (os.environ if env is None else env).get(name, "").strip()
    return int(text) if text.isdecimal() else default
