"""What follows an answer, by its stop reason.

=============================== ==================================================================================
stop reason                     what happens
=============================== ==================================================================================
``end_turn``, ``stop_sequence`` the turn ends, unless the answer holds calls
``tool_use``                    the calls run, then the next step
``max_tokens``                  a text is kept and the model goes on where it stopped; a call at the end of the answer
                                was cut and never runs, whole calls before it do; three in a row end the turn
``pause_turn``                  the answer goes back as it is (at most ten times in a row)
``refusal``                     the answer is dropped, the turn ends
``model_context_window_exceeded`` as ``max_tokens``, after one compaction
anything else                   as ``end_turn``
no content at all               the model is asked once to go on; a second time ends the turn
=============================== ==================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentcli.agent.turn import Answer
from agentcli.events.types import Outcome

MAX_CUTS = 3
MAX_PAUSES = 10
CUT_OFF = (
    "Your answer was cut off by the output limit. Go on exactly where it stopped; don't repeat what is already written."
)
NOTHING_VISIBLE = (
    "Your last answer used up the output limit before it said anything. Think less at once and answer in smaller steps."
)
CALL_CUT = (
    "This call was cut off by the output limit before its input was complete. Nothing was run. "
    "Do it in smaller pieces: several shorter calls, or less content in each."
)
EMPTY = "Your last answer was empty. Go on with the work, or say that you are done."


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ends; see ``events.TurnFinished``."""

    outcome: Outcome = "completed"
    error: str = ""
    kind: str = ""
    status: int | None = None


REFUSED = Ending(
    "refusal",
    "The model declined to answer. Say it differently, or take the conversation back with /rewind.",
    "refusal",
)


@dataclass(frozen=True, slots=True)
class Next:
    """``step``: another request, after ``note`` (if any) was told; ``compact``: the same, after a compaction;
    ``again``: another request with nothing added; ``end``: nothing is left to do; ``stop``: the turn must end as
    ``ending`` says."""

    kind: Literal["step", "compact", "again", "end", "stop"]
    note: str = ""
    ending: Ending = Ending()


class Course:
    """Judges the answers of one turn, and counts what must not go on for ever."""

    def __init__(self) -> None:
        self._cuts = 0
        self._pauses = 0
        self._empties = 0

    def after(self, answer: Answer) -> Next:
        calls = bool(answer.message.tool_uses())
        cut = answer.stop_reason in ("max_tokens", "model_context_window_exceeded")
        self._cuts = self._cuts + 1 if cut else 0
        self._pauses = self._pauses + 1 if answer.stop_reason == "pause_turn" else 0
        match answer.stop_reason:
            case "max_tokens" | "model_context_window_exceeded":
                return self._cut(answer, calls=calls)
            case "pause_turn" if answer.message.content and not calls:
                return self._paused()
            case _ if calls:
                return Next("step")
            case _ if not answer.message.content:
                return self._empty()
            case _:
                return Next("end")

    def _cut(self, answer: Answer, *, calls: bool) -> Next:
        if self._cuts >= MAX_CUTS:
            text = f"The answer was cut off by the output limit {MAX_CUTS} times in a row; stopped."
            return Next("stop", ending=Ending("output_limit", text, "max_tokens"))
        note = "" if calls else CUT_OFF if answer.message.content else NOTHING_VISIBLE
        return Next("step" if answer.stop_reason == "max_tokens" else "compact", note)

    def _paused(self) -> Next:
        if self._pauses > MAX_PAUSES:
            text = f"The server paused its own tools {MAX_PAUSES} times in a row; stopped."
            return Next("stop", ending=Ending("error", text, "pause_turn"))
        return Next("again")

    def _empty(self) -> Next:
        self._empties += 1
        return Next("step", EMPTY) if self._empties == 1 else Next("end")


def faults(answer: Answer) -> dict[str, str]:
    """The calls of the answer that must not run, with what the model is told instead.

    Where the output limit ended the answer, a call that stands last was cut, even if its JSON happens to be complete.
    """
    found = dict(answer.faults)
    if answer.stop_reason in ("max_tokens", "model_context_window_exceeded") and answer.last_call is not None:
        found[answer.last_call] = CALL_CUT
    return found
