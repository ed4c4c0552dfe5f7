"""The bounds as data, and the two languages in which they are told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from agentcli.ports.tools import Workspace
from agentcli.sandbox import bubblewrap, seatbelt
from agentcli.sandbox.confines import Confines, Guarded, Wishes, confines
from agentcli.sandbox.mechanism import Missing, find_mechanism
from agentcli.sandbox.room import read_wishes


def of(project: Path, home: Path | None = None, wishes: Wishes | None = None, guarded: Guarded | None = None) -> dict:
    found = confines(
        Workspace(project, project), wishes or Wishes(), guarded or Guarded(), home=home, env={"SSH_AUTH_SOCK": ""}
    )
    paths = [(p, access) for p, access in found.in_order() if p.is_relative_to(project.parent)]
    return {str(p.relative_to(project.parent)): access for p, access in paths}


def test_the_working_directory_but_not_what_later_steps_obey(project: Path) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    (project / ".claude" / "worktrees").mkdir(parents=True)
    (project / ".mcp.json").write_text("{}")
    (project / ".vscode").mkdir()
    assert of(project) == {
        "project": "write",
        "project/.claude": "read",
        "project/.git": "write",
        "project/.mcp.json": "read",
        "project/.vscode": "read",
        "project/.claude/worktrees": "write",
        "project/.git/config": "read",
        "project/.git/hooks": "read",
    }


def test_what_is_not_there_must_not_come(project: Path) -> None:
    assert of(project) == {"project": "write", "project/.claude": "absent"}
    (project / ".git").mkdir()
    assert of(project)["project/.git/hooks"] == "absent"


def test_a_linked_work_tree_may_commit_and_a_false_one_gains_nothing(project: Path) -> None:
    main = project.parent / "main"
    subprocess.run(["git", "init", "-q", str(main)], check=True)
    subprocess.run(["git", "-C", str(main), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run(["git", "-C", str(main), "worktree", "add", "-q", str(project / "tree")], check=True)
    found = of(project / "tree")
    assert found == {"tree": "write", "tree/.claude": "absent", "tree/.git": "read"}
    whole = dict(confines(Workspace(project / "tree", project / "tree"), Wishes(), Guarded(), home=None, env={}).paths)
    assert (whole[main / ".git"], whole[main / ".git" / "hooks"]) == ("write", "read")
    false = project.parent / "false"
    false.mkdir()
    (false / ".git").write_text((project / "tree" / ".git").read_text())
    whole = dict(confines(Workspace(false, false), Wishes(), Guarded(), home=None, env={}).paths)
    assert main / ".git" not in whole


def test_keys_are_hidden_and_the_narrower_wish_decides(project: Path, home: Path) -> None:
    for name in (".ssh/id", ".ssh/known_hosts", ".aws/credentials", "data/in/x", "data/out/x"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("x")
    wishes, warnings = read_wishes(
        {
            "filesystem": {
                "allowWrite": ["~/data"],
                "denyWrite": ["~/data/in/**"],
                "denyRead": [f"/{home}/data/out"],
                "allowRead": ["~/.ssh/known_hosts"],
            },
            "network": {"allowedDomains": ["*"]},
        },
        base=project,
        home=home,
    )
    assert warnings == ()
    assert wishes.network
    found = of(project, home, wishes, Guarded(unreadable=(home / "data" / "in" / "x",)))
    assert {k: v for k, v in found.items() if k.startswith("home")} == {
        "home/.aws": "none",
        "home/.ssh": "none",
        "home/data": "write",
        "home/.ssh/known_hosts": "read",
        "home/data/in": "read",
        "home/data/out": "none",
        "home/data/in/x": "none",
    }


def test_a_wish_for_single_domains_is_not_met_silently(project: Path) -> None:
    wishes, (warning,) = read_wishes({"network": {"allowedDomains": ["pypi.org"]}}, base=project, home=None)
    assert not wishes.network
    assert "pypi.org" in warning


def test_bubblewrap_words(project: Path) -> None:
    (project / "secret").write_text("x")
    (project / "keys").mkdir()
    bounds = Confines(((project / "keys", "none"), (project, "write"), (project / "secret", "none")))
    words = " ".join(bubblewrap.command(bounds, ["sh", "-c", "x"], program="/bin/bwrap"))
    assert words == (
        f"/bin/bwrap --ro-bind / / --dev /dev --proc /proc --bind {project} {project} "
        f"--perms 0000 --tmpfs {project}/keys --remount-ro {project}/keys --ro-bind /dev/null {project}/secret "
        "--unshare-pid --unshare-ipc --unshare-uts --die-with-parent --cap-drop ALL --unshare-net -- sh -c x"
    )
    assert "--unshare-net" not in bubblewrap.command(Confines((), network=True), ["x"])


def test_seatbelt_profile() -> None:
    bounds = Confines(
        ((Path('/p/a"b'), "none"), (Path("/p"), "write"), (Path("/p/.claude"), "absent"), (Path("/p/.git"), "read"))
    )
    lines = seatbelt.profile(bounds).splitlines()
    assert lines[:3] == ["(version 1)", "(allow default)", "(deny file-write*)"]
    assert lines[-6:] == [
        '(allow file-read* file-write* (subpath "/p"))',
        '(deny file-write* (subpath "/p/.claude"))',
        '(allow file-read* (subpath "/p/.git"))',
        '(deny file-write* (subpath "/p/.git"))',
        '(deny file-read* file-write* (subpath "/p/a\\"b"))',
        "(deny network*)",
    ]
    assert seatbelt.command(bounds, ["x"])[:2] == ["sandbox-exec", "-p"]


def test_a_machine_without_a_sandbox_says_what_to_do(tmp_path: Path) -> None:
    empty = {"PATH": str(tmp_path)}
    assert find_mechanism(empty, platform="linux") == Missing("bwrap is not installed", bubblewrap.HINT)
    assert isinstance(find_mechanism(empty, platform="win32"), Missing)
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n")
    broken.chmod(0o755)
    found = find_mechanism({"PATH": f"{tmp_path}:/bin:/usr/bin"}, platform="linux")
    assert isinstance(found, Missing)
    assert found.reason == f"{broken} makes no sandbox here: setting up uid map: Permission denied"


def test_doctor_and_permissions_test_know_of_it(project: Path, tmp_path: Path) -> None:
    pretended = tmp_path / "bwrap"
    pretended.write_text("#!/bin/sh\nexit 0\n")
    pretended.chmod(0o755)
    (project / ".claude").mkdir()
    chosen = {"sandbox": {"enabled": True, "bwrapPath": str(pretended)}}
    (project / ".claude" / "settings.json").write_text(json.dumps(chosen))

    def run(*words: str) -> str:
        done = subprocess.run([sys.executable, "-m", "agentcli", *words], capture_output=True, text=True, check=False)
        return done.stdout

    assert run("permissions", "test", "Bash(npm test)").startswith("ask")
    assert "sandbox:" not in run("doctor")
    (project / ".claude").rename(tmp_path / "home" / ".claude")
    assert "it runs in the sandbox" in run("permissions", "test", "Bash(npm test)")
    assert f"sandbox: {pretended}, tried" in run("doctor")
    pretended.unlink()
    assert run("permissions", "test", "Bash(npm test)").startswith("ask")
    assert f"sandbox: {pretended} is not installed; commands run without one" in run("doctor")
