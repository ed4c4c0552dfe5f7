"""Background jobs: limits, paging, ends that are told, nothing left."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agentcli.events import JobChanged
from agentcli.ports.prompt import Reminder
from tests.processes.looking import alive, descriptors, unique_seconds, until, zombies
from tests.tools.bash_world import World, bash_world

STARTED = (
    "Started in the background as {0}. {1}. You are told when it ends; meanwhile BashOutput {0} gives its new output "
    "and KillShell {0} ends it."
)


QUICK = (
    "Background job bash_1 ended with exit code 5 after T s (command: echo quick; exit 5). "
    "The end of its unread output:\nquick"
)


@pytest.fixture
async def made(project: Path) -> AsyncIterator[World]:
    async with bash_world(project) as world:
        yield world


async def background(made: World, command: str, **input: object) -> str:
    text, failed = await made.run(command, run_in_background=True, **input)
    assert not failed
    return text


def without_times(text: str) -> str:
    return re.sub(r"\d+\.\d s", "T s", text)


async def ends(made: World) -> list[tuple[str, str]]:
    await asyncio.wait_for(made.jobs.wait_ended(), 5)
    return [(r.key, without_times(r.text)) for r in await made.reminders.collect("before_step")]


async def test_an_end_is_told_once_with_its_output(made: World) -> None:
    assert await background(made, "echo quick; exit 5") == STARTED.format("bash_1", "It has no time limit")
    assert await ends(made) == [
        (
            "job:bash_1",
            QUICK,
        )
    ]
    assert await made.reminders.collect("before_step") == []
    assert made.events == [
        JobChanged("bash_1", "echo quick; exit 5", "running"),
        JobChanged("bash_1", "echo quick; exit 5", "finished", 5),
    ]
    text, _ = await made.call(made.bash_output, bash_id="bash_1")
    assert without_times(text) == "quick\n\n[bash_1 ended with exit code 5 after T s]"


async def test_a_time_limit_holds_in_the_background(made: World) -> None:
    seconds = unique_seconds()
    text = await background(made, f"echo begun; sleep {seconds}; echo finished", timeout=400)
    assert text == STARTED.format("bash_1", "It is ended after 0.4 s")
    text, _ = await made.call(made.bash_output, bash_id="bash_1")
    assert re.search(r"\[bash_1 is running since \d\.\d of at most 0\.4 s\]", text)
    (told,) = await ends(made)
    assert told[1].startswith("Background job bash_1 was ended at its time limit of T s")
    assert alive(seconds) == []
    assert [(e.state, e.exit_code) for e in made.events if isinstance(e, JobChanged)][-1] == ("timed_out", 143)


async def test_death_by_a_signal_is_told_as_such(made: World) -> None:
    await background(made, "kill -9 $$")
    (told,) = await ends(made)
    assert told[1] == (
        "Background job bash_1 was killed by signal 9 (SIGKILL), exit code 137 after T s (command: kill -9 $$). "
        "It wrote nothing new."
    )


async def test_output_comes_page_by_page_and_only_once(made: World, project: Path) -> None:
    await background(made, "seq 1 3; while [ ! -e go ]; do sleep 0.01; done; seq 4 20000")
    await until(lambda: made.jobs.list()[0].output_bytes == 6)
    assert (await made.call(made.bash_output, bash_id="bash_1"))[0].startswith("1\n2\n3\n\n[bash_1 is running")
    assert (await made.call(made.bash_output, bash_id="bash_1"))[0].startswith("(no new output)\n\n[bash_1 is running")
    (project / "go").touch()
    await asyncio.wait_for(made.jobs.wait_ended(), 5)
    pages = []
    while True:
        text, _ = await made.call(made.bash_output, bash_id="bash_1")
        if text.startswith("(no new output)"):
            break
        pages.append(text.partition("\n\n[")[0])
        assert ("call again" in text) == (len(pages) < 4)
    assert "\n".join(pages).replace("\n", "") == "".join(str(n) for n in range(4, 20001))
    assert await made.reminders.collect("before_step") == []


async def test_pages_do_not_cut_characters(made: World) -> None:
    await background(made, "printf 'x'; for i in $(seq 12000); do printf '\U0001f600'; done")
    await asyncio.wait_for(made.jobs.wait_ended(), 5)
    pages = [(await made.call(made.bash_output, bash_id="bash_1"))[0].partition("\n\n[")[0] for _ in range(2)]
    assert "".join(pages) == "x" + "\U0001f600" * 12000


async def test_much_output_of_a_job_is_read_from_its_file(made: World) -> None:
    await background(made, "seq 1 100000")
    await asyncio.wait_for(made.jobs.wait_ended(), 5)
    job = made.jobs.get("bash_1")
    assert job is not None
    seen = ""
    while job.unread:
        page = await made.jobs.output("bash_1")
        seen += page.text + ("\n" if page.text.endswith("\n") else "")
        job = page.job
    assert seen.replace("\n", "") == "".join(str(n) for n in range(1, 100001))


async def test_filter_and_its_mistakes(made: World) -> None:
    await background(made, "seq 1 20; echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")
    await asyncio.wait_for(made.jobs.wait_ended(), 5)
    text, failed = await made.call(made.bash_output, bash_id="bash_1", filter="(")
    assert failed
    assert text.startswith("The filter is no regular expression: missing ), unterminated subpattern")
    text, failed = await made.call(made.bash_output, bash_id="bash_1", filter="^1.$|^20$")
    assert text.startswith("10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n\n[bash_1 ended")
    text, failed = await made.call(made.bash_output, bash_id="bash_1", filter="x")
    assert text.startswith("(no new line matches)")


async def test_killing(made: World) -> None:
    seconds = unique_seconds()
    await background(made, f"(setsid sleep {seconds} &) ; sleep {seconds}")
    await until(lambda: len(alive(f"sleep {seconds}")) >= 2)
    text, failed = await made.call(made.kill_shell, shell_id="bash_1")
    assert (without_times(text), failed) == ("Ended: bash_1 was killed after T s.", False)
    assert alive(seconds) == []
    assert await made.reminders.collect("before_step") == []
    text, _ = await made.call(made.kill_shell, shell_id="bash_1")
    assert text.startswith("Nothing to end: bash_1 was killed")


async def test_a_kill_by_the_user_is_told(made: World) -> None:
    await background(made, "sleep 30")
    job = await made.jobs.kill("bash_1")
    assert (job.state, job.signal) == ("killed", 15)
    (told,) = await ends(made)
    assert told[1].startswith("Background job bash_1 was killed after T s")


async def test_unknown_jobs_are_named_with_the_known_ones(made: World) -> None:
    assert await made.call(made.bash_output, bash_id="x") == ("There is no background job x. No job was started.", True)
    await background(made, "sleep 30")
    expected = "There is no background job x. Jobs: bash_1 (running)."
    assert await made.call(made.kill_shell, shell_id="x") == (expected, True)


async def test_a_job_does_not_move_the_session(made: World, project: Path) -> None:
    (project / "sub").mkdir()
    await background(made, "cd sub")
    await asyncio.wait_for(made.jobs.wait_ended(), 5)
    assert made.workspace.cwd == project


async def test_after_a_compaction_running_jobs_are_restated(made: World) -> None:
    await background(made, "sleep 30")
    assert await made.reminders.collect("file_touched") == []
    assert await made.reminders.collect("after_compaction") == [
        Reminder("jobs", "Background jobs that are running:\n- bash_1: sleep 30")
    ]


async def test_jobs_end_with_the_session(project: Path) -> None:
    seconds = unique_seconds()
    before = descriptors()
    async with bash_world(project) as made:
        for _ in range(3):
            await background(made, f"trap '' TERM; (setsid sleep {seconds} &) ; sleep {seconds}")
        await background(made, "head -c 1000000 /dev/zero")
        await until(lambda: len(alive(f"sleep {seconds}")) >= 6)
        await asyncio.wait_for(made.jobs.wait_ended(), 5)
        await made.jobs.close()
        states = [(job.state, job.exit_code) for job in made.jobs.list()]
    assert states == [("killed", 137)] * 3 + [("finished", 0)]
    assert alive(seconds) == []
    assert zombies() == []
    assert descriptors() == before
    assert list((project.parent / "scratch/output").iterdir()) == []
