"""Surroundings that a shell can get into, and agentcli with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

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


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv takes root's rights over files away")
@pytest.mark.parametrize("closed", [".agentcli", ".agentcli/projects"])
def test_a_home_that_is_closed_to_us_is_said_and_the_run_goes_on(closed: str, project: Path, home: Path) -> None:
    """A directory that somebody else made, as in an image whose user was changed."""
    (home / closed).mkdir(parents=True)
    (home / closed).chmod(0)
    ordinary = [] if os.geteuid() else ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    try:
        done = subprocess.run(
            [*ordinary, *AGENTCLI, "-p", "/help"],
            cwd=project,
            env={**os.environ, "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        (home / closed).chmod(0o700)
    assert done.returncode == 0, done
    assert "/help" in done.stdout
    assert "The session can't be stored (Permission denied)" in done.stderr
    assert "Traceback" not in done.stderr
