"""The Bash tool as the model meets it."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agentcli.ports.display import CommandDisplay
from agentcli.ports.model import ToolSpec
from agentcli.tools.bash_run import run_user_command
from tests.processes.looking import alive, descriptors, unique_seconds, until, zombies
from tests.tools.bash_world import World, bash_world, text_of


@pytest.fixture
async def world_of_bash(project: Path) -> AsyncIterator[World]:
    async with bash_world(project) as made:
        yield made


def test_the_words_are_few(project: Path) -> None:
    async def specs() -> list[ToolSpec]:
        async with bash_world(project) as made:
            return [made.bash.spec, made.bash_output.spec, made.kill_shell.spec]

    found = asyncio.run(specs())
    rendered = [{"name": s.name, "description": s.description, "input_schema": s.input_schema} for s in found]
    sizes = [len(json.dumps(r, separators=(",", ":"), ensure_ascii=False).encode()) for r in rendered]
    assert [s.name for s in found] == ["Bash", "BashOutput", "KillShell"]
    assert all(size <= most for size, most in zip(sizes, (1100, 350, 350), strict=True)), sizes


async def test_both_faces_of_a_result(world_of_bash: World, project: Path) -> None:
    result = await world_of_bash.bash.run({"command": "echo out; echo err >&2; exit 3"}, world_of_bash.context)
    assert text_of(result) == "out\nerr\n\n[exit code 3]"
    assert result.is_error
    assert result.for_user == CommandDisplay("echo out; echo err >&2; exit 3", "out\nerr", 3, "exit code 3")
    assert result.structured == {
        "exit_code": 3,
        "signal": None,
        "timed_out": False,
        "seconds": result.structured["seconds"] if result.structured else None,
        "cwd": str(project),
    }


async def test_silence_is_said(world_of_bash: World) -> None:
    assert await world_of_bash.run("true") == ("(no output)", False)


async def test_directory_survives_failure_and_exit(world_of_bash: World, project: Path) -> None:
    run = world_of_bash.run
    (project / "sub/deep").mkdir(parents=True)
    (project / "sub/deep/marker").write_text("1")
    deep, sub = project / "sub/deep", project / "sub"
    assert await run("cd sub/deep && false") == (f"[exit code 1]\n[working directory is now {deep}]", True)
    assert await run("pwd; ls") == (f"{deep}\nmarker", False)
    assert await run("cd ..; exit 7") == (f"[exit code 7]\n[working directory is now {sub}]", True)
    assert await run("pwd") == (str(sub), False)
    assert await run("cd deep; set -e; false; echo no") == (f"[exit code 1]\n[working directory is now {deep}]", True)
    assert await run("(cd /tmp); pwd") == (str(deep), False)
    assert world_of_bash.workspace.cwd == deep
    text, failed = await run("cd / && sleep 30", timeout=300)
    assert failed
    assert text.endswith(f"[working directory: still {deep}]")
    assert await run("pwd") == (str(deep), False)
    text, failed = await run("cd ..; kill -9 $$")
    assert (text, failed) == (f"[killed by signal 9 (SIGKILL), exit code 137]\n[working directory: still {deep}]", True)


async def test_outside_the_roots_the_directory_is_reset_and_said(world_of_bash: World, project: Path) -> None:
    note = f"[/ is outside the working directories; working directory reset to {project}]"
    assert await world_of_bash.run("cd / && pwd") == (f"/\n\n{note}", False)
    assert await world_of_bash.run("pwd") == (str(project), False)


async def test_a_trap_of_the_commands_own_is_kept(world_of_bash: World, project: Path) -> None:
    (project / "sub").mkdir()
    text, _ = await world_of_bash.run("trap 'echo cleaned' EXIT; cd sub; exit 0")
    assert text == f"cleaned\n\n[working directory: still {project}]"


async def test_odd_directory_names(world_of_bash: World, project: Path) -> None:
    name = project / 'it\'s a\n"dir" '
    name.mkdir()
    await world_of_bash.run("cd it*")
    assert world_of_bash.workspace.cwd == name
    assert (await world_of_bash.run("pwd"))[0] == str(name).rstrip("\n")


async def test_an_alias_or_function_can_move_too(world_of_bash: World, project: Path) -> None:
    (project / "sub").mkdir()
    (project / "lib").write_text("go() { builtin cd sub; }\n")
    assert await world_of_bash.run(". ./lib; go") == (f"[working directory is now {project / 'sub'}]", False)


async def test_a_directory_that_went_away(world_of_bash: World, project: Path) -> None:
    (project / "gone").mkdir()
    await world_of_bash.run("cd gone")
    (project / "gone").rmdir()
    text, failed = await world_of_bash.run("pwd")
    assert (text, failed) == (f"{project}\n\n[{project / 'gone'} is gone; ran in {project}]", False)


async def test_the_directory_can_be_told_to_stay(project: Path) -> None:
    (project / "sub").mkdir()
    async with bash_world(project, environ={"CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1"}) as made:
        assert await made.run("cd sub; pwd") == (str(project / "sub"), False)
        assert await made.run("pwd") == (str(project), False)


async def test_exit_codes_of_signals(world_of_bash: World) -> None:
    text, failed = await world_of_bash.run("sh -c 'kill -TERM $$'; echo rc=$?")
    assert "rc=143" in text
    assert not failed
    killed = "[killed by signal 9 (SIGKILL), exit code 137]"
    assert await world_of_bash.run("kill -9 $$") == (killed, True)
    text, failed = await world_of_bash.run("sh -c 'kill -TERM $$'")
    assert text.endswith("[exit code 143, as after being killed by signal 15 (SIGTERM)]")
    assert failed


async def test_an_answer_is_no_failure(world_of_bash: World, project: Path) -> None:
    (project / "f").write_text("x\n")
    assert await world_of_bash.run("grep nothing f") == ("[exit code 1: no line matched]", False)
    assert await world_of_bash.run("grep x missing") == (
        "grep: missing: No such file or directory\n\n[exit code 2]",
        True,
    )


async def test_time_limit_keeps_output_and_names_the_limit(world_of_bash: World, project: Path) -> None:
    (project / "spin.sh").write_text(
        "trap '' TERM\n( while :; do sleep 1; echo tick >> ticks; done ) &\n( while :; do sleep 1; done ) &\n"
        "echo before\nsleep 100\n"
    )
    begun = time.monotonic()
    text, failed = await world_of_bash.run("bash spin.sh", timeout=700)
    assert time.monotonic() - begun < 10
    assert failed
    assert text.startswith("before\n\n[timed out after 0.7 s; the command and everything that it had started was ended")
    assert await world_of_bash.run("pgrep -fc spin.sh || true") == ("0", False)


async def test_limits_come_from_the_environment(project: Path) -> None:
    environ = {"BASH_DEFAULT_TIMEOUT_MS": "200", "BASH_MAX_TIMEOUT_MS": "300", "BASH_MAX_OUTPUT_LENGTH": "100"}
    async with bash_world(project, environ=environ) as made:
        assert (await made.run("sleep 9"))[0].startswith("[timed out after 0.2 s;")
        assert (await made.run("sleep 9", timeout=5000))[0].startswith("[timed out after 0.3 s;")
        text, _ = await made.run("seq 1000")
        assert len(text.split("[…")[0]) + len(text.split("…]")[1]) < 120


async def test_background_children_do_not_hold_the_call(world_of_bash: World) -> None:
    seconds = unique_seconds()
    note = "[something that it started is still running; it ends with the session at the latest]"
    begun = time.monotonic()
    assert await world_of_bash.run(f"sleep {seconds} & echo started", timeout=20000) == (f"started\n\n{note}", False)
    text, _ = await world_of_bash.run(f"setsid sleep {seconds} < /dev/null & disown; echo two", timeout=20000)
    assert text == f"two\n\n{note}"
    assert time.monotonic() - begun < 6
    assert await world_of_bash.run("echo next") == ("next", False)
    await world_of_bash.manager.close()
    assert alive(seconds) == []


async def test_cancelling_leaves_nothing(world_of_bash: World) -> None:
    seconds = unique_seconds()
    task = asyncio.create_task(world_of_bash.run(f"(setsid sleep {seconds} &); trap '' TERM; sleep {seconds}"))
    await until(lambda: len(alive(f"sleep {seconds}")) >= 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive(seconds) == []
    await until(lambda: world_of_bash.manager.running == ())


async def test_nobody_is_asked(world_of_bash: World, repo: Path) -> None:
    text, failed = await world_of_bash.run(
        "read line; echo got=$line; cat; python3 -c 'input()'; git commit --allow-empty"
    )
    assert failed
    assert text.startswith("got=\n")
    assert "EOFError" in text
    assert "agentcli: no editor can be opened" in text
    assert (await world_of_bash.run("git log --format=%s"))[0] == "first"
    assert await world_of_bash.run("echo $PAGER-$TERM-$AGENTCLI-$AGENTCLI_SESSION_ID") == ("cat-dumb-1-s1", False)


async def test_odd_bytes_and_terminal_control(world_of_bash: World) -> None:
    shown = r"printf '\xff\xfe ok \x1b[31mred\x1b[0m\n10%%\r 50%%\r100%%\nbell\a nul\0 end\r\n'"
    assert await world_of_bash.run(shown) == ("\ufffd\ufffd ok red\n100%\nbell nul end", False)


async def test_odd_file_names_stay_valid_text(world_of_bash: World, project: Path) -> None:
    os.close(os.open(os.fsencode(project) + b"/f\xff\xed\xa0\xbd.txt", os.O_CREAT | os.O_WRONLY))
    text, failed = await world_of_bash.run("ls; cat f*; cd . ; ls | head -1")
    text.encode("utf-8")
    assert not failed
    assert "\ufffd" in text


@pytest.mark.parametrize(
    ("command", "complaint"),
    [("", "The command is empty."), ("echo \ud83d", "half of a Unicode character"), ("echo \0", "a NUL character")],
)
async def test_commands_that_cannot_be_run(world_of_bash: World, command: str, complaint: str) -> None:
    text, failed = await world_of_bash.run(command)
    assert failed
    assert complaint in text


async def test_syntax_errors_are_the_shells_own(world_of_bash: World) -> None:
    text, failed = await world_of_bash.run("if true; then")
    assert failed
    assert "syntax error" in text
    text, failed = await world_of_bash.run("echo one\nnosuchcommand\necho three")
    assert (text, failed) == ("one\nbash: line 2: nosuchcommand: command not found\nthree", False)


async def test_long_commands_and_here_documents(world_of_bash: World, project: Path) -> None:
    body = "line with $dollar and 'quotes' \"\\\n" * 8000
    text, failed = await world_of_bash.run(f"cat > f <<'END'\n{body}END\n# a comment\nwc -c < f")
    assert (text, failed) == (str(len(body)), False)
    assert (project / "f").read_text() == body


async def test_the_command_line_is_in_no_process_list(world_of_bash: World) -> None:
    text, _ = await world_of_bash.run("x=needle-in-the-list; ps axww -o args | grep -c needle-in-the-lis[t]")
    assert text.startswith("0")


async def test_much_output_is_cut_and_kept(world_of_bash: World) -> None:
    text, failed = await world_of_bash.run("seq 20000")
    spilled = world_of_bash.scratch / "spilled.txt"
    assert not failed
    assert len(text) < 30_300
    assert text.startswith("1\n2\n")
    assert text.endswith("\n19999\n20000")
    assert f"The whole output (108,893 characters) is in {spilled}: page through it with Read" in text
    assert spilled.read_text() == "\n".join(str(n) for n in range(1, 20001))


async def test_emoji_are_never_cut_in_half(world_of_bash: World, project: Path) -> None:
    (project / "emoji.txt").write_text("\U0001f600" * 40000)
    text, _ = await world_of_bash.run("cat emoji.txt")
    text.encode("utf-8")
    assert "\ufffd" not in text


async def test_ten_megabytes(world_of_bash: World) -> None:
    text, failed = await world_of_bash.run("yes 0123456789abcde | head -c 10485760; echo end")
    assert not failed
    assert len(text) < 30_400
    assert text.endswith("abcde\nend")
    path = Path(text.partition("(10,485,764 bytes) is in ")[2].partition(": page")[0])
    assert path.stat().st_size == 10_485_764
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sum(map(len, world_of_bash.live)) < 10_485_764


async def test_live_output(world_of_bash: World, project: Path) -> None:
    task = asyncio.create_task(world_of_bash.run("echo one; while [ ! -e go ]; do sleep 0.01; done; echo two"))
    await until(lambda: world_of_bash.live == ["one\n"])
    (project / "go").touch()
    await task
    assert world_of_bash.live == ["one\n", "two\n"]


async def test_effects(project: Path) -> None:
    async with bash_world(project, read_only=lambda command: command.startswith(("ls", "cd"))) as made:
        inputs = [
            {"command": "ls"},
            {"command": "rm x"},
            {"command": "cd x && ls"},
            {"command": "ls", "run_in_background": True},
            {"command": 3},
            {},
        ]
        assert [made.bash.effect(i) for i in inputs] == ["read", "write", "write", "write", "write", "write"]
        assert [made.bash.title(i) for i in ({"command": "ls\n-l"}, {"command": 3}, {})] == ["ls -l", "3", ""]
        shown = made.bash.preview({"command": "ls", "description": "Lists"}, made.context)
        assert shown == CommandDisplay("ls", summary="Lists")


async def test_reading_commands_run_side_by_side(world_of_bash: World) -> None:
    results = await asyncio.gather(*(world_of_bash.run(f"sleep 0.3; echo {n}") for n in range(5)))
    assert results == [(str(n), False) for n in range(5)]


async def test_after_the_end_of_the_session_nothing_is_started(world_of_bash: World) -> None:
    await world_of_bash.manager.close()
    closing = "The command could not be started: the session is being closed; nothing is started any more"
    assert await world_of_bash.run("true") == (closing, True)
    assert await world_of_bash.run("true", run_in_background=True) == (closing, True)


async def test_nothing_of_a_call_stays(world_of_bash: World) -> None:
    await world_of_bash.run("cd . ; true")
    await until(lambda: world_of_bash.manager.running == ())
    before = descriptors(), sorted(world_of_bash.scratch.iterdir())
    for command in ("cd . ; echo", "exit 4", "sleep 9", "kill -9 $$"):
        await world_of_bash.run(command, timeout=200)
    await until(lambda: world_of_bash.manager.running == ())
    assert (descriptors(), sorted(world_of_bash.scratch.iterdir())) == before
    assert zombies() == []


async def test_a_scratch_directory_that_cannot_be_written(project: Path) -> None:
    blocked = project.parent / "file"
    blocked.write_text("")
    async with bash_world(project) as made:
        made.shell._directory = blocked / "scratch"
        (project / "sub").mkdir()
        assert await made.run("cd sub; pwd") == (
            f"{project / 'sub'}\n\n[working directory: still {project}]",
            False,
        )


async def test_the_users_own_command(project: Path) -> None:
    env = {**os.environ, "PAGER": "most", "TERM": "xterm", "EDITOR": "vi", "ANTHROPIC_API_KEY": "EXAMPLE"}
    live: list[str] = []
    async with bash_world(project, base=lambda: env) as made:
        (project / "sub").mkdir()
        command = "echo $PAGER-$TERM-$EDITOR-$ANTHROPIC_API_KEY-$AGENTCLI; cd sub"
        result = await run_user_command(made.shell, command, made.workspace, output=live.append, spill=made.spill)
    now = f"[working directory is now {project / 'sub'}]"
    assert text_of(result) == f"most-xterm-vi--\n\n{now}"
    assert result.for_user == CommandDisplay(command, "most-xterm-vi--", 0, "")
    assert live == ["most-xterm-vi--\n"]
