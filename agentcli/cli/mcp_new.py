"""What ``agentcli mcp add`` was given, made into an entry: its name, its shape, and clear words for what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentcli.errors import UsageError
from agentcli.settings.jsonfile import JsonObject

ORDER = (
    "options stand in front of the name: agentcli mcp add --transport http NAME URL, or "
    "agentcli mcp add --scope user NAME -- COMMAND and its own options"
)
_NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewServer:
    """What ``agentcli mcp add`` was given.  ``target`` is the address, or the command and its arguments."""

    name: str
    target: Sequence[str]
    transport: str = ""
    scope: str = "local"
    env: Sequence[str] = ()
    headers: Sequence[str] = ()
    client_id: str = ""
    callback_port: int = 0

    def entry(self) -> JsonObject:
        """The entry as it is stored.  ``UsageError`` where the parts don't fit together."""
        if not self.target:
            raise UsageError("agentcli mcp add NAME URL, or agentcli mcp add NAME -- COMMAND ARGUMENTS …")
        address = self.target[0].startswith(("http://", "https://"))
        misplaced = [t for t in self.target[: None if address else 1] if t.startswith("-")]
        if misplaced:
            raise UsageError(f"{misplaced[0]}: {ORDER}")
        transport = self.transport or ("http" if address else "stdio")
        if transport not in ("stdio", "http", "sse"):
            raise UsageError(f"--transport {transport}: use stdio, http or sse")
        if transport == "stdio":
            if self.headers or self.client_id or self.callback_port:
                raise UsageError("--header, --client-id and --callback-port are for servers with an address")
            stdio: JsonObject = {"command": self.target[0], "args": list(self.target[1:])}
            return {**stdio, **({"env": _pairs(self.env, "=", "--env")} if self.env else {})}
        if len(self.target) > 1 or self.env:
            raise UsageError(f"a server of type {transport} takes one address, and no --env")
        made: JsonObject = {"type": transport, "url": self.target[0]}
        if self.headers:
            made["headers"] = _pairs(self.headers, ":", "--header")
        oauth = {"clientId": self.client_id, "callbackPort": self.callback_port}
        if any(oauth.values()):
            made["oauth"] = {k: v for k, v in oauth.items() if v}
        return made


def check_name(name: str) -> None:
    """``UsageError`` for a name that could not stand in tools' names and in permission rules as it is."""
    if not name.strip():
        raise UsageError("a server needs a name")
    if name.startswith("-"):
        raise UsageError(f"there is no option {name} (and no name begins with -)")
    if not _NAME.fullmatch(name):
        raise UsageError(f"the name {name!r} can't be used: only letters (a-z, A-Z), digits, _ and - can stand in it")


def summary(entry: Any) -> str:
    """A stored entry in one line, as it was written: variables may hold secrets, and are not expanded."""
    match entry:
        case {"command": str(command)}:
            args = entry.get("args")
            return " ".join((command, *map(str, args if isinstance(args, list) else ())))
        case {"url": str(url)}:
            return url
    return json.dumps(entry, ensure_ascii=False)


def _pairs(given: Sequence[str], sign: str, flag: str) -> dict[str, str]:
    found = {}
    for text in given:
        name, there, value = text.partition(sign)
        if not there or not name.strip():
            raise UsageError(f"{flag} {text!r}: write NAME{sign}VALUE")
        found[name.strip()] = value.strip() if sign == ":" else value
    return found
