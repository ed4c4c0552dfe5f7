"""The body as bytes, and its top-level fields."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from tests.api.errors import Refusal, bad
from tests.api.models import Model
from tests.api.validate.shape import CONTROL, Field, Shape, check, may, need

MAX_BYTES = 32 * 1024 * 1024
SAMPLING = {"temperature": 1, "top_p": None, "top_k": None}
"""Sampling parameters and their default values."""
COUNTED: Shape = {
    "model": need(),
    "messages": need("list"),
    "cache_control": CONTROL,
    "output_config": may("object"),
    "speed": may("string", "standard", "fast", betas=("fast-mode-2026-02-01",)),
    "system": Field("string|list"),
    "thinking": Field("object"),
    "tool_choice": Field("object"),
    "tools": Field("list"),
    "context_management": may("object", betas=("context-management-2025-06-27", "compact-2026-01-12")),
    "mcp_servers": Field(
        "list", betas=("mcp-client-2025-04-04", "mcp-client-2025-11-20", "mcp-client-2026-09-15")
    ),
}  # fmt: skip
MESSAGES: Shape = {
    **COUNTED,
    "max_tokens": need("integer"),
    "stream": Field("boolean"),
    "container": may("string|object"),
    "diagnostics": may("object"),
    "inference_geo": may(),
    "metadata": Field("object"),
    "service_tier": Field("string", choices=("auto", "standard_only")),
    "stop_sequences": Field("list"),
    "compaction": may("object", betas=("compact-2026-09-04",)),
    "fallbacks": may("string|list", betas=("server-side-fallback-2026-06-01", "server-side-fallback-2026-07-01")),
    "thread": may("object", betas=("message-threads-2026-08-12",)),
    "fallback_credit_token": may("string|object", betas=("fallback-credit-2026-06-01", "fallback-credit-2026-07-01")),
    "billing_policy": may("object", betas=("user-profiles-billing-2026-10-01",)),
}


def parse(raw: bytes) -> Any:
    """Strict JSON in strict UTF-8: no lone surrogates, no NaN."""
    if len(raw) > MAX_BYTES:
        raise Refusal(413, "Request exceeds the maximum size")
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise Refusal(400, f"The request body is not valid JSON: {error.reason}") from error
    except UnicodeEncodeError as error:
        raise Refusal(400, "The request body is not valid JSON: no low surrogate in string") from error
    except ValueError as error:
        raise Refusal(400, f"The request body is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise Refusal(400, "The request body is not valid JSON: not an object")
    return value


def check_top(body: dict[str, Any], betas: tuple[str, ...], version: str, *, counting: bool) -> None:
    """Known fields of the right kind; sampling parameters only in the older version."""
    shape = dict(COUNTED if counting else MESSAGES)
    if version == "2023-06-01" and not counting:
        shape.update({name: Field("number") for name in SAMPLING})
    elif name := next((n for n in SAMPLING if n in body), None):
        raise bad(name, f"`{name}` is not supported")
    check("", body, shape, betas)
    check("metadata", body.get("metadata", {}), {"user_id": may()}, betas)
    if body.get("diagnostics") is not None:
        check("diagnostics", body["diagnostics"], {"previous_message_id": may()}, betas)
    for i, stop in enumerate(body.get("stop_sequences", [])):
        if not isinstance(stop, str):
            raise bad(f"stop_sequences.{i}", "Input should be a valid string")
        if not stop.strip():
            raise bad(f"stop_sequences.{i}", "each stop sequence must contain non-whitespace")


def check_limits(body: dict[str, Any], model: Model) -> None:
    """``max_tokens`` and sampling against the model's rules."""
    for name, default in SAMPLING.items():
        if name in body and not model.sampling and body[name] != default:
            raise bad(name, f"`{name}` is not supported by {model.id}")
    maximum = body["max_tokens"]
    if maximum < 0:
        raise bad("max_tokens", "Input should be greater than or equal to 0")
    if maximum > model.max_output:
        raise bad(
            "max_tokens",
            f"{maximum} > {model.max_output}, which is the maximum allowed number of output tokens for {model.id}",
        )
    if maximum == 0:
        _check_warming(body, model)


def _check_warming(body: dict[str, Any], model: Model) -> None:
    """``max_tokens: 0`` only fills the cache."""
    thinking = body.get("thinking", {}).get("type")
    if body.get("stream"):
        raise bad("max_tokens", "must be at least 1 when streaming")
    if thinking in ("adaptive", "enabled") or model.thinking == ("adaptive",):
        raise bad("max_tokens", "must be at least 1 when thinking is enabled")
    if (body.get("output_config") or {}).get("format"):
        raise bad("max_tokens", "must be at least 1 with output_config.format")
    if body.get("tool_choice", {}).get("type") in ("any", "tool"):
        raise bad("max_tokens", "must be at least 1 when tool_choice forces tool use")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
