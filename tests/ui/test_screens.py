"""What a person sees, as readable screens at 80 and 40 columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentcli.agent.execute import DECLINED
from agentcli.events import (
    AssistantMessage,
    AttemptDiscarded,
    CacheObserved,
    Compacted,
    Event,
    FallbackUsed,
    FromSubagent,
    JobChanged,
    Notice,
    PermissionAsked,
    RetryScheduled,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    TodosChanged,
    ToolFinished,
    ToolOutput,
    ToolStarted,
)
from agentcli.messages import INTERRUPTED, Message, TextBlock, ToolResultBlock, ToolUseBlock, Usage, assistant, user
from agentcli.ports.display import CommandDisplay, DiffDisplay, TextDisplay, Todo, TodoDisplay
from tests.ui.scripted import Pause, ScriptedSession
from tests.ui.theatre import CAPABILITIES, theatre

Golden = Callable[[str, str], None]
ANSWER = (Path(__file__).parent / "samples" / "answer.md").read_text(encoding="utf-8")
BEFORE = "import math\n\n\ndef area(r):\n    return 3.14 * r ** 2\n\n\nprint(area(2))\n"
AFTER = "import math\n\n\ndef area(radius):\n    return math.pi * radius ** 2\n\n\nprint(area(2))\nprint('done')\n"
TODOS = (
    Todo("Read the code", "completed"),
    Todo("Run the tests", "in_progress", "Running the tests"),
    Todo("Write it down", "pending"),
)
EDIT = PermissionAsked(
    "p1",
    "t1",
    "Edit",
    {},
    "src/area.py",
    "no rule allows edits in mode default",
    DiffDisplay("src/area.py", BEFORE, AFTER),
    ({"type": "setMode", "mode": "acceptEdits", "destination": "session"},),
)
COMMAND = PermissionAsked(
    "p2",
    "t2",
    "Bash",
    {},
    "npm test && rm -rf build",
    "`rm -rf build` is not allowed by a rule",
    CommandDisplay("npm test &&\n  rm -rf build"),
    ({"type": "addRules", "rules": ["Bash(npm test *)"], "behavior": "allow", "destination": "localSettings"},),
    agent="tester",
)


def finished(name: str, title: str, display: object, **more: object) -> ToolFinished:
    values = {"is_error": False, "duration": 0.4, **more}
    return ToolFinished("t", name, title, display, **values)  # type: ignore[arg-type]


async def play(
    events: list[Event | Pause], *, columns: int = 80, rows: int = 24, whole: bool = False, **options: object
) -> str:
    """The screen after the events, with a turn that still runs."""
    session = ScriptedSession([[StepStarted(1, "m"), *events, Pause("end")]])
    async with theatre(session, columns=columns, rows=rows, **options) as show:
        show.keys("go\r")
        await show.until(lambda: "end" in session._pauses)
        await show.settled()
        return show.everything if whole else show.screen


@pytest.mark.parametrize("columns", [80, 40])
async def test_an_answer_with_every_kind_of_markdown(columns: int, golden: Golden) -> None:
    pieces: list[Event | Pause] = [TextDelta(ANSWER[n : n + 7]) for n in range(0, len(ANSWER), 7)]
    golden(f"answer-{columns}.txt", await play(pieces, columns=columns, rows=90))


@pytest.mark.parametrize("columns", [80, 40])
async def test_tool_calls_and_their_results(columns: int, golden: Golden) -> None:
    output = "".join(f"test {n} ... ok\n" for n in range(20))
    screen = await play(
        [
            TextDelta("I look at it first."),
            finished("Read", "src/area.py", TextDisplay("8 lines")),
            finished("Bash", "npm test", CommandDisplay("npm test", output, 0), duration=3.2),
            finished("Bash", "npm run lint", CommandDisplay("npm run lint", "bad\n", 2), is_error=True, duration=75.0),
            finished("Edit", "src/area.py", DiffDisplay("src/area.py", BEFORE, AFTER)),
            finished("Write", "new.txt", DiffDisplay("new.txt", None, "one\ntwo\n")),
            finished("TodoWrite", "", TodoDisplay(TODOS)),
            finished("Bash", "curl x.test", CommandDisplay("curl x.test"), denied=True, is_error=True),
            finished("Bash", "rm x", TextDisplay("rule", "Bash(rm *) denies it"), denied=True, is_error=True),
            finished("Grep", "area", TextDisplay("stopped"), interrupted=True, is_error=True),
            finished("Glob", "**/*", TextDisplay("no such directory", "looked in /nowhere"), is_error=True),
        ],
        columns=columns,
        rows=60,
    )
    golden(f"tools-{columns}.txt", screen)


@pytest.mark.parametrize("columns", [80, 40])
async def test_what_goes_on_is_live(columns: int, golden: Golden) -> None:
    call = ToolUseBlock("t1", "Bash", {"command": "make"})
    screen = await play(
        [
            TodosChanged(TODOS),
            AssistantMessage(assistant("Now the tests.", call), "m", "tool_use", Usage(output=1234)),
            ToolStarted("t1", "Bash", {}, "make test"),
            ToolOutput("t1", "compiling\rlinking\nrunning 3 tests\n"),
            ToolStarted("t2", "Agent", {}, "look for callers"),
            FromSubagent("explore", "t2", ToolStarted("s1", "Grep", {}, "area\\(")),
        ],
        columns=columns,
    )
    golden(f"live-{columns}.txt", screen)


@pytest.mark.parametrize(("name", "asked"), [("edit", EDIT), ("command", COMMAND)])
@pytest.mark.parametrize("columns", [80, 40])
async def test_permission_dialog(name: str, asked: PermissionAsked, columns: int, golden: Golden) -> None:
    golden(f"permission-{name}-{columns}.txt", await play([asked], columns=columns))


async def test_a_queue_of_questions_shows_one(golden: Golden) -> None:
    golden("permission-queue.txt", await play([COMMAND, EDIT]))


async def test_a_long_change_is_printed_whole_above_its_question(golden: Golden) -> None:
    after = "".join(f"line {n}\n" for n in range(40))
    asked = PermissionAsked("p", "t", "Write", {}, "long.txt", "why", DiffDisplay("long.txt", None, after))
    golden("permission-long.txt", await play([asked], whole=True))


async def test_retry_countdown(golden: Golden) -> None:
    golden("retry.txt", await play([RetryScheduled(2, 10, 5.0, 529, "overloaded_error", "Overloaded")]))


async def test_thinking_and_notices(golden: Golden) -> None:
    screen = await play(
        [
            Notice("info", "a note", "x"),
            Notice("warning", "a warning", "x"),
            Notice("error", "an error", "x"),
            FallbackUsed("claude-sonnet-5-5", "claude-opus-5-5"),
            CacheObserved(0, 40_000, 40_000, 10, 0.1, 0.0, cause="the tools changed", expected=False, alert=True),
            Compacted("auto", 150_000, 5_000, "summary"),
            JobChanged("b1", "npm start", "finished", 1),
            JobChanged("agent_1", "tester: run it", "finished", 0, agent=True),
            JobChanged("agent_2", "tester: run it", "finished", 1, agent=True),
            JobChanged("agent_3", "tester: run it", "killed", agent=True),
            TextDelta("half an ans"),
            AttemptDiscarded("nothing of it was shown: no need to explain"),
            TextDelta("A finished block.\n\nhalf an ans"),
            AttemptDiscarded("the connection broke"),
            ThinkingDelta("hm"),
        ]
    )
    golden("notices.txt", screen)


async def test_queued_messages_are_visible(golden: Golden) -> None:
    session = ScriptedSession([[StepStarted(1, "m"), Pause("end")]])
    async with theatre(session) as show:
        show.keys("go\r")
        await show.see("Waiting")
        for words in ("first", "second", "third", "fourth"):
            show.keys(f"{words}\r")
            await show.until(lambda w=words: w in [q.text for q in session.queue])
        show.keys("a draft")
        await show.see("a draft")
        golden("queue.txt", await show.settled())


async def test_slash_menu(golden: Golden) -> None:
    async with theatre(ScriptedSession()) as show:
        show.keys("/mode")
        await show.see("/model [name]")
        golden("menu.txt", await show.settled())
        assert show.caret_text == "❯ /mode"


async def test_korean(golden: Golden) -> None:
    session = ScriptedSession([[StepStarted(1, "m"), COMMAND, Pause("end")]])
    async with theatre(session, language="ko") as show:
        show.keys("안녕\r")
        await show.until(lambda: "end" in session._pauses)
        golden("korean.txt", await show.settled())


async def test_colours_and_word_marks(golden: Golden) -> None:
    session = ScriptedSession(
        [[TextDelta("Some `code`.\n"), finished("Edit", "a.py", DiffDisplay("a.py", BEFORE, AFTER)), Pause("end")]]
    )
    async with theatre(session, rows=30) as show:
        show.keys("go\r")
        await show.until(lambda: "end" in session._pauses)
        await show.settled()
        golden("colours.txt", show.emulator.styled())


async def test_without_colour_signs_and_shapes_remain(golden: Golden) -> None:
    from dataclasses import replace

    session = ScriptedSession([[finished("Edit", "a.py", DiffDisplay("a.py", BEFORE, AFTER)), Pause("end")]])
    async with theatre(session, rows=30, capabilities=replace(CAPABILITIES, color=None)) as show:
        show.keys("go\r")
        await show.until(lambda: "end" in session._pauses)
        await show.settled()
        styled = show.emulator.styled()
    for color in ("red", "green", "cyan", "blue", "magenta", "yellow", "bright"):
        assert color not in styled
    golden("no-colour.txt", styled)


async def test_a_resumed_conversation_shows_its_end(golden: Golden) -> None:
    past = (
        *(user(f"early {n}") for n in range(3)),
        user(TextBlock("The conversation so far: much", "summary"), TextBlock("a reminder", "reminder"), "Go on."),
        assistant("I look **here**.", *(ToolUseBlock(f"t{n}", "Read", {"file_path": f"a{n}"}) for n in range(5))),
        Message(
            "user",
            (
                ToolResultBlock("t0", (TextBlock("one"),)),
                ToolResultBlock("t1", (TextBlock("There is no a1.\nDid you mean a2?"),), is_error=True),
                ToolResultBlock("t2", (TextBlock(f"{DECLINED} The user said: no"),), is_error=True),
                ToolResultBlock("t3", (TextBlock(INTERRUPTED),), is_error=True),
            ),
        ),
        *(assistant(f"Answer {n}") for n in range(9)),
    )
    async with theatre(ScriptedSession(), rows=50, past=past) as show:
        golden("resumed.txt", await show.settled())
