"""What ``/rewind`` and ``/diff`` say of files, and which checkpoint belongs to which message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentcli.i18n import Texts
from agentcli.ports.checkpoints import FileStep, Point, RewindPlan, Rewound
from agentcli.text import clean, one_line

if TYPE_CHECKING:
    from agentcli.runtime.session import Session

SHOWN = 30
"""Files that are listed one by one."""
NOTED = 500
"""Characters of a prompt that its checkpoint has."""
WIDE = 4_096
_STEPS = {
    "created": "files.comes",
    "changed": "files.changes",
    "removed": "files.goes",
    "mode": "files.mode",
}
_REFUSALS = {
    "foreign": "files.foreign",
    "between": "files.between",
    "content": "files.content",
    "place": "files.place",
}


def matched(prompts: Sequence[str], turns: Sequence[Point]) -> list[int | None]:
    """The position of the checkpoint before each of the user's messages (both oldest first).

    Newest first, each message takes the newest turn with its words; one without (it was sent while a turn ran) gets
    that of the message behind it.  ``None``: nothing was noted since.
    """
    found: list[int | None] = []
    left = [t for t in turns if t.kind == "turn" and t.in_conversation]
    behind: int | None = None
    for prompt in reversed(prompts):
        at = next((n for n in reversed(range(len(left))) if _same(prompt, left[n].prompt)), None)
        if at is not None:
            behind = left[at].position
            del left[at:]
        found.append(behind)
    return found[::-1]


def _same(typed: str, noted: str) -> bool:
    """What was queued before the turn stands in front of its own words; long ones are noted in part."""
    typed, noted = clean(typed.strip()), clean(noted)
    return typed[:NOTED] == noted or typed.endswith("\n\n" + noted)


def shown_path(path: Path, session: Session) -> str:
    """As the user would write it."""
    start = session.workspace.start.resolve()
    text = str(path.relative_to(start)) if path.is_relative_to(start) else str(path)
    return f"`{one_line(text, WIDE).replace('`', '´')}`"


def counts(added: int | None, removed: int | None) -> str:
    return "" if added is None or removed is None or not (added or removed) else f" +{added:,} −{removed:,}"


def plan_words(plan: RewindPlan, session: Session, t: Texts) -> str:
    """What going back would do, as a list."""
    lines = [t("files.would", count=len(plan.doing)), ""]
    lines += [f"- {_step(s, session, t)}" for s in plan.doing[:SHOWN]]
    if len(plan.doing) > SHOWN:
        lines.append(t("files.more", count=len(plan.doing) - SHOWN))
    return "\n".join([*lines, *refused_words(plan.refused, session, t)])


def refused_words(refused: Sequence[FileStep], session: Session, t: Texts) -> list[str]:
    if not refused:
        return []
    names = [f"- {shown_path(s.path, session)}: {t(_REFUSALS[s.refusal])}" for s in refused[:SHOWN]]
    more = [t("files.more", count=len(refused) - SHOWN)] if len(refused) > SHOWN else []
    return ["", t("files.stay"), "", *names, *more]


def done_words(done: Rewound, refused: Sequence[FileStep], session: Session, t: Texts) -> str:
    """What was restored, what stays as it is, what failed."""
    lines = [t("files.restored", count=len(done.done))]
    lines += refused_words(refused, session, t)
    if done.failed:
        failed: Iterable[str] = (f"- {shown_path(path, session)}: {clean(why)}" for path, why in done.failed)
        lines += ["", t("files.failed"), "", *failed]
    return "\n".join(lines)


def _step(step: FileStep, session: Session, t: Texts) -> str:
    return f"{shown_path(step.path, session)}: {t(_STEPS[step.step])}{counts(step.added, step.removed)}"
