"""What servers offer beside tools: resources as ``@server:uri``, prompts as ``/mcp__server__prompt``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentcli.errors import UserError
from agentcli.mcp.connection import Connection
from agentcli.mcp.results import Desk, content_of
from agentcli.mcp.values import ServerError, ServerPrompt
from agentcli.messages import Block, ImageBlock, TextBlock
from agentcli.ports.toolnames import server_part
from agentcli.text import estimate_tokens, head_tail

if TYPE_CHECKING:
    from mcp import Client

_MENTION = re.compile(r"(?<![\w@])@([^\s@:]+):(\S+)")
_TRAILING = ".,;:!?)]}'\""


@dataclass(frozen=True, slots=True)
class Mention:
    """A resource as it can be typed: ``text`` is ``@server:uri``; of a template the part before its first variable,
    and ``template`` is the whole."""

    text: str
    description: str
    template: str = ""


@dataclass(frozen=True, slots=True)
class PromptCommand:
    """A prompt as a slash command: ``name`` without the slash."""

    name: str
    server: str
    prompt: ServerPrompt

    @property
    def hint(self) -> str:
        return " ".join(a.name if a.required else f"[{a.name}]" for a in self.prompt.arguments)


def mentions(connections: Mapping[str, Connection]) -> tuple[Mention, ...]:
    """Every resource that connected servers list, and the beginnings of those by template, for completion."""
    found: list[Mention] = []
    for name, connection in sorted(connections.items()):
        if connection.state != "connected":
            continue
        offered = connection.lists.inventory
        found += [Mention(f"@{name}:{r.uri}", r.description or r.name) for r in offered.resources]
        found += [
            Mention(f"@{name}:{t.uri.partition('{')[0]}", t.description or t.name, f"{name}:{t.uri}")
            for t in offered.templates
        ]
    return tuple(found)


def mentioned(text: str, connections: Mapping[str, Connection]) -> list[tuple[str, str]]:
    """(server, uri) of every mention of a configured server's resource in a prompt, in order, each once."""
    found = []
    for server, uri in _MENTION.findall(text):
        if server in connections:
            known = {r.uri for r in connections[server].lists.inventory.resources}
            found.append((server, uri if uri in known else uri.rstrip(_TRAILING)))
    return list(dict.fromkeys(found))


async def read_resource(connection: Connection, uri: str, desk: Desk) -> tuple[Block, ...]:
    """A resource as blocks for the prompt.  ``UserError`` if the server does not give it."""

    def request(client: Client) -> Any:
        return client.read_resource(uri, cache_mode="refresh")

    try:
        answer = await connection.ask(request)
    except ServerError as error:
        raise UserError(f"@{connection.entry.name}:{uri}: {error}") from error
    blocks = [_Embedded(c) for c in answer.contents]
    return tuple(_short(b, desk) for b in await content_of(blocks, desk) if isinstance(b, TextBlock | ImageBlock))


@dataclass(frozen=True, slots=True)
class _Embedded:
    resource: Any
    type: str = "resource"


def _short(block: Block, desk: Desk) -> Block:
    if not isinstance(block, TextBlock) or estimate_tokens(block.text) <= desk.limit:
        return block
    cut = head_tail(block.text, 20_000)
    path = desk.save(block.text.encode("utf-8", "replace"), ".txt")
    return TextBlock(f"{cut.head}\n[… {cut.dropped:,} characters left out; the whole is in {path}]\n{cut.tail}")


def prompt_commands(connections: Mapping[str, Connection]) -> tuple[PromptCommand, ...]:
    return tuple(
        PromptCommand(f"mcp__{server_part(name)}__{re.sub(r'[^A-Za-z0-9_-]', '_', p.name)}", name, p)
        for name, c in sorted(connections.items())
        if c.state == "connected"
        for p in c.lists.inventory.prompts
    )


def late_server(command: str, servers: Sequence[str], connections: Mapping[str, Connection]) -> str | None:
    """The server of which ``/command`` may be a prompt that is not listed yet."""
    for name in servers:
        connection = connections.get(name)
        listed = connection is not None and connection.state == "connected" and connection.lists.settled
        if command.startswith(f"mcp__{server_part(name)}__") and not listed:
            return name
    return None


async def get_prompt(connection: Connection, prompt: ServerPrompt, typed: str, desk: Desk) -> tuple[Block, ...]:
    """The prompt's text as blocks of a user message.  ``UserError`` for missing arguments or a refusal."""
    arguments = parse_arguments(prompt, typed)

    def request(client: Client) -> Any:
        return client.get_prompt(prompt.name, arguments)

    try:
        answer = await connection.ask(request)
    except ServerError as error:
        raise UserError(f"The prompt {prompt.name} of {connection.entry.name}: {error}") from error
    found: list[Block] = []
    several = len({m.role for m in answer.messages}) > 1
    for message in answer.messages:
        if several:
            found.append(TextBlock(f"[{message.role}]"))
        found += [b for b in await content_of([message.content], desk) if isinstance(b, TextBlock | ImageBlock)]
    if not found:
        raise UserError(f"The prompt {prompt.name} of {connection.entry.name} is empty.")
    return tuple(found)


def parse_arguments(prompt: ServerPrompt, typed: str) -> dict[str, str]:
    """Words in the order of the prompt's arguments, or ``name=value``; the last argument takes the rest of the line."""
    names = [a.name for a in prompt.arguments]
    words = _words(typed)
    named: dict[str, str] = {}
    plain: list[str] = []
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name in names:
            named[name] = value
        else:
            plain.append(word)
    free = [n for n in names if n not in named]
    if plain and not free:
        raise UserError(f"The prompt {prompt.name} takes {_usage(prompt)}; {plain[0]!r} is too much.")
    head, rest = plain[: len(free) - 1], plain[len(free) - 1 :]
    found = named | dict(zip(free, head, strict=False))
    if rest:
        found[free[len(head)]] = " ".join(rest)
    missing = [a.name for a in prompt.arguments if a.required and a.name not in found]
    if missing:
        raise UserError(f"The prompt {prompt.name} needs {', '.join(missing)}. It takes {_usage(prompt)}.")
    return found


def _words(typed: str) -> Sequence[str]:
    try:
        return shlex.split(typed)
    except ValueError:
        return typed.split()


def _usage(prompt: ServerPrompt) -> str:
    return " ".join(a.name if a.required else f"[{a.name}]" for a in prompt.arguments) or "no arguments"


def names_server(prompt: str, server: str) -> bool:
    """Whether a prompt speaks of the server: ``@server:``, ``mcp__server``, or its name as a word."""
    if f"@{server}:" in prompt or f"mcp__{server_part(server)}" in prompt:
        return True
    return re.search(rf"(?<![\w-]){re.escape(server)}(?![\w-])", prompt, re.IGNORECASE) is not None
