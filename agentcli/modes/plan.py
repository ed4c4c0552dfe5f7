"""Plan mode: the same tools, but nothing is changed until the user has agreed to a plan."""

from __future__ import annotations

from collections.abc import Callable

EXIT_TOOL = "ExitPlanMode"
_ENTERED = (
    "Plan mode is on. Change nothing: no edits, no commands with effects (they are refused). Read and search until "
    "you understand the task, then make a plan that can be followed step by step: what changes in which file, "
    "how it is verified, what is still open."
)
_STOP = "Answer with the plan, stop there and wait for the user."
_LEFT = "Plan mode is off: changes are allowed again, as far as the user's permissions go."


def mode_texts(*, exit_tool: bool, deferred: bool) -> Callable[[str, str], str | None]:
    """``(previous mode, mode now)`` → what the model is told; ``None`` where it need not know.

    ``exit_tool``: the conversation has ``ExitPlanMode``, which is ``deferred`` where ToolSearch has to bring it.
    """
    found = f" (load it with ToolSearch: select:{EXIT_TOOL})" if deferred else ""
    ending = f"Then call {EXIT_TOOL} with it{found}; the user answers there." if exit_tool else _STOP

    def told(previous: str, now: str) -> str | None:
        if now == "plan":
            return f"{_ENTERED} {ending}"
        return _LEFT if previous == "plan" else None

    return told
