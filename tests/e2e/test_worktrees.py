"""Agents with ``isolation: worktree``: a checkout of their own, gone when unchanged, never lost."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentcli.events import FromSubagent, Notice, PermissionAsked
from agentcli.ports.frontend import UserInput
from agentcli.ports.permissions import Answer
from tests.api import ApiServer, Gate, after, reply, tool_use
from tests.api.recorder import Request
from tests.api.script import Reply
from tests.e2e.harness import Stage, until
from tests.e2e.test_sandbox import real
from tests.e2e.test_subagents import of, results, task, whole


@pytest.fixture
def stage(home: Path, repo: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, repo)
        assert api.refused == []


def git(directory: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=directory, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def trees(stage: Stage) -> list[Path]:
    return sorted(p for p in (stage.project / ".claude" / "worktrees").glob("*") if p.is_dir())


def branches(stage: Stage) -> list[str]:
    return git(stage.project, "branch", "--format", "%(refname:short)").split()


def alone(prompt: str, **more: object) -> object:
    return task(prompt, isolation="worktree", **more)


def here(request: Request, name: str, content: str) -> Reply:
    """Writes a file in the working directory that the request names."""
    cwd = request.system_text.partition("Primary working directory: ")[2].partition("\n")[0]
    return reply(tool_use("Write", {"file_path": f"{cwd}/{name}", "content": content}))


async def test_an_agent_works_in_a_checkout_of_its_own_and_what_it_changed_is_kept(stage: Stage) -> None:
    (stage.project / "CLAUDE.md").write_text("MARK_uncommitted\n")
    shell = tool_use("Bash", {"command": "pwd; git branch --show-current"})
    stage.api.lane("do it", lambda r: here(r, "new.txt", "new\n"), reply(shell), "Done.")
    async with stage.session() as session:
        await stage.say(session, "go", reply(alone("do it")), "Fine.")
        whole(session)
    (tree,) = trees(stage)
    first, _, last = of(stage, "do it")
    assert f"Primary working directory: {tree}\n" in first.system_text
    assert "yes, a linked worktree" in first.system_text
    assert f"worktree of your own, {tree} on the branch worktree-{tree.name}" in json.dumps(first.messages[0])
    assert "MARK_uncommitted" not in json.dumps(first.json)  # its own checkout has no such file
    assert f"{tree}\\nworktree-{tree.name}" in results(last)[0]
    assert (tree / "new.txt").read_text() == "new\n"
    assert not (stage.project / "new.txt").exists()
    kept = f"Its changes are kept in the worktree {tree} (branch worktree-{tree.name})."
    assert kept in results(of(stage, '"go"')[1])[0]
    told = [e.event.text for e in stage.heard if isinstance(e, FromSubagent) and isinstance(e.event, Notice)]
    assert told == [f"general-purpose: {kept}"]
    assert git(stage.project, "status", "--porcelain") == "?? CLAUDE.md"


async def test_an_unchanged_one_goes_with_its_agent_and_comes_back_with_it(stage: Stage) -> None:
    go_on = tool_use("SendMessage", {"to": "agent_1", "message": "and now write"})
    stage.api.lane("look around", "Nothing to do.", lambda r: here(r, "late.txt", "late\n"), "Written.")
    async with stage.session() as session:
        await stage.say(session, "go", reply(alone("look around")), "Fine.")
        assert (trees(stage), branches(stage)) == ([], ["main"])
        assert "worktree" not in results(of(stage, '"go"')[1])[0]
        await stage.say(session, "and", reply(go_on), "Good.")
    (tree,) = trees(stage)
    assert (tree / "late.txt").exists()
    assert branches(stage) == ["main", f"worktree-{tree.name}"]


@pytest.mark.parametrize(
    "command", ["git checkout -q --detach; echo x > y; git add y; git commit -qm y", "rm README.md"]
)
async def test_a_commit_and_a_removed_file_are_changes_too(stage: Stage, command: str) -> None:
    stage.api.lane("do it", reply(tool_use("Bash", {"command": command})), "Done.")
    async with stage.session() as session:
        await stage.say(session, "go", reply(alone("do it")), "Fine.")
    assert len(trees(stage)) == 1


async def test_a_definition_asks_for_it_and_those_below_work_there_too(stage: Stage) -> None:
    folder = stage.project / ".claude" / "agents"
    folder.mkdir(parents=True)
    (folder / "mover.md").write_text("---\nname: mover\ndescription: moves\nisolation: worktree\n---\nYou move.\n")
    stage.api.lane("move it", reply(task("write below")), "Moved.")
    stage.api.lane("write below", lambda r: here(r, "deep.txt", "deep\n"), "Deep.")
    async with stage.session(trust=True) as session:
        await stage.say(session, "go", reply(task("move it", "mover")), "Fine.")
    (tree,) = trees(stage)
    assert tree.name.startswith("mover-")
    assert (tree / "deep.txt").exists()


async def test_the_main_checkout_is_outside_and_its_rules_hold_in_the_worktree(stage: Stage) -> None:
    (stage.project / "secrets").mkdir()
    (stage.project / "secrets" / "key").write_text("KEY\n")
    git(stage.project, "add", ".")
    git(stage.project, "commit", "-qm", "secrets")
    (stage.project / ".claude").mkdir()
    rules = {"permissions": {"deny": ["Read(/secrets/**)"], "allow": ["Edit(/ok/**)"]}}
    (stage.project / ".claude" / "settings.json").write_text(json.dumps(rules))
    outside = str(stage.project / "README.md")
    stage.api.lane(
        "do it",
        reply(tool_use("Write", {"file_path": f"{stage.project}/out.txt", "content": "x\n"})),
        lambda r: here(r, "ok/in.txt", "in\n"),
        reply(tool_use("Read", {"file_path": "secrets/key"})),
        reply(tool_use("Bash", {"command": "cat secrets/key"})),
        reply(tool_use("Read", {"file_path": f"{stage.project}/secrets/key"})),
        reply(tool_use("Read", {"file_path": outside})),
        "Done.",
    )
    asked: list[tuple[str, str, str]] = []
    async with stage.session(permission_mode="acceptEdits", trust=True) as session:

        def answer(event: object) -> None:
            if isinstance(event, PermissionAsked):
                asked.append((event.agent, event.name, event.title))
                session.answer(event.request_id, Answer(allowed=False))

        session.events.subscribe(answer)
        await stage.say(session, "go", reply(alone("do it")), "Fine.")
    sent = of(stage, "do it")
    assert asked == [("general-purpose", "Write", f"{stage.project}/out.txt"), ("general-purpose", "Read", outside)]
    assert not (stage.project / "out.txt").exists()
    assert (trees(stage)[0] / "ok" / "in.txt").exists()
    assert "KEY" not in json.dumps([r.json for r in sent])
    assert all("denied by the rule" in results(sent[n])[0] for n in (3, 4, 5))


async def test_searches_see_the_checkout_that_they_begin_in_and_no_other(stage: Stage) -> None:
    (stage.project / ".gitignore").write_text(".claude/worktrees/\n")
    looks = [tool_use("Glob", {"pattern": "**/*.md"}), tool_use("Grep", {"pattern": "sample"})]
    gate = Gate()
    stage.api.lane("look", reply(*looks), after(gate, "Seen."))
    async with stage.session() as session:
        await stage.say(session, "go", reply(alone("look", run_in_background=True)), "It runs.")
        await until(lambda: len(of(stage, "look")) == 2)
        assert len(trees(stage)) == 1
        await stage.say(session, "look too", reply(*looks), "Seen.")
        gate.open()
        await asyncio.wait_for(session.crew.wait_ended(), 60)
    theirs, ours = results(of(stage, '"look"')[1]), results(of(stage, '"go"')[-1])
    assert ["README.md" in text for text in (*theirs, *ours)] == [True] * 4
    assert [".claude" in text for text in ours] == [False] * 2


async def test_an_interrupted_agent_s_work_is_kept_and_told(stage: Stage) -> None:
    (stage.project / ".claude").mkdir()
    stage.api.lane("write and wait", lambda r: here(r, "half.txt", "half\n"), after(Gate(), "never"))
    stage.api.lane("only wait", after(Gate(), "never"))
    async with stage.session() as session:
        stage.play(reply(alone("write and wait"), alone("only wait")))
        turn = asyncio.create_task(session.run(UserInput("go")))
        await until(lambda: len(of(stage, "write and wait")) == 2 and len(of(stage, "only wait")) == 1, seconds=30)
        session.interrupt()
        assert (await turn).outcome == "interrupted"
        whole(session)
        assert session.toolbox.processes.running == ()
    (tree,) = trees(stage)
    assert (tree / "half.txt").read_text() == "half\n"
    told = [e.event.text for e in stage.heard if isinstance(e, FromSubagent) and isinstance(e.event, Notice)]
    assert told == [f"general-purpose: Its changes are kept in the worktree {tree} (branch worktree-{tree.name})."]


async def test_a_stopped_background_agent_s_report_names_what_is_kept(stage: Stage) -> None:
    stage.api.lane("write and wait", lambda r: here(r, "half.txt", "half\n"), after(Gate(), "never"))
    async with stage.session() as session:
        await stage.say(session, "go", reply(alone("write and wait", run_in_background=True)), "It runs.")
        await until(lambda: len(of(stage, "write and wait")) == 2)
        session.crew.interrupt()
        await asyncio.wait_for(session.crew.wait_ended(), 60)
        (end,) = session.crew.take_ended()
    (tree,) = trees(stage)
    assert f"kept in the worktree {tree} (branch worktree-{tree.name})" in end.report.text


@pytest.mark.parametrize(("ref", "words"), [("fresh", "default"), ("head", "feature")])
async def test_it_begins_from_the_default_branch_or_from_where_the_user_is(stage: Stage, ref: str, words: str) -> None:
    (stage.project / "where").write_text("default\n")
    (stage.project / ".gitignore").write_text("*.env\nbuild/\n")
    (stage.project / ".worktreeinclude").write_text("*.env\n!no.env\nREADME.md\n")
    git(stage.project, "add", ".")
    git(stage.project, "commit", "-qm", "where")
    git(stage.project, "checkout", "-qb", "feature")
    (stage.project / "where").write_text("feature\n")
    git(stage.project, "commit", "-qam", "feature")
    (stage.project / "a.env").write_text("A=1\n")
    (stage.project / "no.env").write_text("NO=1\n")
    (stage.project / "conf").mkdir()
    (stage.project / "conf" / "b.env").write_text("B=1\n")
    look = tool_use("Bash", {"command": "cat where; find . -name '*.env' | sort; wc -c < README.md"})
    stage.api.lane("look", reply(look), "Seen.")
    async with stage.session(settings=json.dumps({"worktree": {"baseRef": ref}})) as session:
        await stage.say(session, "go", reply(alone("look")), "Fine.")
    assert f"{words}\\n./a.env\\n./conf/b.env\\n9" in results(of(stage, '"look"')[1])[0]
    assert trees(stage) == []


async def test_hooks_and_filters_of_a_repository_don_t_run(stage: Stage) -> None:
    hook = stage.project / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {stage.project.parent}/ran\n")
    hook.chmod(0o755)
    stage.api.lane("look", "Seen.")
    async with stage.session() as session:
        await stage.say(session, "go", reply(alone("look")), "Fine.")
        git(stage.project, "config", "filter.trap.smudge", f"touch {stage.project.parent}/ran; cat")
        await stage.say(session, "again", reply(alone("look again")), "Fine.")
    assert not (stage.project.parent / "ran").exists()
    assert "the project is not trusted" in results(of(stage, '"go"')[-1])[0]


async def test_without_a_repository_the_call_fails_and_says_why(stage: Stage) -> None:
    bare = stage.project.parent / "bare"
    bare.mkdir()
    empty = stage.project.parent / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    for directory in (bare, empty):
        async with stage.session(cwd=directory) as session:
            await stage.say(session, f"in {directory.name}", reply(alone("x")), "No.")
    said = [results(of(stage, f"in {name}")[1])[0] for name in ("bare", "empty")]
    assert "is not in a git repository, so there is no worktree" in said[0]
    assert "has no commit that a worktree could be made from" in said[1]


async def test_a_link_does_not_lead_the_worktree_elsewhere(stage: Stage) -> None:
    (stage.project / ".claude").mkdir()
    (stage.project.parent / "elsewhere").mkdir()
    (stage.project / ".claude" / "worktrees").symlink_to(stage.project.parent / "elsewhere")
    async with stage.session() as session:
        await stage.say(session, "go", reply(alone("x")), "No.")
    assert "by way of a link" in results(of(stage, '"go"')[1])[0]
    assert list((stage.project.parent / "elsewhere").iterdir()) == []


async def test_hooks_take_the_place_of_git(stage: Stage) -> None:
    made = stage.project.parent / "made"
    heard = stage.project.parent / "heard"
    create = f"cat >> {heard}; mkdir {made}; cd {made} && git init -q && git commit -q --allow-empty -m x; echo {made}"
    hooks = {
        "WorktreeCreate": [{"hooks": [{"type": "command", "command": create}]}],
        "WorktreeRemove": [{"hooks": [{"type": "command", "command": f"cat >> {heard}; rm -r {made}"}]}],
        "SubagentStart": [{"hooks": [{"type": "command", "command": f"pwd > {stage.project.parent}/where"}]}],
    }
    (stage.project / ".claude").mkdir()
    (stage.project / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    stage.api.lane("look", "Seen.")
    async with stage.session(trust=True) as session:
        await stage.say(session, "go", reply(alone("look")), "Fine.")
    events = [json.loads(line) for line in heard.read_text().splitlines()]
    assert [e["hook_event_name"] for e in events] == ["WorktreeCreate", "WorktreeRemove"]
    assert events[0]["name"].startswith("general-purpose-")
    assert events[1]["worktree_path"] == str(made)
    assert (stage.project.parent / "where").read_text().strip() == str(made)
    assert not made.exists()
    assert trees(stage) == []


async def test_a_hook_that_fails_makes_the_call_fail(stage: Stage) -> None:
    hooks = {"WorktreeCreate": [{"hooks": [{"type": "command", "command": "echo no space >&2; exit 1"}]}]}
    (stage.project / ".claude").mkdir()
    (stage.project / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    async with stage.session(trust=True) as session:
        await stage.say(session, "go", reply(alone("x")), "No.")
    assert "no space" in results(of(stage, '"go"')[1])[0]
    assert trees(stage) == []


@real
async def test_in_the_sandbox_it_commits_there_and_writes_nowhere_else(stage: Stage) -> None:
    (stage.project / "secrets").mkdir()
    (stage.project / "secrets" / "key").write_text("KEY\n")
    git(stage.project, "add", ".")
    git(stage.project, "commit", "-qm", "secrets")
    (stage.project / ".claude").mkdir()
    rules = {"permissions": {"deny": ["Read(/secrets/**)"]}}
    (stage.project / ".claude" / "settings.json").write_text(json.dumps(rules))
    author = "-c user.name=a -c user.email=b"
    commit = f"echo x > inside; git add inside; git {author} commit -qm in; echo x > {stage.project}/outside; echo end"
    sneak = "python3 -c \"print(open('sec' + 'rets/key').read())\""
    stage.api.lane("do it", reply(*(tool_use("Bash", {"command": c}) for c in (commit, sneak))), "Done.")
    sandbox = json.dumps({"sandbox": {"enabled": True}})
    async with stage.session(permission_mode="default", trust=True, settings=sandbox) as session:
        await stage.say(session, "go", reply(alone("do it")), "Fine.")
    (tree,) = trees(stage)
    committed, sneaked = results(of(stage, "do it")[1])
    assert "Read-only file system" in committed
    assert "KEY" not in sneaked
    assert git(tree, "log", "-1", "--format=%s") == "in"
    assert not (stage.project / "outside").exists()
