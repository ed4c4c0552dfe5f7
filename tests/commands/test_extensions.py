"""``/skills``, ``/agents``, ``/hooks``, ``/output-style``, and skills as slash commands."""

from __future__ import annotations

from pathlib import Path

from agentcli.commands import agents, hooks, skills
from agentcli.commands.registry import Registry
from agentcli.extend.expand import Surroundings
from agentcli.i18n import Texts
from agentcli.ports.skills import InvokedSkill
from tests.commands.test_commands import desk
from tests.extend.worlds import agent, bench, command, extensions, skill, write


def test_skills_and_commands(project: Path) -> None:
    assert skills.listing(extensions(project)).startswith("There are none. A skill is")
    skill(project, "careful", disable_model_invocation="true", description="Handle with care")
    skill(project, "inner", user_invocable="false", paths="src/**")
    command(project, "git/push", "---\nargument-hint: [remote]\n---\nPush.")
    path = write(project / ".claude" / "skills" / "broken" / "SKILL.md", "---\nname: x\n")
    found = extensions(project, skillOverrides={"careful": "off"})
    assert skills.listing(found) == (
        "**Skills**\n\n- `/inner`: Do it. (project; only the model starts it; told with files that match src/**)\n\n"
        "**Commands**\n\n- `/git:push [remote]`: Push. (project)\n\n"
        "**Not loaded, or worth a look**\n\n"
        f"- `{path}:1: the front matter is not closed. Put a line with --- behind it. Left out.`"
    )


async def test_skills_are_slash_commands(project: Path) -> None:
    skill(project, "style", "Write $ARGUMENTS.", description="How to write", allowed_tools="Read")
    skill(project, "inner", user_invocable="false")
    command(project, "deploy", "---\nargument-hint: [where]\n---\nShip to $0.")
    command(project, "clear", "Never reached: our own command wins.")
    found = extensions(project)
    found.surroundings = lambda: Surroundings(cwd=project, project=project)
    started: list[InvokedSkill] = []
    found.on_invoke = started.append
    registry = Registry(lambda: skills.slash_commands(found))
    names = [c.name for c in registry.all() if c.name in ("style", "inner", "deploy")]
    assert names == ["style", "deploy"]
    deploy = registry.find("deploy")
    assert deploy is not None
    assert (deploy.description, deploy.argument_hint) == ("Ship to $0.", "[where]")
    async with desk(project) as run:
        run._registry = registry
        result = await run("deploy prod now")
        assert result.prompt is not None
        assert result.prompt.text == "Ship to prod."
        styled = await run("style short")
        assert styled.prompt is not None
        assert styled.prompt.text.endswith("Write short.")
        assert (await run("clear")).prompt is None
    assert [(s.name, s.allowed_tools) for s in started] == [("deploy", ()), ("style", ("Read",))]


async def test_what_stands_in_files_is_told_in_korean(project: Path, golden) -> None:
    skill(project, "careful", disable_model_invocation="true", description="Handle with care")
    agent(project, "tester", tools="Read", model="haiku", description="Runs the tests.")
    korean, settings = Texts("ko"), {"Stop": [{"hooks": [{"command": "./guard", "async": True}]}]}
    async with bench(project, settings) as run:
        found = extensions(project)
        told = [
            skills.listing(found, korean),
            agents.details(found.agent("tester"), korean),
            hooks.listing(run.room, "", korean),
            hooks.listing(run.room, "Read", korean),
        ]
    golden("extensions.ko.md", "\n\n".join(told).replace(str(project), "/p") + "\n")


def test_agents(project: Path) -> None:
    path = agent(project, "tester", tools="Read", model="haiku", description="Runs the tests.")
    found = extensions(project)
    assert agents.details(found.agent("tester")) == (
        f"**tester**: Runs the tests.\n\n- from: {path}\n- tools: Read\n- model: haiku\n\nYou do it."
    )
    assert agents.details(found.agent("general-purpose")).endswith("(the default agent prompt)")


async def test_hooks(project: Path) -> None:
    async with bench(project) as run:
        assert hooks.listing(run.room) == "There are no hooks. They stand in settings, `hooks`."
    settings = {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"command": "./guard", "if": "Bash(git *)"}]},
            {"matcher": "Edit|Write", "hooks": [{"command": "./format", "args": ["-q"], "async": True}]},
        ],
        "Stop": [{"hooks": [{"type": "prompt", "prompt": "Done?"}]}, {"hooks": [{"type": "mcp_tool"}]}],
    }
    where = f"local settings ({project}/.claude/settings.local.json)"
    async with bench(project, settings) as run:
        guard = f"- command `./guard` for `Bash` if `Bash(git *)` (600 s at most; {where})"
        form = f"- command `./format -q` for `Edit|Write` (in the background; {where})"
        wrong = f"{where}: hooks.Stop[1].hooks[0]: hooks of type 'mcp_tool' are not supported"
        ignored = f"**Ignored**\n\n- `{wrong}; use command, prompt, http; ignored`"
        stop = f"**Stop**\n\n- prompt `Done?` (30 s at most; {where})"
        assert hooks.listing(run.room) == f"**PreToolUse**\n\n{guard}\n{form}\n\n{stop}\n\n{ignored}"
        assert hooks.listing(run.room, "Bash") == f"**PreToolUse**\n\n{guard}\n\n{ignored}"
        assert hooks.listing(run.room, "Read") == f"No hook runs for Read.\n\n{ignored}"
