"""Modes, settings and what the environment changes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from agentcli.errors import UsageError
from agentcli.permissions.explain import call_of, explain
from agentcli.permissions.gate import Gate
from agentcli.ports.permissions import PERMISSION_MODES, PermissionMode
from agentcli.ports.tools import ToolCall, Workspace
from agentcli.settings.live import SettingsFiles
from tests.permissions.conftest import SYSTEM_PATH, GateMaker, make_gate, shell

TABLE = {
    "ls": "allow allow allow allow allow",
    "touch z": "ask allow ask deny allow",
    "npm test": "ask ask ask deny allow",
    "git reset --hard": "ask ask ask deny ask",
    "rm -rf /": "ask ask ask deny ask",
    '"$x" y': "ask ask ask deny allow",
    "date > out": "ask allow deny deny allow",
    "cat /etc/hostname": "ask ask ask deny allow",
}


@pytest.mark.parametrize("command", list(TABLE))
def test_modes(gate: GateMaker, command: str) -> None:
    found = [shell(gate(mode=mode), command).behavior for mode in PERMISSION_MODES]
    assert " ".join(found) == TABLE[command]


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("TodoWrite", "allow allow allow allow allow"),
        ("BashOutput", "allow allow allow allow allow"),
        ("KillShell", "allow allow allow allow allow"),
        ("Agent", "allow allow allow allow allow"),
        ("AskUserQuestion", "allow allow allow allow allow"),
        ("WebSearch", "ask ask ask deny allow"),
        ("mcp__a__b", "ask ask ask deny allow"),
        ("Unknown", "ask ask deny deny allow"),
        ("Skill", "ask ask ask deny allow"),
    ],
)
def test_tools_by_mode(gate: GateMaker, tool: str, expected: str) -> None:
    found = [gate(mode=mode).check(ToolCall("t", tool, {})).behavior for mode in PERMISSION_MODES]
    assert " ".join(found) == expected


@pytest.mark.parametrize("mode", PERMISSION_MODES)
def test_deny_beats_ask_beats_allow_whatever_the_order(gate: GateMaker, mode: PermissionMode) -> None:
    made = gate(mode=mode, allow=["Bash(x:*)", "Bash"], ask=["Bash(x:*)", "Bash(y:*)"], deny=["Bash(x y:*)"])
    assert shell(made, "x y z").behavior == "deny"
    assert shell(made, "x a").behavior == ("deny" if mode == "dontAsk" else "ask")
    assert shell(made, "y && z").behavior == ("deny" if mode == "dontAsk" else "ask")


def test_a_decision_names_rule_origin_and_parts(gate: GateMaker) -> None:
    decision = shell(gate(allow=["Bash(npm test:*)"], deny=["Bash(curl:*)"]), "npm test; curl x | cat")
    assert decision.rule == "deny Bash(curl:*) (command line)"
    assert decision.reason == "curl x: denied by the rule Bash(curl:*) (command line)"
    assert decision.details == (
        "allow: npm test: allowed by the rule Bash(npm test:*) (command line)",
        "deny: curl x: denied by the rule Bash(curl:*) (command line)",
        "allow: cat: it only reads",
    )


def test_bad_input_is_asked_about(gate: GateMaker) -> None:
    for values in ({}, {"command": None}, {"command": ""}, {"command": ["ls"]}, {"command": " \n"}):
        assert gate(allow=["Bash"]).check(ToolCall("t", "Bash", values)).behavior == "ask"


def test_a_very_long_line_is_asked_about(gate: GateMaker) -> None:
    decision = shell(gate(allow=["Bash(echo:*)"]), "echo " + "x" * 10_000)
    assert decision.behavior == "ask"
    assert "more than 10,000 characters" in decision.reason


def test_programs_in_the_working_tree_are_not_the_systems(site: Path, home: Path) -> None:
    path = f"{site}/bin:{SYSTEM_PATH}"
    made = make_gate(site, home, path=path, allow=["Bash(ls:*)", "Bash(git commit:*)"])
    assert "lies in the working tree" in shell(made, "ls").reason
    for command in ("ls", "git status", "git commit -m x"):
        assert shell(made, command).behavior == "ask", command
    assert shell(made, "/bin/ls").behavior == "allow"
    relative = make_gate(site, home, path=f"bin:{SYSTEM_PATH}", allow=["Bash(ls:*)"])
    assert shell(relative, "ls").behavior == "ask"
    for command in (
        "./cat f",
        f"{site}/cat f",
        "bin/ls",
        f"../{site.name}/cat f",
        "cd bin && ./ls",
        "alias ls=./cat; ls",
    ):
        assert shell(made, command).behavior == "ask", command
    assert not (site / "owned").exists()


def test_a_program_that_exists_only_in_the_tree_is_what_its_rule_means(site: Path, home: Path) -> None:
    (site / "bin" / "mytool").write_text("#!/bin/sh\n")
    (site / "bin" / "mytool").chmod(0o755)
    made = make_gate(site, home, path=f"{site}/bin:{SYSTEM_PATH}", allow=["Bash(mytool:*)"])
    assert shell(made, "mytool x").behavior == "allow"


def test_the_interpreter_of_the_virtual_environment_is_meant(site: Path, home: Path) -> None:
    venv = site / ".venv" / "bin"
    venv.mkdir(parents=True)
    for name in ("python3", "ls"):
        (venv / name).write_text("#!/bin/sh\n")
        (venv / name).chmod(0o755)
    path = f"{venv}:{SYSTEM_PATH}"
    options = {"path": path, "environment": {"VIRTUAL_ENV": str(site / ".venv")}}
    made = make_gate(site, home, allow=["Bash(python3:*)", "Bash(ls:*)"], **options)  # type: ignore[arg-type]
    assert shell(made, "python3 x.py").behavior == "allow"
    assert shell(made, "ls").behavior == "ask"
    assert shell(made, "python3 --version").behavior == "allow"
    assert shell(make_gate(site, home, **options), "python3 --version").behavior == "ask"  # type: ignore[arg-type]


def test_docker_may_aim_elsewhere(site: Path, home: Path) -> None:
    assert shell(make_gate(site, home), "docker ps").behavior == "allow"
    away = make_gate(site, home, environment={"DOCKER_HOST": "tcp://x"})
    assert shell(away, "docker ps").behavior == "ask"
    assert shell(make_gate(site, home), "docker -H tcp://x ps").behavior == "ask"


def load(site: Path, home: Path, trusted: bool = True) -> SettingsFiles:
    return SettingsFiles.load(site, {"HOME": str(home)}, managed=site / "none.json", trusted=trusted)


def gate_over(site: Path, home: Path, files: SettingsFiles, mode: PermissionMode = "default") -> Gate:
    return Gate(Workspace(site, site), files.current, mode=mode, home=home, environment={"PATH": SYSTEM_PATH})


def test_broken_settings_never_open_anything(site: Path, home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_bytes(
        b'\xef\xbb\xbf{"permissions":{"deny":["Bash(curl:*)"],"allow":["Bash(ls:*)","Bash(((","Nope(x)",7]},"unknownKey":1}\n'
    )
    files = load(site, home)
    made = gate_over(site, home, files, "bypassPermissions")
    assert shell(made, "curl http://127.0.0.1:1/").behavior == "deny"
    assert shell(made, "ls").behavior == "allow"
    assert len(made.warnings) == 2
    assert "'Bash((('" in made.warnings[0]
    assert "'Nope(x)'" in made.warnings[1]
    assert "7 is not a text" in files.current.warnings[0]
    assert files.current.unknown == (f"unknownKey in user settings ({home}/.claude/settings.json)",)

    (site / ".claude").mkdir()
    (site / ".claude" / "settings.json").write_text('{"permissions":{"deny":["Bash(wget:*)"],}, // note\n}\n')
    broken = load(site, home)
    assert broken.current.errors == (f"{site}/.claude/settings.json:1:40: a comma before the closing }}",)
    for mode in PERMISSION_MODES:
        guarded = gate_over(site, home, broken, mode)
        for command in ("wget http://127.0.0.1:1/", "ls", "echo x"):
            decision = shell(guarded, command)
            assert decision.behavior == ("deny" if mode == "dontAsk" else "ask"), (mode, command)
            assert "deny and ask rules may be missing" in decision.reason
        assert shell(guarded, "curl x").behavior == "deny"
        assert guarded.check(ToolCall("t", "Read", {"file_path": "f"})).behavior != "allow"
        assert guarded.check(ToolCall("t", "TodoWrite", {})).behavior == "allow"


def test_a_file_that_breaks_later_keeps_its_rules(site: Path, home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"permissions":{"deny":["Bash(curl:*)"]}}')
    files = load(site, home)
    made = gate_over(site, home, files)
    path.write_text('{"permissions":{"deny":["Bash(curl:*)"')
    again = files.reload()
    made.use(again.settings)
    assert "its former settings stay in force" in again.problems[0]
    assert shell(made, "curl x").behavior == "deny"
    assert shell(made, "ls").behavior == "allow"
    path.write_text('{"permissions":{"deny":["Bash(wget:*)"]}}')
    made.use(files.reload().settings)
    assert shell(made, "curl x").behavior == "ask"
    assert shell(made, "wget x").behavior == "deny"


def test_an_untrusted_project_only_tightens(site: Path, home: Path) -> None:
    (site / ".claude").mkdir()
    rules = {"allow": ["Bash(npm test:*)"], "deny": ["Bash(git push:*)"], "ask": ["Bash(ls:*)"], "defaultMode": "x"}
    (site / ".claude" / "settings.json").write_text(json.dumps({"permissions": rules, "env": {"A": "b"}}))
    files = load(site, home, trusted=False)
    made = gate_over(site, home, files)
    assert [shell(made, c).behavior for c in ("npm test", "git push", "ls")] == ["ask", "deny", "ask"]
    made.use(files.trust())
    assert [shell(made, c).behavior for c in ("npm test", "git push", "ls")] == ["allow", "deny", "ask"]


def test_local_settings_count_as_the_users_own_unless_git_tracks_them(site: Path, home: Path) -> None:
    path = site / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{"permissions":{"allow":["Bash(npm test:*)"]}}')
    assert shell(gate_over(site, home, load(site, home, trusted=False)), "npm test").behavior == "allow"
    subprocess.run(["git", "add", "-f", str(path)], cwd=site, check=True)
    assert shell(gate_over(site, home, load(site, home, trusted=False)), "npm test").behavior == "ask"
    assert shell(gate_over(site, home, load(site, home, trusted=True)), "npm test").behavior == "allow"


def test_bypass_can_be_forbidden(site: Path, home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"permissions":{"disableBypassPermissionsMode":"disable"}}')
    made = gate_over(site, home, load(site, home), "bypassPermissions")
    assert made.mode == "default"
    with pytest.raises(UsageError, match="disable bypassPermissions"):
        made.set_mode("bypassPermissions")


def test_changes_of_the_mode_are_told(gate: GateMaker) -> None:
    made = gate()
    heard: list[str] = []
    made.on_mode = heard.append
    made.set_mode("plan")
    made.set_mode("plan")
    made.set_mode("default")
    assert heard == ["plan", "default"]


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("Bash(git push)", ToolCall("test", "Bash", {"command": "git push"})),
        ("git push", ToolCall("test", "Bash", {"command": "git push"})),
        ("Read(~/x)", ToolCall("test", "Read", {"file_path": "~/x"})),
        ("WebFetch(https://a.test)", ToolCall("test", "WebFetch", {"url": "https://a.test"})),
        ("mcp__a__b", ToolCall("test", "mcp__a__b", {})),
        ("TodoWrite", ToolCall("test", "TodoWrite", {})),
    ],
)
def test_calls_from_text(text: str, call: ToolCall) -> None:
    assert call_of(text) == call


def test_an_explanation_shows_how_the_line_was_read(gate: GateMaker) -> None:
    made = gate(deny=["Bash(curl:*)"], allow=["Bash(npm test:*)"])
    text = explain("Bash(cd sub && timeout 5 npm test | tee log > out; A=1 make all)", made.policy())
    assert text == (
        "ask (mode default): tee log: no rule allows it, and tee is not on the list of programs that only read\n"
        "commands:\n"
        "  1. cd sub\n"
        "  2. timeout 5 npm test   (in sub)\n"
        "  3. npm test   (run by timeout; in sub)\n"
        "  4. tee log   (in sub)\n"
        "  5. make all   (in . or sub; with A)\n"
        "  writes out\n"
        "parts:\n"
        "  allow: cd sub: it only reads\n"
        "  allow: timeout 5 npm test: judged by what it runs\n"
        "  allow: npm test: allowed by the rule Bash(npm test:*) (command line)\n"
        "  ask: tee log: no rule allows it, and tee is not on the list of programs that only read\n"
        "  ask: make all: A is set for it, which may change what it does\n"
        "  ask: > out: no rule allows the edit\n"
        "don't ask again would save: Bash(tee log) (localSettings)\n"
        "don't ask again would save: acceptEdits (session)"
    )
    assert explain("curl x", made.policy()).startswith(
        "deny (mode default): curl x: denied by the rule Bash(curl:*) (command line)\n"
        "rule: deny Bash(curl:*) (command line)\n"
    )
    assert "not understood: it could not be parsed" in explain("ls )", made.policy())
    with pytest.raises(UsageError, match="nothing to test"):
        explain(" ", made.policy())
