"""``/mcp``: the servers of this session; one of them in detail, connected again, switched off or on, approved.
``/mcp__SERVER__PROMPT`` says a server's prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.events import Notice
from agentcli.i18n import Texts
from agentcli.mcp import McpRoom, ServerStatus
from agentcli.messages import TextBlock
from agentcli.ports.frontend import UserInput
from agentcli.text import one_line

SIGNS = {"connected": "✓", "pending": "…", "needs-auth": "!", "failed": "✗", "disabled": "–"}
WAIT = 30.0


async def run(context: CommandContext, arguments: str) -> CommandResult:
    t = context.texts
    room: McpRoom | None = getattr(context.session, "mcp", None)
    if room is None or not room.statuses():
        return CommandResult(t("mcp.none"))
    word, _, rest = arguments.partition(" ")
    name = rest.strip()
    if not name:
        return CommandResult(listing(room, t) if not word else detail(room, word, t))
    if word in ("reconnect", "enable", "disable"):
        _status(room, name, t)  # an unknown server is named here
    match word:
        case "reconnect":
            await room.manager.reconnect(name)
            await room.manager.wait(WAIT, [name])
        case "enable":
            await room.manager.switch(name, on=True)
            await room.manager.wait(WAIT, [name])
        case "disable":
            await room.manager.switch(name, on=False)
        case "approve" | "reject":
            room.approve(name, approved=word == "approve")
            await room.manager.wait(WAIT, [name])
        case _:
            raise UserError(f"{t('mcp.unknown', given=arguments)} {t('mcp.usage')}")
    return CommandResult(_line(_status(room, name, t), t))


def listing(room: McpRoom, t: Texts) -> str:
    """Every server with its state, and what waits for an answer, as Markdown."""
    parts = ["\n".join(_line(s, t) for s in room.statuses())]
    waiting = room.waiting()
    if waiting:
        lines = [f"- {t('mcp.approve', name=e.name, where=e.where)}" for e in waiting]
        parts.append(f"{t('mcp.waiting')}\n\n" + "\n".join(lines))
    logins = [s.name for s in room.statuses() if s.state == "needs-auth"]
    if logins:
        parts.append(t("mcp.login"))
    return "\n\n".join([*parts, f"{t('mcp.more')} {t('mcp.usage')}"])


def detail(room: McpRoom, name: str, t: Texts) -> str:
    """One server: state, origin, tools, the end of its log."""
    status = _status(room, name, t)
    rows = [
        (t("mcp.state"), f"{_state(status, t)}{': ' + status.reason if status.reason else ''}"),
        (t("mcp.from"), f"{status.scope}, {status.origin}"),
        (t("mcp.runs" if status.transport == "stdio" else "mcp.address"), f"`{status.where}`" if status.where else ""),
        (t("mcp.version"), status.version),
        (t("mcp.tools"), ", ".join(f"`{tool}`" for tool in room.tools.names_of(name))),
        (t("mcp.prompts"), ", ".join(f"`/{p.name}`" for p in room.prompts() if p.server == name)),
        (t("mcp.resources"), str(status.resources) if status.resources else ""),
        (t("mcp.log"), f"`{status.log}`" if status.log else ""),
    ]
    text = "\n".join(f"- **{label}:** {value}" for label, value in rows if value)
    tail = room.log_tail(name)[-15:]
    return text + ("\n\n```\n" + "\n".join(line.replace("```", "'''") for line in tail) + "\n```" if tail else "")


def prompt_commands(room: McpRoom | None) -> Iterable[Command]:
    """The prompts of connected servers as slash commands."""
    if room is None:
        return
    for prompt in room.prompts():
        words = one_line(prompt.prompt.description, 160) or f"prompt of the MCP server {prompt.server}"
        yield Command(prompt.name, words, _saying(room, prompt.name), argument_hint=prompt.hint)


def late_prompt(room: McpRoom | None, name: str) -> Command | None:
    """A name that may be a prompt of a server which is still connecting, or is not connected at all: what it says is
    known when the server is there, or why it is not."""
    server = room.late_server(name) if room is not None else None
    if room is None or server is None:
        return None

    async def wait(context: CommandContext, arguments: str) -> CommandResult:
        t = context.texts
        status = _status(room, server, t)
        if status.state in ("pending", "connected"):
            context.session.events.emit(Notice("info", t("mcp.connecting", name=server), "mcp"))
            await room.wait_named(name)
            await room.between_steps()  # its prompts are listed once it is connected
        status = _status(room, server, t)
        if status.state != "connected":
            why = f"{_state(status, t)}: {status.reason}" if status.reason else _state(status, t)
            raise UserError(t("mcp.unconnected", name=name, server=server, why=why))
        return await _saying(room, name)(context, arguments)

    return Command(name, "", wait)


def _saying(room: McpRoom, name: str) -> Callable[[CommandContext, str], Awaitable[CommandResult]]:
    async def say(context: CommandContext, arguments: str) -> CommandResult:
        blocks = await room.prompt(name, arguments)
        words = "\n\n".join(b.text for b in blocks if isinstance(b, TextBlock))
        return CommandResult(prompt=UserInput(words, tuple(b for b in blocks if not isinstance(b, TextBlock))))

    return say


def _status(room: McpRoom, name: str, t: Texts) -> ServerStatus:
    found = next((s for s in room.statuses() if s.name == name), None)
    if found is None:
        known = ", ".join(s.name for s in room.statuses())
        raise UserError(f"{t('mcp.no_server', name=name, known=known)} {t('mcp.usage')}")
    return found


def _state(status: ServerStatus, t: Texts) -> str:
    return t(f"mcp.state.{status.state}")


def _line(status: ServerStatus, t: Texts) -> str:
    words: list[str] = [_state(status, t)]
    if status.state == "connected":
        words.append(t.count("count.tool", len(status.tools)))
    if status.reason:
        words.append(status.reason)
    return f"- {SIGNS[status.state]} `{status.name}`: {', '.join(words)}"


COMMAND = Command(
    "mcp",
    "MCP servers: state, log, reconnect, switch off",
    run,
    argument_hint="[NAME | reconnect NAME | enable NAME | disable NAME]",
    while_running=True,
)
