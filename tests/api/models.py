"""The models that the server knows: windows, limits, parameter rules, cache minima, prices.

The server's own table, on purpose not the program's: the two must agree because both follow the API's documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

ThinkingType = Literal["adaptive", "enabled", "disabled", "between_tools"]
LOW_TO_HIGH = ("low", "medium", "high")
LOW_TO_MAX = ("low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class Model:
    """Prices are US dollars per million tokens; ``window`` and ``max_output`` are tokens."""

    id: str
    name: str
    cache_minimum: int
    input_price: float
    output_price: float
    window: int = 1_000_000
    max_output: int = 128_000
    thinking: tuple[ThinkingType, ...] = ("adaptive", "disabled")
    efforts: tuple[str, ...] = LOW_TO_MAX
    prefill: bool = False
    forced_tool_choice: bool = True
    preserved_thinking: bool = False
    """Thinking blocks are bound to the prefix in front of them."""
    account_bound: bool = False
    """Thinking blocks are bound to the account too."""
    reads: tuple[str, ...] = ()
    """Other models whose thinking this one reads; the rest is dropped without an error."""
    sampling: bool = False
    """``temperature`` and its kin may be set (in the older API version)."""
    strips_thinking: bool = False
    """Thinking of earlier turns is not shown to the model."""
    long_prompt: tuple[int, float, float] | None = None
    """(prompt tokens, input price, output price) above that many tokens."""
    released: str = "2026-01-01T00:00:00Z"


def _table() -> dict[str, Model]:
    always: tuple[ThinkingType, ...] = ("adaptive",)
    fable = Model(
        "claude-fable-5-1", "Claude Fable 5.1", 512, 10, 50, thinking=always, forced_tool_choice=False,
        preserved_thinking=True, reads=("claude-opus-5", "claude-opus-5-5"),
    )  # fmt: skip
    opus = Model(
        "claude-opus-5-5", "Claude Opus 5.5", 512, 4, 20, thinking=always, forced_tool_choice=False,
        preserved_thinking=True, reads=("claude-opus-5",),
    )  # fmt: skip
    rows = [
        fable,
        replace(fable, id="claude-fable-5-2", name="Claude Fable 5.2", reads=("claude-fable-5-1",)),
        replace(fable, id="claude-mythos-5-1", name="Claude Mythos 5.1", reads=()),
        replace(fable, id="claude-mythos-5-2", name="Claude Mythos 5.2", reads=()),
        opus,
        Model(
            "claude-sonnet-5-5", "Claude Sonnet 5.5", 512, 2, 10, thinking=("adaptive", "between_tools"),
            preserved_thinking=True, account_bound=True,
        ),
        Model(
            "claude-haiku-5-5", "Claude Haiku 5.5", 512, 0.10, 0.50, preserved_thinking=True, account_bound=True,
            long_prompt=(100_000, 0.50, 2.50),
        ),
        Model("claude-opus-5", "Claude Opus 5", 512, 5, 25),
        Model("claude-sonnet-5", "Claude Sonnet 5", 1024, 2, 10),
        Model("claude-fable-5", "Claude Fable 5", 512, 10, 50, thinking=always),
        Model("claude-mythos-5", "Claude Mythos 5", 512, 10, 50, thinking=always),
        Model("claude-opus-4-8", "Claude Opus 4.8", 1024, 5, 25),
        Model("claude-opus-4-7", "Claude Opus 4.7", 2048, 5, 25),
        Model(
            "claude-opus-4-6", "Claude Opus 4.6", 4096, 5, 25, thinking=("adaptive", "enabled", "disabled"),
            efforts=("low", "medium", "high", "max"), sampling=True,
        ),
        Model(
            "claude-sonnet-4-6", "Claude Sonnet 4.6", 1024, 3, 15, thinking=("adaptive", "enabled", "disabled"),
            efforts=LOW_TO_HIGH, max_output=64_000, sampling=True,
        ),
        Model(
            "claude-opus-4-5", "Claude Opus 4.5", 4096, 5, 25, window=200_000, max_output=64_000,
            thinking=("enabled", "disabled"), efforts=LOW_TO_HIGH, prefill=True, sampling=True,
        ),
        Model(
            "claude-sonnet-4-5", "Claude Sonnet 4.5", 1024, 3, 15, window=200_000, max_output=64_000,
            thinking=("enabled", "disabled"), efforts=(), prefill=True, sampling=True, strips_thinking=True,
        ),
        Model(
            "claude-haiku-4-5", "Claude Haiku 4.5", 4096, 1, 5, window=200_000, max_output=64_000,
            thinking=("enabled", "disabled"), efforts=(), prefill=True, sampling=True, strips_thinking=True,
        ),
    ]  # fmt: skip
    return {m.id: m for m in rows}


MODELS: Mapping[str, Model] = _table()
DATED: Mapping[str, str] = {
    "claude-haiku-4-5-20251001": "claude-haiku-4-5",
    "claude-opus-4-5-20251101": "claude-opus-4-5",
    "claude-sonnet-4-5-20250929": "claude-sonnet-4-5",
}


def find(model_id: str, *, any_model: bool = False) -> Model | None:
    """The row of an exact id.  With ``any_model`` an unknown id gets a permissive row, as at a gateway."""
    known = MODELS.get(DATED.get(model_id, model_id))
    if known is not None or not any_model:
        return known
    every: tuple[ThinkingType, ...] = ("adaptive", "enabled", "disabled", "between_tools")
    return Model(model_id, model_id, 1024, 0, 0, thinking=every, prefill=True, sampling=True)


def info(model: Model) -> dict[str, Any]:
    """The answer of ``GET /v1/models/{id}``."""

    def can(value: bool) -> dict[str, bool]:
        return {"supported": value}

    return {
        "type": "model",
        "id": model.id,
        "display_name": model.name,
        "created_at": model.released,
        "lifecycle": "active",
        "max_input_tokens": model.window,
        "max_tokens": model.max_output,
        "capabilities": {
            "batch": can(True),
            "citations": can(True),
            "code_execution": can(True),
            "context_management": {
                **can(True),
                "clear_thinking_20251015": can(True),
                "clear_tool_uses_20250919": can(True),
                "compact_20260112": can(True),
            },
            "effort": {**can(bool(model.efforts)), **{e: can(e in model.efforts) for e in LOW_TO_MAX}},
            "image_input": can(True),
            "pdf_input": can(True),
            "server_tools": {**can(True), "code_execution": can(True), "web_search": can(True)},
            "structured_outputs": can(True),
            "thinking": {
                **can(True),
                "types": {t: can(t in model.thinking) for t in ("adaptive", "enabled", "disabled", "between_tools")},
            },
        },
        "deprecated_at": None,
        "retires_at": None,
    }
