"""Stored sessions are listed, and removed only after a yes."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from agentcli.cli.sessions import list_stored, prune
from agentcli.cli.subcommands import run_subcommand
from agentcli.clock import SystemClock
from agentcli.errors import UserError
from agentcli.messages import message_to_record, user
from agentcli.sessions import SessionStore

DAY = 24 * 3600


def store(home: Path, words: str, *, age: float = 0.0) -> Path:
    opened = SessionStore(home / ".agentcli", Path.cwd(), clock=SystemClock()).create({"model": "m"})
    opened.journal.append("message", {"message": message_to_record(user(words))})
    opened.close()
    assert opened.path is not None
    old = time.time() - age
    os.utime(opened.path, (old, old))
    return opened.path


def test_the_list(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(home, "older words", age=100)
    store(home, "newer words")
    assert list_stored(as_json=True) == 0
    assert [row["first_prompt"] for row in json.loads(capsys.readouterr().out)] == ["newer words", "older words"]


def test_old_sessions_go_only_after_a_yes(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = store(home, "old", age=40 * DAY), store(home, "new", age=20 * DAY)
    with pytest.raises(UserError, match="--yes"):
        prune(days=None, yes=False)
    assert old.exists()
    assert str(old) in capsys.readouterr().out
    assert prune(days=None, yes=True) == 0
    assert (old.exists(), new.exists()) == (False, True)


def test_the_setting_names_the_period(home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"cleanupPeriodDays": 10}')
    young, old = store(home, "young", age=5 * DAY), store(home, "old", age=20 * DAY)
    assert prune(days=None, yes=True) == 0
    assert (young.exists(), old.exists()) == (True, False)


def test_a_group_alone_does_what_is_asked_of_it_most(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(home, "some words")
    assert run_subcommand(["sessions"]) == 0
    assert "some words" in capsys.readouterr().out
    for group in ("config", "mcp", "memory", "permissions"):
        assert run_subcommand([group]) == 0
        out, err = capsys.readouterr()
        assert out
        assert not err
