"""The sub-commands.  Each has a module of its own, imported when it is chosen."""

from __future__ import annotations

from typing import Annotated

import typer
from typer.exceptions import TyperException

from agentcli.cli.mcp_commands import servers
from agentcli.errors import UsageError

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True)
permissions = typer.Typer(help="Explain permission decisions.", no_args_is_help=True)
config = typer.Typer(help="Show and change settings.", no_args_is_help=True)
app.add_typer(permissions, name="permissions")
app.add_typer(config, name="config")
memory = typer.Typer(help="Check the instruction files, and explain them.", no_args_is_help=True)
app.add_typer(memory, name="memory")
app.add_typer(servers, name="mcp")
sessions = typer.Typer(help="Stored sessions: list, take old ones away.", no_args_is_help=True)
app.add_typer(sessions, name="sessions")

Json = Annotated[bool, typer.Option("--json", help="Machine-readable.")]

ALONE = {"sessions": "list", "config": "list", "mcp": "list", "memory": "--help", "permissions": "--help"}
"""What a group does when nothing else is said."""


def run_subcommand(arguments: list[str]) -> int:
    """Runs the sub-command; returns the exit code.  ``UserError`` for bad input."""
    if len(arguments) == 1 and arguments[0] in ALONE:
        arguments = [*arguments, ALONE[arguments[0]]]
    try:
        code = typer.main.get_command(app).main(args=arguments, prog_name="agentcli", standalone_mode=False)
    except TyperException as error:
        raise UsageError(f"{error.format_message()} (see `agentcli {arguments[0]} --help`)") from error
    return int(code or 0)


@app.command()
def demo(auto: Annotated[bool, typer.Option(help="Answer the questions itself.")] = False) -> int:
    """See it work: a scripted model repairs a small repository.  No key, no network."""
    from agentcli.demo.run import run_demo

    return run_demo(auto=auto)


@app.command()
def loop(
    prompt: str,
    every: Annotated[str, typer.Option(help="Time between the beginnings of two rounds: 90, 5m, 2h.")] = "0",
    rounds: Annotated[int | None, typer.Option(min=1, help="At most so many rounds.")] = None,
    max_budget_usd: Annotated[float | None, typer.Option(help="At most so many US dollars.")] = None,
    max_time: Annotated[str, typer.Option(help="At most so long: 90, 5m, 2h.")] = "",
    model: Annotated[str | None, typer.Option()] = None,
    permission_mode: Annotated[str | None, typer.Option()] = None,
    allowed_tools: Annotated[list[str] | None, typer.Option("--allowedTools", "--allowed-tools")] = None,
) -> int:
    """Run a prompt again and again, until the model says that it is done or a bound is reached."""
    from agentcli.cli.loop import LoopWish, run_loop
    from agentcli.modes.loop import LoopPlan, parse_interval

    plan = LoopPlan(
        prompt=prompt,
        interval=parse_interval(every),
        rounds=rounds,
        usd=max_budget_usd,
        seconds=parse_interval(max_time) if max_time else None,
    )
    wish = LoopWish(
        plan=plan,
        model=model,
        permission_mode=permission_mode,
        allowed_tools=tuple(allowed_tools or ()),
    )
    return run_loop(wish)


@app.command()
def doctor(as_json: Json = False) -> int:
    """What is found, what is missing, and what to do about it."""
    from agentcli.cli.doctor import run_doctor

    return run_doctor(as_json=as_json)


@app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def prompt(
    context: typer.Context,
    as_json: Json = False,
    raw: Annotated[bool, typer.Option(help="The exact blocks, as they are sent.")] = False,
    loop: Annotated[bool, typer.Option("--loop", help="As `agentcli loop` would send it.")] = False,
) -> int:
    """Every byte of the system prompt that the model would be told here, by part.  Asks no server.

    Takes every option of `agentcli` beside its own: --system-prompt-file, --agent, --add-dir, --bare, -p …
    """
    from agentcli.cli.prompt import run_prompt

    return run_prompt(context.args, loop=loop, form="json" if as_json else "raw" if raw else "table")


@permissions.command("test")
def permissions_test(
    call: Annotated[str, typer.Argument(help="A call as a rule would name it: 'Bash(git push)', 'Edit(src/a.py)'.")],
    mode: Annotated[str | None, typer.Option(help="Permission mode to judge under.")] = None,
    as_json: Json = False,
) -> int:
    """Prints what would be decided for a call, by which rule, and the commands found in it."""
    from agentcli.cli.permissions import run_permissions_test

    return run_permissions_test(call, mode=mode, as_json=as_json)


@config.command("list")
def config_list(as_json: Json = False) -> int:
    """Every setting that is set, with its value and the files it comes from."""
    from agentcli.cli.config import list_settings

    return list_settings(as_json=as_json)


@config.command("get")
def config_get(key: str, as_json: Json = False) -> int:
    """One setting: its value and where it comes from."""
    from agentcli.cli.config import get_setting

    return get_setting(key, as_json=as_json)


@config.command("set")
def config_set(
    key: str,
    value: Annotated[str, typer.Argument(help="JSON, or a plain text.")],
    scope: Annotated[str, typer.Option(help="user, project or local.")] = "user",
) -> int:
    """Writes one setting; everything else in the file stays as it is."""
    from agentcli.cli.config import set_setting

    return set_setting(key, value, scope=scope)


@memory.command("check")
def memory_check(as_json: Json = False) -> int:
    """Looks for dead imports, rules that match nothing, contradictions, secrets.  1 when something was found."""
    from agentcli.cli.memory import run_memory_check

    return run_memory_check(as_json=as_json)


@memory.command("why")
def memory_why(path: str, as_json: Json = False) -> int:
    """Whether an instruction file is loaded here, by which rule, and what it costs."""
    from agentcli.cli.memory import run_memory_why

    return run_memory_why(path, as_json=as_json)


@sessions.command("list")
def sessions_list(as_json: Json = False) -> int:
    """The sessions of this directory, newest first."""
    from agentcli.cli.sessions import list_stored

    return list_stored(as_json=as_json)


@sessions.command("prune")
def sessions_prune(
    days: Annotated[int | None, typer.Option(min=1, help="Older than this (setting cleanupPeriodDays, 30).")] = None,
    yes: Annotated[bool, typer.Option(help="Don't ask.")] = False,
) -> int:
    """Removes old sessions of every directory, after asking."""
    from agentcli.cli.sessions import prune

    return prune(days=days, yes=yes)
