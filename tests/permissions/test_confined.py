"""What a sandbox answers by itself, and what is asked all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentcli.permissions.confined import denied_files
from agentcli.permissions.confinement import Confinement, read_confinement
from agentcli.ports.permissions import Decision
from agentcli.ports.sandbox import LEAVE
from agentcli.ports.tools import ToolCall
from tests.permissions.conftest import GateMaker, make_gate

CONFINED = {
    "npm test": "allow",
    '"$x" y': "ask",
    "npm test; $(x)": "ask",
    "cat /etc/hostname": "allow",
    "echo x > sub/new": "allow",
    "git reset --hard": "ask",
    "rm -rf /": "ask",
    "echo x > .claude/settings.json": "ask",
    "curl example.org": "ask",
    "wget example.org": "deny",
    "cat .env": "deny",
}


def decide(made: object, command: str, **more: object) -> Decision:
    return made.check(ToolCall("t", "Bash", {"command": command, **more}))  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", list(CONFINED))
def test_only_what_no_rule_allows_is_answered_by_the_sandbox(gate: GateMaker, command: str) -> None:
    made = gate(ask=["Bash(curl:*)"], deny=["Bash(wget:*)", "Read(.env)"])
    made.confinement = Confinement()
    assert decide(made, command).behavior == CONFINED[command]


def test_an_ask_rule_for_everything_is_met_by_the_sandbox(gate: GateMaker) -> None:
    for rule in ("Bash", "Bash(*)"):
        made = gate(ask=[rule])
        assert decide(made, "npm test").behavior == "ask"
        made.confinement = Confinement()
        found = decide(made, "npm test")
        assert (found.behavior, found.reason) == ("allow", "it runs in the sandbox")


def test_leaving_asks_and_says_so(gate: GateMaker) -> None:
    made = gate(allow=["Bash(make:*)"])
    made.confinement = Confinement()
    found = decide(made, "npm test", **{LEAVE: True})
    assert found.behavior == "ask"
    assert found.reason.startswith("outside of the sandbox: ")
    assert decide(made, "make x", **{LEAVE: True}).behavior == "allow"
    made.confinement = Confinement(may_leave=False)
    assert decide(made, "npm test", **{LEAVE: True}).behavior == "allow"


def test_excluded_commands_and_a_sandbox_that_only_confines_are_asked_about(gate: GateMaker) -> None:
    made = gate()
    made.confinement = Confinement(excluded=("docker:*", "git push *"))
    assert decide(made, "docker run x | grep y").behavior == "ask"
    assert decide(made, "cd sub && git push origin").behavior == "ask"
    assert decide(made, "npm test").behavior == "allow"
    made.confinement = Confinement(unasked=False)
    assert decide(made, "npm test").behavior == "ask"


def test_modes_keep_their_meaning(gate: GateMaker) -> None:
    expected = {"plan": "ask", "dontAsk": "allow", "bypassPermissions": "allow", "acceptEdits": "allow"}
    for mode, behavior in expected.items():
        made = gate(mode=mode)
        made.confinement = Confinement()
        assert decide(made, "npm test").behavior == behavior


def test_the_settings_say_how() -> None:
    assert read_confinement({}) == Confinement(unasked=True, may_leave=True, excluded=())
    settings = {"autoAllowBashIfSandboxed": False, "allowUnsandboxedCommands": False, "excludedCommands": ["a", 1]}
    assert read_confinement(settings) == Confinement(unasked=False, may_leave=False, excluded=("a",))


def test_files_that_deny_rules_mean(project: Path, home: Path) -> None:
    for name in (".env", "sub/.env", "sub/key.pem", "node_modules/x/.env", "gen/a", "kept"):
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (home / ".ssh").mkdir()
    made = make_gate(
        project, home, deny=["Read(.env)", "Read(**/*.pem)", "Read(~/.ssh/**)", "Edit(gen/**)", "Read(//nowhere/x)"]
    )
    policy = made.policy()
    read, whole = denied_files(policy, "Read")
    assert whole
    assert set(read) == {
        project / ".env",
        project / "node_modules/x/.env",
        project / "sub/.env",
        project / "sub/key.pem",
        home / ".ssh",
    }
    assert denied_files(policy, "Edit") == ((project / "gen",), True)
