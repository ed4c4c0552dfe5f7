"""Which hooks count, and what a wrong one is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentcli.extend.hooks import EVENTS, read_hooks
from agentcli.extend.hooks.config import Handler, matches
from agentcli.extend.hooks.running import seconds_of
from tests.extend.worlds import one, settings, write


@pytest.mark.parametrize(
    ("matcher", "subject", "expected"),
    [
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Bash", "BashOutput", False),
        ("bash", "Bash", False),
        ("Edit|Write", "Write", True),
        ("Edit, Write", "Edit", True),
        ("Edit|Write", "MultiEdit", False),
        ("mcp__files__read", "mcp__files__read", True),
        ("mcp__files", "mcp__files__read", False),
        ("mcp__files__.*", "mcp__files__read", True),
        ("^Ba", "Bash", True),
        ("it$", "NotebookEdit", True),
        (".*Edit", "NotebookEdit", True),
        ("Task", "Agent", True),
        ("Agent", "Agent", True),
        ("manual", "auto", False),
        ("startup|resume", "resume", True),
    ],
)
def test_matchers(matcher: str, subject: str, expected: bool) -> None:
    assert matches(matcher, subject) is expected


def test_events_without_a_subject_take_every_matcher() -> None:
    assert Handler("Stop", "anything", "command", "x").matches("")
    assert not Handler("PreCompact", "manual", "command", "x").matches("auto")


def test_what_is_wrong_is_named_and_left_out(project: Path) -> None:
    hooks = {
        "PreToolUse": [
            {"matcher": "a)(", "hooks": [{"type": "command", "command": "a"}]},
            {"matcher": 3, "hooks": []},
            {"hooks": [{"type": "mcp_tool", "server": "x"}, {"type": "command"}, 7, {"command": "ok"}]},
            {"hooks": [{"command": "b", "timeout": -1}, {"command": "c", "args": "x"}]},
            {"hooks": [{"command": "c", "args": ["a\0b"]}]},
        ],
        "Stop": {"hooks": []},
        "OnStart": [],
        "TeammateIdle": [{"hooks": []}],
    }
    path = write(project / ".claude" / "settings.local.json", json.dumps({"hooks": hooks}))
    config = read_hooks(settings(project))
    where = f"local settings ({path}): hooks"
    assert config.handlers == (Handler("PreToolUse", "", "command", "ok", source=f"local settings ({path})"),)
    assert [w.replace(where, "…") for w in config.warnings] == [
        "….PreToolUse[0]: the matcher 'a)(' is no regular expression (unbalanced parenthesis at position 1); ignored",
        '….PreToolUse[1]: must be an object with "hooks" and perhaps a "matcher" (a text); ignored',
        "….PreToolUse[2].hooks[0]: hooks of type 'mcp_tool' are not supported; use command, prompt, http; ignored",
        '….PreToolUse[2].hooks[1]: "command" is missing; ignored',
        "….PreToolUse[2].hooks[2]: must be an object with a type; ignored",
        '….PreToolUse[3].hooks[0]: "timeout" must be seconds above 0; ignored',
        '….PreToolUse[3].hooks[1]: "args" must be a list of texts; ignored',
        "….PreToolUse[4].hooks[0]: a command can't hold a NUL character; ignored",
        "….Stop: must be a list; ignored",
        f"….OnStart: there is no such event; ignored. Events: {', '.join(EVENTS)}",
    ]


def commands(project: Path, **given: object) -> list[str]:
    return [h.text for h in read_hooks(settings(project, **given)).handlers]  # type: ignore[arg-type]  # settings


def everywhere(project: Path, home: Path) -> Path:
    """A hook in every file; returns the managed one."""
    write(home / ".claude" / "settings.json", json.dumps({"hooks": one("Stop", "user")}))
    write(project / ".claude" / "settings.json", json.dumps({"hooks": one("Stop", "project")}))
    return write(project.parent / "managed.json", json.dumps({"hooks": one("Stop", "managed")}))


def test_files_are_joined_and_a_project_needs_trust(project: Path, home: Path) -> None:
    managed = everywhere(project, home)
    assert commands(project, managed=managed) == ["managed", "user"]
    assert commands(project, managed=managed, trusted=True) == ["managed", "project", "user"]


def test_switches(project: Path, home: Path) -> None:
    managed = everywhere(project, home)
    assert commands(project, managed=managed, trusted=True, disableAllHooks=True) == ["managed"]
    write(managed, json.dumps({"hooks": one("Stop", "managed"), "allowManagedHooksOnly": True}))
    assert commands(project, managed=managed, trusted=True) == ["managed"]
    write(managed, json.dumps({"hooks": one("Stop", "managed"), "disableAllHooks": True}))
    config = read_hooks(settings(project, managed=managed, trusted=True))
    assert (config.handlers, config.off) == ((), "managed settings switch all hooks off (disableAllHooks)")


def test_an_untrusted_project_may_switch_hooks_off_but_only_its_reader_runs_them(project: Path, home: Path) -> None:
    everywhere(project, home)
    write(project / ".claude" / "settings.json", json.dumps({"disableAllHooks": True, "hooks": one("Stop", "project")}))
    assert commands(project) == []


@pytest.mark.parametrize(
    ("event", "timeout", "expected"),
    [
        ("PreToolUse", None, 600.0),
        ("UserPromptSubmit", None, 30.0),
        ("SessionEnd", None, 1.5),
        ("SessionEnd", 5.0, 5.0),
        ("SessionEnd", 500.0, 60.0),
        ("Stop", 3.0, 3.0),
    ],
)
def test_how_long_a_hook_may_take(event: str, timeout: float | None, expected: float) -> None:
    assert seconds_of(Handler(event, "", "command", "x", timeout=timeout)) == expected
    assert seconds_of(Handler("Stop", "", "prompt", "x")) == 30.0
