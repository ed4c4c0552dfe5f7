"""What to say when the text to replace is not in the file: the place that was probably meant, what differs there."""

from __future__ import annotations

import difflib
import heapq
import re
from collections.abc import Iterable

from agentcli.tools.differences import explain, fold, fold_with_origins

_MAX_LINES = 20_000
_MAX_LINE = 500
_SHOWN = 160
_CANDIDATES = 20
_NUMBERED = re.compile(r"^ *\d+\t", re.MULTILINE)


def explain_missing(text: str, wanted: str) -> str:
    """Sentences for the model; both texts with ``\\n`` as line ending."""
    hints = _slips(text, wanted) or _same_looks(text, wanted) or _similar_lines(text, wanted)
    return hints or "No line of the file is like it. Read the file again and copy the text exactly."


def _slips(text: str, wanted: str) -> str:
    """Mistakes in how the text was sent."""
    bare = _NUMBERED.sub("", wanted)
    if bare != wanted and bare in text:
        return "old_string holds the line numbers of Read. Send it without the number and the tab."
    unescaped = re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), wanted)
    if unescaped != wanted and unescaped in text:
        return 'old_string is escaped once too often (\\n, \\t, \\" …). Send the characters themselves.'
    stripped = wanted.strip("\n")
    if stripped != wanted and stripped and stripped in text:
        return "It is there without the line breaks at the start or end of old_string. Send it without them."
    return ""


def _same_looks(text: str, wanted: str) -> str:
    """Lines that look the same, and how they differ."""
    lines = text.split("\n")
    given = wanted.strip("\n").split("\n")
    looks = [fold(line) for line in given]
    if not any(looks) or len(lines) > _MAX_LINES:
        return ""
    folded = [fold(line) for line in lines]
    if len(given) == 1:
        places = [i for i, line in enumerate(folded) if looks[0] in line]
        pairs = [[(i, *_align(lines[i], given[0]))] for i in places]
    else:
        starts = range(len(lines) - len(given) + 1)
        places = [i for i in starts if _fits(folded[i : i + len(given)], looks)]
        pairs = [[(i + k, *_edge(lines[i + k], line, k, len(given))) for k, line in enumerate(given)] for i in places]
    if not pairs:
        return ""
    found = [(i, explain(there, line, start=start)) for i, there, line, start in pairs[0] if there != line]
    if not found:
        return ""
    number, reason = found[0]
    more = f" ({len(found)} lines differ like this)" if len(found) > 1 else ""
    others = f" The same at lines {', '.join(str(p + 1) for p in places[1:4])}." if len(places) > 1 else ""
    return f"Line {number + 1} looks the same but is not: {reason}{more}. The file has {_shown(lines[number])}.{others}"


def _fits(there: list[str], looks: list[str]) -> bool:
    """The first given line may begin, and the last one end, in the middle of a line."""
    inner = there[1:-1] == looks[1:-1]
    return inner and there[0].endswith(looks[0]) and there[-1].startswith(looks[-1])


def _edge(there: str, line: str, number: int, count: int) -> tuple[str, str, int]:
    """The parts of both lines that should be equal, and the column of the first."""
    if number == 0 and there.endswith(line):
        return line, line, len(there) - len(line)
    if number == count - 1 and there.startswith(line):
        return line, line, 0
    return _align(there, line)


def _align(there: str, line: str) -> tuple[str, str, int]:
    """Cuts from the file's line the part that looks like the given one."""
    looks = fold(line)
    if fold(there) == looks:
        return there, line, 0
    folded, origins = fold_with_origins(there)
    place = folded.find(looks)
    if place < 0:
        return there, line, 0
    start = origins[place]
    part = there[start : origins[place + len(looks)]]
    return part, line.strip(" "), start


def _similar_lines(text: str, wanted: str) -> str:
    """The lines nearest to the most telling line of the wanted text."""
    telling = max((line.strip() for line in wanted.split("\n")), key=len)[:_MAX_LINE]
    lines = text.split("\n")[:_MAX_LINES]
    if not telling:
        return ""
    numbers: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if 0 < len(line) <= _MAX_LINE:
            numbers.setdefault(line.strip(), number)
    near = difflib.get_close_matches(telling, _candidates(telling, numbers), n=3, cutoff=0.6)
    if not near:
        return ""
    listed = "; ".join(f"line {numbers[line]}: {_shown(lines[numbers[line] - 1])}" for line in near)
    first = explain(near[0], telling)
    return f"Nearest to {_shown(telling)} is {listed}." + (f" In line {numbers[near[0]]} {first}." if first else "")


def _candidates(telling: str, lines: Iterable[str]) -> list[str]:
    """The lines that share most runs of three characters: comparing all of them well would take minutes."""
    wanted = _runs(telling)
    shares = ((len(wanted & runs) / (len(wanted) + len(runs)), line) for line in lines if (runs := _runs(line)))
    return [line for share, line in heapq.nlargest(_CANDIDATES, shares) if share > 0]


def _runs(line: str) -> set[str]:
    return {line[i : i + 3] for i in range(max(1, len(line) - 2))}


def _shown(line: str) -> str:
    """The line between backticks, cut; blanks are left as they are."""
    return f"`{line}`" if len(line) <= _SHOWN else f"`{line[:_SHOWN]}…`"
