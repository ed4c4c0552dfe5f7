"""Compaction: what is asked, what is kept, and that a failure changes nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent import Limits
from agentcli.agent.compact_ask import INSTRUCTION, without_oldest
from agentcli.agent.measure import tokens
from agentcli.errors import ApiError, TurnError
from agentcli.events import (
    AssistantMessage,
    CacheObserved,
    Compacted,
    Notice,
    StepStarted,
    TextDelta,
    TurnFinished,
)
from agentcli.messages import (
    ImageBlock,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant,
    message_to_api,
    repair,
    user,
)
from agentcli.model.scripted import Answer, call, say
from agentcli.ports.display import Todo
from agentcli.ports.frontend import UserInput
from agentcli.ports.model import ModelInfo
from agentcli.ports.permissions import HookVerdict
from agentcli.ports.prompt import Reminder
from agentcli.ports.tools import SeenFile
from tests.agent.test_loop import reminder
from tests.agent.world import FakeTool, World, make, standard_tools

TOO_LONG = ApiError("prompt is too long", kind="prompt_too_long", status=400)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
INTRO = "The earlier conversation was compacted. This summary stands for it; what follows behind it is word for word."


def window(size: int, output: int = 1_000) -> ModelInfo:
    return ModelInfo("claude-sonnet-5-5", "Test", size, output, 512)


def big(text: str = "x") -> FakeTool:
    return FakeTool("Big", lambda i: f"{text} " * 4_000)


async def worked(script: list[Any], **options: Any) -> World:
    """A world whose conversation has one turn with a large result behind it."""
    world = make([say(call("Big", id="b")), "I read it.", *script], tools=standard_tools() | {"Big": big()}, **options)
    await world.turn("read the big thing")
    return world


async def test_the_summary_request_is_the_next_request_with_one_instruction_appended() -> None:
    world = await worked(["## Requests\nread"])
    before = [message_to_api(m) for m in world.state.messages]
    compacted = await world.agent.compact("the names")
    request = world.requests[-1]
    instruction = INSTRUCTION.read_text().strip() + "\n\nKeep in particular:\nthe names"
    assert world.sent(-1) == [*before, {"role": "user", "content": [{"type": "text", "text": instruction}]}]
    last = world.requests[-2]
    assert (request.system, request.tools, request.effort, request.thinking, request.tool_choice) == (
        last.system,
        last.tools,
        last.effort,
        last.thinking,
        last.tool_choice,
    )
    assert (request.query_source, request.intent) == ("compact", "compaction")
    assert compacted is not None
    assert world.seen(Compacted) == [compacted]
    assert compacted.after_tokens < compacted.before_tokens


async def test_the_new_conversation_is_summary_request_todos_and_files(project: Path) -> None:
    class Seen:
        def __init__(self) -> None:
            self.log: list[tuple[str, ...]] = []

        def note(self, path: Path, data: bytes, *, whole: bool) -> None:
            self.log.append(("note", str(path), data.decode()))

        def get(self, path: Path) -> SeenFile | None:
            return None

        def changed(self) -> list[Path]:
            return []

        def forget(self) -> None:
            self.log.append(("forget",))

    (project / "a.py").write_text("print('now')\n")
    seen = Seen()
    reset: list[int] = []
    script = [
        say(call("Echo", id="r", file_path="a.py"), call("Big", id="b"), call("Echo", id="g", file_path="gone.py")),
        "Read.",
        "THE SUMMARY",
        "Next.",
    ]
    world = make(
        script,
        tools=standard_tools() | {"Big": big()},
        workspace=project,
        seen=seen,
        reset=lambda: reset.append(1),
    )
    await world.turn("look at a.py")
    world.state.set_todos((Todo("test it", "in_progress"), Todo("ship it", "pending")))
    world.told.due.append(("after_compaction", Reminder("head", "the head again")))
    await world.agent.compact()
    assert world.state.messages == [
        user(
            reminder("the head again"),
            TextBlock(f"{INTRO}\n\nTHE SUMMARY", "summary"),
            TextBlock("The user's last request, word for word:\n\nlook at a.py", "summary"),
            TextBlock(
                "Files of this session as they are now; read them again where they are needed:\n"
                f"- read: {project}/a.py (13 bytes)\n- read: {project}/gone.py (no longer there)",
                "summary",
            ),
            TextBlock("The todo list:\n\n- [in_progress] test it\n- [pending] ship it", "summary"),
            TextBlock(f"The file {project}/a.py as it is now:\n\nprint('now')\n", "summary"),
        )
    ]
    assert seen.log == [("forget",), ("note", f"{project}/a.py", "print('now')\n")]
    assert reset == [1]
    await world.turn("and now?")
    assert world.requests[-1].intent == "compaction"
    assert world.state.messages[0].content[-1] == TextBlock("and now?")
    assert not repair(world.state.messages).notes


async def test_the_summary_is_not_shown_as_an_answer_but_its_cost_is_counted() -> None:
    world = await worked(["THE SUMMARY"])
    deltas, answers, seen = (len(world.seen(k)) for k in (TextDelta, AssistantMessage, CacheObserved))
    spent = world.state.cost
    await world.agent.compact()
    assert (len(world.seen(TextDelta)), len(world.seen(AssistantMessage))) == (deltas, answers)
    assert len(world.seen(CacheObserved)) == seen + 1
    assert world.state.cost is not None
    assert spent is not None
    assert world.state.cost > spent


async def test_nothing_to_compact_is_no_error() -> None:
    assert await make([]).agent.compact() is None


@pytest.mark.parametrize(
    "answers",
    [
        [Answer(()), Answer(()), Answer(())],
        [Answer((TextBlock("half", "model"),), "max_tokens")] * 3,
        [ApiError("no key", kind="authentication", status=401)],
        [TOO_LONG, TOO_LONG, TOO_LONG],
        ["y " * 60_000],
    ],
    ids=["empty", "cut", "refused", "too long", "not smaller"],
)
async def test_a_failure_leaves_the_conversation_untouched(answers: list[Any]) -> None:
    script = [Answer((), error=a) if isinstance(a, ApiError) else a for a in answers]
    world = await worked([*script, "Still here."])
    before = list(world.state.messages)
    with pytest.raises(TurnError):
        await world.agent.compact()
    assert world.state.messages == before
    assert not [e for e in world.journal.entries if e["kind"] == "compaction"]
    await world.turn("next")
    assert world.state.messages[: len(before)] == before


async def test_a_summary_request_that_is_too_long_is_tried_without_the_oldest_turns() -> None:
    world = await worked(["Second.", Answer((), error=TOO_LONG), "THE SUMMARY"])
    await world.turn("second")
    await world.agent.compact()
    assert [m["content"][0]["text"] for m in world.sent(-1)] == [
        "second",
        "Second.",
        INSTRUCTION.read_text().strip(),
    ]
    assert len(world.state.messages) == 1


async def test_a_window_that_ends_the_summary_is_too_long_too() -> None:
    full = Answer((TextBlock("half", "model"),), "model_context_window_exceeded")
    world = await worked(["Second.", full, "THE SUMMARY"])
    await world.turn("second")
    await world.agent.compact()
    assert world.sent(-1)[0]["content"][0]["text"] == "second"
    assert world.agent.turn_starts() == []


def test_the_oldest_part_goes_in_whole_groups_and_thinking_with_it() -> None:
    calls = [
        (
            assistant(ThinkingBlock("t", "s"), ToolUseBlock(f"c{i}", "A", {})),
            user(ToolResultBlock(f"c{i}", (TextBlock("r " * 500),))),
        )
        for i in range(8)
    ]
    one_group = [user("the task"), *(m for pair in calls for m in pair), assistant("end")]
    shorter = without_oldest(one_group)
    assert shorter[0] == user("the task")
    assert not repair(shorter).notes
    assert tokens(shorter) <= tokens(one_group) * 3 // 4 + 20
    assert not any(isinstance(b, ThinkingBlock) for m in shorter for b in m.content)
    two_groups = [*one_group, user("another"), *one_group[1:]]
    assert without_oldest(two_groups)[0] == user("another")


async def test_the_automatic_compaction_runs_between_steps_and_the_work_goes_on() -> None:
    script = [say(call("Big", id="b")), "THE SUMMARY", say(call("Echo", id="e")), "Done."]
    world = make(script, tools=standard_tools() | {"Big": big("longer text")}, info=window(24_000, 2_000))
    finished = await world.turn("do it")
    assert (finished.outcome, finished.text, finished.steps) == ("completed", "Done.", 3)
    assert [e.trigger for e in world.seen(Compacted)] == ["auto"]
    first = world.state.messages[0]
    assert first.content[:2] == (
        TextBlock(f"{INTRO}\n\nTHE SUMMARY", "summary"),
        TextBlock("The user's last request, word for word:\n\ndo it", "summary"),
    )
    assert first.content[-1] == reminder(
        "Go on with the work where it stopped; the conversation was compacted in the middle of it."
    )
    order = [type(e).__name__ for e in world.seen((StepStarted, Compacted, TurnFinished))]
    assert order == ["StepStarted", "Compacted", "StepStarted", "StepStarted", "TurnFinished"]


async def test_a_fresh_prompt_with_an_image_survives_the_compaction_before_it() -> None:
    image = ImageBlock("image/png", PIXEL)
    world = await worked(["THE SUMMARY", "A cat."], info=window(16_000))
    world.agent.limits.compact_percent = 10
    await world.agent.run_turn(UserInput("what is this?", (image,)))
    assert world.state.messages == [
        user(
            TextBlock(f"{INTRO}\n\nTHE SUMMARY", "summary"),
            TextBlock("The user said earlier, word for word:\n\nread the big thing", "summary"),
            image,
            "what is this?",
        ),
        assistant("A cat."),
    ]


async def test_a_warning_comes_before() -> None:
    world = await worked(["a", "b"], info=window(11_000), limits=Limits(compact_percent=50))
    state = world.state
    state.context_tokens, state.measured = 5_100, len(state.messages)
    await world.turn("x")
    state.context_tokens, state.measured = 5_200, len(state.messages)
    await world.turn("y")
    assert [n.code for n in world.seen(Notice)] == ["context_low"]
    assert world.seen(Compacted) == []


async def test_switched_off_it_does_not_run() -> None:
    limits = Limits(auto_compact=False, compact_percent=1)
    world = await worked(["Fine."], info=window(8_000), limits=limits)
    await world.turn("more")
    assert world.seen(Compacted) == []


async def test_three_failures_stop_the_automatic_compaction_and_say_so() -> None:
    def answer(request: Any) -> Answer | str:
        return Answer(()) if request.query_source == "compact" else say("Fine.")

    world = await worked([], info=window(8_000))
    world.agent.limits.compact_percent = 10
    world.model.otherwise = answer  # type: ignore[attr-defined]  # a ScriptedClient
    asked = 0
    for _ in range(5):
        assert (await world.turn("more")).outcome == "completed"
        asked = sum(r.query_source == "compact" for r in world.requests)
    assert asked == 9
    texts = [n.text for n in world.seen(Notice) if n.code == "compaction_failed"]
    assert len(texts) == 3
    assert "No further automatic compaction is tried" in texts[-1]


@pytest.mark.parametrize("how", ["error", "stop_reason"])
async def test_a_full_window_is_compacted_once_and_the_turn_goes_on(how: str) -> None:
    full = Answer((), error=TOO_LONG) if how == "error" else Answer((), "model_context_window_exceeded")
    world = await worked([full, "THE SUMMARY", "Done."])
    finished = await world.turn("more")
    assert (finished.outcome, finished.text) == ("completed", "Done.")
    assert len(world.seen(Compacted)) == 1
    world = await worked([Answer((), error=TOO_LONG), "THE SUMMARY", Answer((), error=TOO_LONG)])
    finished = await world.turn("more")
    assert (finished.outcome, finished.error_kind) == ("api_error", "prompt_too_long")


async def test_a_hook_can_block_a_compaction_and_add_to_it() -> None:
    world = await worked(["THE SUMMARY"])
    world.hooks.verdicts["PreCompact"] = HookVerdict(behavior="deny", reason="not now")
    with pytest.raises(TurnError, match="not now"):
        await world.agent.compact()
    world.hooks.verdicts["PreCompact"] = HookVerdict(context=("keep the ticket number",))
    await world.agent.compact()
    assert world.sent(-1)[-1]["content"][0]["text"].endswith("Keep in particular:\nkeep the ticket number")
    assert [e.fields for e in world.hooks.fired if e.name == "PostCompact"] == [
        {"trigger": "manual", "compact_summary": "THE SUMMARY"}
    ]


async def test_an_interrupted_compaction_changes_nothing() -> None:
    begun = asyncio.Event()

    async def slow(request: Any) -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    world = await worked([slow, "Fine."])
    before = list(world.state.messages)
    work = asyncio.create_task(world.agent.compact())
    await begun.wait()
    world.agent.interrupt()
    assert await work is None
    assert world.state.messages == before
    assert (await world.turn("next")).outcome == "completed"


async def test_the_last_error_is_kept_word_for_word() -> None:
    script = [say(call("Big", id="b"), call("Refusing", id="r")), "THE SUMMARY", "Done."]
    world = make(script, tools=standard_tools() | {"Big": big("longer text")}, info=window(24_000, 2_000))
    await world.turn("do it")
    error = "Not solved yet, as far as the calls show: Refusing\n\nno such file; use Glob to find it"
    assert TextBlock(error, "summary") in world.state.messages[0].content
    assert isinstance(world.state.messages[0], Message)
