"""The life of tool calls: order, parallelism, permissions, hooks, failures."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from agentcli.agent.calls import CallRunner
from agentcli.events import Notice, ToolFinished, ToolStarted
from agentcli.messages import Json, TextBlock, message_to_api
from agentcli.model.scripted import call, say
from agentcli.ports.permissions import Answer, HookEvent, HookVerdict, PermissionUpdate
from agentcli.ports.tools import ToolCall, ToolResult, Workspace, text_result
from tests.agent.world import FakeTool, make, result_texts, standard_tools


async def run(world: object, *calls: ToolCall, **options: object) -> list[tuple[str, str, bool]]:
    runner = CallRunner(world.agent.rooms, calls, faults={}, **options)  # type: ignore[attr-defined,arg-type]  # a World
    return result_texts((await runner.run()).message)


def tc(id: str, name: str, **input: object) -> ToolCall:
    return ToolCall(id, name, input)


async def test_results_stand_in_call_order_in_one_message_whatever_ends_first() -> None:
    rounds: set[str] = set()
    for seed in range(20):
        dice = random.Random(seed)

        async def wait(input: Json, dice: random.Random = dice) -> str:
            await asyncio.sleep(dice.random() / 200)
            return f"result {input['n']}"

        tools = standard_tools() | {
            "Slow": FakeTool("Slow", wait, "write"),
            "Read": FakeTool("Read", wait),
            "Rm": FakeTool("Rm", wait, "write"),
        }
        script = [
            say(
                call("Slow", id="a", n=0),
                call("Read", id="b", n=1),
                call("Refusing", id="c"),
                call("Read", id="d", n=2),
                call("Rm", id="e", n=3),
                call("Foo", id="f"),
                call("Broken", id="g"),
                call("Read", id="h", n=4),
            ),
            "Done.",
        ]
        world = make(script, tools=tools)
        world.policy.denies.add("Rm")
        await world.turn()
        rounds.add(json.dumps(message_to_api(world.state.messages[2])))
        assert result_texts(world.state.messages[2]) == [
            ("a", "result 0", False),
            ("b", "result 1", False),
            ("c", "no such file; use Glob to find it", True),
            ("d", "result 2", False),
            ("e", "Denied: rule deny Rm", True),
            (
                "f",
                "There is no tool called 'Foo'. Available: Echo, Put, Broken, Refusing, Slow, Read, Rm.",
                True,
            ),
            ("g", "Broken failed unexpectedly (RuntimeError: kaputt). This is a fault of the tool.", True),
            ("h", "result 4", False),
        ]
        assert sorted(e.tool_use_id for e in world.seen(ToolFinished)) == list("abcdefgh")
        assert sorted(e.tool_use_id for e in world.seen(ToolStarted)) == list("abcdgh")
    assert len(rounds) == 1


async def test_reads_run_beside_each_other_and_writes_alone_in_order() -> None:
    running: set[str] = set()
    log: list[tuple[str, frozenset[str]]] = []

    async def body(input: Json) -> str:
        name = str(input["n"])
        running.add(name)
        log.append((name, frozenset(running)))
        await asyncio.sleep(0.005)
        running.discard(name)
        return name

    world = make([], tools={"R": FakeTool("R", body), "W": FakeTool("W", body, "write")})
    names = ["r1", "r2", "w1", "w2", "r3"]
    await run(world, *(tc(name, name[0].upper(), n=name) for name in names))
    assert log == [
        ("r1", frozenset({"r1"})),
        ("r2", frozenset({"r1", "r2"})),
        ("w1", frozenset({"w1"})),
        ("w2", frozenset({"w2"})),
        ("r3", frozenset({"r3"})),
    ]


async def test_at_most_so_many_calls_run_at_once() -> None:
    running = 0
    most = 0

    async def body(input: Json) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.002)
        running -= 1
        return "x"

    world = make([], tools={"R": FakeTool("R", body)})
    await run(world, *(tc(f"c{i}", "R") for i in range(30)), parallel=10)
    assert most == 10


async def test_a_deny_wins_over_a_hook_that_allows() -> None:
    world = make([])
    world.policy.denies.add("Put")
    world.hooks.verdicts["PreToolUse"] = HookVerdict(behavior="allow")
    assert await run(world, tc("a", "Put")) == [("a", "Denied: rule deny Put", True)]
    assert world.seen(ToolFinished)[0].denied


async def test_a_hook_spares_the_question_but_not_an_ask_rule() -> None:
    world = make([])
    world.policy.asks.add("Put")
    world.hooks.verdicts["PreToolUse"] = HookVerdict(behavior="allow")
    assert await run(world, tc("a", "Put")) == [("a", "put", False)]
    assert world.person.asked == []
    world.policy.rule = "ask Put"
    world.person.answers["Put"] = Answer(False)
    assert await run(world, tc("b", "Put")) == [("b", "The user declined this call. Nothing was run.", True)]


async def test_a_hook_denies_asks_and_changes_the_input() -> None:
    world = make([])
    world.hooks.verdicts["PreToolUse"] = HookVerdict(behavior="deny", reason="not on Mondays")
    assert await run(world, tc("a", "Put")) == [("a", "A PreToolUse hook denied this call: not on Mondays", True)]
    world.hooks.verdicts["PreToolUse"] = HookVerdict(behavior="ask", reason="really?")
    world.person.answers["Put"] = Answer(True)
    assert await run(world, tc("b", "Put")) == [("b", "put", False)]
    assert world.person.asked == ["Put"]
    world.hooks.verdicts["PreToolUse"] = HookVerdict(updated_input={"text": "other"})
    assert await run(world, tc("c", "Echo", text="mine")) == [("c", "echo other", False)]
    assert world.seen(ToolStarted)[-1].input == {"text": "other"}


async def test_a_permission_hook_answers_in_the_persons_place() -> None:
    world = make([])
    world.policy.asks.add("Put")
    world.hooks.verdicts["PermissionRequest"] = HookVerdict(behavior="allow")
    assert await run(world, tc("a", "Put")) == [("a", "put", False)]
    world.hooks.verdicts["PermissionRequest"] = HookVerdict(behavior="deny", reason="no")
    assert await run(world, tc("b", "Put")) == [("b", "A PermissionRequest hook denied this call: no", True)]
    assert world.person.asked == []


async def test_the_answers_words_reach_the_model_and_its_rules_the_policy() -> None:
    world = make([])
    world.policy.asks.add("Put")
    world.person.answers["Put"] = Answer(False, message="use Echo")
    assert await run(world, tc("a", "Put")) == [
        ("a", "The user declined this call. Nothing was run. The user said: use Echo", True)
    ]
    update = PermissionUpdate("addRules", ("Put",))
    world.person.answers["Put"] = Answer(True, updates=(update,))
    assert await run(world, tc("b", "Put")) == [("b", "put", False)]
    assert world.policy.updates == [update]
    world.person.answers["Put"] = Answer(False, by="nobody")
    text = "This call needs a permission and nobody can be asked. Nothing was run."
    assert await run(world, tc("c", "Put")) == [("c", text, True)]


async def test_an_input_that_an_answer_changed_is_judged_again() -> None:
    world = make([])
    world.policy.asks.add("Put")
    world.person.answers["Put"] = Answer(True, updated_input={"forbidden": True})
    assert await run(world, tc("a", "Put")) == [("a", "Denied: rule deny Put", True)]


async def test_a_decline_that_stops_ends_the_turn_and_closes_the_other_calls() -> None:
    world = make([say(call("Put", id="a"), call("Put", id="b"))])
    world.policy.asks.add("Put")
    world.person.answers["Put"] = Answer(False, interrupt=True)
    finished = await world.turn()
    assert (finished.outcome, finished.error_kind) == ("interrupted", "declined")
    assert result_texts(world.state.messages[2]) == [
        ("a", "The user declined this call. Nothing was run.", True),
        ("b", "Interrupted by the user before it was started. Nothing was run.", True),
    ]


async def test_post_hooks_see_the_result_and_their_words_follow_it() -> None:
    world = make([say(call("Echo", id="a", text="x"), call("Refusing", id="b")), "Done."])
    world.hooks.verdicts["PostToolUse"] = HookVerdict(behavior="deny", reason="format it", context=("ctx",))
    await world.turn()
    fields = {e.name: dict(e.fields or {}) for e in world.hooks.fired if e.name.startswith("Post")}
    assert all(isinstance(f.pop("duration_ms"), int) for f in fields.values())
    assert fields == {
        "PostToolUse": {
            "tool_name": "Echo",
            "tool_input": {"text": "x"},
            "tool_use_id": "a",
            "tool_response": {"content": "echo x"},
        },
        "PostToolUseFailure": {
            "tool_name": "Refusing",
            "tool_input": {},
            "tool_use_id": "b",
            "error": "no such file; use Glob to find it",
        },
    }
    notes = [b.text for b in world.state.messages[2].content if isinstance(b, TextBlock)]
    assert notes == [
        "<system-reminder>\nctx\n</system-reminder>",
        "<system-reminder>\nA PostToolUse hook about Echo: format it\n</system-reminder>",
    ]


async def test_a_checkpoint_is_taken_of_the_files_a_writing_call_names(tmp_path: object) -> None:
    taken: list[object] = []

    class Keeper:
        @asynccontextmanager
        async def around(self, call: ToolCall, paths: Sequence[Path], workspace: Workspace) -> AsyncIterator[None]:
            taken.append((call.id, list(paths)))
            yield
            taken.append(call.id)

    world = make([], checkpoints=Keeper())
    start = world.agent.rooms.workspace.start  # type: ignore[union-attr]  # given
    await run(world, tc("a", "Put", file_path="x.py"), tc("b", "Echo", file_path="y.py"))
    assert taken == [("a", [start / "x.py"]), "a"]


async def test_results_are_valid_unicode_and_never_empty() -> None:
    def odd(input: Json) -> ToolResult:
        return text_result("half \ud83d pair", summary="x")

    tools = {"Odd": FakeTool("Odd", odd), "Mute": FakeTool("Mute", lambda i: "")}
    world = make([], tools=tools)
    assert await run(world, tc("a", "Odd"), tc("b", "Mute")) == [
        ("a", "half \ufffd pair", False),
        ("b", "(no output)", False),
    ]


async def test_an_unexpected_failure_is_told_to_the_user_too() -> None:
    world = make([])
    await run(world, tc("a", "Broken"))
    assert [(n.severity, n.code) for n in world.seen(Notice)] == [("error", "tool_failed")]


async def test_hook_messages_are_shown() -> None:
    def say_hello(event: HookEvent) -> HookVerdict:
        return HookVerdict(messages=("hello from the hook",))

    world = make([])
    world.hooks.verdicts["PreToolUse"] = say_hello
    await run(world, tc("a", "Echo"))
    assert world.seen(Notice) == [Notice("info", "hello from the hook", "hook")]
