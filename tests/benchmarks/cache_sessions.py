"""The sessions that the cache benchmark plays, each on a server of its own with scripted answers.

Every session is the same work each time: the same words, files, answers and times.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from agentcli.agent.reminders import wrap
from agentcli.conversation import ConversationCache
from agentcli.events import JobChanged, StepStarted, TextDelta
from agentcli.messages import user
from agentcli.model.client import AnthropicClient
from agentcli.ports.frontend import UserInput
from agentcli.ports.model import ModelRequest, ToolSpec
from agentcli.ports.prompt import StepContext
from agentcli.runtime.session import Session
from tests.api import Gate, Request, after, close, error, pause, reply, text, thinking, tool_use
from tests.api.script import Step
from tests.benchmarks.cache_servers import servers_come_and_go
from tests.benchmarks.cache_work import PROMPTS, Play, step, work
from tests.e2e.harness import FIRST_PARTY, MORNING, NEWEST, Stage, until
from tests.e2e.program import run

MCP_TOOL = ToolSpec(
    "mcp__tickets__search",
    "Searches the tickets of the team by words, state and owner.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    mcp=True,
)


async def forty_steps(stage: Stage) -> None:
    async with stage.session() as session:
        for turn, words in enumerate(PROMPTS):
            await stage.say(session, words, *work(stage, turn))


async def forty_steps_reopened(stage: Stage) -> None:
    """Every prompt in a session that was opened anew from its file."""
    for turn, words in enumerate(PROMPTS):
        async with stage.session(resume=NEWEST if turn else None) as session:
            await stage.say(session, words, *work(stage, turn))


async def four_processes(stage: Stage) -> None:
    """Every prompt in a process of its own."""
    options = stage.options()
    env = {"HOME": str(stage.home), FIRST_PARTY: "1", **options.environment}
    for turn, words in enumerate(PROMPTS):
        stage.play(*work(stage, turn))
        more = ["--continue"] if turn else ["--session-id", options.session_id]
        arguments = ["-p", words, "--permission-mode", "bypassPermissions", *more]
        done = await asyncio.to_thread(run, *arguments, cwd=stage.project, env=env)
        assert done.code == 0, done.err


async def bursts(stage: Stage) -> None:
    """25 parallel calls in one answer, three times: more blocks than a lookup goes back."""
    async with stage.session() as session:
        for turn in range(3):
            calls = [
                tool_use(
                    "Read", {"file_path": str(stage.project / "parser.py"), "offset": 1 + 5 * n, "limit": 5 + turn}
                )
                for n in range(25)
            ]
            await stage.say(session, PROMPTS[turn], reply(thinking("All of it."), *calls), step(stage, turn), "Done.")


async def changes(stage: Stage) -> None:
    """Forty steps around midnight, during which files, settings, memory, mode, todo list and git state change and a
    background job ends."""
    project = stage.project
    read = tool_use("Read", {"file_path": str(project / "notes.md")})
    job = tool_use("Bash", {"command": "until [ -e go ]; do sleep 0.02; done; echo built", "run_in_background": True})
    todo = tool_use("TodoWrite", {"todos": [{"content": "mend", "status": "in_progress", "activeForm": "mending"}]})
    done = tool_use("TodoWrite", {"todos": [{"content": "mend", "status": "completed", "activeForm": "mending"}]})
    (project / "notes.md").write_text("notes\n")
    (project / "CLAUDE.md").write_text("Use tabs.\n")
    (project / "inner").mkdir()
    (project / "inner" / "CLAUDE.md").write_text("Inner code is generated.\n")
    (project / "inner" / "made.py").write_text("made = True\n")
    inner = tool_use("Read", {"file_path": str(project / "inner" / "made.py")})

    def happens(session: Session) -> dict[int, Callable[[], object]]:
        return {
            5: lambda: (project / "notes.md").write_text("other notes\n"),
            12: lambda: _write(stage.home / ".claude" / "settings.json", {"language": "Korean", "model": "opus"}),
            15: lambda: session.set_mode("plan"),
            18: lambda: session.set_mode("bypassPermissions"),
            22: lambda: (project / "CLAUDE.md").write_text("Use blanks.\n"),
            25: lambda: _commit(project),
            28: lambda: _write(project / ".claude" / "settings.json", {"permissions": {"deny": ["WebFetch"]}}),
        }

    ended = asyncio.Event()
    async with stage.session() as session:
        loop, table, steps = asyncio.get_running_loop(), happens(session), 0

        def hear(event: object) -> None:
            nonlocal steps
            if isinstance(event, StepStarted):
                steps += 1
                table.pop(steps, lambda: None)()
            if isinstance(event, JobChanged) and event.state == "finished":
                ended.set()

        async def when_built(request: Request) -> Step:
            (project / "go").touch()
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(ended.wait(), loop))
            return step(stage, 31)

        session.events.subscribe(hear)
        for turn, words in enumerate(PROMPTS):
            answers = work(stage, turn)
            special: dict[int, dict[int, Step]] = {
                0: {1: reply(read), 3: reply(todo)},
                1: {2: reply(done), 6: reply(inner)},
                2: {4: reply(todo)},
                3: {1: reply(job), 2: when_built},
            }
            for place, answer in special[turn].items():
                answers[place] = answer
            await stage.say(session, words, *answers)
        assert not table


async def ten_fresh(stage: Stage) -> None:
    """Ten sessions in ten directories."""
    for number in range(10):
        directory = stage.project / f"place-{number}"
        directory.mkdir()
        async with stage.session(cwd=directory) as session:
            await stage.say(session, f"Task {number} of ten.", "Done.")


async def compaction(stage: Stage) -> None:
    async with stage.session() as session:
        for turn in range(2):
            await stage.say(session, PROMPTS[turn], *work(stage, turn, steps=6))
        stage.play("The summary: the parser was mended; the writer is next. " * 5)
        assert await session.compact() is not None
        await stage.say(session, PROMPTS[2], *work(stage, 2, steps=6))


async def long_with_a_pause(stage: Stage, *, clearing: bool = False, compacted: bool = False, steps: int = 20) -> None:
    """Two prompts with results that fill the window, and a pause of seven minutes between them."""
    async with stage.session(settings=json.dumps({"toolResultClearing": clearing})) as session:
        await stage.say(session, PROMPTS[0], *work(stage, 0, steps=steps))
        if compacted:
            stage.play("The summary: the parser was mended; the writer is next. " * 5)
            assert await session.compact() is not None
        stage.clock.advance(420)
        await stage.say(session, PROMPTS[1], *work(stage, 1, steps=steps))


async def compaction_taken_back(stage: Stage) -> None:
    async with stage.session() as session:
        for turn in range(2):
            await stage.say(session, PROMPTS[turn], *work(stage, turn, steps=6))
        stage.play("The summary: the parser was mended; the writer is next. " * 5)
        assert await session.compact() is not None
        assert session.undo_compaction() is not None
        await stage.say(session, PROMPTS[2], *work(stage, 2, steps=6))


async def interrupted(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, PROMPTS[0], *work(stage, 0, steps=4))
        gate = Gate()
        stage.play(step(stage, 1), reply(thinking("So it is."), text("Half of an ans"), gate, text("wer")))
        turn = asyncio.create_task(session.run(UserInput(PROMPTS[1])))
        await until(lambda: any(isinstance(e, TextDelta) and e.text.startswith("Half") for e in stage.heard))
        session.interrupt()
        await turn
        gate.open()
        await stage.say(session, PROMPTS[2], *work(stage, 2, steps=4))


async def failures(stage: Stage) -> None:
    """Overload, a reset before the answer and a stream that ends in its middle."""
    async with stage.session() as session:
        await stage.say(session, PROMPTS[0], error(529), error(529), *work(stage, 0, steps=4))
        torn = reply(thinking("Hm."), text("I lo", "ok"), close())
        await stage.say(session, PROMPTS[1], step(stage, 5), torn, *work(stage, 1, steps=4))
        await stage.say(session, PROMPTS[2], error(500), *work(stage, 2, steps=4))


async def rewind(stage: Stage) -> None:
    async with stage.session() as session:
        for turn in range(3):
            await stage.say(session, PROMPTS[turn], *work(stage, turn, steps=4))
        session.agent.rewind(session.agent.turn_starts()[-1])
        await stage.say(session, "Rather the other way.", *work(stage, 3, steps=4))


async def siblings(stage: Stage) -> None:
    """Five parallel conversations with one prefix, at 0.3 s to the first byte."""
    async with stage.session() as session:
        client, state = session.client, session.state
        assert isinstance(client, AnthropicClient)
        shared = wrap("What all of them should know: " + "the code is in Python, the tests are in tests. " * 40)
        first = ModelRequest(
            system=await session.prompt.effective(StepContext(state.model)),
            tools=state.tools,
            messages=(),
            model=state.model,
            conversation=ConversationCache(),
            query_source="subagent",
        )

        async def one(number: int) -> None:
            request = replace(
                first,
                messages=(user(shared, f"Task {number}: look at part {number}."),),
                conversation=ConversationCache(),
                conversation_id=f"sibling {number}",
            )
            async for _ in client.stream(request):
                pass

        stage.api.play(*[after(pause(0.3), "Found nothing.")] * 5)
        async with asyncio.TaskGroup() as group:
            for number in range(5):
                group.create_task(one(number))


SESSIONS: dict[str, Play] = {
    "40 steps, one process": forty_steps,
    "40 steps, reopened 3 times": forty_steps_reopened,
    "3 bursts of 25 calls": bursts,
    "40 steps of changes": changes,
    "10 fresh, 10 directories": ten_fresh,
    "compaction": compaction,
    "interrupted": interrupted,
    "failures and retries": failures,
    "rewind": rewind,
    "5 parallel siblings": siblings,
    "MCP servers come and go": servers_come_and_go,
}
REWRITES: dict[str, Play] = {
    "left as it is": long_with_a_pause,
    "old results cleared": partial(long_with_a_pause, clearing=True),
    "compacted before": partial(long_with_a_pause, compacted=True),
    "compaction taken back": compaction_taken_back,
}
"""What rewriting history costs and saves: the first three are the same work."""
PROCESSES = {"40 steps, 4 processes": four_processes}


def start_of(name: str) -> datetime:
    """When the session's day begins: one of them crosses midnight."""
    return MORNING + timedelta(hours=14, minutes=56) if name == "40 steps of changes" else MORNING


async def two_directories(stage: Stage, *, layout: str, mcp: bool) -> None:
    """Ten steps in each of two directories, for the comparison of layouts and paths."""
    for number in range(2):
        directory = stage.project / f"place-{number}"
        directory.mkdir()
        settings = json.dumps({"promptCacheLayout": layout})
        async with stage.session(cwd=directory, settings=settings) as session:
            if mcp:
                session.state.tools = (*session.state.tools, MCP_TOOL)
            for turn in range(2):
                await stage.say(session, f"{number}: {PROMPTS[turn]}", *work(stage, turn, steps=5))


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value))


def _commit(project: Path) -> None:
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "first"]):
        author = ["-c", "user.name=T", "-c", "user.email=t@example.test"]
        subprocess.run(["git", *author, *command], cwd=project, check=True, env={**os.environ, "HOME": str(project)})


def answered(requests: Sequence[Request]) -> list[Request]:
    """Requests whose answer began: they are those that cost."""
    return [r for r in requests if r.cache is not None]
