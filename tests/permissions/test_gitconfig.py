"""A repository's git configuration that runs programs when git only looks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agentcli.permissions.gitconfig import runs_programs


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=directory, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("core.fsmonitor", "./evil", "core.fsmonitor"),
        ("core.fsmonitor", "false", ""),
        ("diff.x.textconv", "./evil", "diff.textconv"),
        ("filter.x.clean", "./evil", "filter.clean"),
        ("alias.st", "!./evil", "alias.st"),
        ("include.path", "../evil", "include.path"),
        ("user.name", "A. Person", ""),
        ("remote.origin.url", "https://example.invalid/x.git", ""),
        ("branch.main.merge", "refs/heads/main", ""),
    ],
)
def test_settings_that_name_programs(key: str, value: str, found: str, repo: Path) -> None:
    git(repo, "config", key, value)
    below = repo / "a"
    below.mkdir()
    assert runs_programs(below) == found


def test_a_linked_work_tree_obeys_the_main_checkouts_configuration(repo: Path) -> None:
    git(repo, "worktree", "add", "-q", "../linked")
    assert runs_programs(repo.parent / "linked") == ""
    git(repo, "config", "core.fsmonitor", "./evil")
    assert runs_programs(repo.parent / "linked") == "core.fsmonitor"


def test_outside_of_a_repository(project: Path) -> None:
    assert runs_programs(project) == ""
