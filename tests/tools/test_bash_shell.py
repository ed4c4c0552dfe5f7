"""The user's shell: which one, their aliases and functions, a sandbox around it."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentcli.tools import bash_shell
from agentcli.tools.bash_shell import choose_program
from tests.processes.looking import alive, unique_seconds, until
from tests.tools.bash_world import bash_world

RC = """
case $- in *i*) ;; *) return ;; esac
echo "welcome $USER"
alias ll='echo "listed"'
alias multi='echo one
echo two'
alias rm='rm -i'
greet() { echo "hello, $1"; }
export ONLY_IN_RC=1
"""


def program(directory: Path, name: str) -> str:
    path = directory / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_which_shell(tmp_path: Path) -> None:
    path = os.environ["PATH"]
    zsh, fish = program(tmp_path, "zsh"), program(tmp_path, "fish")
    bash = shutil.which("bash")
    assert bash is not None
    assert choose_program({"SHELL": zsh, "PATH": path}) == (zsh, "")
    assert choose_program({"SHELL": fish, "PATH": path}) == (bash, "")
    assert choose_program({"PATH": path}) == (bash, "")
    assert choose_program({"CLAUDE_CODE_SHELL": zsh, "SHELL": bash, "PATH": path}) == (zsh, "")
    assert choose_program({"CLAUDE_CODE_SHELL": fish, "SHELL": zsh, "PATH": path}) == (
        zsh,
        f"CLAUDE_CODE_SHELL={fish} is not a bash or zsh that can be run; another shell is used.",
    )
    assert choose_program({"PATH": str(tmp_path / "none")}) == ("/bin/sh", "")


async def test_aliases_and_functions_come_from_the_start_up_file(project: Path, home: Path) -> None:
    (home / ".bashrc").write_text(RC)
    async with bash_world(project, startup=True) as made:
        assert await made.run("ll; multi; greet you; echo [$ONLY_IN_RC]") == (
            "listed\none\ntwo\nhello, you\n[]",
            False,
        )
        (project / "f").touch()
        assert await made.run("rm f; ls") == ("(no output)", False)
        snapshot = made.scratch / "shell-snapshot.sh"
        assert stat.S_IMODE(snapshot.stat().st_mode) == 0o600
        (home / ".bashrc").write_text("ll() { echo other; }")
        assert await made.run("ll") == ("listed", False)


async def test_without_start_up_files_nothing_is_read(project: Path, home: Path) -> None:
    (home / ".bashrc").write_text(RC)
    async with bash_world(project) as made:
        text, failed = await made.run("greet you")
    assert failed
    assert text.startswith("bash: line 1: greet: command not found")


@pytest.mark.parametrize(
    "start_up", ["exit 3", "exec true", "if true; then", "trap '' TERM; sleep {}", "(sleep {} &) ; echo started >&2"]
)
async def test_a_broken_or_slow_start_up_file_stops_nothing(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch, start_up: str
) -> None:
    monkeypatch.setattr(bash_shell, "SNAPSHOT_LIMIT", 0.4)
    seconds = unique_seconds()
    (home / ".bashrc").write_text(start_up.replace("{}", seconds) + "\n")
    async with bash_world(project, startup=True) as made:
        begun = time.monotonic()
        assert await made.run("echo works") == ("works", False)
        assert time.monotonic() - begun < 6
        await until(lambda: alive(seconds) == [])


async def test_plain_sh_runs_commands_too(project: Path) -> None:
    async with bash_world(project, base=lambda: {"PATH": str(project / "bin") + ":/bin:/usr/bin"}) as made:
        made.shell.program, made.shell.kind = "/bin/sh", "sh"
        (project / "sub").mkdir()
        assert await made.run("cd sub; echo a | cat; exit 4") == (
            f"a\n\n[exit code 4]\n[working directory is now {project / 'sub'}]",
            True,
        )


async def test_exports_of_an_environment_file_reach_every_command(project: Path) -> None:
    file = project / "exports"
    async with bash_world(project, env_files=[file]) as made:
        assert await made.run("echo [$FROM_HOOK]") == ("[]", False)
        file.write_text("export FROM_HOOK=yes\n")
        assert await made.run("echo [$FROM_HOOK]") == ("[yes]", False)


async def test_a_sandbox_can_be_put_around_the_shell(project: Path) -> None:
    def wrap(argv: Sequence[str]) -> Sequence[str]:
        return ["env", "CONFINED=1", *argv]

    async with bash_world(project) as made:
        env = made.shell.environment({})
        done = await made.shell.run("echo $CONFINED; cd /", project, env=env, wrap=wrap)
        assert (done.finished.output.head, done.cwd) == (b"1\n", Path("/"))


async def test_a_shell_that_cannot_be_started_is_named(project: Path) -> None:
    async with bash_world(project) as made:
        made.shell.program = str(project / "no-bash")
        expected = f"The command could not be started: {project / 'no-bash'}: No such file or directory"
        assert await made.run("true") == (expected, True)
        assert await made.run("true", run_in_background=True) == (expected, True)


async def test_variables_do_not_carry_over_and_names_are_not_taken(project: Path) -> None:
    async with bash_world(project) as made:
        assert await made.run("X=1; set | grep -c '^X='") == ("1", False)
        assert await made.run("echo [$X] [$*] [$#] [$0] [$-]") == ("[] [] [0] [bash] [hBc]", False)
