"""``agentcli mcp …``: the options; what they do is in ``cli/mcp.py``."""

from __future__ import annotations

from typing import Annotated

import typer

servers = typer.Typer(help="MCP servers: add, list, log in to, remove.", no_args_is_help=True)
Scope = Annotated[str, typer.Option("--scope", "-s", help="local, project or user.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable.")]
PASS_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""Everything behind the name belongs to the server's own command line."""


@servers.command("add", context_settings=PASS_ON)
def add(
    name: str,
    target: Annotated[list[str], typer.Argument(help="An address, or the command with its arguments.")],
    transport: Annotated[str, typer.Option("--transport", "-t", help="stdio, http or sse.")] = "",
    scope: Scope = "local",
    env: Annotated[list[str] | None, typer.Option("--env", "-e", help="NAME=VALUE for the server.")] = None,
    header: Annotated[list[str] | None, typer.Option("--header", "-H", help="'Name: value'.")] = None,
    client_id: Annotated[str, typer.Option(help="OAuth client id.")] = "",
    callback_port: Annotated[int, typer.Option(help="Port of the OAuth callback.")] = 0,
) -> int:
    """Adds a server: agentcli mcp add [OPTIONS] NAME URL, or NAME COMMAND ARGUMENTS …"""
    from agentcli.cli.mcp import add_server
    from agentcli.cli.mcp_new import NewServer

    return add_server(
        NewServer(
            name=name,
            target=target[1:] if target[:1] == ["--"] else target,
            transport=transport,
            scope=scope,
            env=env or (),
            headers=header or (),
            client_id=client_id,
            callback_port=callback_port,
        )
    )


@servers.command("add-json")
def add_json(
    name: str, entry: Annotated[str, typer.Argument(help="The entry as JSON.")], scope: Scope = "local"
) -> int:
    """Adds a server from its JSON entry."""
    from agentcli.cli.mcp import add_json as store

    return store(name, entry, scope=scope)


@servers.command("list")
def list_all(
    as_json: Json = False,
    check: Annotated[bool, typer.Option(help="Connect to those that may start.")] = True,
) -> int:
    """Every server with its state."""
    from agentcli.cli.mcp import list_servers

    return list_servers(as_json=as_json, check=check)


@servers.command("get")
def get(name: str, as_json: Json = False) -> int:
    """One server: where it comes from, what it runs, how it stands."""
    from agentcli.cli.mcp import get_server

    return get_server(name, as_json=as_json)


@servers.command("remove")
def remove(name: str, scope: Scope = "") -> int:
    """Removes a server."""
    from agentcli.cli.mcp import remove_server

    return remove_server(name, scope=scope)


@servers.command("login")
def login(name: str, browser: Annotated[bool, typer.Option(help="Open the browser.")] = True) -> int:
    """Logs in to a remote server."""
    from agentcli.cli.mcp import login_server

    return login_server(name, open_browser=browser)


@servers.command("logout")
def logout(name: str) -> int:
    """Forgets the login of a remote server."""
    from agentcli.cli.mcp import logout_server

    return logout_server(name)
