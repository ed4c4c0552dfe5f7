"""Byte identity: what all sessions share, and the same state in another process."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentcli.prompt.context import OutputStyle, PromptModel
from agentcli.prompt.environment import Environment
from agentcli.prompt.identity import MAIN_IDENTITY
from agentcli.prompt.split import split_sys_prompt_prefix
from agentcli.prompt.static import static_region
from tests.prompt.worlds import STEP, Texts, world

TEXT = st.one_of(st.none(), st.text(max_size=40))
NAME = st.text(max_size=20)
TOOLS = ["Bash", "Read", "Edit", "Agent", "Skill", "ToolSearch", "AskUserQuestion", "mcp__git__log"]
SHARED = {
    keep: [MAIN_IDENTITY, "\n\n".join(p.text for p in static_region(coding_instructions=keep))]
    for keep in (True, False)
}

STYLES = st.one_of(st.none(), st.builds(OutputStyle, NAME, NAME, st.booleans()))
ENVIRONMENTS = st.builds(
    Environment,
    cwd=NAME,
    additional=st.lists(NAME, max_size=3).map(tuple),
    git=st.booleans(),
    worktree=st.booleans(),
    platform=st.sampled_from(["linux", "darwin", "win32"]),
    shell=NAME,
    os_version=NAME,
)
CONTEXTS = st.fixed_dictionaries(
    {
        "environment": ENVIRONMENTS,
        "model": st.builds(PromptModel, NAME, NAME, TEXT),
        "start_date": st.dates().map(str),
        "tools": st.frozensets(st.sampled_from(TOOLS)),
        "interactive": st.booleans(),
        "language": NAME,
        "output_style": STYLES,
        "scratch_directory": NAME,
        "tool_result_clearing": st.booleans(),
        "mcp_instructions_delta": st.booleans(),
        "texts": st.builds(Texts, memory=TEXT, skills=TEXT, agents=TEXT, mcp_instructions=TEXT),
        "global_scope": st.booleans(),
    }
)
PROCESS = st.dictionaries(
    st.sampled_from(["HOME", "USER", "LANG", "LC_ALL", "TZ", "SHELL", "CLAUDE_CODE_SIMPLE", "PERMISSION_MODE"]),
    st.sampled_from(["/home/a", "b", "de_DE.UTF-8", "C", "Asia/Tokyo", "/bin/zsh", "1"]),
)


async def blocks_of(options: dict[str, Any]) -> list[str]:
    prompt = await world(**options).source.effective(STEP)
    return [b.text for b in split_sys_prompt_prefix(prompt, skip_global_cache_for_system_prompt=False)]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(options=CONTEXTS, process=PROCESS)
def test_what_stands_in_front_of_the_boundary_is_one_of_two(options: dict[str, Any], process: dict[str, str]) -> None:
    before = dict(os.environ)
    os.environ.update(process)
    try:
        blocks = asyncio.run(blocks_of(options))
    finally:
        os.environ.clear()
        os.environ.update(before)
    style: OutputStyle | None = options["output_style"]
    assert blocks[:2] == SHARED[style is None or style.keep_coding_instructions]
    assert asyncio.run(blocks_of(options)) == blocks  # nothing of the process is in the rest either


SCRIPT = """
import asyncio, json, sys
from agentcli.modes.coordinator import coordinator_system_prompt
from agentcli.modes.proactive import proactive_words
from agentcli.prompt.context import OutputStyle
from agentcli.prompt.effective import PromptLevels, given
from agentcli.prompt.split import split_sys_prompt_prefix
from agentcli.prompt.subagent import subagent_system_prompt
from tests.prompt.worlds import STEP, Texts, context, world

TEXTS = dict(memory="M", skills="- a\\n- b", agents="- c", mcp_instructions="## s\\n\\nt")
FULL = dict(
    tools=frozenset({"Agent", "Skill", "ToolSearch", "AskUserQuestion", "Bash", "Read"}),
    language="German",
    output_style=OutputStyle("s", "t", True),
    mcp_instructions_delta=False,
    scratch_directory="/tmp/s",
    tool_result_clearing=True,
)

async def main():
    found = []
    for layout in ("split", "documented"):
        for scope in (True, False):
            for more in ({}, {"simple": True}, {"proactive": proactive_words()}):
                made = world(texts=Texts(**TEXTS), layout=layout, global_scope=scope, **FULL, **more)
                prompts = [await made.source.effective(STEP), subagent_system_prompt(context(**FULL), None)]
                found += [split_sys_prompt_prefix(p, skip_global_cache_for_system_prompt=False) for p in prompts]
                found.append(await made.source.collect("first_message"))
    made = world(texts=Texts(**TEXTS, coordinator=await coordinator_system_prompt()), **FULL)
    found += [await made.source.effective(STEP), await made.source.collect("first_message")]
    return found

heavy = [m for m in ("anthropic", "mcp", "rich", "prompt_toolkit", "yaml") if m in sys.modules]
print(json.dumps([repr(asyncio.run(main())), heavy]))
"""


def run(seed: str, home: Path) -> Any:
    root = Path(__file__).resolve().parents[2]
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONHASHSEED": seed,
        "HOME": str(home),
        "LANG": "C" if seed == "1" else "en_US",
    }
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=root, env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_same_state_gives_the_same_bytes_in_another_process(world: Path) -> None:
    first, second = run("1", world / "home"), run("4242", world / "project")
    assert first == second
    assert first[1] == []  # and no vendor's package is loaded for it
