"""What a client of ``stream-json`` reads, line by line."""

from __future__ import annotations

import json
from pathlib import Path

from agentcli.events import (
    AssistantMessage,
    AttemptDiscarded,
    Compacted,
    ConversationCleared,
    Event,
    FallbackUsed,
    FromSubagent,
    JobChanged,
    ModeChanged,
    ModelChanged,
    ModelStream,
    Notice,
    PermissionAsked,
    PermissionResolved,
    RetryScheduled,
    ToolFinished,
    ToolResultsAppended,
    TurnStarted,
)
from agentcli.messages import Message, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock, Usage
from agentcli.ports.display import CommandDisplay, DiffDisplay, TextDisplay, Todo, TodoDisplay
from agentcli.ui.headless.lines import Line, Lines
from agentcli.ui.headless.reporter import Reporter
from tests.api import ApiServer, cut, error, reply, text, thinking, tool_use
from tests.ui.headless.client import GROWING, normal, running

USAGE = Usage(1, 2, 3, 4, 5)


def answer(*blocks, partial: bool = False) -> AssistantMessage:
    return AssistantMessage(Message("assistant", blocks), "claude-x-1", "tool_use", USAGE, "msg_1", partial)


def finished(id: str, display, *, error: bool = False, denied: bool = False, structured=None) -> ToolFinished:
    return ToolFinished(id, "Bash", "ls", display, error, 0.5, denied, structured=structured)


def results(*blocks: ToolResultBlock) -> ToolResultsAppended:
    return ToolResultsAppended(Message("user", (*blocks, TextBlock("a reminder", "reminder"))))


def result(id: str, words: str, *, error: bool = False) -> ToolResultBlock:
    return ToolResultBlock(id, (TextBlock(words),), error)


EVENTS: tuple[Event, ...] = (
    TurnStarted(1, "hi"),
    ModelStream({"type": "message_start", "message": {"id": "msg_1"}}),
    AttemptDiscarded("the stream broke off"),
    RetryScheduled(1, 10, 0.25, 529, "overloaded", "The server is overloaded"),
    FallbackUsed("claude-y-1", "claude-x-1", 1200),
    answer(ThinkingBlock("hm", "sig"), TextBlock("I look.", "model"), ToolUseBlock("t1", "Bash", {"command": "ls"})),
    PermissionAsked("q1", "t1", "Bash", {"command": "ls"}, "ls", "no rule"),
    PermissionResolved("q1", True),
    finished("t2", TextDisplay("2 lines")),
    finished("t1", CommandDisplay("ls", "a\n", 0), structured={"stdout": "a\n", "exit_code": 0}),
    finished("t3", TextDisplay("denied"), error=True, denied=True),
    finished("t4", DiffDisplay("a.py", None, "x", "+1")),
    finished("t5", TodoDisplay((Todo("write", "pending", "Writing"),))),
    finished("t6", CommandDisplay("ls", "b\n", 1)),
    finished("t7", TextDisplay("3 files", "a\nb\nc")),
    results(*(result(f"t{n}", f"result {n}", error=n == 3) for n in range(1, 8))),
    JobChanged("job_1", "sleep 9", "running"),
    JobChanged("job_1", "sleep 9", "finished", 0),
    JobChanged("job_2", "false", "finished", 1),
    JobChanged("job_3", "sleep 9", "killed"),
    JobChanged("job_4", "sleep 9", "timed_out"),
    JobChanged("agent_1", "tester: run it", "running", agent=True),
    JobChanged("agent_1", "tester: run it", "finished", 1, agent=True),
    Compacted("auto", 180_000, 9_000, "summary"),
    ModeChanged("plan"),
    ModelChanged("claude-y-1"),
    Notice("warning", "careful", "settings"),
    FromSubagent("explore", "t9", answer(TextBlock("inside", "model"), ToolUseBlock("s1", "Read", {"file_path": "a"}))),
    FromSubagent("explore", "t9", results(result("s1", "inner result"))),
    FromSubagent("explore", "t9", Notice("info", "not told")),
    FromSubagent("explore", "t9", answer(TextBlock("only words", "model"))),
    answer(TextBlock("cut off", "model"), partial=True),
    ConversationCleared("s2"),
)


def told(**how: bool) -> list[Line]:
    lines: list[Line] = []
    reporter = Reporter(Lines(lambda: "s1"), lines.append, lambda call: {"command": f"input of {call}"}, **how)
    for event in EVENTS:
        reporter.hear(event)
    reporter.idle()
    return lines


def test_every_shape(golden) -> None:
    golden("every_shape.jsonl", normal(told(partial=True, states=True)))


def test_what_is_left_out_unless_asked_for() -> None:
    kinds = {(x["type"], x.get("subtype")) for x in told()}
    assert kinds.isdisjoint(
        {("stream_event", None), ("system", "stream_discarded"), ("system", "session_state_changed")}
    )


def test_words_of_subagents_come_with_their_own_option() -> None:
    def words(lines: list[Line]) -> list[list[str]]:
        inside = [x for x in lines if x["type"] == "assistant" and x["parent_tool_use_id"] == "t9"]
        return [[b["type"] for b in x["message"]["content"]] for x in inside]

    assert words(told()) == [["tool_use"]]
    assert words(told(subagent_text=True)) == [["text", "tool_use"], ["text"]]


async def test_a_whole_conversation(api: ApiServer, project: Path, golden) -> None:
    (project / "a.txt").write_text("hello\n")
    api.play(reply(thinking("hm"), text("I look."), tool_use("Read", {"file_path": "a.txt"})), "It says hello.")
    async with running("What does it say?", streaming=False) as client:
        assert await client.rest() == 0
    golden("conversation.jsonl", normal(client.lines, masked=GROWING))


async def test_results_come_in_the_order_of_the_calls_with_a_line_each(api: ApiServer, project: Path, golden) -> None:
    for name in ("1", "2"):
        (project / f"f{name}").write_text(f"{name}\n")
    api.play(
        reply(
            tool_use("Bash", {"command": "sleep 0.2; echo slow"}),
            tool_use("Read", {"file_path": "f1"}),
            tool_use("Read", {"file_path": "missing"}),
            tool_use("Bash", {"command": "rm f1"}),
            tool_use("Read", {"file_path": "f2"}),
        ),
        "done",
    )
    async with running("go", streaming=False, options={"disallowed_tools": ("Bash(rm *)",)}) as client:
        assert await client.rest() == 0
    calls = [b["id"] for b in client.of("assistant")[0]["message"]["content"]]
    answered = [x["message"]["content"][0]["tool_use_id"] for x in client.of("user")]
    assert answered == calls
    assert [x["tool_use_id"] for x in client.of("system", "permission_denied")] == [calls[3]]
    assert [d["tool_use_id"] for d in client.of("result")[0]["permission_denials"]] == [calls[3]]
    golden("parallel.jsonl", normal(client.of("user") + client.of("system", "permission_denied")))


async def test_nothing_of_a_void_attempt_is_in_a_message(api: ApiServer, project: Path) -> None:
    api.play(reply(text("one two three"), cut()), error(529), "one two three four")
    env = {"CLAUDE_CODE_RETRY_DELAY_MS": "1"}
    async with running("go", streaming=False, partial=True, options={"environment": env}) as client:
        assert await client.rest() == 0
    assert [b["text"] for x in client.of("assistant") for b in x["message"]["content"]] == ["one two three four"]
    assert client.of("result")[0]["result"] == "one two three four"
    assert len(client.of("system", "stream_discarded")) == 1
    retries = client.of("system", "api_retry")
    assert [(x["attempt"], x["error_status"]) for x in retries][-1] == (2, 529)
    starts = [x["event"]["type"] for x in client.of("stream_event")].count("message_start")
    assert starts == 2


async def test_one_json_object(api: ApiServer, project: Path, golden) -> None:
    api.play("forty-two")
    async with running("go", streaming=False, output_format="json") as client:
        assert await client.rest() == 0
    golden("result.jsonl", normal(client.lines, masked=GROWING))


async def test_text_is_exactly_the_final_answer(api: ApiServer, project: Path, capfd) -> None:
    api.play(reply(text("First I look."), tool_use("Bash", {"command": "true"})), "The end.\n\n")
    async with running("go", streaming=False, output_format="text", options={"allowed_tools": ("Bash",)}) as client:
        data = [await client.reader.next(), await client.reader.next()]
        assert await client.task == 0
    assert data == [b"The end.", None]


async def test_error_results(api: ApiServer, project: Path, golden) -> None:
    api.refused_is_fine = True
    api.play(error(401, "invalid x-api-key"))
    async with running("go", streaming=False, output_format="json") as client:
        assert await client.rest() == 1
    api.play(*[reply(tool_use("Bash", {"command": "true"}))] * 3)
    options: dict[str, object] = {"max_turns": 2, "allowed_tools": ("Bash",)}
    async with running("go", streaming=False, output_format="json", options=options) as limited:
        assert await limited.rest() == 3
    lines = normal(client.lines + limited.lines, masked=GROWING).replace(api.url, "<url>")
    golden("errors.jsonl", lines)
    assert json.loads(lines.splitlines()[1])["subtype"] == "error_max_turns"
