"""Between an MCP server that asks the user something in the middle of a call, and whoever can ask the user."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from agentcli.messages import Json

FieldKind = Literal["text", "number", "integer", "boolean", "choice", "choices"]


@dataclass(frozen=True, slots=True)
class ElicitField:
    """One value that is asked for.  ``options`` are (value, label) of ``choice`` and ``choices``; ``default`` is
    ``None`` where there is none.  ``least`` and ``most`` limit a number, a text's characters, or how many are chosen;
    ``format`` is the JSON schema's word for a text."""

    name: str
    kind: FieldKind
    title: str = ""
    description: str = ""
    required: bool = False
    default: Any = None
    options: tuple[tuple[str, str], ...] = ()
    least: float | None = None
    most: float | None = None
    format: str = ""

    @property
    def label(self) -> str:
        return self.title or self.name


@dataclass(frozen=True, slots=True)
class Elicitation:
    """``server`` asks; every text is the server's and has to be shown as such.  With ``url`` it asks to open an address
    instead of filling in ``fields``.  ``schema`` is the form as the server wrote it, for whoever draws it himself."""

    server: str
    message: str
    fields: tuple[ElicitField, ...] = ()
    url: str = ""
    schema: Json | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ElicitReply:
    """``decline``: the user said no; ``cancel``: nobody chose anything.  ``content`` holds the values by name."""

    action: Literal["accept", "decline", "cancel"]
    content: Json | None = None


class Elicitor(Protocol):
    async def elicit(self, request: Elicitation) -> ElicitReply:
        """Asks the user.  Cancelled when the call that asks is."""


class NobodyElicits:
    """Where nobody can be asked."""

    async def elicit(self, request: Elicitation) -> ElicitReply:
        return ElicitReply("cancel")
