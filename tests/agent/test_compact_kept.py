"""Facts planted in a long conversation are in what stands for it, whatever the summary says; and the demand for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentcli.agent import Limits
from agentcli.agent.compact_ask import compact_instructions, instruction, without_oldest
from agentcli.agent.measure import tokens
from agentcli.agent.sources import GrantedSource
from agentcli.agent.successor_words import EARLIER_TOKENS, kept_words, words
from agentcli.agent.successor_work import work_done
from agentcli.conversation import PromptPart, SystemPrompt
from agentcli.errors import ToolError
from agentcli.events import Compacted
from agentcli.messages import (
    ImageBlock,
    Json,
    Message,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant,
    repair,
    user,
)
from agentcli.model.scripted import call, say
from agentcli.ports.display import Todo
from agentcli.ports.model import ModelInfo
from agentcli.ports.permissions import Answer as Permission
from agentcli.ports.prompt import Reminder
from tests.agent.test_compact import PIXEL, big
from tests.agent.test_loop import reminder
from tests.agent.world import FakeTool, World, make, standard_tools

SAID = [f"REQUEST-{n}: keep the public name of part {n}" for n in range(8)] + [
    f"CORRECTION-{n}: no, not that way, use way {n}" for n in range(4)
]
TODOS = tuple(Todo(f"TODO-{n}", "completed" if n < 2 else "pending") for n in range(7))


def run(input: Json) -> str:
    """A shell whose command says what comes of it."""
    if str(input["command"]).startswith("fail"):
        raise ToolError(f"exit code 1\n{input['command']}: ERRORTEXT-{str(input['command'])[-1]}")
    return "fine"


def tools(project: Path) -> dict[str, Any]:
    def edit(input: Json) -> str:
        (project / str(input["file_path"])).write_text(str(input["text"]))
        return "edited"

    named = [
        FakeTool("Bash", run, "write"),
        FakeTool("Push", run, "write"),
        FakeTool("Edit", edit, "write"),
        FakeTool("Read", lambda i: (project / str(i["file_path"])).read_text()),
        FakeTool("ExitPlanMode", lambda i: "The user agrees."),
    ]
    return {**standard_tools(), "Big": big(), **{t.name: t for t in named}}


def facts(project: Path) -> list[str]:
    return [
        *SAID,
        *(t.content for t in TODOS),
        *(f"ERRORTEXT-{n}" for n in range(4)),
        *(f"`fail {n}`" for n in range(4)),
        *(f"CONTENT-{n}" for n in range(3)),
        *(f"- changed: {project}/file{n}.py" for n in range(3)),
        f"- read: {project}/seen.py",
        "PLAN-1: first the parser",
        "PLAN-2: then the writer",
        "- Push `git push --force`",
        "WHY-NOT: never on this branch",
        "- Bash(npm test:*)",
        "- Edit(/src/**)",
    ]


async def planted(project: Path) -> World:
    """Twelve prompts with work between them; three compactions, whose summaries say nothing."""
    (project / "seen.py").write_text("looked at\n")
    script = [
        say(call("ExitPlanMode", id="p", plan="PLAN-1: first the parser\nPLAN-2: then the writer")),
        say(*(call("Edit", id=f"e{n}", file_path=f"file{n}.py", text=f"CONTENT-{n}\n") for n in range(3))),
        say(call("Read", id="r", file_path="seen.py"), call("Big", id="b0")),
        "Begun.",
        say(*(call("Bash", id=f"f{n}", command=f"fail {n}") for n in range(4)), call("Big", id="b1")),
        say(call("Push", id="no", command="git push --force")),
        "Failed.",
        *[step for n in range(10) for step in (say(call("Big", id=f"c{n}")), f"Answer {n}.")],
    ]
    world = make([], tools=tools(project), workspace=project)
    world.model.otherwise = lambda request: "Nothing." if request.query_source == "compact" else script.pop(0)  # type: ignore[attr-defined]  # a ScriptedClient
    world.agent.rooms.reminders.add(GrantedSource(lambda: ["Bash(npm test:*)", "Edit(/src/**)"]))  # type: ignore[attr-defined]  # Reminders
    world.policy.asks.add("Push")
    world.person.answers["Push"] = Permission(False, "WHY-NOT: never on this branch")
    world.state.set_todos(TODOS)
    for number, text in enumerate(SAID, 1):
        await world.turn(text)
        if number in (4, 8, 12):
            assert await world.agent.compact() is not None
    return world


async def test_forty_planted_facts_are_in_the_request_after_three_compactions(project: Path) -> None:
    world = await planted(project)
    assert len(world.seen(Compacted)) == 3
    world.model.otherwise = "Done."  # type: ignore[attr-defined]  # a ScriptedClient
    await world.turn("and now?")
    sent = "\n".join(b["text"] for m in world.sent(-1) for b in m["content"] if b["type"] == "text")
    wanted = facts(project)
    assert len(wanted) == 40
    assert [fact for fact in wanted if fact not in sent] == []
    assert not repair(world.state.messages).notes
    first = world.state.messages[0]
    order = [first.text().index(text) for text in SAID]
    assert order == sorted(order)


async def test_the_demand_for_a_summary(golden: Any) -> None:
    golden("compact.md", instruction(("the names", "", "the names", "the ticket")) + "\n")


def test_an_error_is_solved_by_the_same_call_and_by_nothing_else() -> None:
    def step(id: str, name: str, *, error: str = "", **input: str) -> list[Message]:
        result = ToolResultBlock(id, (TextBlock(error or "ok"),), bool(error))
        return [assistant(ToolUseBlock(id, name, input)), user(result)]

    messages = [
        user("go"),
        *step("1", "Bash", command="pytest -q", error="2 failed"),
        *step("2", "Edit", file_path="a.py", error="old_string was not found"),
        *step("3", "Bash", command="make", error="no rule"),
        *step("4", "Write", file_path="a.py"),
        *step("5", "Bash", command="pytest -q", error="1 failed"),
        *step("6", "Bash", command="make"),
        *step("7", "Bash", command="rm x", error="The user declined this call. Nothing was run."),
        *step("8", "Bash", command="sleep 9", error="Interrupted by the user before it finished."),
    ]
    assert work_done(messages, None).errors == {"Bash `pytest -q`": "1 failed"}


def test_a_carried_error_is_solved_later() -> None:
    kept = TextBlock("Not solved yet, as far as the calls show: Bash `make`\n\nno rule", "summary")
    again = [user(kept), assistant(ToolUseBlock("1", "Bash", {"command": "make"})), user(ToolResultBlock("1", ()))]
    assert work_done(again[:1], None).errors == {"Bash `make`": "no rule"}
    assert work_done(again, None).errors == {}


def test_the_oldest_words_give_way_and_that_is_said() -> None:
    messages = [m for n in range(60) for m in (user(f"message {n} " + "word " * 400), assistant("ok"))]
    kept = kept_words(messages)
    assert kept[-1].startswith("The user's last request, word for word:\n\nmessage 59 ")
    assert kept[-2].startswith("The user said earlier, word for word:\n\nmessage 58 ")
    left = 59 - (len(kept) - 2)
    assert kept[0] == f"[{left} earlier messages of the user left out here: the summary tells them]"
    assert tokens([user(*kept[:-1])]) <= EARLIER_TOKENS + 100
    again = [user(*(TextBlock(k, "summary") for k in kept))]
    assert words(again)[-1] == words(messages)[-1]


def test_an_image_alone_takes_no_words_away() -> None:
    image = ImageBlock("image/png", PIXEL)
    assert kept_words([user("first"), assistant("ok"), user(image)]) == [
        "The user said earlier, word for word:\n\nfirst"
    ]
    assert kept_words([user("first"), assistant("ok"), user(image, "second")]) == [
        "The user said earlier, word for word:\n\nfirst"
    ]
    assert kept_words([user(image), assistant("ok")]) == []


def test_a_very_long_message_keeps_its_ends() -> None:
    kept = kept_words([user("BEGIN " + "x" * 90_000 + " END"), assistant("ok"), user("y" * 90_000)])
    assert "BEGIN" in kept[0]
    assert "END" in kept[0]
    assert "characters left out]" in kept[0]


MEMORY = """\
<instructions path="/p/CLAUDE.md" what="the project's, shared by its team">
# Rules
Use tabs.

## Compact instructions
Keep the ticket numbers.
```
# no heading
```
### Detail
And the hosts.

## Else
Not this.
</instructions>

<instructions path="/p/b.md" what="the user's own">
# compact Instructions #
Keep B.
</instructions>

Behind it."""


def test_compact_instructions_are_found_in_memory_and_reminders() -> None:
    system = SystemPrompt(
        (PromptPart("intro", "static", "## Compact instructions\nno"), PromptPart("memory", "dynamic", MEMORY)),
        "default",
    )
    nested = reminder('<instructions path="/p/c.md" what="w">\n# Compact Instructions\nKeep C.\n</instructions>')
    assert compact_instructions(system, [user(nested, "# Compact instructions\nnot the user's words")]) == [
        "Keep the ticket numbers.\n```\n# no heading\n```\n### Detail\nAnd the hosts.\n",
        "Keep B.",
        "Keep C.",
    ]


async def test_they_are_part_of_the_demand() -> None:
    world = make([say(call("Big", id="b")), "Read.", "THE SUMMARY"], tools=standard_tools() | {"Big": big()})
    part = PromptPart("memory", "dynamic", "# Compact instructions\nKeep the ticket numbers.")
    world.agent.rooms.prompt.system = SystemPrompt((part,), "default")  # type: ignore[attr-defined]  # the test's Prompt
    await world.turn()
    await world.agent.compact("the names")
    asked = world.sent(-1)[-1]["content"][-1]["text"]
    assert asked.endswith("Keep in particular:\nthe names\nKeep the ticket numbers.")


def test_an_earlier_summary_stays_where_the_oldest_turns_go() -> None:
    kept = [TextBlock("The summary of before.", "summary"), TextBlock("The file /a as it is now:\n\nlong", "summary")]
    turns = [m for n in range(6) for m in (user(f"prompt {n} " + "x " * 500), assistant("ok"))]
    shorter = without_oldest([user(*kept, "first"), assistant("ok"), *turns])
    assert shorter[0].content[0] == kept[0]
    assert kept[1] not in shorter[0].content
    assert not repair(shorter).notes


async def test_instructions_for_attached_files_are_told_again(project: Path) -> None:
    (project / "a.py").write_text("a = 1\n")
    asked: list[tuple[str, ...]] = []

    class Rules:
        async def collect(self, moment: str, *, paths: Any = ()) -> list[Any]:
            asked.append((moment, *(p.name for p in paths)))
            return [Reminder("memory", "rules of a.py")] if moment == "file_touched" and paths else []

    script = [say(call("Read", id="r", file_path="a.py"), call("Big", id="b")), "Read.", "THE SUMMARY"]
    world = make(script, tools=tools(project), workspace=project, reminders=Rules())
    await world.turn()
    await world.agent.compact()
    assert asked[-2:] == [("after_compaction",), ("file_touched", "a.py")]
    assert world.state.messages[0].content[-1] == reminder("rules of a.py")
    assert [e["kind"] for e in world.journal.entries][-2:] == ["compaction", "message"]


async def test_a_preview_changes_nothing_and_tells_the_same(project: Path) -> None:
    world = make([say(call("Big", id="b")), "Read.", "THE SUMMARY"], tools=tools(project), workspace=project)
    assert await world.agent.compact_preview() is None
    await world.turn("read it")
    world.state.set_todos(TODOS)
    before, entries, asked = list(world.state.messages), len(world.journal.entries), len(world.requests)
    preview = await world.agent.compact_preview("the names")
    assert preview is not None
    assert (world.state.messages, len(world.journal.entries), len(world.requests)) == (before, entries, asked)
    assert [words for words, _ in preview.kept] == ["The user's last request, word for word:", "The todo list:"]
    await world.agent.compact("the names")
    assert world.sent(-1)[-1]["content"][-1]["text"] == preview.instruction
    kept = world.state.messages[0].content[1:]
    assert sum(size for _, size in preview.kept) == tokens([Message("user", kept)])
    assert preview.kept_tokens < preview.before < preview.sent


@pytest.mark.parametrize(("window", "files"), [(24_000, 0), (120_000, 4), (400_000, 5)])
async def test_attached_files_take_a_quarter_of_the_room_at_most(project: Path, window: int, files: int) -> None:
    names = [f"f{n}.py" for n in range(6)]
    for name in names:
        (project / name).write_text("line of code\n" * 1_500)
    script = [say(*(call("Read", id=n, file_path=n) for n in names))]
    info = ModelInfo("claude-sonnet-5-5", "Test", window, 2_000, 512)
    world = make(script, tools=tools(project), workspace=project, info=info, limits=Limits(compact_percent=100))
    world.model.otherwise = "Words."  # type: ignore[attr-defined]  # a ScriptedClient
    await world.turn()
    await world.agent.compact()
    texts = [b.text for b in world.state.messages[0].content if isinstance(b, TextBlock)]
    attached = [t for t in texts if t.startswith("The file ")]
    assert len(attached) == files
    assert [t.split()[2] for t in attached] == [str(project / n) for n in reversed(names)][:files]


async def test_in_a_small_window_long_words_are_cut_short(project: Path) -> None:
    info = ModelInfo("claude-sonnet-5-5", "Test", 32_000, 8_000, 512)
    script = [say(call("Big", id="b0"), call("Big", id="b1")), "Read.", "THE SUMMARY"]
    world = make(script, tools=tools(project), workspace=project, info=info)
    await world.turn("BEGIN " + "word " * 7_000 + " END")
    await world.agent.compact()
    text = world.state.messages[0].text()
    assert "BEGIN" in text
    assert " END" in text
    assert tokens(world.state.messages) < 3_000
