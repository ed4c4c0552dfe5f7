"""What children see: no keys of ours, and nothing that waits for a person."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agentcli.processes import ProcessManager, environment, without_keys

SECRETS = {
    "ANTHROPIC_API_KEY": "EXAMPLE-1",
    "ANTHROPIC_AUTH_TOKEN": "EXAMPLE-2",
    "CLAUDE_CODE_OAUTH_TOKEN": "EXAMPLE-3",
}


def test_only_our_keys_are_left_out() -> None:
    base = {**SECRETS, "MINE": "EXAMPLE-4", "PATH": "/bin", "PAGER": "most"}
    assert without_keys(base) == {"MINE": "EXAMPLE-4", "PATH": "/bin", "PAGER": "most"}
    assert without_keys(base, drop=["MINE"]) == {"PATH": "/bin", "PAGER": "most"}


async def test_no_key_reaches_a_command(
    manager: ProcessManager, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    script = "env; cat /proc/$PPID/environ /proc/$PPID/cmdline"
    done = await manager.run(["sh", "-c", script], project, env=environment())
    assert "AGENTCLI=1\n" in done.output.text
    assert "EXAMPLE" not in done.output.text


async def test_the_command_finds_its_own_directory_in_pwd(manager: ProcessManager, project: Path) -> None:
    (project / "sub").mkdir()
    done = await manager.run(["printenv", "PWD"], project / "sub", env=environment())
    assert done.output.text == f"{project / 'sub'}\n"


@pytest.fixture
def history(repo: Path) -> Path:
    for number in range(3):
        (repo / "f").write_text(str(number))
        subprocess.run(["git", "add", "f"], cwd=repo, check=True)
        subprocess.run(["git", "commit", "-qm", f"c{number}"], cwd=repo, check=True)
    subprocess.run(["git", "config", "core.pager", "less -+F -X"], cwd=repo, check=True)
    subprocess.run(["git", "config", "core.editor", "vi"], cwd=repo, check=True)
    return repo


async def git(manager: ProcessManager, cwd: Path, command: str) -> tuple[int, str]:
    done = await manager.run(["bash", "-c", command], cwd, env=environment(), timeout=15)
    assert not done.timed_out
    return done.exit_code, done.output.text


async def test_git_never_pages(manager: ProcessManager, history: Path) -> None:
    code, text = await git(manager, history, "git --paginate log --oneline | wc -l; git var GIT_PAGER")
    assert (code, text) == (0, "4\ncat\n")


@pytest.mark.parametrize("command", ["echo z > f; git add f; git commit", "git commit --amend", "git rebase -i HEAD~2"])
async def test_an_editor_fails_at_once_and_says_what_to_do(
    manager: ProcessManager, history: Path, command: str
) -> None:
    before = await git(manager, history, "git log --format=%s")
    code, text = await git(manager, history, command)
    assert code == 1
    assert "agentcli: no editor can be opened" in text
    assert 'git commit -m "message"' in text
    assert await git(manager, history, "git rebase --abort 2>/dev/null; git log --format=%s") == before


async def test_credentials_are_never_asked_for(manager: ProcessManager, repo: Path) -> None:
    ask = "printf 'protocol=https\\nhost=example.test\\n\\n' | git -c core.askPass=/bin/echo credential fill"
    code, text = await git(manager, repo, ask)
    assert code == 128
    assert "terminal prompts disabled" in text
    assert (await git(manager, repo, "git clone https://127.0.0.1:1/none.git"))[0] == 128
