"""From the log to files: what they were at a point, what the session left, what they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from agentcli.checkpoints.difference import Lines, compare
from agentcli.checkpoints.objects import Objects
from agentcli.checkpoints.state import Change, FileState, read_state
from agentcli.ports.checkpoints import FileDifference, FileStep, Refusal, Step


@dataclass(slots=True)
class Course:
    """What became of one file since a point.  ``broken``: between two changes of the session somebody else made one."""

    path: Path
    first: FileState | None
    last: FileState | None
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """A file of a plan with all that restoring needs."""

    step: FileStep
    present: FileState | None
    wanted: FileState | None


def courses(changes: Iterable[Change]) -> list[Course]:
    """By path, sorted."""
    found: dict[Path, Course] = {}
    for change in changes:
        course = found.setdefault(change.path, Course(change.path, change.before, change.before))
        course.broken = course.broken or course.last != change.before
        course.last = change.after
    return [found[path] for path in sorted(found)]


def targets(changes: Iterable[Change], objects: Objects) -> list[Target]:
    """What going back would do now.  Files that are already what they were are left out."""
    all_courses = courses(changes)
    own = frozenset(c.path for c in all_courses)
    found = (_target(course, objects, own) for course in all_courses)
    return [t for t in found if t is not None]


def differences(changes: Iterable[Change], objects: Objects) -> Iterator[FileDifference]:
    """What files were before the first of the changes, against what they are."""
    for course in courses(changes):
        present, data = read_state(course.path)
        if present == course.first:
            continue
        old, problem = _content(course.first, objects)
        lost = problem or (present is not None and not present.kept)
        lines = Lines(None, None, None) if lost else compare(old, data)
        yield FileDifference(
            course.path,
            _step(course.first, present),
            lines.lines or (),
            lines.added,
            lines.removed,
            "content" if lost else "binary" if lines.lines is None else "",
            _modes(course.first, present),
            foreign=course.broken or present != course.last,
        )


def _target(course: Course, objects: Objects, own: frozenset[Path]) -> Target | None:
    present, data = read_state(course.path)
    if present == course.first:
        return None
    step = _step(present, course.first)
    old, problem = _content(course.first, objects)
    refusal = _refusal(course, present, own, problem=problem)
    lines = Lines(None, None, None) if refusal or step == "mode" else compare(data, old)
    return Target(FileStep(course.path, step, lines.added, lines.removed, refusal), present, course.first)


def _refusal(course: Course, present: FileState | None, own: frozenset[Path], *, problem: bool) -> Refusal:
    if present != course.last:
        return "foreign"
    if course.broken:
        return "between"
    if problem or (present is not None and not present.kept):
        return "content"
    return "" if all(p in own or not os.path.islink(p) for p in course.path.parents) else "place"


def _content(state: FileState | None, objects: Objects) -> tuple[bytes | None, bool]:
    """The content, and whether there is one that can't be had."""
    if state is None:
        return None, False
    if not state.kept:
        return None, True
    try:
        return objects.read(state.content), False
    except OSError:
        return None, True


def _step(before: FileState | None, after: FileState | None) -> Step:
    if before is None:
        return "created"
    if after is None:
        return "removed"
    return "mode" if _only_mode(before, after) else "changed"


def _only_mode(a: FileState | None, b: FileState | None) -> bool:
    return a is not None and b is not None and (a.kind, a.content) == (b.kind, b.content)


def _modes(a: FileState | None, b: FileState | None) -> tuple[str, str] | None:
    both = a is not None and b is not None and a.kind == b.kind == "file" and a.mode != b.mode
    return (f"{a.mode:o}", f"{b.mode:o}") if both and a and b else None
