"""``agentcli mcp``: servers added, listed, removed, logged in to.  One function per sub-command; each returns the exit
code and raises ``UserError`` for what the user can mend."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import webbrowser
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from agentcli.cli.mcp_new import NewServer, check_name, summary
from agentcli.conversation import ConversationCache
from agentcli.errors import SettingsError, SetupError, UsageError, UserError
from agentcli.mcp import Configuration, Ground, McpRoom, ServerEntry, ServerStatus, Wiring, make_room
from agentcli.mcp.config import PROJECT_FILE
from agentcli.mcp.entries import VARIABLE, parse_entry
from agentcli.mcp.login import login, logout
from agentcli.mcp.store import SERVERS, ServerStore
from agentcli.mcp.values import BrokenEntry, Scope, ServerError
from agentcli.processes import ProcessManager
from agentcli.settings.edit import edit_file
from agentcli.settings.git import git_root
from agentcli.settings.jsonfile import JsonObject
from agentcli.settings.live import SettingsFiles
from agentcli.settings.trust import TrustStore, project_of

WRITABLE: tuple[Scope, ...] = ("local", "project", "user")
MARKS = {"connected": "ok", "pending": "...", "needs-auth": "login", "failed": "FAILED", "disabled": "off"}
T = TypeVar("T")


def add_server(new: NewServer) -> int:
    return _store(new.name, new.entry(), new.scope)


def add_json(name: str, text: str, *, scope: str = "local") -> int:
    try:
        entry = json.loads(text)
    except ValueError as error:
        raise UsageError(f"the entry is not valid JSON: {error}") from error
    return _store(name, entry, scope)


def list_servers(*, as_json: bool = False, check: bool = True) -> int:
    """Every server with its state.  With ``check`` those that may start are connected for it."""
    statuses = asyncio.run(_statuses(check=check))
    if as_json:
        _say(json.dumps([asdict(s) for s in statuses], ensure_ascii=False, indent=2))
    elif not statuses:
        _say("No MCP servers are configured here. Add one with `agentcli mcp add`.")
    for status in () if as_json else statuses:
        _say(line_of(status, check=check))
    return 0


def get_server(name: str, *, as_json: bool = False) -> int:
    """One server: where it comes from, what it runs, how it stands."""
    status = next((s for s in asyncio.run(_statuses(check=True, only=name)) if s.name == name), None)
    if status is None:
        raise UserError(f"There is no MCP server {name!r} here (`agentcli mcp list` shows all)")
    if as_json:
        _say(json.dumps(asdict(status), ensure_ascii=False, indent=2))
        return 0
    rows = [
        ("Server", name),
        ("State", f"{status.state}{': ' + status.reason if status.reason else ''}"),
        ("Scope", f"{status.scope} ({status.origin})"),
        ("Runs" if status.transport == "stdio" else "Address", status.where),
        ("Version", status.version),
        ("Tools", ", ".join(status.tools)),
        ("Log", status.log),
    ]
    for label, value in rows:
        if value:
            _say(f"{label + ':':9}{value}")
    return 0


def remove_server(name: str, *, scope: str = "") -> int:
    """Removes an entry; without ``scope`` the only one there is."""
    if scope and scope not in WRITABLE:
        raise UsageError(f"--scope {scope}: use local, project or user")
    ground = _ground()
    found = [e for e in _entries(ground.configuration(), name) if not scope or e.scope == scope]
    ours = sorted({e.scope for e in found if e.scope in WRITABLE}, key=WRITABLE.index)
    if len(ours) > 1:
        raise UserError(f"{name} is there more than once: say --scope {' or --scope '.join(ours)}")
    if not ours and not scope:
        raise UserError(_not_ours(name, found))
    where = _remove(name, scope or ours[0], ground)
    if where is None:
        raise UserError(_not_ours(name, found))
    _say(f"Removed {name} ({scope or ours[0]}, {where}).")
    return 0


def login_server(name: str, *, open_browser: bool = True) -> int:
    """Logs in to a remote server, with the user's browser."""

    def show(address: str) -> None:
        _say(f"Open this address to log in:\n\n  {address}\n")
        if open_browser:
            webbrowser.open(address)

    async def run(ground: Ground, entry: ServerEntry, processes: ProcessManager) -> str:
        return await login(entry, ground.host(processes), show=show)

    _say(f"{name}: {_with_server(name, run)}.")
    return 0


def logout_server(name: str) -> int:
    async def run(ground: Ground, entry: ServerEntry, processes: ProcessManager) -> bool:
        return await logout(entry, ground.host(processes))

    _say(f"{name}: {'logged out' if _with_server(name, run) else 'there was no login'}.")
    return 0


def line_of(status: ServerStatus, *, check: bool = True) -> str:
    """``name: command (state)`` on one line."""
    state = status.reason if status.state in ("disabled", "failed", "needs-auth") else ""
    if check and not state:
        state = f"{len(status.tools)} tools" if status.state == "connected" else status.reason
    gone = status.state == "pending" and bool(status.reason)
    mark = MARKS["failed" if gone else status.state] if check or state else "-"
    return f"{mark:9}{status.name}: {status.where or status.origin}{f' ({state})' if state else ''}"


# --- parts ----------------------------------------------------------------------------------------------------------


def _ground() -> Ground:
    cwd = Path.cwd()
    env = dict(os.environ)
    trusted = TrustStore(env).trusted(project_of(cwd, env))
    settings = SettingsFiles.load(cwd, env, trusted=trusted).current
    return Ground(cwd=cwd, settings=settings, env={**env, **settings.environment})


async def _statuses(*, check: bool, only: str = "") -> tuple[ServerStatus, ...]:
    processes = ProcessManager()
    with tempfile.TemporaryDirectory(prefix="agentcli-") as directory:
        wiring = Wiring(emit=lambda event: None, cache=ConversationCache(), directory=lambda: Path(directory))
        room: McpRoom = make_room(_ground(), processes, wiring)
        try:
            if check:
                room.manager.start(None if not only else [only])
                await room.manager.wait(60)
            return room.statuses()
        finally:
            await room.close()
            await processes.close()


def _store(name: str, entry: Any, scope: str) -> int:
    if scope not in WRITABLE:
        raise UsageError(f"--scope {scope}: use local, project or user")
    check_name(name)
    ground = _ground()
    _check(name, entry, scope, ground)
    before: list[Any] = []
    if scope == "project":
        path = _project_file(ground.cwd)

        def change(data: JsonObject) -> None:
            servers = _object(data, path)
            before[:] = [servers[name]] if name in servers else []
            servers[name] = entry

        edit_file(path, change, private=False)
        where: Path | None = path
    else:
        store = ServerStore(project_of(ground.cwd, ground.env).key, ground.env)
        before = store.add(scope, name, entry)
        where = store.path
    done = f"Replaced {name} (was: {summary(before[0])}; " if before else f"Added {name} ("
    _say(f"{done}{scope}, {where}).")
    return 0


def _check(name: str, entry: Any, scope: str, ground: Ground) -> None:
    """A wrong entry is refused before it is stored; a variable may be set later."""
    names = {match[0] for match in VARIABLE.findall(json.dumps(entry))}
    known = {**dict.fromkeys(names, "http://variable"), **ground.env}
    try:
        parse_entry(name, entry, scope="local", origin=scope, base=ground.cwd, env=known)
    except SettingsError as error:
        raise UsageError(f"{name}: {error}") from error


def _object(data: JsonObject, path: Path) -> JsonObject:
    servers = data.setdefault(SERVERS, {})
    if not isinstance(servers, dict):
        raise SettingsError(f"{path}: {SERVERS} is not an object; mend it first")
    return servers


def _project_file(cwd: Path) -> Path:
    return (git_root(cwd) or cwd) / PROJECT_FILE


def _entries(found: Configuration, name: str) -> list[ServerEntry | BrokenEntry]:
    every: list[ServerEntry | BrokenEntry] = [*found.servers, *found.shadowed, *found.broken]
    return [e for e in every if e.name == name]


def _remove(name: str, scope: str, ground: Ground) -> Path | None:
    """The file that held the entry; ``None`` where it was not there."""
    if scope != "project":
        store = ServerStore(project_of(ground.cwd, ground.env).key, ground.env)
        return store.path if store.remove(scope, name) else None
    root = git_root(ground.cwd) or ground.cwd
    for directory in (ground.cwd.resolve(), *ground.cwd.resolve().parents):
        path = directory / PROJECT_FILE
        gone: list[Any] = []
        if path.exists():
            edit_file(path, lambda data: gone.append(_object(data, path).pop(name, None)), private=False)  # noqa: B023  # called at once
        if gone and gone[0] is not None:
            return path
        if directory == root:
            break
    return None


def _not_ours(name: str, found: Sequence[Any]) -> str:
    if found:
        return f"{name} is set in {found[0].origin}, which agentcli does not write: remove it there"
    return f"There is no MCP server {name!r} here (`agentcli mcp list` shows all)"


def _with_server(name: str, run: Callable[[Ground, ServerEntry, ProcessManager], Awaitable[T]]) -> T:
    ground = _ground()
    entry = ground.configuration().get(name)
    if entry is None:
        raise UserError(f"There is no MCP server {name!r} here (`agentcli mcp list` shows all)")

    async def inside() -> T:
        processes = ProcessManager()
        try:
            return await run(ground, entry, processes)
        finally:
            await processes.close()

    try:
        return asyncio.run(inside())
    except ServerError as error:
        raise SetupError(f"MCP server {name}: {error}") from error


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
