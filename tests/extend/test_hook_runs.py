"""Hooks as processes: what they get, and that nothing of theirs can hold a turn."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentcli.errors import TurnError
from agentcli.extend.agents import AgentDefinition
from agentcli.extend.hooks import EVENTS, read_hooks
from agentcli.ports.permissions import HookVerdict
from tests.extend.worlds import Bench, bench, one, saying, settings, write


async def until(true: Any) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.02)


async def test_the_input_is_one_json_and_then_the_end(project: Path) -> None:
    async with bench(
        project, one("PreToolUse", "cat > got.json; echo $CLAUDE_PROJECT_DIR $ANTHROPIC_API_KEY > env")
    ) as run:
        os.environ["ANTHROPIC_API_KEY"] = "secret"
        assert await run.call(command="echo ä", half="\ud83d") == HookVerdict()
    assert json.loads((project / "got.json").read_text()) == {
        "session_id": "s1",
        "cwd": str(project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "echo ä", "half": "\ufffd"},
        "tool_use_id": "t1",
    }
    assert (project / "env").read_text() == f"{project}\n"


async def test_the_exec_form_runs_no_shell(project: Path) -> None:
    script = write(project / "my hook.py", "import sys; print(sys.argv[1:], file=sys.stderr); sys.exit(2)")
    hook = {"type": "command", "command": "python3", "args": ["${CLAUDE_PROJECT_DIR}/my hook.py", "$HOME; x", "a b"]}
    async with bench(project, one("PreToolUse", hook)) as run:
        assert await run.call() == HookVerdict("deny", "['$HOME; x', 'a b']")
    assert script.exists()


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        ({"command": "/no/such/hook"}, "failed with exit code 127: "),
        ({"command": "/no/such/hook", "args": []}, "could not be started: No such file or directory"),
        ({"command": "sleep 600", "timeout": 0.2}, "did not end within 0.2 s and was ended; nothing was blocked"),
        ({"command": "trap '' TERM; sleep 600", "timeout": 0.2}, "did not end within 0.2 s and was ended"),
        ({"command": "kill -9 $$"}, "failed with exit code 137"),
        ({"command": "echo 'not json {'; exit 1"}, "failed with exit code 1: not json {"),
        ({"command": "x", "shell": "powershell"}, "could not be started: PowerShell is not installed"),
    ],
)
async def test_a_failing_hook_is_told_and_blocks_nothing(project: Path, hook: dict[str, Any], message: str) -> None:
    async with bench(project, one("PreToolUse", {"type": "command", **hook})) as run:
        found = await run.call()
    assert found == HookVerdict(messages=found.messages)
    assert len(found.messages) == 1
    assert message in found.messages[0]


async def test_a_background_child_that_holds_the_output_holds_nobody(project: Path) -> None:
    async with bench(project, one("PreToolUse", f"sleep 600 & {saying({'systemMessage': 'here'})}")) as run:
        assert await run.call() == HookVerdict(messages=("here",))


async def test_a_hook_that_reads_nothing_gets_a_large_input(project: Path) -> None:
    async with bench(project, one("PreToolUse", "exec <&-; echo no >&2; exit 2")) as run:
        assert await run.call(content="x" * 3_000_000) == HookVerdict("deny", "no")
    async with bench(project, one("PreToolUse", "sleep 30 & exit 0")) as run:
        assert await run.call(content="x" * 3_000_000) == HookVerdict()


async def test_ten_megabytes_are_cut(project: Path) -> None:
    flood = "head -c 10000000 /dev/zero | tr '\\0' x"
    async with bench(project, one("UserPromptSubmit", flood)) as run:
        (context,) = (await run.fire("UserPromptSubmit", prompt="hi")).context
        assert len(context) < 3_000
        assert str(run.spilled[0]) in context
    async with bench(project, one("PreToolUse", f"({flood}) >&2; exit 2")) as run:
        found = await run.call()
        assert found.behavior == "deny"
        assert len(found.reason) < 3_000
    async with bench(project, one("PreToolUse", f"echo '{{\"a\": \"'; {flood}; echo '\"}}'")) as run:
        assert await run.call() == HookVerdict()


async def test_long_texts_go_to_a_file(project: Path) -> None:
    text = "word " * 2_400
    async with bench(project, one("PostToolUse", saying({"decision": "block", "reason": text}))) as run:
        reason = (await run.fire("PostToolUse", "Bash")).reason
        assert reason == f"{text[:2000]}\n[… the whole text (12,000 characters) is in {run.spilled[0]}]"
        assert run.spilled[0].read_text() == text


async def test_hooks_run_side_by_side_and_equal_ones_once(project: Path) -> None:
    meet = "touch {0}; for i in $(seq 100); do [ -e {1} ] && exit 0; sleep 0.05; done; exit 2"
    hooks = {
        "PreToolUse": [
            {"hooks": [{"command": meet.format("a", "b")}, {"command": meet.format("b", "a")}]},
            {"matcher": "Bash", "hooks": [{"command": "echo x >> count"}, {"command": "echo x >> count"}]},
            {"matcher": "*", "hooks": [{"command": "echo x >> count"}]},
        ]
    }
    async with bench(project, hooks) as run:
        assert await run.call() == HookVerdict()
    assert (project / "count").read_text() == "x\n"


async def test_cancelling_ends_what_runs(project: Path) -> None:
    async with bench(project, one("PreToolUse", "echo $$ > pid; sleep 60")) as run:
        task = asyncio.create_task(run.call())
        await until(lambda: (project / "pid").exists() and (project / "pid").read_text().strip())
        pid = int((project / "pid").read_text())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: not Path(f"/proc/{pid}").exists())


async def test_async_hooks_are_not_waited_for(project: Path) -> None:
    hooks = one(
        "PostToolUse", {"command": "while [ ! -e go ]; do sleep 0.02; done; echo later >&2; exit 1", "async": True}
    )
    async with bench(project, hooks) as run:
        assert await run.fire("PostToolUse", "Bash") == HookVerdict()
        (project / "go").touch()
        await until(lambda: run.told)
        assert run.told == [run.told[0]]
        assert run.told[0].endswith("failed with exit code 1: later")
        assert run.room.news() == []


async def test_a_rewaking_hook_tells_the_model_once(project: Path) -> None:
    async with bench(
        project, one("PostToolUse", {"command": "echo types are wrong >&2; exit 2", "asyncRewake": True})
    ) as run:
        assert await run.fire("PostToolUse", "Edit") == HookVerdict()
        news: list[str] = []
        await until(lambda: news.extend(run.room.news()) or news)
        assert news == ["A PostToolUse hook says: types are wrong"]


async def test_closing_ends_hooks_in_the_background(project: Path) -> None:
    async with bench(project, one("PostToolUse", {"command": "echo $$ > pid; sleep 60", "async": True})) as run:
        await run.fire("PostToolUse", "Bash")
        await until(lambda: (project / "pid").exists() and (project / "pid").read_text().strip())
    pid = int((project / "pid").read_text())
    await until(lambda: not Path(f"/proc/{pid}").exists())


async def test_prompt_hooks_ask_a_model(project: Path) -> None:
    asked: list[tuple[str, str | None]] = []

    async def model(prompt: str, name: str | None) -> str:
        asked.append((prompt, name))
        return '{"ok": false, "reason": "no tests were run"}'

    hooks = one("Stop", {"type": "prompt", "prompt": "Were tests run? $ARGUMENTS", "model": "haiku"})
    async with bench(project, hooks, ask_model=model) as run:
        assert await run.fire("Stop", stop_hook_active=False) == HookVerdict("deny", "no tests were run")
    ((prompt, name),) = asked
    assert name == "haiku"
    assert prompt.startswith('Were tests run? {"session_id": "s1"')
    assert '"stop_hook_active": false' in prompt


@pytest.mark.parametrize("event", ["Stop", "PreToolUse"])
async def test_prompt_hooks_without_an_answer_block_nothing(project: Path, event: str) -> None:
    async def slow(prompt: str, name: str | None) -> str:
        await asyncio.Event().wait()
        return ""

    async def broken(prompt: str, name: str | None) -> str:
        raise TurnError("overloaded")

    hook = {"type": "prompt", "prompt": "ok?", "timeout": 0.05}
    found = []
    for model in (None, slow, broken):
        async with bench(project, one(event, hook), ask_model=model) as run:
            found.append((await run.fire(event)).messages)
    assert found == [
        (f"{event} hook `ok?` asks a model, and there is none that could be asked; nothing was blocked",),
        (f"{event} hook `ok?` got no answer within 0.05 s; nothing was blocked",),
        (f"{event} hook `ok?` could not ask the model: overloaded",),
    ]


async def test_the_if_of_a_hook_asks_the_permission_rules(project: Path) -> None:
    def rules(rule: str, tool: str, input: dict[str, Any]) -> bool:
        return rule == "Bash(git *)" and tool == "Bash" and input["command"].startswith("git ")

    hooks = one("PreToolUse", {"command": "exit 2", "if": "Bash(git *)"})
    async with bench(project, hooks, matches_rule=rules) as run:
        assert (await run.call(command="git push")).behavior == "deny"
        assert (await run.call(command="ls")).behavior is None
    async with bench(project, hooks) as run:
        assert (await run.call(command="ls")).behavior == "deny"
        assert (await run.call("Read", file_path="x")).behavior is None


async def test_a_vanished_working_directory(project: Path) -> None:
    gone = project / "gone"
    async with bench(project, one("Stop", "pwd > where"), cwd=lambda: gone) as run:
        assert await run.fire("Stop") == HookVerdict()
    assert (project / "where").read_text() == f"{project}\n"


def agent(hooks: dict[str, Any]) -> AgentDefinition:
    return AgentDefinition("tester", "Tests.", "You test.", Path("tester.md"), hooks=hooks)


async def test_a_subagent_has_hooks_of_its_own(project: Path) -> None:
    def own(run: Bench) -> Bench:
        definition = agent({**one("Stop", "cat > own.json"), **one("PreToolUse", "echo x >> own"), "Strange": []})
        return Bench(run.room.for_agent(definition, "a7"))

    hooks = {**one("SubagentStop", "cat > stop.json; exit 2", "tester"), **one("UserPromptSubmit", "exit 2")}
    async with bench(project, hooks) as run:
        inside = own(run)
        assert (await inside.fire("Stop", stop_hook_active=False)).behavior == "deny"
        assert await inside.fire("UserPromptSubmit", prompt="the task") == HookVerdict()
        await inside.call()
        await run.call()
        assert run.told == [f"tester.md: hooks.Strange: there is no such event; ignored. Events: {', '.join(EVENTS)}"]
    assert json.loads((project / "stop.json").read_text()) == {
        "session_id": "s1",
        "cwd": str(project),
        "agent_id": "a7",
        "agent_type": "tester",
        "hook_event_name": "SubagentStop",
        "stop_hook_active": False,
    }
    assert json.loads((project / "own.json").read_text())["hook_event_name"] == "SubagentStop"
    assert (project / "own").read_text() == "x\n"


async def test_new_settings_count_at_once(project: Path) -> None:
    async with bench(project, one("Stop", "exit 2")) as run:
        assert (await run.fire("Stop")).behavior == "deny"
        run.room.use(read_hooks(settings(project, disableAllHooks=True)))
        assert await run.fire("Stop") == HookVerdict()
