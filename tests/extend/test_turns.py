"""Hooks in whole turns of the engine: what blocks, what goes on, and that nothing goes on for ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent import Limits
from agentcli.errors import TurnError
from agentcli.events import Notice, ToolStarted
from agentcli.messages import TextBlock
from agentcli.model.scripted import call, say
from agentcli.ports.permissions import Answer, PermissionUpdate
from tests.agent.world import World, make, result_texts
from tests.extend.worlds import bench, one, saying


def reminders(world: World) -> list[str]:
    messages = [m for m in world.state.messages if m.role == "user"]
    found = [b.text for m in messages for b in m.content if isinstance(b, TextBlock) and b.origin == "reminder"]
    return [text.split("\n", 1)[1].rsplit("\n", 1)[0] for text in found]


def notices(world: World) -> list[str]:
    return [n.text for n in world.seen(Notice)]


SILENT = ["exit 0", "echo '{}'", "exec <&-; exit 0", "head -c 10000000 /dev/zero", "sleep 600 & exit 0"]


@pytest.mark.parametrize("hook", SILENT)
async def test_a_stop_hook_without_an_objection_costs_no_step(project: Path, hook: str) -> None:
    async with bench(project, one("Stop", hook)) as run:
        world = make(["done"], hooks=run.room)
        assert (await world.turn("hi")).outcome == "completed"
    assert (len(world.requests), notices(world)) == (1, [])


async def test_a_failing_stop_hook_is_told_and_ends_the_turn_all_the_same(project: Path) -> None:
    async with bench(project, one("Stop", "echo broken >&2; exit 1")) as run:
        world = make(["done"], hooks=run.room)
        assert (await world.turn("hi")).outcome == "completed"
    assert len(world.requests) == 1
    assert notices(world) == ["Stop hook `echo broken >&2; exit 1` failed with exit code 1: broken"]


async def test_a_stop_hook_that_always_objects_is_bounded(project: Path) -> None:
    async with bench(project, one("Stop", "cat >> inputs; echo; echo not yet >&2; exit 2")) as run:
        world = make(["done"] * 20, hooks=run.room, limits=Limits(stop_hook_cap=3))
        finished = await world.turn("hi")
    assert (finished.outcome, finished.error) == (
        "hook_stopped",
        "A Stop hook objected more than 3 times in a row; stopped.",
    )
    assert len(world.requests) == 4
    assert reminders(world) == ["A Stop hook wants you to go on: not yet"] * 3
    inputs = [json.loads(line) for line in (project / "inputs").read_text().splitlines()]
    assert [i["stop_hook_active"] for i in inputs] == [False, True, True, True]
    assert {i["last_assistant_message"] for i in inputs} == {"done"}


async def test_a_stop_hook_objects_once_by_json_and_a_prompt_can_end_it(project: Path) -> None:
    object_once = f"[ -e asked ] && exit 0; touch asked; {saying({'decision': 'block', 'reason': 'run the tests'})}"
    async with bench(project, one("Stop", object_once)) as run:
        world = make(["done", "tests are green"], hooks=run.room)
        assert (await world.turn("hi")).text == "tests are green"
    stop = {"continue": False, "stopReason": "enough", "decision": "block"}
    async with bench(project, one("Stop", saying(stop))) as run:
        world = make(["done"], hooks=run.room)
        assert (await world.turn("hi")).outcome == "completed"


DENY = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "no",
    }
}


async def test_every_kind_of_hook_in_front_of_calls(project: Path) -> None:
    hooks = {
        "PreToolUse": [
            {"matcher": "Echo", "hooks": [{"command": "sleep 60", "timeout": 0.2}]},
            {"matcher": "Put", "hooks": [{"command": "/no/such/hook"}]},
            {"matcher": "Broken|Refusing", "hooks": [{"command": saying(DENY)}]},
        ]
    }
    calls = [call("Echo", id="a", text="x"), call("Put", id="b"), call("Broken", id="c")]
    async with bench(project, hooks) as run:
        world = make([say(*calls), "Done."], hooks=run.room)
        assert (await world.turn()).outcome == "completed"
    assert result_texts(world.state.messages[2]) == [
        ("a", "echo x", False),
        ("b", "put", False),
        ("c", "A PreToolUse hook denied this call: no", True),
    ]
    slow, missing = notices(world)
    assert slow.endswith("did not end within 0.2 s and was ended; nothing was blocked")
    assert "`/no/such/hook` failed with exit code 127" in missing
    assert [e.name for e in world.seen(ToolStarted)] == ["Echo", "Put"]


@pytest.mark.parametrize(("rule", "asked"), [("", []), ("ask Put", ["Put"])])
async def test_an_allow_spares_a_question_but_no_rule_that_somebody_wrote(
    project: Path, rule: str, asked: list[str]
) -> None:
    allow = {"hookSpecificOutput": {"permissionDecision": "allow"}}
    async with bench(project, one("PreToolUse", saying(allow))) as run:
        world = make([say(call("Put", id="a")), "Done."], hooks=run.room)
        world.policy.asks, world.policy.rule = {"Put"}, rule
        world.person.answers["Put"] = Answer(False)
        await world.turn()
    assert world.person.asked == asked


async def test_a_changed_input_is_judged_and_run(project: Path) -> None:
    def changed(input: dict[str, Any]) -> str:
        return saying({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": input}})

    async with bench(project, one("PreToolUse", changed({"text": "safe"}))) as run:
        world = make([say(call("Echo", id="a", text="x")), "Done."], hooks=run.room)
        await world.turn()
    assert result_texts(world.state.messages[2]) == [("a", "echo safe", False)]
    async with bench(project, one("PreToolUse", changed({"forbidden": True}))) as run:
        world = make([say(call("Echo", id="a", text="x")), "Done."], hooks=run.room)
        await world.turn()
    assert result_texts(world.state.messages[2]) == [("a", "Denied: rule deny Echo", True)]


async def test_a_permission_hook_answers_for_the_person(project: Path) -> None:
    decision = {"behavior": "allow", "updatedInput": {"text": "by hook"}}
    hooks = one("PermissionRequest", saying({"hookSpecificOutput": {"decision": decision}}), "Echo")
    async with bench(project, hooks) as run:
        world = make([say(call("Echo", id="a", text="x")), "Done."], hooks=run.room)
        world.policy.asks = {"Echo"}
        await world.turn()
    assert (world.person.asked, result_texts(world.state.messages[2])) == ([], [("a", "echo by hook", False)])


async def test_what_hooks_say_reaches_the_model(project: Path) -> None:
    hooks = {
        **one("UserPromptSubmit", "echo The branch is frozen."),
        **one("PostToolUse", "echo a type error >&2; exit 2", "Put"),
        **one("PostToolUseFailure", saying({"hookSpecificOutput": {"additionalContext": "Try Glob."}})),
    }
    async with bench(project, hooks) as run:
        world = make([say(call("Put", id="a"), call("Refusing", id="b")), "Done."], hooks=run.room)
        await world.turn()
    assert reminders(world) == [
        "The branch is frozen.",
        "A PostToolUse hook about Put: a type error",
        "Try Glob.",
    ]


async def test_a_blocked_prompt_is_never_sent(project: Path) -> None:
    async with bench(
        project, one("UserPromptSubmit", "grep -q secret && { echo no secrets >&2; exit 2; } || true")
    ) as run:
        world = make(["Hello."], hooks=run.room)
        finished = await world.turn("the secret is x")
        assert (finished.outcome, finished.error, world.requests) == ("hook_stopped", "no secrets", [])
        assert (await world.turn("hello")).outcome == "completed"


async def test_a_hook_can_end_the_turn(project: Path) -> None:
    hooks = one("PostToolUse", saying({"continue": False, "stopReason": "The budget of today is used up."}))
    async with bench(project, hooks) as run:
        world = make([say(call("Put", id="a")), "never"], hooks=run.room)
        finished = await world.turn()
    assert (finished.outcome, finished.error) == ("hook_stopped", "The budget of today is used up.")
    assert len(world.requests) == 1


async def test_a_hook_in_front_of_a_compaction(project: Path) -> None:
    async with bench(project, one("PreCompact", "echo not now >&2; exit 2", "manual")) as run:
        world = make(["Hello.", "A summary."], hooks=run.room)
        await world.turn()
        with pytest.raises(TurnError, match="A PreCompact hook blocked the compaction: not now"):
            await world.agent.compact()


async def test_a_permission_hook_changes_rules_or_ends_the_turn(project: Path) -> None:
    update = {"type": "addRules", "rules": [{"toolName": "Put"}], "behavior": "allow", "destination": "session"}
    allow = {"hookSpecificOutput": {"decision": {"behavior": "allow", "updatedPermissions": [update]}}}
    async with bench(project, one("PermissionRequest", saying(allow))) as run:
        world = make([say(call("Put", id="a")), "Done."], hooks=run.room)
        world.policy.asks = {"Put"}
        assert (await world.turn()).outcome == "completed"
    assert world.policy.updates == [PermissionUpdate("addRules", ("Put",))]
    deny = {"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "stop", "interrupt": True}}}
    async with bench(project, one("PermissionRequest", saying(deny))) as run:
        world = make([say(call("Put", id="a")), "never"], hooks=run.room)
        world.policy.asks = {"Put"}
        assert (await world.turn()).outcome == "interrupted"
    assert len(world.requests) == 1


async def test_a_hook_can_change_what_the_model_reads(project: Path) -> None:
    output = saying({"hookSpecificOutput": {"updatedToolOutput": "[a secret was here]"}})
    async with bench(project, one("PostToolUse", f"cat > got.json; {output}", "Echo")) as run:
        world = make([say(call("Echo", id="a", text="key"), call("Put", id="b")), "Done."], hooks=run.room)
        await world.turn()
    assert [text for _, text, _ in result_texts(world.state.messages[2])] == ["[a secret was here]", "put"]
    got = json.loads((project / "got.json").read_text())
    assert (got["tool_response"], got["tool_input"]) == ({"content": "echo key"}, {"text": "key"})
    assert isinstance(got["duration_ms"], int)
