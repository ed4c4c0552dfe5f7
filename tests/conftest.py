"""A scripted world for every test: HOME, project and environment of its own; nothing of the machine's leaks in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

pytest_plugins = ["tests.api.fixtures"]

GIT_ENV = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "T",
    "GIT_AUTHOR_EMAIL": "t@example.test",
    "GIT_COMMITTER_NAME": "T",
    "GIT_COMMITTER_EMAIL": "t@example.test",
}
KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "VIRTUAL_ENV", "COVERAGE_PROCESS_START")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="full counts of random rounds, network installs, conformance")
    parser.addoption(
        "--update-goldens", action="store_true", help="write goldens anew; read the diff before committing"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--soak"):
        return
    skip = pytest.mark.skip(reason="runs only with --soak")
    for item in items:
        if "soak" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def soak(request: pytest.FixtureRequest) -> bool:
    """Whether full counts are asked for; ordinary runs do a tenth."""
    return bool(request.config.getoption("--soak"))


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A HOME and a working directory below ``tmp_path``; the environment holds nothing but what a test sets."""
    for name in list(os.environ):
        if name not in KEPT and not name.startswith("PYTEST"):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    project = tmp_path / "project"
    home.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SHELL", "/bin/bash")
    for name, value in GIT_ENV.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project)
    return tmp_path


@pytest.fixture
def home(world: Path) -> Path:
    return world / "home"


@pytest.fixture
def project(world: Path) -> Path:
    return world / "project"


@pytest.fixture
def repo(project: Path) -> Path:
    """The project as a git repository with one commit."""
    (project / "README.md").write_text("# sample\n")
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=project, check=True)
    return project


@pytest.fixture
def golden(request: pytest.FixtureRequest):
    """``golden(name, text)`` compares with ``goldens/name`` beside the test file; ``--update-goldens`` writes it."""

    def check(name: str, text: str) -> None:
        path = Path(request.path).parent / "goldens" / name
        if request.config.getoption("--update-goldens"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        assert path.exists(), f"no golden {path.name}; write it with --update-goldens and read it"
        assert text == path.read_text(encoding="utf-8")

    return check
