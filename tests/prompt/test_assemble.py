"""The default prompt: its three paths, order of parts, and what each dynamic section says."""

from __future__ import annotations

import pytest

from agentcli.conversation import ConversationCache, PromptPart
from agentcli.modes.proactive import proactive_words
from agentcli.prompt.assemble import default_level, dynamic_sections, get_system_prompt
from agentcli.prompt.context import NO_SOURCES, OutputStyle, PromptContext, PromptModel
from agentcli.prompt.environment import Environment
from agentcli.prompt.identity import MAIN_IDENTITY
from agentcli.prompt.static import static_part, static_region
from tests.prompt.worlds import Texts, context

TEN = [
    "session_guidance",
    "memory",
    "env_info_simple",
    "language",
    "output_style",
    "mcp_instructions",
    "scratchpad",
    "function_result_clearing",
    "summarize_tool_results",
    "token_budget",
]
EVERYTHING = {
    "language": "German",
    "output_style": OutputStyle("teacher", "Explain.", keep_coding_instructions=True),
    "mcp_instructions_delta": False,
    "scratch_directory": "/tmp/s",
    "tool_result_clearing": True,
}


async def parts_of(made: PromptContext, texts: Texts | None = None) -> list[PromptPart]:
    return await get_system_prompt(made, (texts or Texts()).sources(), ConversationCache())


async def text_of(name: str, made: PromptContext, texts: Texts | None = None) -> str | None:
    return next((p.text for p in await parts_of(made, texts) if p.name == name), None)


def test_the_registry_has_ten_sections_in_this_order() -> None:
    assert [s.name for s in dynamic_sections(context(), NO_SOURCES)] == TEN


async def test_the_standard_list_with_everything_in_it() -> None:
    parts = await parts_of(context(**EVERYTHING), Texts(memory="M", mcp_instructions="## s\n\nuse it"))
    assert [p.name for p in parts] == ["identity", *[p.name for p in static_region()], "boundary", *TEN]
    assert [p.kind for p in parts] == ["identity", *["static"] * 7, "boundary", *["dynamic"] * 10]
    assert parts[0].text == MAIN_IDENTITY
    assert [p.name for p in parts if p.policy == "volatile"] == ["mcp_instructions"]
    assert {p.policy for p in parts[9:] if p.name != "mcp_instructions"} == {"memoised"}


async def test_what_has_nothing_to_say_is_left_out() -> None:
    parts = await parts_of(context())
    assert [p.name for p in parts if p.kind == "dynamic"] == ["session_guidance", "env_info_simple", "token_budget"]


@pytest.mark.parametrize("blank", ["", "  \n"])
async def test_a_blank_text_is_left_out_too(blank: str) -> None:
    assert await text_of("memory", context(), Texts(memory=blank)) is None


@pytest.mark.parametrize(
    ("layout", "global_scope", "expected"),
    [("split", False, True), ("split", True, True), ("documented", True, True), ("documented", False, False)],
)
async def test_where_the_boundary_stands(layout: str, global_scope: bool, expected: bool) -> None:
    parts = await parts_of(context(layout=layout, global_scope=global_scope))
    places = [i for i, p in enumerate(parts) if p.kind == "boundary"]
    assert places == ([8] if expected else [])


# --- fast paths ---


async def test_the_simple_stub_is_three_lines() -> None:
    texts = Texts(memory="M", skills="S", mcp_instructions="I")
    parts = await parts_of(context(simple=True, **EVERYTHING), texts)
    (stub,) = parts
    assert stub.text.split("\n") == [MAIN_IDENTITY, "Working directory: /srv/app", "Date: 2026-11-30"]
    assert texts.asked == {}


async def test_the_proactive_list() -> None:
    words = proactive_words()
    made = context(proactive=words, **EVERYTHING)
    parts = await parts_of(made, Texts(memory="M", mcp_instructions="I"))
    assert parts[:2] == [PromptPart("identity", "identity", words.identity), static_part("system")]
    assert [p.name for p in parts[2:]] == [
        "memory",
        "env_info_simple",
        "language",
        "mcp_instructions",
        "scratchpad",
        "proactive",
    ]
    assert parts[-1].text == words.section


async def test_proactive_shares_its_memoised_sections_with_the_standard_path() -> None:
    cache, texts = ConversationCache(), Texts(memory="M")
    await get_system_prompt(context(), texts.sources(), cache)
    texts.memory = "other"
    parts = await get_system_prompt(context(proactive=proactive_words()), texts.sources(), cache)
    assert [p.text for p in parts if p.name == "memory"] == ["M"]


def test_simple_comes_before_proactive() -> None:
    words = proactive_words()
    assert default_level(context(simple=True, proactive=words)) == "simple"
    assert default_level(context(proactive=words)) == "proactive"
    assert default_level(context()) == "default"


# --- what the sections say ---


async def test_environment() -> None:
    made = context(
        environment=Environment(
            cwd="/srv/app",
            additional=("/srv/lib", "/srv/other dir"),
            git=True,
            worktree=True,
            platform="darwin",
            shell="zsh",
            os_version="Darwin 25.1.0",
        )
    )
    assert await text_of("env_info_simple", made) == (
        "# Environment\n"
        "\n"
        "- Primary working directory: /srv/app\n"
        "- Additional working directories: /srv/lib, /srv/other dir\n"
        "- Git repository: yes, a linked worktree: stay in it, don't change to the main checkout\n"
        "- Platform: darwin\n"
        "- Shell: zsh\n"
        "- OS version: Darwin 25.1.0\n"
        "- Model: Claude Sonnet 5 (claude-sonnet-5)\n"
        "- Knowledge cutoff: March 2026\n"
        "- Date: 2026-11-30"
    )


async def test_environment_leaves_out_what_is_unknown() -> None:
    made = context(
        environment=Environment(cwd="C:\\app", platform="win32", shell="bash.exe"),
        model=PromptModel("local-7b", "local-7b"),
    )
    assert await text_of("env_info_simple", made) == (
        "# Environment\n"
        "\n"
        "- Primary working directory: C:\\app\n"
        "- Git repository: no\n"
        "- Platform: win32\n"
        "- Shell: bash.exe (use Unix shell syntax: forward slashes, /dev/null rather than NUL)\n"
        "- Model: local-7b\n"
        "- Date: 2026-11-30"
    )


async def test_language_only_when_set() -> None:
    assert await text_of("language", context()) is None
    assert await text_of("language", context(language="  ")) is None
    text = await text_of("language", context(language="Deutsch"))
    assert text is not None
    assert text.startswith("# Language\n\nAlways answer in Deutsch. Technical terms, identifiers")


async def test_output_style_only_when_set() -> None:
    assert await text_of("output_style", context()) is None
    assert await text_of("output_style", context(output_style=OutputStyle("empty", " "))) is None
    style = OutputStyle("poet", "Answer in verse.\n")
    assert await text_of("output_style", context(output_style=style)) == "# Output Style: poet\n\nAnswer in verse."


async def test_mcp_instructions_come_under_one_heading_unless_reminders_deliver_them() -> None:
    texts = Texts(mcp_instructions="## git\n\nAsk first.\n\n## db\n\nRead only.")
    text = await text_of("mcp_instructions", context(mcp_instructions_delta=False), texts)
    assert text is not None
    assert text.startswith("# MCP server instructions\n\n")
    assert text.endswith("\n\n## git\n\nAsk first.\n\n## db\n\nRead only.")
    assert await text_of("mcp_instructions", context(mcp_instructions_delta=False)) is None
    assert await text_of("mcp_instructions", context(mcp_instructions_delta=True), texts) is None


async def test_the_scratchpad_names_the_variable_and_never_the_path() -> None:
    assert await text_of("scratchpad", context()) is None
    one = await text_of("scratchpad", context(scratch_directory="/tmp/agentcli-1"))
    two = await text_of("scratchpad", context(scratch_directory="/tmp/agentcli-2"))
    assert one == two
    assert one is not None
    assert "$AGENTCLI_SCRATCH" in one


async def test_clearing_is_told_only_while_it_is_on() -> None:
    names = {"function_result_clearing", "summarize_tool_results"}
    off = {p.name for p in await parts_of(context())}
    on = {p.name for p in await parts_of(context(tool_result_clearing=True))}
    assert (off & names, on & names) == (set(), names)


async def test_the_token_budget_means_nothing_without_one_and_is_memoised() -> None:
    (part,) = [p for p in await parts_of(context()) if p.name == "token_budget"]
    assert part.policy == "memoised"
    assert "When the user names a token target" in part.text
    assert part.text.endswith("Without one, this means nothing.")


async def guidance(tools: set[str], texts: Texts | None = None, *, interactive: bool = True) -> str:
    text = await text_of("session_guidance", context(tools=frozenset(tools), interactive=interactive), texts)
    assert text is not None
    return text


async def test_guidance_depends_on_tools() -> None:
    bare = await guidance({"Bash", "Read"})
    assert not [t for t in ("AskUserQuestion", "Agent", "ToolSearch", "Skill") if t in bare]
    full = await guidance({"Bash", "ToolSearch", "Agent", "AskUserQuestion", "Skill"}, Texts(skills="## Skills\n\n- x"))
    assert [t for t in ("AskUserQuestion", "Agent", "ToolSearch", "Skill") if t in full] == [
        "AskUserQuestion",
        "Agent",
        "ToolSearch",
        "Skill",
    ]


async def test_guidance_depends_on_whether_somebody_can_answer() -> None:
    tools = {"AskUserQuestion"}
    assert "Nobody can answer" not in await guidance(tools)
    unattended = await guidance(tools, interactive=False)
    assert "Nobody can answer" in unattended
    assert "AskUserQuestion" not in unattended


async def test_guidance_carries_the_lists_of_skills_and_agents() -> None:
    texts = Texts(skills="## Skills\n\n- deploy: ships it", agents="## Agents\n\n- explore: reads")
    text = await guidance({"Agent", "Skill"}, texts)
    assert text.endswith("\n\n## Skills\n\n- deploy: ships it\n\n## Agents\n\n- explore: reads")


async def test_without_skills_nothing_is_said_about_them() -> None:
    assert "Skill" not in await guidance({"Skill"})


async def test_a_bare_session_stays_small() -> None:
    parts = await parts_of(context(scratch_directory="/tmp/s", tool_result_clearing=True))
    sent = sum(len(p.text.encode()) + 2 for p in parts if p.kind != "boundary")
    assert sent <= 7 * 1024
