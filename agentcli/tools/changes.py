"""What Edit and Write say about a change, and about a write that failed."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

from agentcli.errors import ToolError
from agentcli.text import clean, plural

_CONTEXT = 2
_MAX_SHOWN = 24
_MAX_LINE = 300


@contextlib.contextmanager
def write_errors(name: str) -> Iterator[None]:
    """Turns the system's refusals into words for the model."""
    try:
        yield
    except FileExistsError as error:
        raise ToolError(f"{name} was made by somebody else meanwhile. Read it, then change it.") from error
    except OSError as error:
        reason = error.strerror or str(error)
        hint = " A part of the path is a file, not a directory." if error.errno == errno.ENOTDIR else ""
        raise ToolError(f"{name} can't be written: {reason}.{hint} What was there is unchanged.") from error


def change_summary(before: str | None, after: str) -> str:
    """``12 lines`` for a new file, ``+3 −1`` for a change."""
    if before is None:
        return plural(len(_lines(after)), "line")
    first, old_end, new_end = _bounds(_lines(before), _lines(after))
    return f"+{new_end - first} −{old_end - first}"


def changed_region(before: str, after: str) -> str:
    """The changed lines of ``after`` with some around them, numbered as Read numbers them; cut in the middle."""
    lines = _lines(after)
    first, _, end = _bounds(_lines(before), lines)
    start, stop = max(0, first - _CONTEXT), min(len(lines), end + _CONTEXT)
    numbered = [f"{i + 1}\t{_short(lines[i])}" for i in range(start, stop)]
    if len(numbered) > _MAX_SHOWN:
        half = _MAX_SHOWN // 2
        numbered = [*numbered[:half], f"[… {len(numbered) - 2 * half} lines …]", *numbered[-half:]]
    return clean("\n".join(numbered)) or "[The file is empty now.]"


def _short(line: str) -> str:
    return line if len(line) <= _MAX_LINE else line[:_MAX_LINE] + "…"


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def _bounds(before: list[str], after: list[str]) -> tuple[int, int, int]:
    """(first differing line, end in before, end in after), counted from 0."""
    shared = min(len(before), len(after))
    first = next((i for i in range(shared) if before[i] != after[i]), shared)
    tail = next((i for i in range(shared - first) if before[-1 - i] != after[-1 - i]), shared - first)
    return first, len(before) - tail, len(after) - tail
