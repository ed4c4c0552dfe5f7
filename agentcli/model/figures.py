"""Figures for people."""

from __future__ import annotations


def tokens(count: int) -> str:
    """``840``, ``84k``, ``1.2M``."""
    if count < 1_000:
        return str(count)
    if count < 10_000:
        return f"{count / 1_000:.1f}k"
    return f"{count / 1_000:.0f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def money(amount: float | None) -> str:
    """US dollars, with enough digits for small sums; ``unknown`` without a price."""
    if amount is None:
        return "unknown"
    sign = "-" if amount < 0 else ""
    return f"{sign}${abs(amount):.2f}" if abs(amount) >= 0.1 or amount == 0 else f"{sign}${abs(amount):.4f}"


def duration(seconds: float) -> str:
    """``40 s``, ``7 min``, ``5 min 1 s`` (where whole minutes would hide that a limit was passed), ``2.5 h``."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 10 and 0 < rest < 30:
        return f"{minutes} min {rest} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f}".removesuffix(".0") + " h"
