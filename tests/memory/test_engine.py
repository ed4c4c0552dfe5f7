"""Memory on its way through the real engine and the real file tools: what each request holds, and that nothing that
was sent is ever rewritten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentcli.agent.reminders import Reminders
from agentcli.conversation import ConversationCache
from agentcli.files import FilesSeen
from agentcli.model.scripted import call, say
from agentcli.ports.prompt import PromptSources
from agentcli.prompt.section import clear_system_prompt_sections
from agentcli.prompt.source import PromptSource
from tests.agent.world import World, make
from tests.memory.worlds import Desk, write
from tests.prompt.worlds import MODELS, context
from tests.tools.bench import TOOLS


async def none() -> str | None:
    return None


def engine(desk: Desk, script: list[Any]) -> World:
    cache = ConversationCache()
    prompt = PromptSource(
        context(),
        cache=cache,
        sources=PromptSources(
            memory=desk.room.section, skills=none, agents=none, mcp_instructions=none, coordinator=none
        ),
        describe_model=lambda model: MODELS["claude-sonnet-5"],
    )

    def reset() -> None:
        clear_system_prompt_sections(cache)
        desk.room.begin_anew()

    return make(
        script,
        tools=TOOLS,
        workspace=desk.start,
        prompt=prompt,
        reminders=Reminders([prompt, desk.room]),
        seen=FilesSeen(),
        reset=reset,
    )


def reminders(world: World, request: int) -> str:
    """Everything that reminders said up to this request."""
    blocks = [b for m in world.sent(request) if m["role"] == "user" for b in m["content"] if b["type"] == "text"]
    return "\n".join(b["text"] for b in blocks if b["text"].startswith("<system-reminder>"))


async def test_doors_that_trigger_and_doors_that_do_not(project: Path) -> None:
    write(project / "CLAUDE.md", "MARK_top")
    write(project / "api" / "CLAUDE.md", "MARK_api")
    write(project / "api" / "v1" / "CLAUDE.local.md", "MARK_v1")
    write(project / "web" / "AGENTS.md", "MARK_web")
    file = write(project / "api" / "v1" / "f", "x\n")
    desk = Desk(project)
    world = engine(
        desk,
        [
            say(call("Grep", pattern="x", path=str(project / "api"))),
            say(call("Read", file_path=str(file))),
            say(call("Edit", file_path=str(file), old_string="x", new_string="y")),
            say(call("Write", file_path=str(project / "web" / "new"), content="n\n")),
            "Done.",
            "A summary of it all, in a few words.",
            say(call("Read", file_path=str(file))),
            "Done again.",
        ],
    )
    await world.turn()
    counts = [
        [reminders(world, n).count(mark) for mark in ("MARK_top", "MARK_api", "MARK_v1", "MARK_web")] for n in range(5)
    ]
    assert counts == [[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 1, 1, 1]]
    system = world.requests[0].system
    assert sum(p.text.count("MARK_top") for p in system.parts) == 1
    assert [r.system for r in world.requests] == [system] * 5
    for before, after in zip(range(4), range(1, 5), strict=True):
        first, second = world.sent(before), world.sent(after)
        assert second[: len(first)] == first
    write(file, "long enough\n" * 400)
    assert await world.agent.compact() is not None
    await world.turn("again")
    assert reminders(world, -2).count("MARK_api") == 0
    assert reminders(world, -1).count("MARK_api") == 1


async def test_an_edit_by_the_user_is_said_once_and_one_by_the_agent_is_not(project: Path) -> None:
    top = write(project / "CLAUDE.md", "- first rule\n")
    desk = Desk(project)
    world = engine(
        desk,
        [
            say(call("Read", file_path=str(top))),
            say(call("Edit", file_path=str(top), old_string="first", new_string="second")),
            "Done.",
            "I see.",
            "Nothing new.",
        ],
    )
    await world.turn()
    assert "memory file" not in reminders(world, -1)
    write(top, "- third rule\n")
    await world.turn("next")
    assert reminders(world, -1).count("third rule") == 1
    await world.turn("and on")
    assert reminders(world, -1).count("third rule") == 1
