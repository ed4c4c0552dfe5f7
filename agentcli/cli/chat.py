"""``agentcli [OPTIONS] [PROMPT]``: a conversation, in the terminal or headless."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer
from typer.exceptions import TyperException

from agentcli.cli.arguments import normalise, split_rules, without_inert
from agentcli.cli.start import Launch, launch
from agentcli.errors import UsageError
from agentcli.i18n import LANGUAGES
from agentcli.ports.permissions import PERMISSION_MODES, PermissionMode
from agentcli.prompt.options import text_option
from agentcli.runtime.options import ALL_SOURCES, Resume, SessionOptions, SettingSource

EPILOG = (
    "Commands: agentcli demo (see it work, no key needed) · agentcli doctor (what is found and what is missing) · "
    "agentcli prompt (every byte that the model is told) · agentcli permissions test RULE · agentcli config"
)
OUTPUT = ("text", "json", "stream-json")
INPUT = ("text", "stream-json")


def run_chat(arguments: list[str]) -> int:
    """Parses the arguments and runs the conversation; returns the exit code.  ``UserError`` for bad input."""
    known, inert = without_inert(arguments)
    if inert:
        sys.stderr.write(f"agentcli: no effect in this version: {', '.join(inert)}\n")
    given = parse(known)
    # Outside of the parser: it would turn a closed pipe into its own exit code.
    return launch(given) if isinstance(given, Launch) else given


def parse(arguments: list[str]) -> Launch | int:
    """What the arguments ask for; an exit code where the parser itself answered (``--help``)."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(epilog=EPILOG)(chat)
    try:
        given = typer.main.get_command(app).main(args=normalise(arguments), prog_name="agentcli", standalone_mode=False)
    except TyperException as error:
        raise UsageError(f"{error.format_message()} (see `agentcli --help`)") from error
    return given if isinstance(given, Launch) else int(given or 0)


def chat(
    prompt: Annotated[list[str] | None, typer.Argument(help="What to do; without it the conversation opens.")] = None,
    *,
    print_: Annotated[bool, typer.Option("--print", "-p", help="Answer once, headless, and exit.")] = False,
    output_format: Annotated[str, typer.Option(help="text, json or stream-json (--verbose or not).")] = "text",
    input_format: Annotated[str, typer.Option(help="text or stream-json (headless).")] = "text",
    include_partial_messages: Annotated[bool, typer.Option(help="stream-json: token deltas too.")] = False,
    replay_user_messages: Annotated[bool, typer.Option(help="stream-json: echo the prompts that came in.")] = False,
    forward_subagent_text: Annotated[bool, typer.Option(help="stream-json: what subagents say, too.")] = False,
    json_schema: Annotated[
        str | None,
        typer.Option(help="Headless: a JSON schema that the answer has to fit; not with --proactive."),
    ] = None,
    verbose: Annotated[bool, typer.Option(help="Say more: a line for each request.")] = False,
    model: Annotated[str | None, typer.Option(help="opus, sonnet, haiku, fable, or an exact id.")] = None,
    fallback_model: Annotated[str | None, typer.Option(help="Used for the rest of a turn after overload.")] = None,
    effort: Annotated[str | None, typer.Option(help="low, medium, high, xhigh or max.")] = None,
    thinking: Annotated[str | None, typer.Option(help="adaptive or disabled.")] = None,
    max_thinking_tokens: Annotated[int | None, typer.Option(min=0, help="For models that think by a budget.")] = None,
    betas: Annotated[list[str] | None, typer.Option(help="Beta headers for the API: A,B.")] = None,
    system_prompt: Annotated[str | None, typer.Option(help="Replaces the system prompt.")] = None,
    system_prompt_file: Annotated[Path | None, typer.Option(help="The same, from a file.")] = None,
    append_system_prompt: Annotated[str | None, typer.Option(help="Added at the end of the system prompt.")] = None,
    append_system_prompt_file: Annotated[Path | None, typer.Option(help="The same, from a file.")] = None,
    agent: Annotated[str, typer.Option(help="Run as the agent .claude/agents/NAME.md.")] = "",
    agents: Annotated[str, typer.Option(help='Agents as JSON: {"NAME": {"description": "…", "prompt": "…"}}.')] = "",
    proactive: Annotated[bool, typer.Option(help="Let the agent work on its own (feature PROACTIVE).")] = False,
    permission_mode: Annotated[str | None, typer.Option(help=", ".join(PERMISSION_MODES))] = None,
    dangerously_skip_permissions: Annotated[bool, typer.Option(help="The mode bypassPermissions.")] = False,
    allow_dangerously_skip_permissions: Annotated[bool, typer.Option(help="Adds that mode to Shift+Tab.")] = False,
    permission_prompt_tool: Annotated[str, typer.Option(help="stdio (the client) or mcp__SERVER__TOOL.")] = "",
    strict_permissions: Annotated[bool, typer.Option(help="Headless: exit 4 when a permission is missing.")] = False,
    allowed_tools: Annotated[list[str] | None, typer.Option("--allowedTools", "--allowed-tools")] = None,
    disallowed_tools: Annotated[list[str] | None, typer.Option("--disallowedTools", "--disallowed-tools")] = None,
    tools: Annotated[str | None, typer.Option(help="Which built-in tools exist: A,B, default, or empty.")] = None,
    max_turns: Annotated[int | None, typer.Option(min=1, help="At most this many requests to the model.")] = None,
    max_budget_usd: Annotated[float | None, typer.Option(min=0.0, help="Stop when this much is spent.")] = None,
    continue_: Annotated[bool, typer.Option("--continue", "-c", help="Go on with the newest session here.")] = False,
    resume: Annotated[str | None, typer.Option("--resume", "-r", help="Go on with a session: id or title.")] = None,
    fork_session: Annotated[bool, typer.Option(help="With --continue or --resume: go on in a copy.")] = False,
    session_id: Annotated[str, typer.Option(help="The new session's id (a UUID).")] = "",
    name: Annotated[str, typer.Option("--name", "-n", help="The session's title.")] = "",
    no_session_persistence: Annotated[bool, typer.Option(help="Store no session file.")] = False,
    settings: Annotated[str, typer.Option(help="A JSON file or JSON text, above the project's settings.")] = "",
    setting_sources: Annotated[str | None, typer.Option(help="Of user,project,local: which to read.")] = None,
    mcp_config: Annotated[list[str] | None, typer.Option(help="MCP servers: a JSON file or JSON text.")] = None,
    strict_mcp_config: Annotated[bool, typer.Option(help="Only the servers of --mcp-config.")] = False,
    add_dir: Annotated[list[Path] | None, typer.Option(help="A further working directory.")] = None,
    ui_language: Annotated[str | None, typer.Option(help="The interface's language: en or ko.")] = None,
    ax_screen_reader: Annotated[bool, typer.Option(help="Flat text, nothing redrawn: for screen readers.")] = False,
    trust: Annotated[bool, typer.Option(help="Let this project's own settings act.")] = False,
    sandbox: Annotated[bool | None, typer.Option("--sandbox/--no-sandbox", help="Confine shell commands.")] = None,
    bare: Annotated[bool, typer.Option(help="Read no settings, memory, agents or hooks.")] = False,
) -> Launch:
    """An interactive coding agent for the terminal."""
    append = text_option("--append-system-prompt", append_system_prompt, append_system_prompt_file)
    options = SessionOptions(
        cwd=Path.cwd(),
        model=model,
        fallback_model=fallback_model,
        effort=effort,
        betas=tuple(b.strip() for given in betas or () for b in given.split(",") if b.strip()),
        environment={} if max_thinking_tokens is None else {"MAX_THINKING_TOKENS": str(max_thinking_tokens)},
        thinking=_one_of("--thinking", thinking, ("adaptive", "disabled")),
        system_prompt=text_option("--system-prompt", system_prompt, system_prompt_file) or "",
        append_system_prompt=append or "",
        agent=agent,
        agents=agents,
        proactive=proactive,
        permission_mode=_mode(permission_mode, bypass=dangerously_skip_permissions),
        allow_bypass=allow_dangerously_skip_permissions or dangerously_skip_permissions,
        allowed_tools=split_rules(allowed_tools or []),
        disallowed_tools=split_rules(disallowed_tools or []),
        tools=None if tools in (None, "default") else _tool_names(str(tools)),
        max_turns=max_turns,
        max_budget_usd=max_budget_usd,
        settings=settings,
        setting_sources=_sources(setting_sources),
        mcp_config=tuple(mcp_config or ()),
        strict_mcp_config=strict_mcp_config,
        add_dirs=tuple(_directory(d) for d in add_dir or ()),
        resume=_resume(continue_, resume, fork=fork_session),
        session_id=_uuid(session_id),
        name=name,
        persist=not no_session_persistence,
        trust=trust,
        sandbox=sandbox,
        bare=bare,
        verbose=verbose or None,
        strict_permissions=strict_permissions,
    )
    return Launch(
        options=options,
        prompt=" ".join(prompt or ()),
        headless=print_,
        output_format=cast("Any", _one_of("--output-format", output_format, OUTPUT)),
        input_format=cast("Any", _one_of("--input-format", input_format, INPUT)),
        partial=include_partial_messages,
        replay=replay_user_messages,
        subagent_text=forward_subagent_text,
        json_schema=json_schema,
        permission_prompt_tool=permission_prompt_tool,
        ui_language=_one_of("--ui-language", ui_language, tuple(LANGUAGES)),
        flat=ax_screen_reader,
    )


def _one_of(option: str, value: str | None, allowed: tuple[str, ...]) -> str | None:
    if value is not None and value not in allowed:
        raise UsageError(f"{option} {value!r}: one of {', '.join(allowed)}")
    return value


def _mode(value: str | None, *, bypass: bool) -> PermissionMode | None:
    if bypass:
        return "bypassPermissions"
    if value == "manual":
        return "default"
    return cast("PermissionMode | None", _one_of("--permission-mode", value, PERMISSION_MODES))


def _sources(value: str | None) -> tuple[SettingSource, ...]:
    if value is None:
        return ALL_SOURCES
    names = tuple(n.strip() for n in value.split(",") if n.strip())
    for found in names:
        _one_of("--setting-sources", found, ALL_SOURCES)
    return cast("tuple[Literal['user', 'project', 'local'], ...]", names)


def _directory(path: Path) -> Path:
    if not os.path.isdir(path):
        raise UsageError(f"--add-dir {path}: not a directory")
    return path.resolve()


def _resume(newest: bool, query: str | None, *, fork: bool) -> Resume | None:
    if newest and query is not None:
        raise UsageError("--continue and --resume can't be used together")
    if newest or query is not None:
        return Resume(newest=newest, query=query or "", fork=fork)
    if fork:
        raise UsageError("--fork-session needs --continue or --resume")
    return None


def _uuid(text: str) -> str:
    if not text:
        return ""
    from uuid import UUID

    try:
        return str(UUID(text))
    except ValueError as error:
        raise UsageError(f"--session-id {text!r}: not a UUID") from error


def _tool_names(text: str) -> tuple[str, ...]:
    """The names of ``--tools``; ``Task`` is what ``Agent`` was called before."""
    return tuple("Agent" if n == "Task" else n for t in text.split(",") if (n := t.strip()))
