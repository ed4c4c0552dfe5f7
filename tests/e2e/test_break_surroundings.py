"""Surroundings that a shell can get into, and agentcli with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.api import ApiServer, reply, result_text, tool_use
from tests.e2e.program import AGENTCLI, run


@pytest.mark.parametrize("arguments", [["-p", "hi", "--output-format", "json"], ["doctor"]])
def test_a_working_directory_that_is_gone_is_one_clear_line(arguments: list[str], project: Path) -> None:
    gone = project / "gone"
    gone.mkdir()
    done = subprocess.run(
        [*AGENTCLI, *arguments],
        cwd=gone,
        preexec_fn=lambda: os.rmdir(gone),  # the child stands in it before it is removed
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done
    assert "working directory" in done.stderr
    assert "-p" not in arguments or json.loads(done.stdout)["is_error"] is True


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a directory away")
def test_a_home_of_another_user_is_named_before_anything_is_made_in_it(project: Path, world: Path) -> None:
    other = world / "other"
    other.mkdir()
    env = {"HOME": str(other), "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    for owner, words in ((0, ""), (12345, f"{other} belongs to another user")):
        os.chown(other, owner, owner)
        done = run("-p", "/help", cwd=project, env=env, unset=["AGENTCLI_HOME"])
        assert done.code == 0
        assert words in done.err
        assert bool(words) == bool(done.err)
        shutil.rmtree(other / ".agentcli")


@pytest.mark.parametrize("place", ["/dev/null", "/proc"])
def test_a_home_in_which_nothing_can_be_made_is_said_and_the_run_goes_on(place: str, project: Path) -> None:
    env = {"HOME": place, "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    done = run("-p", "/help", cwd=project, env=env, unset=["AGENTCLI_HOME"])
    assert done.code == 0
    assert "/help" in done.out
    assert "The session can't be stored" in done.err


@pytest.fixture
def closed() -> Iterator[Callable[[Path], None]]:
    """Closes directories to everybody, until the test is over."""
    made: list[Path] = []

    def close(directory: Path) -> None:
        directory.chmod(0)
        made.append(directory)

    yield close
    for directory in made:
        directory.chmod(0o700)


def ordinary(*arguments: str, cwd: Path, url: str = "http://127.0.0.1:9") -> subprocess.CompletedProcess[str]:
    """Runs the program without root's rights over files."""
    before = [] if os.geteuid() else ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    env = {**os.environ, "ANTHROPIC_API_KEY": ApiServer.key, "ANTHROPIC_BASE_URL": url, "IS_SANDBOX": "1"}
    command = [*before, *AGENTCLI, *arguments]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=60, check=False)


without_setpriv = pytest.mark.skipif(shutil.which("setpriv") is None, reason="it takes root's rights over files away")


@without_setpriv
@pytest.mark.parametrize("place", [".agentcli", ".agentcli/projects"])
def test_a_home_that_is_closed_to_us_is_said_and_the_run_goes_on(
    place: str, project: Path, home: Path, closed: Callable[[Path], None]
) -> None:
    """A directory that somebody else made, as in an image whose user was changed."""
    (home / place).mkdir(parents=True)
    closed(home / place)
    done = ordinary("-p", "/help", cwd=project)
    assert done.returncode == 0, done
    assert "/help" in done.stdout
    assert "The session can't be stored (Permission denied)" in done.stderr
    assert "Traceback" not in done.stderr


@without_setpriv
def test_a_directory_that_is_closed_to_us_is_an_error_for_the_model(
    project: Path, closed: Callable[[Path], None]
) -> None:
    there = project / "closed"
    there.mkdir()
    closed(there)
    calls = [
        tool_use("Read", {"file_path": f"{there}/a"}),
        tool_use("Write", {"file_path": f"{there}/b", "content": "x"}),
        tool_use("Edit", {"file_path": f"{there}/a", "old_string": "x", "new_string": "y"}),
        tool_use("Glob", {"pattern": "*", "path": str(there)}),
        tool_use("Grep", {"pattern": "x", "path": str(there)}),
        tool_use("Grep", {"pattern": "x", "path": f"{there}/a"}),
        tool_use("Bash", {"command": "echo x > closed/a", "description": "d"}),
        tool_use("Bash", {"command": "rm -r closed/sub", "description": "d"}),
    ]
    with ApiServer(reply(*calls), "Done.") as api:
        done = ordinary("-p", "look @closed/a @closed", "--dangerously-skip-permissions", cwd=project, url=api.url)
        results = [(r.get("is_error"), result_text(r)) for r in api.requests[-1].tool_results]
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert "unexpectedly" not in done.stderr
    assert [(bool(bad), "Permission denied" in words) for bad, words in results] == [(True, True)] * len(calls), results
