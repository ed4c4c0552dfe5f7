"""``/rewind``: takes the conversation back to before one of the user's messages, which is put into the input again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.messages import Block, ImageBlock, Message, TextBlock, first_part
from agentcli.ports.frontend import Choice, UserInput
from agentcli.text import one_line

if TYPE_CHECKING:
    from agentcli.runtime.session import Session

SHOWN = 20


@dataclass(frozen=True, slots=True)
class Point:
    """A message of the user: its index in the conversation, the block in which it begins, and what was typed."""

    index: int
    block: int
    prompt: UserInput


async def run(context: CommandContext, arguments: str) -> CommandResult:
    session, t = context.session, context.texts
    if session.agent.busy:
        raise UserError(t("rewind.busy"))
    points = list(reversed(_points(session)))
    if not points:
        raise UserError(t("rewind.none"))
    choices = [_choice(n, point, context) for n, point in enumerate(points[:SHOWN])]
    picked = arguments or await context.dialogs.choose(t("rewind.which"), choices)
    if picked is None:
        return CommandResult()
    if not picked.isdecimal() or int(picked) >= len(points):
        raise UserError(t("rewind.usage", most=len(points) - 1))
    point = points[int(picked)]
    words = t("rewind.done", left=f"{_kept(session, point):,}")
    _go_back(session, point)
    return CommandResult(words, draft=point.prompt)


def _points(session: Session) -> list[Point]:
    """Oldest first."""
    found = ((i, block, session.state.messages[i].content[block:]) for i, block in session.agent.prompt_starts())
    return [Point(i, block, prompt) for i, block, content in found if (prompt := _typed(content)) is not None]


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
    state = session.state
    state.pending[:] = [r for r in state.pending if r.key != "interrupted"]
    session.toolbox.seen.forget()


COMMAND = Command("rewind", "Take the conversation back to an earlier message", run, aliases=("undo", "checkpoint"))
