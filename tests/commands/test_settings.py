"""``/config``, ``/doctor`` and ``/plan``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentcli.errors import UserError
from agentcli.model.scripted import say
from agentcli.ports.frontend import UserInput
from tests.commands.test_commands import desk


async def test_config_shows_origins_and_writes_for_the_user(project: Path, home: Path) -> None:
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.local.json").write_text('{"theme": "light", "permissions": {"deny": ["Bash(x)"]}}')
    async with desk(project) as at:
        shown = (await at("config")).text
        assert '- `theme` = `"light"` (local settings' in shown
        parts = [(await at(f"config {key}")).text for key in ("permissions", "theme")]
        assert shown == "\n".join(parts)
        written = (await at("config language=Deutsch")).text
        file = home / ".claude" / "settings.json"
        assert written == f'`language` = `"Deutsch"` in `{file}`; it holds from the next message on.'
        assert json.loads(file.read_text()) == {"language": "Deutsch"}
        await at.say()
        assert "user settings" in (await at("config language")).text
        for wrong, words in (
            ("nothing", "not set"),
            ("languag=x", "language"),
            ("autoCompactEnabled=maybe", "true or false"),
        ):
            with pytest.raises(UserError, match=words):
                await at(f"config {wrong}")


async def test_doctor_in_a_session(project: Path) -> None:
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text('{"colour": 1}')
    async with desk(project) as at:
        text = (await at("doctor")).text
    assert "- **agentcli:** `" in text
    assert "NOTE: `unknown key: colour in project settings" in text
    assert "- **server:** MISSING: `" in text


async def test_plan_with_and_without_a_task(project: Path) -> None:
    async with desk(project, say("A plan.")) as at:
        assert (await at("plan")).text.startswith("Mode: plan")
        assert at.session.status().mode == "plan"
        at.session.set_mode("default")
        assert (await at("plan mend the tests")).prompt == UserInput("mend the tests")
        assert at.session.status().mode == "plan"
