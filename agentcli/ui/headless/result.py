"""The one result of a headless run: the object, its subtype and its exit code, derived together so that they agree.

Field names are those of the documented stream-json protocol, so that scripts written for it can read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from agentcli.events import TurnFinished
from agentcli.events.types import Outcome
from agentcli.messages import Usage

EXIT_OK = 0
EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_LIMIT = 3
EXIT_PERMISSION = 4
EXIT_SIGINT = 130
EXIT_PIPE = 141
EXIT_SIGTERM = 143

_SUBTYPES: Mapping[Outcome, str] = {
    "completed": "success",
    "max_turns": "error_max_turns",
    "budget": "error_max_budget_usd",
}
_REASONS: Mapping[Outcome, str] = {
    "completed": "completed",
    "interrupted": "aborted_streaming",
    "max_turns": "max_turns",
    "budget": "budget_exhausted",
    "refusal": "model_error",
    "api_error": "api_error",
    "error": "model_error",
    "output_limit": "malformed_tool_use_exhausted",
    "hook_stopped": "hook_stopped",
}


@dataclass(frozen=True, slots=True)
class Structured:
    """An answer as data: ``value``, or in ``problem`` why it is not what the schema asks for."""

    value: Any = None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Everything that the result says.  ``signal`` is the exit code of a signal that ended the run, or 0."""

    turn: TurnFinished
    session_id: str
    usage: Usage
    total_cost: float | None
    by_model: Mapping[str, Mapping[str, Any]]
    cache: Mapping[str, Any] | None = None
    """What the prompt cache did in this run (``CacheMonitor.summary``)."""
    denials: Sequence[Mapping[str, Any]] = ()
    signal: int = 0
    strict_permissions: bool = False
    structured: Structured | None = None
    """With ``--json-schema``: what came of it."""
    prompt_uuid: str = ""
    """The client's own name for the prompt."""
    self_started: bool = False
    """Nobody sent a prompt for it: a tick of proactive mode."""

    @property
    def subtype(self) -> str:
        if self._denied:
            return "error_permission"
        if self._unfit:
            return "error_max_structured_output_retries"
        return _SUBTYPES.get(self.turn.outcome, "error_during_execution")

    @property
    def is_error(self) -> bool:
        return self.subtype != "success"

    @property
    def exit_code(self) -> int:
        """As documented in ``agentcli.cli.main``."""
        if self.signal:
            return self.signal
        if self._denied:
            return EXIT_PERMISSION
        if self.turn.outcome in ("max_turns", "budget"):
            return EXIT_LIMIT
        return EXIT_ERROR if self.is_error else EXIT_OK

    @property
    def error(self) -> str:
        """One clear line for standard error; empty on success."""
        if self._denied:
            names = ", ".join(sorted({str(d["tool_name"]) for d in self.denials}))
            return f"permission needed and nobody to ask: {names} (allow it with --allowedTools or a rule)"
        if self._unfit and self.structured is not None:
            return f"the answer does not fit --json-schema: {self.structured.problem}"
        return self.turn.error or ("" if not self.is_error else self.turn.outcome.replace("_", " "))

    @property
    def remark(self) -> str:
        """What a reader of the answer should know beside a success; empty where there is nothing."""
        if self.is_error:
            return ""
        if self.denials:
            names = ", ".join(sorted({str(d["tool_name"]) for d in self.denials}))
            return f"not permitted and not done: {names} (--allowedTools or a rule would allow it)"
        return "" if self.turn.text.strip() or self.structured is not None else "the model gave no answer"

    @property
    def _denied(self) -> bool:
        return self.strict_permissions and bool(self.denials) and self.turn.outcome == "completed"

    @property
    def _unfit(self) -> bool:
        return self.structured is not None and bool(self.structured.problem) and self.turn.outcome == "completed"

    def as_event(self) -> TurnFinished:
        """The turn with what came of the JSON schema."""
        found, turn = self.structured, self.turn
        if found is None or turn.outcome != "completed":
            return turn
        if not found.problem:
            return replace(turn, structured_output=found.value)
        return replace(turn, outcome="error", error=self.error, error_kind="structured_output")

    def to_json(self) -> dict[str, Any]:
        """The ``result`` object."""
        turn = self.turn
        body: dict[str, Any] = {
            "type": "result",
            "subtype": self.subtype,
            "is_error": self.is_error,
            "duration_ms": round(turn.duration * 1000),
            "duration_api_ms": round(turn.api_duration * 1000),
            "num_turns": turn.steps,
        }
        if self.is_error:
            body["errors"] = [self.error]
            body["error_type"] = "structured_output" if self._unfit else turn.error_kind or turn.outcome
            body["api_error_status"] = turn.error_status
        else:
            body["result"] = turn.text
            if self.structured is not None:
                body["structured_output"] = self.structured.value
        if self.prompt_uuid:
            body["user_message_uuid"] = self.prompt_uuid
        if self.self_started:
            body["self_started"] = True
        return body | {
            "stop_reason": turn.stop_reason,
            "session_id": self.session_id,
            "total_cost_usd": self.total_cost,
            "usage": usage_to_json(self.usage),
            "modelUsage": {name: dict(values) for name, values in self.by_model.items()},
            **({"cache": {**self.cache, "turn": turn_cache(turn)}} if self.cache is not None else {}),
            "permission_denials": [dict(d) for d in self.denials],
            "terminal_reason": "structured_output_retry_exhausted" if self._unfit else _REASONS[turn.outcome],
            "uuid": str(uuid4()),
        }


def joined(first: TurnFinished, second: TurnFinished) -> TurnFinished:
    """Two turns that answer one prompt, told as one."""
    cost = None if first.cost is None or second.cost is None else first.cost + second.cost
    return replace(
        second,
        steps=first.steps + second.steps,
        duration=first.duration + second.duration,
        api_duration=first.api_duration + second.api_duration,
        usage=first.usage + second.usage,
        cost=cost,
        readable=first.readable + second.readable,
        read_of_readable=first.read_of_readable + second.read_of_readable,
        saved=None if first.saved is None or second.saved is None else first.saved + second.saved,
    )


def turn_cache(turn: TurnFinished) -> dict[str, Any]:
    """What the prompt cache did in one turn, beside the sums of the run."""
    return {
        "read_share": None if turn.read_share is None else round(turn.read_share, 4),
        "efficiency": None if turn.efficiency is None else round(turn.efficiency, 4),
        "cost_usd": turn.cost,
        "saved_usd": turn.saved,
    }


def out_of_turns(turn: TurnFinished, words: str) -> TurnFinished:
    """The turn, ended by ``--max-turns`` before it was done."""
    return replace(turn, outcome="max_turns", error=words)


def not_started(
    message: str, *, kind: str = "invalid_configuration", session_id: str = "", prompt_uuid: str = ""
) -> dict[str, Any]:
    """The result of a prompt that could not be begun: bad usage, settings or set-up (exit code 2), or a signal."""
    return {
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": True,
        "duration_ms": 0,
        "duration_api_ms": 0,
        "num_turns": 0,
        "errors": [message],
        "error_type": kind,
        "api_error_status": None,
        "stop_reason": None,
        "session_id": session_id,
        "total_cost_usd": 0.0,
        "usage": usage_to_json(Usage()),
        "modelUsage": {},
        "permission_denials": [],
        "terminal_reason": "turn_setup_failed",
        "uuid": str(uuid4()),
        **({"user_message_uuid": prompt_uuid} if prompt_uuid else {}),
    }


def usage_to_json(usage: Usage) -> dict[str, Any]:
    """Token counts under the API's names."""
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_5m,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
        "server_tool_use": {"web_search_requests": usage.web_searches, "web_fetch_requests": 0},
    }
