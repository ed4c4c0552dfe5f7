"""The API's own word on a cache miss: ``diagnostics.cache_miss_reason``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.api.models import Model
from tests.api.render import ChainBlock


def cache_miss_reason(
    before: tuple[Model, Sequence[ChainBlock]] | None, now: tuple[Model, Sequence[ChainBlock]]
) -> dict[str, Any] | None:
    """Why the prefix of the request ``before`` could not be reused whole; ``None`` when things were only appended."""
    if before is None:
        return {"type": "previous_message_not_found"}
    old, new = before[1], now[1]
    at = next((i for i, b in enumerate(old) if i >= len(new) or b.digest != new[i].digest), None)
    if at is None:
        return None
    missed = sum(b.tokens for b in old[at:])
    if before[0] != now[0]:
        return {"type": "model_changed", "cache_missed_input_tokens": missed}
    for level in ("tools", "system", "messages"):
        was, is_now = _own(old, level), _own(new, level)
        if was != (is_now[: len(was)] if level == "messages" else is_now):
            return {"type": f"{level}_changed", "cache_missed_input_tokens": missed}
    return {"type": "unavailable"}


def _own(chain: Sequence[ChainBlock], level: str) -> list[str]:
    return [b.own for b in chain if b.level == level]
