"""The one error family of agentcli.

::

    AgentcliError                 everything that we raise on purpose
    ├── UserError                 shown to the user as one clear line; the program ends with exit code 2
    │   ├── UsageError            a flag, an argument or a combination of them is wrong
    │   ├── SettingsError         a settings file can't be used (file, line and column are in the text)
    │   └── SetupError            a key, a server, a program or a directory is missing
    ├── TurnError                 ends the turn, never the session; the conversation stays valid
    │   ├── ApiError              the model's server refused or failed (status, type, request id)
    │   ├── StreamError           the answer broke off, stalled or was not understood
    │   └── LimitReached          turns, money or tokens are used up
    ├── ToolError                 a tool could not do what was asked: becomes an error result, never a crash
    │   └── ToolInputError        the model's input does not fit the tool's parameters
    └── Bug                       an invariant of ours is broken: reported as a bug

Anything else that escapes is a bug too.  Messages say what is wrong, where, and what to do.
"""

from __future__ import annotations

from typing import Literal

ApiErrorKind = Literal[
    "authentication",
    "permission",
    "billing",
    "invalid_request",
    "model_not_found",
    "prompt_too_long",
    "rate_limit",
    "overloaded",
    "server_error",
    "timeout",
    "connection",
    "unknown",
]


class AgentcliError(Exception):
    """Base of everything that agentcli raises on purpose."""


class UserError(AgentcliError):
    """Something the user can mend.  ``str(error)`` is shown as it is; exit code 2."""


class UsageError(UserError):
    """A flag, an argument or a combination of them is wrong."""


class SettingsError(UserError):
    """A settings file can't be used."""


class SetupError(UserError):
    """Something that agentcli needs is missing: a key, a server, a program, a directory."""


class TurnError(AgentcliError):
    """Ends the turn.  The conversation stays valid and the session goes on."""


class ApiError(TurnError):
    """The model's server refused the request or failed.

    ``kind`` is our classification, ``status`` the HTTP status (``None`` without a response), ``type`` the
    API's own ``error.type``, ``retry_after`` seconds when the server named a time.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: ApiErrorKind = "unknown",
        status: int | None = None,
        type: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        attempts: int = 1,
    ) -> None:
        super().__init__(message)
        self.kind: ApiErrorKind = kind
        self.status = status
        self.type = type
        self.request_id = request_id
        self.retry_after = retry_after
        self.attempts = attempts


class StreamError(TurnError):
    """The answer's stream broke off, stalled or could not be understood."""


class LimitReached(TurnError):
    """A limit that the user set is reached.  ``limit`` names it."""

    def __init__(self, message: str, *, limit: Literal["turns", "budget", "tokens", "time"]) -> None:
        super().__init__(message)
        self.limit = limit


class ToolError(AgentcliError):
    """A tool could not do what was asked; the text tells the model what to do next."""


class ToolInputError(ToolError):
    """The model's input does not fit the tool's parameters."""


class Bug(AgentcliError):
    """An invariant of ours is broken."""
