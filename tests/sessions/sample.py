"""A session file as a real engine writes it."""

from __future__ import annotations

from pathlib import Path

from agentcli.agent import Agent
from agentcli.clock import SystemClock
from agentcli.messages import ImageBlock, Message, ThinkingBlock
from agentcli.model.scripted import call, say
from agentcli.ports.frontend import UserInput
from agentcli.ports.prompt import Reminder
from agentcli.sessions import OpenSession, SessionInfo, SessionStore, describe
from tests.agent.world import World, make

FACTS = {"version": "0.1", "model": "claude-sonnet-5-5", "start_date": "2026-11-30"}


def store(home: Path, cwd: Path, notices: list[str] | None = None) -> SessionStore:
    return SessionStore(
        home / ".agentcli", cwd, clock=SystemClock(), notice=(notices if notices is not None else []).append
    )


async def six_turns(session: OpenSession) -> World:
    """Head reminder, image, thinking, parallel calls, a failing one, reminders: what a session has."""
    script: list[object] = []
    for number in range(6):
        thought = ThinkingBlock(f"thought {number}", f"sig {number}")
        calls = (call("Echo", text=str(number)), call("Refusing"), call("Echo", text="ü 😀"))
        script += [say(thought, f"I look, {number}.", *calls), f"Answer {number}."]
    world = make(script, journal=session.journal)  # type: ignore[arg-type]  # steps
    for number in range(6):
        world.told.due.append(("first_message", Reminder("head", "the head")))
        world.told.due.append(("before_step", Reminder("date", f"news {number}")))
        image = (ImageBlock("image/png", "aGk="),) if number == 2 else ()
        await world.agent.run_turn(UserInput(f"prompt {number}", image))
    return world


def info(session: OpenSession) -> SessionInfo:
    assert session.path is not None
    found = describe(session.path)
    assert found is not None
    return found


def continued(session: OpenSession, script: list[object]) -> Agent:
    """An engine on what the session's file says."""
    assert session.loaded is not None
    world = make(script, journal=session.journal)  # type: ignore[arg-type]  # steps
    loaded = session.loaded
    world.state.restore(
        loaded.messages,
        usage=loaded.usage,
        cost=loaded.cost,
        turn=loaded.turns,
        context_tokens=loaded.context_tokens,
        measured=loaded.measured,
    )
    return world.agent


def text_of(messages: tuple[Message, ...] | list[Message]) -> str:
    return "\n".join(m.text() for m in messages)
