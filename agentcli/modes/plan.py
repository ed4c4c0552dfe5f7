"""Plan mode: the same tools, but nothing is changed until the user has agreed to a plan."""

from __future__ import annotations

_ENTERED = (
    "Plan mode is on. Change nothing: no edits, no commands with effects (they are refused). Read and search until "
    "you understand the task, then answer with a plan that can be followed step by step: what changes in which file, "
    "how it is verified, what is still open. Stop there and wait for the user."
)
_LEFT = "Plan mode is off: changes are allowed again, as far as the user's permissions go."


def mode_reminder(previous: str, now: str) -> str | None:
    """What the model is told when the permission mode changes; ``None`` where it need not know."""
    if now == "plan":
        return _ENTERED
    return _LEFT if previous == "plan" else None
