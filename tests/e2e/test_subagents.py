"""Subagents in whole sessions: what they send, what they cost, what bounds and what ends them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentcli.errors import UsageError
from agentcli.events import FromSubagent, PermissionAsked, TextDelta, ToolFinished, ToolStarted
from agentcli.messages import repair
from agentcli.ports.frontend import UserInput
from agentcli.ports.permissions import Answer
from agentcli.runtime.session import Session
from tests.api import ApiServer, Gate, Request, after, pause, reply, text, tool_use
from tests.api.script import ToolUse
from tests.e2e.harness import Stage, until


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


def task(prompt: str, kind: str = "general-purpose", **more: object) -> ToolUse:
    return tool_use("Agent", {"description": "a task", "prompt": prompt, "subagent_type": kind, **more})


def of(stage: Stage, words: str) -> list[Request]:
    """The requests of the conversation that began with these words."""
    return [r for r in stage.api.requests if words in json.dumps(r.messages[0])]


def whole(session: Session) -> None:
    """The conversation is valid as it stands."""
    assert repair(session.state.messages).notes == ()


def results(request: Request) -> list[str]:
    return [json.dumps(block["content"]) for block in request.messages[-1]["content"] if block["type"] == "tool_result"]


async def test_a_subagent_works_in_a_context_of_its_own_and_reports(stage: Stage) -> None:
    (stage.project / "CLAUDE.md").write_text("MARK_memory\n")
    (stage.project / "notes.txt").write_text("the answer is 42\n")
    read = tool_use("Read", {"file_path": str(stage.project / "notes.txt")})
    stage.api.lane("look into notes.txt", reply(read), "It says 42.")
    async with stage.session() as session:
        await stage.say(session, "MARK_said by the user", reply(task("look into notes.txt")), "42 it is.")
        whole(session)
    first, second = of(stage, "look into notes.txt")
    main = of(stage, "MARK_said")
    sent = json.dumps(first.json)
    assert "MARK_said" not in sent
    assert sent.count("MARK_memory") == 1
    assert "MARK_memory" in first.messages[0]["content"][1]["text"]
    assert "Another agent gave you this task" in first.messages[0]["content"][0]["text"]
    assert "<env>" in first.system_text
    assert "interactive coding agent" not in first.system_text
    assert {"Agent", "Bash", "Edit"} <= set(first.tool_names)
    assert not {"AskUserQuestion", "ExitPlanMode"} & set(first.tool_names)
    assert second.cache is not None
    assert second.cache.lost == 0
    assert results(main[1]) == [
        '[{"type": "text", "text": "It says 42.\\n\\n[agent_1, 2 steps; SendMessage goes on with it]"}]'
    ]
    told = [e for e in stage.heard if isinstance(e, FromSubagent)]
    assert {(e.agent, bool(e.tool_use_id)) for e in told} == {("general-purpose", True)}
    assert any(isinstance(e.event, ToolStarted) and e.event.name == "Read" for e in told)
    assert any(isinstance(e.event, TextDelta) for e in told)
    (transcript,) = stage.home.glob(".agentcli/projects/*/*/subagents/agent-1.jsonl")
    kinds = [json.loads(line)["kind"] for line in transcript.read_text().splitlines()]
    assert kinds[0] == "start"
    assert kinds.count("message") == 4
    assert transcript.stat().st_mode & 0o777 == 0o600


async def test_the_cost_is_a_section_of_its_own_and_part_of_the_whole(stage: Stage) -> None:
    stage.api.lane("count", "Three.")
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("count")), "Done.")
        by_category = session.ledger.by_category()
        assert {k: v.requests for k, v in by_category.items()} == {"main": 2, "subagent": 1}
        assert session.state.cost == pytest.approx(sum(r.cost or 0 for r in stage.requests))


async def test_read_only_agents_look_without_memory_and_without_writing_tools(stage: Stage) -> None:
    (stage.project / "CLAUDE.md").write_text("MARK_memory\n")
    stage.api.lane("where is main", "In main.py.")
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("where is main", "explore")), "Done.")
    (only,) = of(stage, "where is main")
    assert only.tool_names == ["Read", "Glob", "Grep"]
    assert "MARK_memory" not in json.dumps(only.json)
    assert only.model.startswith("claude-haiku")


async def test_of_five_siblings_only_the_first_pays_for_the_prefix(stage: Stage) -> None:
    (stage.project / "CLAUDE.md").write_text("Use tabs. " * 200)
    for number in range(5):
        stage.api.lane(f"look at part {number}", after(pause(0.3), f"Part {number} is fine."))
    calls = [task(f"look at part {number}") for number in range(5)]
    async with stage.session() as session:
        await stage.say(session, "go", reply(*calls), "All fine.")
    siblings = [of(stage, f"look at part {number}")[0] for number in range(5)]
    figures = sorted((r.cache for r in siblings if r.cache), key=lambda c: c.read)
    assert figures[0].read == 0
    assert figures[0].written > 2000
    for later in figures[1:]:
        assert later.read > 2000
        assert later.written + later.uncached < 100


async def test_five_siblings_answer_in_the_order_of_the_calls(stage: Stage) -> None:
    gates = [Gate() for _ in range(3)]
    for number, gate in enumerate(gates):
        stage.api.lane(f"task {number}", after(gate, f"report {number}"))
    async with stage.session() as session:
        stage.play(reply(*(task(f"task {n}") for n in range(3))), "Done.")
        turn = asyncio.create_task(session.run(UserInput("go")))
        for gate in gates:
            gate.open()
        await turn
    main = of(stage, '"go"')
    assert [f"report {n}" in found for n, found in enumerate(results(main[1]))] == [True] * 3


async def test_an_interruption_ends_every_subagent_and_leaves_a_valid_conversation(stage: Stage) -> None:
    for number in range(3):
        sleeping = tool_use("Bash", {"command": f"echo $$ > {stage.project}/pid{number}; exec sleep 987"})
        stage.api.lane(f"sleep {number}", reply(sleeping))
    async with stage.session() as session:
        stage.play(reply(*(task(f"sleep {n}") for n in range(3))))
        turn = asyncio.create_task(session.run(UserInput("go")))
        # A shell makes the file first and fills it then.
        await until(lambda: sum(p.stat().st_size > 1 for p in stage.project.glob("pid*")) == 3, seconds=30)
        pids = [int(p.read_text()) for p in stage.project.glob("pid*")]
        session.interrupt()
        finished = await turn
        assert finished.outcome == "interrupted"
        whole(session)
        assert [e.interrupted for e in stage.heard if isinstance(e, ToolFinished)] == [True] * 3
        assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
        assert session.crew.office.working == set()
        await stage.say(session, "again", "Here.")


async def test_a_question_names_the_agent_that_asks(stage: Stage) -> None:
    write = tool_use("Write", {"file_path": str(stage.project / "new.txt"), "content": "x\n"})
    stage.api.lane("write it", reply(write), "Written.")
    asked: list[PermissionAsked] = []
    async with stage.session(permission_mode="default") as session:

        def answer(event: object) -> None:
            if isinstance(event, PermissionAsked):
                asked.append(event)
                session.answer(event.request_id, Answer(allowed=True))

        session.events.subscribe(answer)
        await stage.say(session, "go", reply(task("write it")), "Done.")
    assert [(q.agent, q.name) for q in asked] == [("general-purpose", "Write")]
    assert (stage.project / "new.txt").read_text() == "x\n"


async def test_a_refusal_that_stops_ends_one_call_and_not_the_turn(stage: Stage) -> None:
    stage.api.lane("remove it", reply(tool_use("Bash", {"command": "rm -r build"})), "It was refused.")
    async with stage.session(permission_mode="default") as session:

        def answer(event: object) -> None:
            if isinstance(event, PermissionAsked):
                session.answer(event.request_id, Answer(allowed=False, interrupt=True))

        session.events.subscribe(answer)
        await stage.say(session, "go", reply(task("remove it")), "So be it.")
    assert "It was refused." in results(of(stage, '"go"')[1])[0]


async def test_relative_paths_are_judged_where_the_agent_works(stage: Stage) -> None:
    """The main agent's shell has moved; its agents' calls begin in the start directory, for policy and tool alike."""
    inner = stage.project / "inner"
    inner.mkdir()
    outside = stage.project.parent / "secret.txt"
    outside.write_text("secret\n")
    stage.api.lane("read it", reply(tool_use("Read", {"file_path": "../secret.txt"})), "Refused.")
    options = {"permission_mode": "default", "interactive": False, "allowed_tools": ("Bash(cd:*)",)}
    async with stage.session(**options) as session:
        moved = tool_use("Bash", {"command": f"cd {inner}"})
        await stage.say(session, "go", reply(moved), reply(task("read it")), "Done.")
        assert session.workspace.cwd == inner
    assert "secret\n" not in json.dumps(of(stage, "read it")[1].json)
    assert outside.read_text() == "secret\n"


RUNAWAY = b"sleep 98765"


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:  # it has just ended
        return b""


def endlessly(request: Request) -> object:
    """Whoever is asked starts three more agents and a command."""
    number = len(request.messages)
    calls = [task(f"go on {number}.{n}") for n in range(3)]
    return reply(*calls, tool_use("Bash", {"command": f"{RUNAWAY.decode()} & echo started"}))


async def test_endless_spawning_is_stopped_by_the_budget(stage: Stage) -> None:
    (stage.project / ".claude").mkdir()
    settings = json.dumps({"agentBudget": {"turns": 12}})
    stage.api.lane("spawn for ever", endlessly)
    for number in range(1, 40):
        for child in range(3):
            stage.api.lane(f"go on {number}.{child}", *[endlessly] * 40)
    async with stage.session(settings=settings) as session:
        stage.play(reply(task("spawn for ever")), "That did not end.")
        finished = await session.run(UserInput("go"))
        assert (finished.outcome, finished.text) == ("completed", "That did not end.")
        whole(session)
        below = [r for r in stage.api.requests if r not in of(stage, '"go"')]
        assert len(below) <= 12
        said = results(of(stage, '"go"')[1])[0]
        assert "The agent stopped before it was done: its budget is used up (12 requests)" in said
        assert session.crew.office.working == set()
        assert session.toolbox.processes.running == ()
    assert not [p for p in Path("/proc").glob("[0-9]*") if RUNAWAY in _command(p)]


async def test_agents_below_the_last_level_have_no_agents(stage: Stage) -> None:
    stage.environment["CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH"] = "2"
    stage.api.lane("level one", reply(task("level two")), "one")
    stage.api.lane("level two", "two")
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("level one")), "Done.")
    assert "Agent" in of(stage, "level one")[0].tool_names
    assert "Agent" not in of(stage, "level two")[0].tool_names


async def test_no_more_than_so_many_work_at_once(stage: Stage) -> None:
    stage.environment["CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS"] = "2"
    gate = Gate()
    for number in range(3):
        stage.api.lane(f"task {number}", after(gate, f"report {number}"))
    async with stage.session() as session:
        stage.play(reply(*(task(f"task {n}") for n in range(3))), "Done.")
        turn = asyncio.create_task(session.run(UserInput("go")))
        await until(lambda: any(isinstance(e, ToolFinished) for e in stage.heard))
        gate.open()
        await turn
    said = results(of(stage, '"go"')[1])
    assert sum("2 agents are at work, and no more can be" in s for s in said) == 1
    assert sum("report" in s and "at work" not in s for s in said) == 2


async def test_a_session_s_money_counts_for_its_agents_too(stage: Stage) -> None:
    read = tool_use("Read", {"file_path": str(stage.project)})
    stage.api.lane("spend", *[reply(read)] * 50)
    async with stage.session(max_budget_usd=0.02) as session:
        stage.play(reply(task("spend")))
        finished = await session.run(UserInput("go"))
        assert finished.outcome == "budget"
        assert len(of(stage, "spend")) < 25
        whole(session)


async def test_an_agent_goes_on_with_what_it_has_learned(stage: Stage) -> None:
    stage.api.lane("learn this", "Learned.", "Remembered.")
    go_on = tool_use("SendMessage", {"to": "agent_1", "message": "what was it?"})
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("learn this")), reply(go_on), "Done.")
        unknown = tool_use("SendMessage", {"to": "agent_9", "message": "hello?"})
        await stage.say(session, "and now", reply(unknown), "There is none.")
    first, second = of(stage, "learn this")
    assert second.messages[:1] == first.messages or len(second.messages) == 3
    assert second.cache is not None
    assert second.cache.lost == 0
    main = of(stage, '"go"')
    assert "Remembered." in results(main[2])[0]
    assert "There is no agent 'agent_9'" in results(main[4])[0]


async def test_a_background_agent_reports_by_itself(stage: Stage) -> None:
    gate = Gate()
    stage.api.lane("take your time", after(gate, "Here is the report."))
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("take your time", run_in_background=True)), "It runs.")
        assert [t.state for t in session.crew.list()] == ["running"]
        gate.open()
        await asyncio.wait_for(session.crew.wait_ended(), 60)
        await stage.say(session, "and?", "It reported.")
    last = of(stage, '"go"')[-1]
    assert "agent_1 (general-purpose: a task) reports after 1 step" in last.last_text
    assert "Here is the report." in last.last_text


async def test_without_a_person_a_turn_waits_for_background_agents(stage: Stage) -> None:
    stage.api.lane("take your time", after(pause(0.3), "Here is the report."))
    async with stage.session(interactive=False) as session:
        background = task("take your time", run_in_background=True)
        finished = await stage.say(session, "go", reply(background), "I wait.", "It reported.")
    assert finished.text == "It reported."
    assert "Here is the report." in of(stage, '"go"')[-1].last_text


async def test_a_background_agent_can_be_stopped(stage: Stage) -> None:
    stage.api.lane("take your time", after(Gate(), "never"))
    async with stage.session() as session:
        await stage.say(
            session,
            "go",
            reply(task("take your time", run_in_background=True)),
            reply(tool_use("TaskStop", {"task_id": "agent_1"})),
            "Stopped.",
        )
        assert [t.state for t in session.crew.list()] == ["stopped"]
        await stage.say(session, "and now?", "Nothing.")
    assert "agent_1 is stopped." in results(of(stage, '"go"')[2])[0]
    assert "agent_1" not in of(stage, '"go"')[-1].last_text


async def test_closing_a_session_ends_what_works_in_the_background(stage: Stage) -> None:
    sleeping = tool_use("Bash", {"command": f"echo $$ > {stage.project}/pid; exec sleep 987"})
    stage.api.lane("sleep", reply(sleeping))
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("sleep", run_in_background=True)), "It runs.")
        await until(lambda: sum(p.stat().st_size > 1 for p in stage.project.glob("pid")) == 1, seconds=30)
        pid = int((stage.project / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists()


async def test_a_long_report_is_cut_and_kept(stage: Stage) -> None:
    stage.api.lane("tell all", "word " * 10_000)
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("tell all")), "Long.")
    (said,) = results(of(stage, '"go"')[1])
    assert len(said) < 33_000
    assert "characters left out; the whole report is in " in said
    kept = Path(said.partition("the whole report is in ")[2].partition("]")[0])
    assert kept.read_text() == ("word " * 10_000).strip()


async def test_what_an_agent_left_running_ends_with_its_report(stage: Stage) -> None:
    job = tool_use("Bash", {"command": "exec sleep 987", "run_in_background": True})
    stage.api.lane("start a server", reply(job), "It runs.")
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("start a server")), "Done.")
        assert "Ended with the agent: bash_1 (exec sleep 987)." in results(of(stage, '"go"')[1])[0]


async def test_an_unknown_kind_is_told_with_those_there_are(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("x", "wizard")), "None.")
    assert "there is no agent 'wizard'. There are: explore, general-purpose, plan" in results(of(stage, '"go"')[1])[0]


async def test_a_definition_of_the_project_says_what_its_agent_has(stage: Stage) -> None:
    folder = stage.project / ".claude" / "agents"
    folder.mkdir(parents=True)
    front = "name: parrot\ndescription: repeats\ntools: Read, Bash\ndisallowedTools: Bash\nmodel: opus\nmaxTurns: 1\n"
    (folder / "parrot.md").write_text(f"---\n{front}---\nYou are a parrot.\n")
    stage.api.lane("say it", reply(text("Polly"), tool_use("Read", {"file_path": "/x"})))
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("say it", "parrot")), "Done.")
    (only,) = of(stage, "say it")
    assert only.tool_names == ["Read"]
    assert only.system_text.startswith("You are a parrot.")
    assert only.model == "claude-opus-5-5"
    said = results(of(stage, '"go"')[1])[0]
    assert "The agent stopped before it was done: Stopped after 1 step" in said
    assert "Polly" in said
    assert "- parrot: repeats" in of(stage, '"go"')[0].system_text


async def test_hooks_hear_of_an_agent_s_start_and_end_and_may_keep_it_at_work(stage: Stage) -> None:
    folder = stage.project / ".claude"
    folder.mkdir()
    mark = stage.project / "objected"
    once = f'[ -e {mark} ] || {{ touch {mark}; echo "run the tests too" >&2; exit 2; }}'
    hooks = {
        "SubagentStart": [{"hooks": [{"type": "command", "command": f"cat >> {stage.project}/heard"}]}],
        "SubagentStop": [
            {"hooks": [{"type": "command", "command": f"cat >> {stage.project}/heard"}]},
            {"hooks": [{"type": "command", "command": once}]},
        ],
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": f"cat >> {stage.project}/prompts"}]}],
    }
    (folder / "settings.json").write_text(json.dumps({"hooks": hooks}))
    stage.api.lane("mend it", "Mended.", "Mended, and the tests pass.")
    async with stage.session(trust=True) as session:
        await stage.say(session, "go", reply(task("mend it")), "Done.")
    assert "the tests pass" in results(of(stage, '"go"')[1])[0]
    assert "run the tests too" in of(stage, "mend it")[1].last_text
    heard = (stage.project / "heard").read_text()
    events = [json.loads(line) for line in heard.replace("}{", "}\n{").splitlines() if line.strip()]
    assert {e["hook_event_name"] for e in events} == {"SubagentStart", "SubagentStop"}
    assert {(e["agent_id"], e["agent_type"]) for e in events} == {("agent_1", "general-purpose")}
    prompts = (stage.project / "prompts").read_text()
    assert prompts.count("hook_event_name") == 1


async def test_agents_of_the_command_line_win_over_files(stage: Stage) -> None:
    given = json.dumps({"explore": {"description": "sings", "prompt": "You sing.", "tools": ["Read"]}})
    stage.api.lane("sing", "La.")
    async with stage.session(agents=given) as session:
        await stage.say(session, "go", reply(task("sing", "explore")), "Done.")
    (only,) = of(stage, "sing")
    assert only.system_text.startswith("You sing.")
    assert only.tool_names == ["Read"]
    assert "- explore: sings" in of(stage, '"go"')[0].system_text


async def test_wrong_agents_of_the_command_line_are_refused_before_anything_begins(stage: Stage) -> None:
    with pytest.raises(UsageError, match="--agents: not JSON"):
        await stage.open(agents="{")
