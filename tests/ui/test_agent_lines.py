"""The live lines of subagents: what each does, in its colour, with its figures."""

from __future__ import annotations

from datetime import datetime

from rich.text import Text

from agentcli.events import ToolStarted
from agentcli.i18n import Texts
from agentcli.ports.agents import AgentTask
from agentcli.ports.jobs import Job, JobState
from agentcli.ui.terminal.output.activity import Activity, SubagentLine, draw
from agentcli.ui.terminal.output.glyphs import UNICODE
from agentcli.ui.terminal.output.tools import CallPainter

TEXTS = Texts("en")


def task(number: int, **more: object) -> AgentTask:
    values: dict[str, object] = {
        "id": f"agent_{number}",
        "agent": "tester",
        "description": "runs the tests",
        "state": "running",
        "background": True,
        "steps": 3,
        "tokens": 12_345,
        "cost": 0.1,
        "seconds": 41.0,
        **more,
    }
    return AgentTask(**values)  # type: ignore[arg-type]  # each its own


def lines(activity: Activity) -> list[Text]:
    return draw(activity, CallPainter(UNICODE, TEXTS), UNICODE, TEXTS)


def test_agents_in_the_background_have_a_line_each_also_between_turns() -> None:
    activity = Activity(lambda: 100.0)
    assert not activity.moving
    activity.agents = lambda: (
        task(1, doing="Bash pytest -q", color="blue"),
        task(2),
        task(3, state="finished"),
        task(4, background=False),
    )
    first, second = lines(activity)
    assert first.plain == "  ↳ tester (agent_1): Bash pytest -q · steps: 3 · tokens: 12,345 · 41 s"
    assert second.plain == "  ↳ tester (agent_2): runs the tests · steps: 3 · tokens: 12,345 · 41 s"
    assert next(span.style for span in first.spans) == "agent_blue"
    assert activity.moving
    assert not activity.busy


def test_many_are_counted() -> None:
    activity = Activity(lambda: 100.0)
    activity.agents = lambda: tuple(task(n) for n in range(8))
    found = lines(activity)
    assert len(found) == 6
    assert found[-1].plain == "  more agents: 3 (/tasks)"


def test_the_line_below_a_call_has_the_figures_of_its_agent() -> None:
    activity = Activity(lambda: 100.0)
    activity.call_started(ToolStarted("call_1", "Agent", {}, "tester: a task"))
    activity.subagents["call_1"] = SubagentLine("tester", "Read a.py", 2)
    assert lines(activity)[1].plain == "  ↳ tester: Read a.py · calls: 2"
    activity.agents = lambda: (task(1, background=False, call_id="call_1", color="mauve"),)
    assert lines(activity)[1].plain == "  ↳ tester: Read a.py · calls: 2 · steps: 3 · tokens: 12,345"


def job(number: int, state: JobState = "running") -> Job:
    return Job(f"bash_{number}", f"make\nserve {number}", "", state, None, None, 5.0, 0, 0)


def test_commands_in_the_background_have_a_line_that_does_not_move() -> None:
    activity = Activity(lambda: 100.0)
    activity.jobs = lambda: (job(1), job(2, "finished"), job(3))
    assert [line.plain for line in lines(activity)] == ["  ↳ bash_1: make serve 1", "  ↳ bash_3: make serve 3"]
    assert not activity.moving
    activity.jobs = lambda: tuple(job(n) for n in range(5))
    assert [line.plain for line in lines(activity)][3:] == ["  more commands: 2 (/tasks)"]


def test_a_loop_that_rests_says_when_it_goes_on() -> None:
    activity = Activity(lambda: 100.0)
    activity.next_at = lambda: datetime(2026, 3, 4, 15, 16, 17).astimezone()
    assert [line.plain for line in lines(activity)] == ["  ↳ The loop's next round begins at 15:16:17; Esc ends it"]
    activity.start()
    assert "15:16:17" not in "".join(line.plain for line in lines(activity))
