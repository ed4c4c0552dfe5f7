"""The summary's request: the conversation's next request with one instruction appended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agentcli.agent.measure import tokens, without_thinking
from agentcli.agent.rooms import Rooms
from agentcli.agent.state import SessionState
from agentcli.agent.successor import ATTACHED
from agentcli.agent.unkept import ask_unkept
from agentcli.conversation import SystemPrompt
from agentcli.errors import ApiError, TurnError
from agentcli.messages import Message, TextBlock, append
from agentcli.ports.model import ModelRequest

TRIES = 3
INSTRUCTION = Path(__file__).with_name("compact.md")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)[\s#]*")
_ELEMENT = re.compile(r"</?(?:instructions|import|system-reminder)\b")


@dataclass(frozen=True, slots=True)
class Summariser:
    """Has the model write the summary.  ``request`` is the conversation's next request."""

    state: SessionState
    rooms: Rooms
    request: ModelRequest

    async def write(self, messages: Sequence[Message], wishes: Sequence[str]) -> str:
        """The summary.  A request that is too long is sent again without its oldest turns.  ``TurnError`` when three
        tries gave none."""
        asked = instruction((*wishes, *compact_instructions(self.request.system, messages)))
        sent = list(messages)
        problem = "it gave no summary"
        for _ in range(TRIES):
            asking = list(sent)
            append(asking, Message("user", (TextBlock(asked, "summary"),)))
            try:
                answer = await ask_unkept(self.state, self.rooms, self._asking(asking))
            except ApiError as error:
                if error.kind != "prompt_too_long":
                    raise
                problem = str(error)
                sent = without_oldest(sent)
                continue
            text = answer.message.text().strip()
            if answer.stop_reason == "model_context_window_exceeded":
                sent = without_oldest(sent)
            if text and answer.stop_reason in ("end_turn", "stop_sequence", "tool_use", None):
                return text
            problem = f"it gave no whole summary (stop reason {answer.stop_reason})"
        raise TurnError(f"The summary could not be made: {problem}. The conversation is unchanged.")

    def _asking(self, messages: Sequence[Message]) -> ModelRequest:
        intent = self.request.intent or "compaction"
        sent = tuple(messages)
        return replace(self.request, messages=sent, query_source="compact", intent=intent, output_schema=None)


def instruction(wishes: Sequence[str]) -> str:
    """What the model is told to write, with what somebody wants to be kept in particular."""
    asked = INSTRUCTION.read_text(encoding="utf-8").strip()
    given = "\n".join(dict.fromkeys(w.strip() for w in wishes if w.strip()))
    return f"{asked}\n\nKeep in particular:\n{given}" if given else asked


def compact_instructions(system: SystemPrompt, messages: Sequence[Message]) -> list[str]:
    """What stands under a heading "Compact instructions" (of any level) in the memory files that the model was given,
    in the prompt or by reminder."""
    told = [part.text for part in system.parts if part.name == "memory"]
    told += [b.text for m in messages for b in m.content if isinstance(b, TextBlock) and b.origin == "reminder"]
    return [section for text in told for section in _sections(text)]


def _sections(text: str) -> list[str]:
    """The bodies of such headings: up to a heading of the same or a higher level, or the end of the file's element."""
    found: list[str] = []
    body: list[str] | None = None
    level, fenced = 0, False
    for line in text.split("\n"):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        heading = None if fenced else _HEADING.fullmatch(line)
        ends = _ELEMENT.match(line) or (heading is not None and len(heading[1]) <= level)
        if body is not None and ends:
            found.append("\n".join(body))
            body = None
        if body is not None:
            body.append(line)
        elif heading is not None and heading[2].strip().lower() == "compact instructions":
            body, level = [], len(heading[1])
        if _ELEMENT.match(line):
            fenced = False
    return [*found, *(["\n".join(body)] if body is not None else [])]


def without_oldest(messages: Sequence[Message]) -> list[Message]:
    """Without about the older quarter, cut at a prompt where there is one, else between whole steps.  The summary of
    an earlier compaction stays, without the files behind it.

    Thinking is dropped: it is bound to the history in front of it.
    """
    goal = tokens(messages) * 3 // 4
    plain = [m for m in (without_thinking(m) for m in messages) if m.content]
    earlier = tuple(
        b
        for b in plain[0].content
        if isinstance(b, TextBlock) and b.origin == "summary" and not b.text.startswith(ATTACHED)
    )
    kept = [Message("user", earlier)] if earlier else []
    prompts = [i for i, m in enumerate(plain) if i and m.role == "user" and not m.tool_results()]
    start = next((i for i in prompts if tokens(kept) + tokens(plain[i:]) <= goal), None)
    if start is not None:
        append(kept, plain[start])
        return [*kept, *plain[start + 1 :]]
    answers = [i for i, m in enumerate(plain) if i > 1 and m.role == "assistant"]
    step = next((i for i in answers if tokens(plain[i:]) <= goal), answers[-1] if answers else 1)
    return [*(kept or plain[:1]), *plain[step:]]
