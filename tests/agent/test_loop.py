"""Turns and steps: what is sent, what is kept, what is told."""

from __future__ import annotations

from agentcli.events import (
    AssistantMessage,
    PromptAccepted,
    StepStarted,
    ToolFinished,
    ToolResultsAppended,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from agentcli.messages import TextBlock, ToolResultBlock, ToolUseBlock, assistant, user
from agentcli.model.scripted import call, say
from tests.agent.world import make

KINDS = (
    TurnStarted,
    PromptAccepted,
    StepStarted,
    AssistantMessage,
    ToolStarted,
    ToolFinished,
    ToolResultsAppended,
    TurnFinished,
)


async def test_a_turn_runs_the_calls_and_ends_with_the_answer() -> None:
    world = make([say("I look.", call("Echo", id="c1", text="a")), "Done."])
    finished = await world.turn("please")
    assert (finished.outcome, finished.text, finished.steps, finished.stop_reason) == (
        "completed",
        "Done.",
        2,
        "end_turn",
    )
    assert world.state.messages == [
        user("please"),
        assistant("I look.", ToolUseBlock("c1", "Echo", {"text": "a"})),
        user(ToolResultBlock("c1", (TextBlock("echo a"),))),
        assistant("Done."),
    ]
    assert [type(e).__name__ for e in world.seen(KINDS)] == [
        "TurnStarted",
        "PromptAccepted",
        "StepStarted",
        "AssistantMessage",
        "ToolStarted",
        "ToolFinished",
        "ToolResultsAppended",
        "StepStarted",
        "AssistantMessage",
        "TurnFinished",
    ]
    assert world.events[-1] == finished
