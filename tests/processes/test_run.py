"""Running commands to their end: what comes back, how long it takes, what is left."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import time
from pathlib import Path

import pytest

from agentcli.errors import SetupError
from agentcli.processes import Finished, Limits, Output, ProcessManager, environment
from tests.processes.looking import alive, descriptors, unique_seconds, until, zombies


async def bash(manager: ProcessManager, command: str, cwd: Path, **options: object) -> Finished:
    return await manager.run(["bash", "-c", command], cwd, env=environment(), **options)  # type: ignore[arg-type]


async def test_output_and_exit_code_come_back(manager: ProcessManager, project: Path) -> None:
    done = await bash(manager, "echo out; echo err >&2; pwd; exit 7", project)
    text = f"out\nerr\n{project}\n".encode()
    assert done == Finished(7, None, Output(text, b"", len(text)), Output(), seconds=done.seconds)


async def test_errors_can_be_kept_apart(manager: ProcessManager, project: Path) -> None:
    done = await bash(manager, "echo out; echo err >&2", project, stderr="collect")
    assert (done.output.text, done.errors.text) == ("out\n", "err\n")


@pytest.mark.parametrize("name", ["KILL", "TERM", "SEGV"])
async def test_death_by_a_signal_is_never_a_success(manager: ProcessManager, project: Path, name: str) -> None:
    done = await bash(manager, f"ulimit -c 0; kill -{name} $$", project)
    number = {"KILL": 9, "TERM": 15, "SEGV": 11}[name]
    assert (done.exit_code, done.signal) == (128 + number, number)


@pytest.mark.parametrize(
    "command",
    [
        "sleep {} & echo started",
        "setsid sleep {} < /dev/null & disown; echo started",
        "(setsid sh -c 'sleep {} & exec sleep {}' &) ; echo started",
    ],
)
async def test_a_background_child_does_not_hold_the_call(manager: ProcessManager, project: Path, command: str) -> None:
    seconds = unique_seconds()
    done = await bash(manager, command.replace("{}", seconds), project, timeout=60)
    assert (done.exit_code, done.output.text, done.timed_out, done.left_running) == (0, "started\n", False, True)
    await until(lambda: alive(f"sleep {seconds}"))
    await manager.close()
    assert alive(seconds) == []


async def test_a_late_writer_is_not_waited_for_and_not_broken(manager: ProcessManager, project: Path) -> None:
    late = "(until [ -e go ]; do sleep 0.05; done; echo late; echo later; touch survived)"
    done = await bash(manager, f"{late} & echo now", project, timeout=60)
    assert (done.output.text, done.timed_out) == ("now\n", False)
    (project / "go").touch()
    await until((project / "survived").exists)
    await until(lambda: manager.running == ())


async def test_what_ends_right_behind_the_command_is_collected(manager: ProcessManager, project: Path) -> None:
    done = await bash(manager, "exec > >(sleep 0.05; cat); echo through a substitution", project)
    assert done.output.text == "through a substitution\n"


async def test_time_limit_ends_the_whole_tree_and_keeps_the_output(manager: ProcessManager, project: Path) -> None:
    seconds = unique_seconds()
    (project / "spin.sh").write_text(
        "trap '' TERM\n"
        "( while :; do sleep 0.05; echo tick >> ticks; done ) &\n"
        f"setsid sh -c 'trap \"\" TERM; sleep {seconds} & wait' &\n"
        f"( setsid sleep {seconds} & )\n"
        f"echo before; sleep {seconds}\n"
    )
    done = await bash(manager, "bash spin.sh", project, timeout=2)
    assert done.timed_out
    assert done.output.text == "before\n"
    assert done.seconds > 2
    assert alive(seconds, "spin.sh") == []
    assert not done.left_running
    ticks = (project / "ticks").read_text()
    await asyncio.sleep(0.2)
    assert (project / "ticks").read_text() == ticks


async def test_a_polite_command_ends_at_the_limit_without_the_grace(project: Path) -> None:
    manager = ProcessManager(grace=30)
    done = await bash(manager, "trap 'echo bye; exit 3' TERM; echo hi; sleep 90 & wait", project, timeout=3)
    await manager.close()
    assert (done.exit_code, done.timed_out, done.output.text) == (3, True, "hi\nbye\n")
    assert done.seconds < 30


@pytest.mark.skipif(not shutil.which("dash"), reason="bash may lose a TERM between fork and exec itself")
async def test_no_child_misses_the_order_while_it_is_forked(manager: ProcessManager, project: Path) -> None:
    seconds = unique_seconds()
    begun = time.monotonic()
    for turn in range(8):
        running = await manager.start(["dash", "-c", f"sleep {seconds}; :"], project, env=environment())
        await asyncio.sleep(turn / 1000)
        assert await running.terminate(grace=30)
    assert time.monotonic() - begun < 30
    assert alive(seconds) == []


async def test_a_stopped_process_is_ended_too(manager: ProcessManager, project: Path) -> None:
    seconds = unique_seconds()
    done = await bash(manager, f"sleep {seconds} & kill -STOP $!; wait", project, timeout=0.2)
    assert done.timed_out
    assert alive(seconds) == []


async def test_cancelling_ends_the_tree(manager: ProcessManager, project: Path) -> None:
    seconds = unique_seconds()
    task = asyncio.create_task(bash(manager, f"trap '' TERM; sleep {seconds} & setsid sleep {seconds} & wait", project))
    await until(lambda: len(alive(f"sleep {seconds}")) >= 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive(seconds) == []
    await until(lambda: manager.running == ())


async def test_cancelling_while_it_starts_leaves_nothing(manager: ProcessManager, project: Path) -> None:
    seconds = unique_seconds()
    for turns in (*range(8), 20, 100, 1000):
        task = asyncio.create_task(bash(manager, f"sleep {seconds}", project))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert alive(seconds) == []
    await until(lambda: manager.running == ())


async def test_the_kill_stays_off_our_own_group(manager: ProcessManager, project: Path) -> None:
    done = await bash(manager, "ps -o pgid=,sid= -p $$; kill -TERM 0; sleep 9", project, timeout=5)
    group, session = map(int, done.output.text.split())
    assert group == session != os.getpgrp()
    assert done.signal == 15


async def test_a_kill_of_the_supervisor_does_not_free_the_command(manager: ProcessManager, project: Path) -> None:
    seconds = unique_seconds()
    done = await bash(manager, f"sleep {seconds} & kill -9 $PPID; wait", project, timeout=5)
    assert (done.exit_code, done.timed_out) == (137, False)
    await until(lambda: alive(seconds) == [])


async def test_what_kills_by_name_does_not_reach_the_supervisor(manager: ProcessManager, project: Path) -> None:
    for signal_name in ("TERM", "INT", "HUP"):
        done = await bash(manager, f"kill -{signal_name} $PPID; echo still here", project, timeout=5)
        assert (done.exit_code, done.output.text) == (0, "still here\n")


async def test_a_child_starts_with_ordinary_signals_and_files(manager: ProcessManager, project: Path) -> None:
    script = "grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/self/fd | wc -l; readlink /proc/self/fd/0; tty"
    done = await bash(manager, script, project)
    assert done.output.text.split("\n") == [
        "SigBlk:\t0000000000000000",
        "SigIgn:\t0000000000000000",
        "4",
        "/dev/null",
        "not a tty",
        "",
    ]


async def test_nobody_can_be_asked_at_the_terminal(manager: ProcessManager, project: Path) -> None:
    done = await bash(manager, "cat < /dev/tty", project, timeout=5)
    assert done.exit_code == 1
    assert "No such device" in done.output.text


@pytest.mark.parametrize(
    ("command", "error"),
    [("no-such-program", FileNotFoundError), ("./plain", PermissionError), ("./", PermissionError)],
)
async def test_a_command_that_cannot_start_is_named(
    manager: ProcessManager, project: Path, command: str, error: type[OSError]
) -> None:
    (project / "plain").write_text("#!/bin/sh\n")
    with pytest.raises(error) as caught:
        await manager.run([command], project, env=environment())
    assert caught.value.filename == command
    await until(lambda: manager.running == ())


async def test_a_missing_directory_is_named(manager: ProcessManager, project: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        await manager.run(["true"], project / "gone", env=environment())
    assert caught.value.filename == project / "gone"


async def test_input_is_written_and_then_closed(manager: ProcessManager, project: Path) -> None:
    data = os.urandom(1_000_000)
    done = await manager.run(["cat"], project, env=environment(), stdin=data)
    assert done.output.head == data


async def test_input_that_nobody_reads_is_no_error(manager: ProcessManager, project: Path) -> None:
    done = await manager.run(["true"], project, env=environment(), stdin=b"x" * 1_000_000)
    assert done.exit_code == 0


async def test_long_commands_and_odd_words_arrive_unchanged(manager: ProcessManager, project: Path) -> None:
    words = ["", "two\nlines", "\udcff", "x" * 100_000]
    done = await manager.run(["printf", "%s|", *words], project, env=environment())
    assert done.output.head == b"".join(os.fsencode(word) + b"|" for word in words)


async def test_much_output_is_kept_whole_in_a_private_file(project: Path, tmp_path: Path) -> None:
    manager = ProcessManager(directory=tmp_path / "kept")
    mask = os.umask(0)
    try:
        done = await bash(manager, "head -c 10000000 /dev/zero | tr '\\0' x; printf end", project)
    finally:
        os.umask(mask)
        await manager.close()
    output = done.output
    assert (output.total, len(output.head), len(output.tail)) == (10_000_003, 1024 * 1024, 1024 * 1024)
    assert output.tail.endswith(b"xend")
    assert output.file is not None
    assert output.file.stat().st_size == output.file_bytes == 10_000_003
    assert stat.S_IMODE(output.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(output.file.parent.stat().st_mode) == 0o700


async def test_a_flood_is_ended(manager: ProcessManager, project: Path) -> None:
    done = await bash(manager, "yes", project, limits=Limits(memory=1000, file=5000, kill=3_000_000), timeout=60)
    assert done.flooded
    assert not done.timed_out
    assert done.output.file_bytes == 5000


async def test_live_output_arrives_while_it_runs(manager: ProcessManager, project: Path) -> None:
    seen: list[bytes] = []
    go = project / "go"
    command = "printf first; while [ ! -e go ]; do sleep 0.01; done; printf second"
    task = asyncio.create_task(bash(manager, command, project, on_output=seen.append))
    await until(lambda: seen == [b"first"])
    go.touch()
    assert (await task).output.text == "firstsecond"
    assert seen == [b"first", b"second"]


async def test_nothing_leaks(manager: ProcessManager, project: Path) -> None:
    await bash(manager, "true", project)
    await until(lambda: manager.running == ())
    before = descriptors()
    for command in ("echo x", "exit 3", "kill -9 $$", "sleep 5"):
        await bash(manager, command, project, timeout=0.3, stderr="collect", stdin=b"x")
    with pytest.raises(FileNotFoundError):
        await manager.run(["no-such-program"], project, env=environment())
    with pytest.raises(FileNotFoundError):
        await manager.run(["true"], project / "gone", env=environment())
    await until(lambda: manager.running == ())
    await asyncio.sleep(0)
    assert descriptors() == before
    assert zombies() == []


async def test_after_closing_nothing_starts(project: Path) -> None:
    manager = ProcessManager()
    await manager.close()
    await manager.close()
    with pytest.raises(SetupError):
        await manager.run(["true"], project, env=environment())
