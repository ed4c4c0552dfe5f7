"""``@file`` and ``@server:uri`` in a prompt: what the person points at goes along with their words, as ``Read`` or the
MCP server would give it.

Only what exists and may be read without asking is attached; anything else stays what it is, a word, and the model can
still ask for it.  Names in code are words too.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agentcli.agent.reminders import wrap
from agentcli.errors import ToolError, UserError
from agentcli.events import Event, Notice, QueueChanged, TurnStarted
from agentcli.messages import Block, TextBlock
from agentcli.paths import quoted
from agentcli.ports.display import TextDisplay
from agentcli.ports.frontend import UserInput
from agentcli.ports.permissions import Decision
from agentcli.ports.prompt import StepContext
from agentcli.ports.tools import ToolCall, ToolResult
from agentcli.text import clean, estimate_tokens, plural
from agentcli.tools.locate import spell
from agentcli.tools.read import Read

if TYPE_CHECKING:
    from agentcli.runtime.session import Session

MOST = 10
"""Mentions of one message that are attached."""
MAX_TOKENS = 50_000
"""Of all attached texts together, estimated; what would go beyond is named and left to the model."""
MAX_ENTRIES = 100
_MENTION = re.compile(r'(?:^|(?<=[\s(]))@(?:"(?P<quoted>[^"\n]+)"|(?P<plain>[^\s"`]+))')
_CODE = re.compile(
    r"^(?P<fence>`{3,}|~{3,}).*?(?:^(?P=fence)|\Z)|(?P<tick>`+)[^\n]*?(?P=tick)", re.DOTALL | re.MULTILINE
)
_LINES = re.compile(r"(?P<path>.+)#L(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class Mention:
    """A file or directory that exists; ``offset`` and ``limit`` where lines were named (``@file#L10-20``)."""

    path: Path
    offset: int | None = None
    limit: int | None = None


@dataclass(slots=True)
class _Attached:
    """What goes along, and what the person is told about it."""

    blocks: list[Block] = field(default_factory=list)
    touched: list[Path] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    tokens: int = 0


async def expand_mentions(prompt: UserInput, session: Session) -> UserInput:
    """The prompt with everything that it mentions attached in front of its words.

    Once it is sent, the session's listeners are told what is attached (``Notice``, code ``mention``), what is not, and
    why.
    Instructions that belong to the files' places go along like after a ``Read``.
    """
    found, resources = mentions(prompt.text, session), _resources(prompt.text, session)
    if not found and not resources:
        return prompt
    attached = _Attached()
    for number, mention in enumerate(found):
        await _attach(mention, session, attached, room=number < MOST)
    for number, name in enumerate(resources, len(found)):
        await _attach_resource(name, session, attached, room=number < MOST)
    if attached.touched:
        await _note_touched(attached.touched, session)
    _tell(session, attached)
    return UserInput(prompt.text, (*prompt.attachments, *attached.blocks))


async def _note_touched(paths: list[Path], session: Session) -> None:
    """What is to be told about these files' places goes along with the message, too."""
    state = session.state
    if not state.messages:  # what holds from the start is known once the prompt was built; it is memoised
        await session.prompt.effective(StepContext(state.model, state.interactive))
    state.pending.extend(await session.agent.rooms.reminders.collect("file_touched", paths=paths))


def mentions(text: str, session: Session) -> list[Mention]:
    """The existing files and directories that a text mentions, each once, in order.  Code is left out."""
    if "@" not in text:
        return []
    words = _CODE.sub(" ", text)
    found = (_resolve(m["quoted"] or m["plain"], session, exact=bool(m["quoted"])) for m in _MENTION.finditer(words))
    return list(dict.fromkeys(m for m in found if m is not None))


def _resources(text: str, session: Session) -> tuple[str, ...]:
    """The resources of MCP servers that a text mentions; code is left out."""
    if session.mcp is None or "@" not in text:
        return ()
    return session.mcp.mentioned(_CODE.sub(" ", text))


def _resolve(name: str, session: Session, *, exact: bool) -> Mention | None:
    """The exact name wins; then it is tried without lines, and without the punctuation of a sentence."""
    for candidate in dict.fromkeys([name] if exact else [name, name.rstrip(".,;:!?)]}'\"")]):
        if not candidate or "\0" in candidate:
            continue
        if (path := _existing(candidate, session)) is not None:
            return Mention(path)
        lines = _LINES.fullmatch(candidate)
        if lines and (path := _existing(lines["path"], session)) is not None and os.path.isfile(path):
            first, last = max(int(lines["first"]), 1), int(lines["last"] or lines["first"])
            return Mention(path, first, max(last - first + 1, 1))
    return None


def _existing(name: str, session: Session) -> Path | None:
    try:
        path = session.workspace.resolve(name)
        return path if os.path.exists(path) else None
    except (OSError, RuntimeError, ValueError):  # too long, a loop of links, no home
        return None


async def _attach(mention: Mention, session: Session, attached: _Attached, *, room: bool) -> None:
    name = spell(mention.path, session.workspace)
    decision = _may_read(mention.path, session)
    if decision.behavior != "allow":
        attached.left_out.append(f"{name}: {decision.reason.removeprefix(f'{mention.path}: ')}")
        return
    if not room:
        attached.left_out.append(f"{name}: at most {MOST} are attached to one message")
        return
    try:
        result = await _read(mention, session)
    except ToolError as error:
        attached.left_out.append(str(error))
        attached.blocks.append(wrap(f"The user mentions {name}. It is not attached: {error}"))
        return
    if not _put(name, result.for_model, attached):
        attached.left_out.append(f"{name}: too much for one message; the agent can read it")
        attached.blocks.append(
            wrap(f"The user mentions {name}. It is not attached for its size; read it if you need it.")
        )
        return
    attached.touched += result.touched
    attached.shown.append(f"{name} ({result.for_user.summary})" if isinstance(result.for_user, TextDisplay) else name)


async def _attach_resource(name: str, session: Session, attached: _Attached, *, room: bool) -> None:
    assert session.mcp is not None
    if not room:
        attached.left_out.append(f"{name}: at most {MOST} are attached to one message")
        return
    try:
        await session.mcp.wait_named(name)
        blocks = await session.mcp.attached(name)
    except UserError as error:
        attached.left_out.append(str(error))
        attached.blocks.append(wrap(f"The user mentions {name}. It is not attached: {error}"))
        return
    if _put(name, blocks, attached):
        attached.shown.append(name)
    else:
        attached.left_out.append(f"{name}: too much for one message")
        attached.blocks.append(wrap(f"The user mentions {name}. It is not attached for its size."))


def _put(name: str, blocks: Sequence[Block], attached: _Attached) -> bool:
    """Attaches what was read; false where it is too much together with the rest."""
    texts = [b.text for b in blocks if isinstance(b, TextBlock)]
    size = estimate_tokens("\n".join(texts))
    if attached.tokens + size > MAX_TOKENS:
        return False
    attached.tokens += size
    attached.blocks.append(wrap("\n".join([f"The user mentions {name}. It was read just now:", *texts])))
    attached.blocks += [b for b in blocks if not isinstance(b, TextBlock)]
    return True


def _may_read(path: Path, session: Session) -> Decision:
    return session.gate.check(ToolCall("mention", "Read", {"file_path": str(path)}))


async def _read(mention: Mention, session: Session) -> ToolResult:
    if os.path.isdir(mention.path):
        return await asyncio.to_thread(_listing, mention.path, session)
    given = {"file_path": str(mention.path), "offset": mention.offset, "limit": mention.limit}
    return await Read().run({k: v for k, v in given.items() if v is not None}, session.contexts("mention"))


def _listing(directory: Path, session: Session) -> ToolResult:
    """The names in a directory, those that may not be read left out."""
    try:
        with os.scandir(directory) as entries:
            names = sorted((clean(e.name) + ("/" if e.is_dir() else ""), e.name) for e in entries)
    except OSError as error:
        raise ToolError(f"{quoted(str(directory))} can't be listed: {error.strerror}.") from error
    allowed = [shown for shown, name in names if _may_read(directory / name, session).behavior == "allow"]
    shown = [quoted(n) for n in allowed[:MAX_ENTRIES]]
    rest = len(allowed) - len(shown)
    lines = [
        *shown,
        *([f"[{rest} more; list them with Glob.]"] if rest else []),
        *(["[It is empty.]"] if not allowed else []),
    ]
    return ToolResult((TextBlock("\n".join(lines)),), TextDisplay(plural(len(allowed), "entry", "entries")))


def _tell(session: Session, attached: _Attached) -> None:
    """Once the message itself is shown: with the turn that it begins, or the queue that it waits in."""
    notices = [Notice("info", f"Attached: {', '.join(attached.shown)}", "mention")] if attached.shown else []
    notices += [Notice("warning", f"Not attached: {text}", "mention") for text in attached.left_out]

    def hear(event: Event) -> None:
        if isinstance(event, TurnStarted | QueueChanged):
            remove()
            for notice in notices:
                asyncio.get_running_loop().call_soon(session.events.emit, notice)

    remove = session.events.subscribe(hear)
