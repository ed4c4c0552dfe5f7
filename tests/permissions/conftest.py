"""A project with the traps that the tests step into, and gates over it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentcli.permissions.gate import Gate, GivenRules
from agentcli.ports.permissions import Decision, PermissionMode
from agentcli.ports.tools import ToolCall, Workspace
from agentcli.settings.merged import Settings

GateMaker = Callable[..., Gate]
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


def fill(project: Path) -> None:
    """Files that only read, programs that pretend, a link that leads out, a repository inside of the repository."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(project)], check=True)
    for name in ("f", "a.py", ".env", "names"):
        (project / name).write_text("x\n")
    for name in ("src", "sub", "bin", "nested/.git"):
        (project / name).mkdir(parents=True)
    (project / "src" / "x.py").write_text("x\n")
    for name in ("cat", "bin/ls", "bin/git"):
        (project / name).write_text("#!/bin/sh\ntouch owned\n")
        (project / name).chmod(0o755)
    (project / "link_out").symlink_to("/etc")
    (project / "link_env").symlink_to(".env")
    (project.parent / "outside").write_text("x\n")
    (project.parent / "home" / "notes").write_text("x\n")


def make_gate(
    project: Path,
    home: Path,
    *,
    mode: PermissionMode = "default",
    settings: Settings | None = None,
    path: str = SYSTEM_PATH,
    environment: dict[str, str] | None = None,
    **rules: Any,
) -> Gate:
    given = GivenRules(**{name: tuple(texts) for name, texts in rules.items()})
    env = {"PATH": path, "HOME": str(home)} | (environment or {})
    workspace = Workspace(project, project)
    return Gate(workspace, settings or Settings(()), mode=mode, home=home, environment=env, given=given)


def shell(gate: Gate, command: str) -> Decision:
    return gate.check(ToolCall("t", "Bash", {"command": command}))


@pytest.fixture
def site(project: Path) -> Path:
    """The project, filled."""
    fill(project)
    return project


@pytest.fixture
def gate(site: Path, home: Path) -> GateMaker:
    """``gate(mode=…, allow=[…], ask=[…], deny=[…])`` over the filled project."""

    def make(**options: Any) -> Gate:
        return make_gate(site, home, **options)

    return make


@pytest.fixture(scope="session")
def still_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A filled project that no test changes."""
    base = tmp_path_factory.mktemp("still")
    project = base / "project"
    project.mkdir()
    (base / "home").mkdir()
    fill(project)
    assert os.access(project / "cat", os.X_OK)
    return project
