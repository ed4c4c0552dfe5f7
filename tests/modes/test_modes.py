"""Which modes are on, which modules that loads, and what their texts promise."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from agentcli.modes.agent import MainThreadAgent
from agentcli.modes.coordinator import COORDINATOR_TOOLS, DELEGATION_TOOLS, coordinator_system_prompt
from agentcli.modes.loop import LOOP_DONE, loop_system_prompt, says_done
from agentcli.modes.proactive import proactive_words
from agentcli.modes.select import active_proactive_words, coordinator_active, coordinator_level
from agentcli.prompt.environment import Environment

COORDINATOR_ENV = {"CLAUDE_CODE_COORDINATOR_MODE": "1"}


def flags(*names: str):
    return lambda name: name in names


@pytest.mark.parametrize(
    ("names", "env", "expected"),
    [
        ((), {}, False),
        (("COORDINATOR_MODE",), {}, False),
        ((), COORDINATOR_ENV, False),
        (("COORDINATOR_MODE",), COORDINATOR_ENV, True),
        (("COORDINATOR_MODE",), {"CLAUDE_CODE_COORDINATOR_MODE": "0"}, False),
        (("COORDINATOR_MODE",), {"CLAUDE_CODE_COORDINATOR_MODE": "Yes"}, True),
    ],
)
async def test_the_coordinator_needs_flag_and_variable(
    names: tuple[str, ...], env: dict[str, str], expected: bool
) -> None:
    assert coordinator_active(flags(*names), env) is expected
    text = await coordinator_level(flags(*names), env)()
    assert text == (await coordinator_system_prompt() if expected else None)


@pytest.mark.parametrize(
    ("names", "active", "expected"),
    [
        ((), True, False),
        (("PROACTIVE",), False, False),
        (("PROACTIVE",), True, True),
        (("KAIROS",), True, True),
        (("COORDINATOR_MODE",), True, False),
    ],
)
def test_proactive_needs_a_flag_and_to_be_active(names: tuple[str, ...], active: bool, expected: bool) -> None:
    assert active_proactive_words(flags(*names), active=active) == (proactive_words() if expected else None)


SCRIPT = """
import json, sys
from agentcli.modes.select import active_proactive_words, coordinator_level
flags, env, active = json.loads(sys.argv[1])
import agentcli.prompt.source
coordinator_level(lambda name: name in flags, env)
active_proactive_words(lambda name: name in flags, active=active)
print(json.dumps(sorted(m for m in sys.modules if m.startswith("agentcli.modes."))))
"""


@pytest.mark.parametrize(
    ("flags_on", "env", "active", "loaded"),
    [
        ([], COORDINATOR_ENV, True, []),
        (["COORDINATOR_MODE", "PROACTIVE", "KAIROS"], {}, False, []),
        (["COORDINATOR_MODE"], COORDINATOR_ENV, True, ["coordinator"]),
        (["KAIROS"], COORDINATOR_ENV, True, ["proactive"]),
    ],
)
def test_a_mode_is_loaded_only_when_it_is_on(
    flags_on: list[str], env: dict[str, str], active: bool, loaded: list[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps([flags_on, env, active])],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == sorted(f"agentcli.modes.{m}" for m in [*loaded, "select"])


async def test_the_coordinator_s_prompt_names_its_tools_and_no_other_changing_one() -> None:
    text = await coordinator_system_prompt()
    assert [t for t in DELEGATION_TOOLS if f"`{t}`" in text] == list(DELEGATION_TOOLS)
    assert not {"Write", "Edit", "Bash"} & set(COORDINATOR_TOOLS)
    assert not [t for t in ("`Write`", "`Edit`", "`Bash`") if t in text]


def test_the_proactive_texts() -> None:
    words = proactive_words()
    assert words.identity.startswith("You are agentcli, an autonomous coding agent.")
    assert "Refuse work whose purpose is to harm" in words.identity
    for promise in ("tick", "`Sleep`", "here or away", "budget"):
        assert promise in words.section


def test_the_loop_s_prompt_stands_alone_and_is_the_same_for_all_rounds() -> None:
    place = Environment(cwd="/srv/app", git=True)
    text = loop_system_prompt(place, "2026-11-30")
    assert text == loop_system_prompt(place, "2026-11-30")
    assert f"\n\n{LOOP_DONE}\n\n" in text
    assert "- Primary working directory: /srv/app\n" in text
    assert text.endswith("- Date: 2026-11-30")
    assert "{" not in text


@pytest.mark.parametrize(
    ("answer", "done"),
    [
        ("All tests pass.\n\nLOOP_DONE", True),
        ("LOOP_DONE\n", True),
        ("Fine.\n  LOOP_DONE  \n\n", True),
        ("I will write LOOP_DONE", False),
        ("LOOP_DONE\nbut not yet", False),
        ("LOOP_DONE.", False),
        ("", False),
    ],
)
def test_a_loop_ends_at_its_word_alone_on_the_last_line(answer: str, done: bool) -> None:
    assert says_done(answer) is done


async def test_an_agent_on_the_main_thread() -> None:
    agent = MainThreadAgent("guard", "You guard.", tools=("Read", "Bash"), disallowed_tools=("Bash",))
    assert await agent.level()() == "You guard."
    assert [t for t in ("Read", "Bash", "Edit") if agent.allows(t)] == ["Read"]
    assert MainThreadAgent("all", "x").allows("Edit")
