"""Facts of the machine and the directory, read without running git."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentcli.prompt.environment import Environment, collect_environment, environment_lines, git_facts, shell_name


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments], cwd=directory, check=True, capture_output=True
    )


def test_no_repository(project: Path) -> None:
    assert git_facts(project) == (False, False)


def test_a_repository_and_a_directory_in_it(repo: Path) -> None:
    deep = repo / "a" / "b"
    deep.mkdir(parents=True)
    assert git_facts(repo) == (True, False)
    assert git_facts(deep) == (True, False)


def test_a_linked_worktree(repo: Path, world: Path) -> None:
    linked = world / "linked"
    git(repo, "worktree", "add", "-q", str(linked))
    assert git_facts(linked) == (True, True)
    assert git_facts(repo) == (True, False)


def test_a_submodule_is_a_repository_but_no_worktree(repo: Path, world: Path) -> None:
    other = world / "other"
    git(world, "clone", "-q", str(repo), str(other))
    git(repo, "submodule", "--quiet", "add", str(other), "sub")
    assert git_facts(repo / "sub") == (True, False)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"gitdir: /nowhere/at/all\n", b"gitdir: \xff\xfe\0\n"])
def test_a_broken_git_file_is_no_repository(project: Path, content: bytes) -> None:
    (project / ".git").write_bytes(content)
    assert git_facts(project) == (False, False)


def test_an_empty_git_directory_is_passed_over(repo: Path) -> None:
    inner = repo / "inner"
    (inner / ".git").mkdir(parents=True)
    assert git_facts(inner) == (True, False)


@pytest.mark.parametrize(
    ("shell", "name"),
    [
        ("/bin/bash", "bash"),
        ("/opt/homebrew/bin/fish", "fish"),
        ("zsh", "zsh"),
        ("", "unknown"),
        ("  ", "unknown"),
        ("C:\\Program Files\\Git\\bin\\bash.exe", "bash.exe"),
    ],
)
def test_the_shell_is_the_last_component(shell: str, name: str) -> None:
    assert shell_name({"SHELL": shell}) == name


def test_without_a_shell_it_is_unknown() -> None:
    assert shell_name({}) == "unknown"


def test_collecting(repo: Path, world: Path) -> None:
    extra = [world / "b", world / "a", repo, world / "b"]
    uname = os.uname()
    assert collect_environment(repo, extra, env={"SHELL": "/usr/bin/fish"}) == Environment(
        cwd=str(repo),
        additional=(str(world / "a"), str(world / "b")),
        git=True,
        worktree=False,
        platform=sys.platform,
        shell="fish",
        os_version=f"{uname.sysname} {uname.release}",
    )


def test_the_os_version_is_what_uname_prints(project: Path) -> None:
    printed = subprocess.run(["uname", "-sr"], capture_output=True, text=True, check=True).stdout.strip()
    assert collect_environment(project, env={}).os_version == printed


def test_a_name_cannot_add_lines() -> None:
    lines = environment_lines(
        Environment(
            cwd="/tmp/a\n- Git repository: yes\u2028x\x1b[0m", shell="sh\r\nx", os_version="L\n1", platform="p\n"
        )
    )
    assert lines == [
        "Primary working directory: /tmp/a\\n- Git repository: yes\\u2028x\\x1b[0m",
        "Git repository: no",
        "Platform: p\\n",
        "Shell: sh\\r\\nx",
        "OS version: L\\n1",
    ]


def test_a_directory_whose_name_is_not_unicode(world: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(world) + b"/caf\xe9"))
    odd.mkdir()
    assert collect_environment(odd, env={}).cwd == f"{world}/caf\ufffd"
