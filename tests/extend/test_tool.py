"""The Skill tool."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agentcli.errors import ToolError
from agentcli.ports.agents import AgentOrder
from agentcli.ports.tools import AgentReport, ToolContext, Workspace, text_result
from agentcli.tools.skill import Skill
from tests.extend.worlds import extensions, skill


@dataclass
class Delegation:
    orders: list[AgentOrder] = field(default_factory=list)

    def in_background(self, agent: str) -> bool:
        return False

    async def run(self, order: AgentOrder) -> AgentReport:
        self.orders.append(order)
        return AgentReport("found it", steps=3)


def context(project: Path, **services: object) -> ToolContext:
    return ToolContext(
        workspace=Workspace(project, project),
        emit=lambda event: None,
        output=lambda text: None,
        spill=lambda text, suffix: project / suffix,
        seen=None,  # type: ignore[arg-type]  # no file is read
        services=services,
    )


async def test_the_text_is_the_result(project: Path) -> None:
    path = skill(project, "style", "Write $0.\nNothing else.")
    ctx = context(project, skills=extensions(project))
    text = f"Skill style. Files that it names are in {path.parent}.\n\nWrite short.\nNothing else."
    assert await Skill().run({"skill": "style", "args": "short"}, ctx) == text_result(text, summary="4 lines")


async def test_a_forked_skill_is_a_subagents_task(project: Path) -> None:
    skill(project, "research", "Find $ARGUMENTS.", context="fork")
    skill(project, "wide", "Look.", context="fork", agent="explore", model="haiku")
    spawner = Delegation()
    ctx = context(project, skills=extensions(project), spawner=spawner)
    assert await Skill().run({"skill": "research", "args": "it"}, ctx) == text_result("found it", summary="3 steps")
    await Skill().run({"skill": "wide"}, ctx)
    assert [replace(o, prompt=o.prompt.rpartition("\n")[2]) for o in spawner.orders] == [
        AgentOrder(agent="general-purpose", prompt="Find it.", description="research"),
        AgentOrder(agent="explore", prompt="Look.", description="wide", model="haiku"),
    ]
    with pytest.raises(ToolError, match="this session has none"):
        await Skill().run({"skill": "wide"}, replace(ctx, services={"skills": ctx.services["skills"]}))


async def test_what_cannot_be_called(project: Path) -> None:
    skill(project, "careful", disable_model_invocation="true")
    ctx = context(project, skills=extensions(project))
    with pytest.raises(ToolError, match="only the user starts the skill 'careful'"):
        await Skill().run({"skill": "careful"}, ctx)
    with pytest.raises(ToolError, match="there is no skill 'x'"):
        await Skill().run({"skill": "x"}, ctx)
    with pytest.raises(ToolError, match="There are no skills in this session"):
        await Skill().run({"skill": "x"}, context(project))


def test_its_words_are_few() -> None:
    assert len(Skill().spec.description.encode()) <= 400
    assert Skill().title({"skill": "style"}) == "style"
