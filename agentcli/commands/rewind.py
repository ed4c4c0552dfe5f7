"""``/rewind``: takes the conversation, the files or both back to before one of the user's messages.

The message is put into the input again.  ``/rewind undo`` takes the last restoring of files back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentcli.commands._files import done_words, matched, plan_words, shown_path
from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.messages import Block, ImageBlock, Message, TextBlock, first_part
from agentcli.ports.checkpoints import RewindPlan, Rewound
from agentcli.ports.frontend import Choice, UserInput
from agentcli.ports.prompt import Reminder
from agentcli.text import one_line

if TYPE_CHECKING:
    from agentcli.runtime.session import Session

SHOWN = 20
UNDO = "undo"
WHAT = ("both", "conversation", "code")


@dataclass(frozen=True, slots=True)
class Point:
    """A message of the user: its index in the conversation, the block in which it begins, what was typed, and its
    checkpoint if there is one."""

    index: int
    block: int
    prompt: UserInput
    position: int | None = None


async def run(context: CommandContext, arguments: str) -> CommandResult:
    session, t = context.session, context.texts
    if session.agent.busy:
        raise UserError(t("rewind.busy"))
    points = list(reversed(_points(session)))
    picked, _, what = arguments.partition(" ")
    if picked == UNDO:
        return await _undo(context)
    if not points:
        raise UserError(t("rewind.none"))
    if what.strip() not in ("", *WHAT):
        raise UserError(t("rewind.usage", most=len(points) - 1))
    picked = picked or await context.dialogs.choose(t("rewind.which"), _choices(points, context)) or ""
    if not picked:
        return CommandResult()
    if picked == UNDO:
        return await _undo(context)
    if not picked.isdecimal() or int(picked) >= len(points):
        raise UserError(t("rewind.usage", most=len(points) - 1))
    return await _go(context, points[int(picked)], what.strip())


async def _go(context: CommandContext, point: Point, what: str) -> CommandResult:
    """Shows what would change, asks what is meant, and does it: files first."""
    session, t = context.session, context.texts
    plan = await session.checkpoints.plan(point.position) if point.position is not None else RewindPlan(0)
    if plan.steps and not what:
        await context.dialogs.show(plan_words(plan, session, t))
        labels = {"both": t("rewind.both"), "conversation": t("rewind.conversation"), "code": t("rewind.code")}
        choices = [Choice(value, labels[value]) for value in WHAT if value != "both" or plan.doing]
        what = await context.dialogs.choose(t("rewind.what"), choices) or ""
        if not what:
            return CommandResult()
    parts = []
    if what != "code":
        parts.append(t("rewind.done", left=f"{_kept(session, point):,}"))
    if what != "conversation" and plan.steps:
        done = await session.checkpoints.restore(plan)
        parts.append(done_words(done, plan.refused, session, t))
        if what == "code":
            tell(session, done)
    elif plan.steps or what == "code":
        parts.append(t("rewind.files_stay"))
    if what == "code":
        return CommandResult("\n\n".join(parts))
    _go_back(session, point)
    return CommandResult("\n\n".join(parts), draft=point.prompt)


async def _undo(context: CommandContext) -> CommandResult:
    """Takes the last restoring of files back."""
    session, t = context.session, context.texts
    points = [p for p in session.checkpoints.points() if p.kind == "restore"]
    if not points:
        raise UserError(t("rewind.nothing_restored"))
    plan = await session.checkpoints.plan(points[-1].position)
    if not plan.steps:
        return CommandResult(t("rewind.files_stay"))
    await context.dialogs.show(plan_words(plan, session, t))
    done = await session.checkpoints.restore(plan)
    tell(session, done)
    return CommandResult(done_words(done, plan.refused, session, t))


def tell(session: Session, done: Rewound) -> None:
    """The model hears of it: its conversation goes on with other files."""
    if done.done:
        names = ", ".join(shown_path(s.path, session) for s in done.done[:SHOWN])
        more = f" and {len(done.done) - SHOWN} more" if len(done.done) > SHOWN else ""
        session.state.pending.append(
            Reminder("restored", f"The user took files back to an earlier state: {names}{more}.")
        )


def _choices(points: list[Point], context: CommandContext) -> list[Choice]:
    choices = [_choice(n, point, context) for n, point in enumerate(points[:SHOWN])]
    marks = context.session.checkpoints.points()
    if marks and marks[-1].kind == "restore":
        choices.insert(0, Choice(UNDO, context.texts("rewind.undo", time=marks[-1].time[11:16])))
    return choices


def _points(session: Session) -> list[Point]:
    """Oldest first."""
    found = ((i, block, session.state.messages[i].content[block:]) for i, block in session.agent.prompt_starts())
    typed = [(i, block, prompt) for i, block, content in found if (prompt := _typed(content)) is not None]
    positions = matched([prompt.text for _, _, prompt in typed], session.checkpoints.points())
    return [Point(*point, at) for point, at in zip(typed, positions, strict=True)]


def _typed(content: tuple[Block, ...]) -> UserInput | None:
    words = [b.text for b in content if isinstance(b, TextBlock) and b.origin == "user"]
    own = not any(isinstance(b, TextBlock) and b.origin == "reminder" for b in content)
    images = tuple(b for b in content if isinstance(b, ImageBlock)) if own else ()
    return UserInput("\n\n".join(words), images) if words else None


def _choice(number: int, point: Point, context: CommandContext) -> Choice:
    """What was typed, how much of the conversation would go, and what stays to be sent again."""
    session = context.session
    gone = len(session.state.messages) - point.index
    kept = _kept(session, point)
    behind = f"{_tokens(session.state.messages) - kept:,}"
    about = context.texts("rewind.about", count=gone, tokens=behind, kept=f"{kept:,}")
    files = {p.position: p.files for p in session.checkpoints.points()}.get(point.position or 0, 0)
    if point.position is not None and files:
        about += "; " + context.texts("rewind.files", count=files)
    return Choice(str(number), one_line(point.prompt.text, 60), about)


def _kept(session: Session, point: Point) -> int:
    """Tokens of what stays."""
    return _tokens(first_part(session.state.messages, point.index, point.block))


def _tokens(messages: Sequence[Message]) -> int:
    from agentcli.agent.measure import tokens

    return tokens(messages)


def _go_back(session: Session, point: Point) -> None:
    """The model no longer knows what it read since."""
    session.agent.rewind(point.index, point.block)
    if point.position is not None:
        session.checkpoints.conversation_cut(point.position)
    state = session.state
    state.pending[:] = [r for r in state.pending if r.key != "interrupted"]
    session.toolbox.seen.forget()


COMMAND = Command(
    "rewind",
    "Take the conversation, the files or both back to an earlier message",
    run,
    aliases=("undo", "checkpoint"),
    argument_hint="[NUMBER [both | conversation | code] | undo]",
)
