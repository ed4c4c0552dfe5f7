"""Agents: every field, who wins, and what a broken file costs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentcli.errors import UsageError, UserError
from agentcli.extend.agents import AgentDefinition, agents_from_json, find_agent
from tests.extend.worlds import agent, extensions, write

FULL = """\
---
name: tester
description: Runs the tests.
tools: Read, Bash(npm test *), Agent(helper)
disallowedTools: [Write]
model: haiku
permissionMode: acceptEdits
maxTurns: 12
skills: style, lint
mcpServers:
  - github
  - own: {command: ./server}
hooks:
  Stop:
    - hooks: [{type: command, command: ./check}]
memory: project
background: true
effort: low
color: blue
isolation: worktree
initialPrompt: Begin.
license: MIT
---

You test.
"""


def test_every_field(project: Path) -> None:
    path = write(project / ".claude" / "agents" / "qa" / "tester.md", FULL)
    found = extensions(project)
    assert found.warnings == ()
    assert found.agent("tester") == AgentDefinition(
        name="tester",
        description="Runs the tests.",
        body="You test.",
        path=path,
        tools=("Read", "Bash(npm test *)", "Agent(helper)"),
        disallowed_tools=("Write",),
        model="haiku",
        scope="project",
        permission_mode="acceptEdits",
        max_turns=12,
        skills=("style", "lint"),
        mcp_servers=("github", {"own": {"command": "./server"}}),
        hooks={"Stop": [{"hooks": [{"type": "command", "command": "./check"}]}]},
        memory="project",
        background=True,
        effort="low",
        color="blue",
        isolation="worktree",
        initial_prompt="Begin.",
    )
    assert found.agent("tester").allows("Agent")
    assert not found.agent("tester").allows("Write")


def test_what_would_act_does_not_count_without_trust(project: Path) -> None:
    write(project / ".claude" / "agents" / "tester.md", FULL)
    found = extensions(project, trusted=False).agent("tester")
    assert (found.permission_mode, found.mcp_servers, found.hooks, found.isolation) == (None, (), {}, None)
    assert found.memory is None
    assert found.body == "You test."


def test_built_in_agents(project: Path) -> None:
    agents = extensions(project).agents
    assert list(agents) == ["explore", "general-purpose", "plan"]
    assert agents["general-purpose"].tools is None
    assert agents["general-purpose"].body == ""
    for name in ("explore", "plan"):
        assert agents[name].read_only
        assert agents[name].tools == ("Read", "Glob", "Grep")
    assert not agents["general-purpose"].read_only


def test_who_wins(project: Path, home: Path) -> None:
    inner = project / "packages" / "web"
    inner.mkdir(parents=True)
    (project / ".git").mkdir()
    given = json.dumps({"one": {"description": "d", "prompt": "by command line"}})
    for name in ("one", "two", "three", "plan"):
        agent(home, name, "by user")
    for name in ("one", "two", "three"):
        agent(project, name, "by project")
    for name in ("one", "two"):
        agent(inner, name, "by package")
    found = extensions(inner, agents=given)
    bodies = {n: a.body for n, a in found.agents.items() if n not in ("explore", "general-purpose")}
    assert bodies == {"one": "by command line", "two": "by package", "three": "by project", "plan": "by user"}
    unknown = extensions(inner, trusted=False)
    assert {n: unknown.agent(n).body for n in ("one", "two", "three")} == dict.fromkeys(
        ("one", "two", "three"), "by user"
    )


def test_nothing_above_the_project_is_read(tmp_path: Path, project: Path) -> None:
    agent(tmp_path, "stranger")
    assert "stranger" not in extensions(project).agents
    (project / ".git").mkdir()
    assert "stranger" not in extensions(project).agents


def test_broken_files_are_named_and_left_out(project: Path) -> None:
    folder = project / ".claude" / "agents"
    write(folder / "a.md", "---\nname: a\ntools: [Read\n---\nx")
    write(folder / "b.md", "---\nname: b\n---\nx")
    write(folder / "c.md", "---\ndescription: d\n---\n\n")
    write(folder / "d.md", "---\nname: two words\ndescription: d\n---\nx")
    write(folder / "e.md", "---\nname: e\ndescription: d\ntools: {Read: 1}\n---\nx")
    write(folder / "README.md", "What our agents do.")
    odd = "permissionMode: root\nmaxTurns: 0\nbackground: maybe\neffort: [&a [1], *a]\nhooks: x"
    write(folder / "f.md", f"---\nname: f\ndescription: d\n{odd}\n---\nx")
    found = extensions(project)
    assert [n for n in found.agents if n not in ("explore", "general-purpose", "plan")] == ["f"]
    modes = "default, acceptEdits, plan, dontAsk, bypassPermissions"
    assert [w.replace(f"{folder}/", "") for w in found.warnings] == [
        "a.md:4:1: expected ',' or ']', but got '<stream end>'. Left out.",
        "b.md:1: the agent has no description. Say in the front matter when to hand work to it. Left out.",
        "c.md: the agent has no prompt; write it below the front matter; left out",
        "d.md:2: the name 'two words' must be one word without : and /; left out",
        "e.md:4: tools must be a list of names; left out",
        f"f.md:4: permissionMode must be one of {modes}, not 'root'; ignored",
        "f.md:5: maxTurns must be a whole number above 0; ignored",
        "f.md:8: hooks must be a list of events with their hooks; ignored",
        "f.md:6: background must be true or false; ignored",
        "f.md:7: effort must be one of low, medium, high, xhigh, max, not a list; ignored",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "--agents: not JSON"),
        ("[]", "--agents: must be an object"),
        ('{"a": {"description": "d"}}', "--agents: a: must be an object with a description and a prompt"),
        ('{"a": {"prompt": "p"}}', "the agent has no description"),
        ('{"a": {"description": "d", "prompt": "p", "maxTurns": "many"}}', "maxTurns must be a whole number"),
        ('{"a b": {"description": "d", "prompt": "p"}}', "must be one word"),
    ],
)
def test_wrong_agents_of_the_command_line(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        agents_from_json(text)


def test_agents_of_the_command_line() -> None:
    text = json.dumps({"a": {"description": "d", "prompt": "p", "tools": ["Read"], "model": "inherit"}})
    (found,) = agents_from_json(text)
    assert (found.name, found.body, found.tools, found.model, found.scope) == ("a", "p", ("Read",), None, "session")


def test_an_unknown_name_says_what_there_is(project: Path) -> None:
    found = extensions(project)
    assert found.agent("Explore").name == "explore"
    with pytest.raises(UserError, match=r"there is no agent 'nobody'. There are: explore, general-purpose, plan"):
        found.agent("nobody")


def test_finding_one_agent_without_a_catalog(project: Path, home: Path) -> None:
    agent(home, "reviewer", "by user")
    agent(project, "broken", "", description="")
    write(project / ".claude" / "agents" / "broken.md", "---\nname: broken\n---\n")
    for name, body in (("reviewer", "by user"), ("none", None)):
        found = find_agent(name, cwd=project, user=home / ".claude")
        assert (found and found.body) == body
    with pytest.raises(UserError, match=r"broken\.md:1: the agent has no description"):
        find_agent("broken", cwd=project, user=home / ".claude")
    agent(project, "explore", "by project")
    for trusted, scope in ((True, "project"), (False, "built-in")):
        found = find_agent("explore", cwd=project, user=None, trusted=trusted)
        assert found is not None
        assert found.scope == scope


def test_the_list_for_the_model(project: Path) -> None:
    agent(project, "tester", description=">\n  Runs the\n  tests.")
    assert extensions(project).agents_listing() == (
        "## Agents\n\n"
        "- explore: Finds things in the code and explains how they hang together; reads only. Say how thorough to be.\n"
        "- general-purpose: Any self-contained piece of work, with all tools.\n"
        "- plan: Studies the code and works out how to make a change, step by step; reads only.\n"
        "- tester: Runs the tests."
    )
