"""Models: windows, prices, cutoffs, cache minima, thinking and effort rules, aliases.

Sources: the models overview, pricing and prompt-caching pages of the Claude documentation (state of November 2026).
Where a page does not state a figure the field is ``None`` (no price is shown rather than a wrong one); windows and
output limits of unknown models come from ``models.retrieve`` where the server answers (``client.refresh_model``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from agentcli.env import number
from agentcli.errors import UserError
from agentcli.ports.model import Effort, ModelInfo

Provider = Literal["first_party", "gateway", "bedrock", "vertex", "foundry"]
"""Who serves the model: the Anthropic API itself, a foreign base URL, or a cloud through the SDK's client."""

ALL_EFFORTS: tuple[Effort, ...] = ("low", "medium", "high", "xhigh", "max")
_FOUR_SIX: tuple[Effort, ...] = ("low", "medium", "high", "max")
DEFAULT_MODEL = "sonnet"
ALIASES: Mapping[str, str] = {
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
    "fable": "claude-fable-5-1",
}
"""Alias to exact id.  ``ANTHROPIC_DEFAULT_OPUS_MODEL`` (and so on) puts another id in its place."""

MILLION = 1_000_000
DEFAULT_MAX_TOKENS = 32_000
"""Output limit of a request unless the setting says otherwise; twice that at effort ``xhigh`` and ``max``."""
FOREIGN_MAX_TOKENS = 8_192
FOREIGN_WINDOW = 128_000


def _row(
    id: str, name: str, prices: tuple[float, float] | None, cutoff: str | None, minimum: int, **rest: Any
) -> ModelInfo:
    values: dict[str, Any] = {
        "window": MILLION,
        "max_output": 128_000,
        "efforts": ALL_EFFORTS,
        "default_effort": "high",
    }
    values.update(rest)
    cost_in, cost_out = prices or (None, None)
    return ModelInfo(
        id, name, cache_minimum=minimum, input_price=cost_in, output_price=cost_out, knowledge_cutoff=cutoff, **values
    )


_ROWS = (
    _row("claude-fable-5-2", "Claude Fable 5.2", None, None, 512, thinking="always"),
    _row("claude-fable-5-1", "Claude Fable 5.1", (10, 50), "June 2026", 512, thinking="always"),
    _row("claude-opus-5-5", "Claude Opus 5.5", (4, 20), "June 2026", 512, thinking="always", default_effort="medium"),
    _row("claude-sonnet-5-5", "Claude Sonnet 5.5", (2, 10), "June 2026", 512, thinking="between_tools"),
    _row(
        "claude-haiku-5-5",
        "Claude Haiku 5.5",
        (0.10, 0.50),
        "June 2026",
        512,
        default_effort="medium",
        long_prompt=(100_000, 0.50, 2.50),
    ),
    _row("claude-mythos-5-2", "Claude Mythos 5.2", None, None, 512, thinking="always"),
    _row("claude-mythos-5-1", "Claude Mythos 5.1", None, None, 512, thinking="always"),
    _row("claude-mythos-5", "Claude Mythos 5", None, None, 512, thinking="always"),
    _row("claude-opus-5", "Claude Opus 5", (5, 25), "May 2026", 512),
    _row("claude-sonnet-5", "Claude Sonnet 5", (2, 10), "January 2026", 1_024),
    _row("claude-fable-5", "Claude Fable 5", (10, 50), "January 2026", 512, thinking="always"),
    _row("claude-opus-4-8", "Claude Opus 4.8", (5, 25), None, 1_024, default_effort=None),
    _row("claude-opus-4-7", "Claude Opus 4.7", (5, 25), None, 2_048, default_effort=None),
    _row("claude-opus-4-6", "Claude Opus 4.6", (5, 25), None, 4_096, efforts=_FOUR_SIX, default_effort=None),
    _row(
        "claude-sonnet-4-6",
        "Claude Sonnet 4.6",
        (3, 15),
        None,
        1_024,
        window=200_000,
        max_output=64_000,
        efforts=("low", "medium", "high"),
        default_effort=None,
    ),
    _row(
        "claude-opus-4-5",
        "Claude Opus 4.5",
        (5, 25),
        None,
        4_096,
        window=200_000,
        max_output=64_000,
        thinking="budget",
        efforts=("low", "medium", "high"),
        default_effort=None,
    ),
    _row(
        "claude-sonnet-4-5",
        "Claude Sonnet 4.5",
        (3, 15),
        None,
        1_024,
        window=200_000,
        max_output=64_000,
        thinking="budget",
        efforts=(),
        default_effort=None,
    ),
    _row(
        "claude-haiku-4-5",
        "Claude Haiku 4.5",
        (1, 5),
        "February 2025",
        4_096,
        window=200_000,
        max_output=64_000,
        thinking="budget",
        efforts=(),
        default_effort=None,
    ),
    _row(
        "claude-3-5-haiku",
        "Claude Haiku 3.5",
        (0.80, 4),
        "July 2024",
        2_048,
        window=200_000,
        max_output=8_192,
        thinking="none",
        efforts=(),
        default_effort=None,
    ),
)
MODELS: Mapping[str, ModelInfo] = {row.id: row for row in _ROWS}
_CLAUDE = re.compile(r"claude-[a-z0-9-]+")
_SUFFIX = re.compile(r"(-v\d+(:\d+)?|-\d{8}|-latest)$")
_FAMILY = re.compile(r"claude-(?:\d[\d-]*-)?(opus|sonnet|haiku|fable|mythos)")


def base_id(model: str) -> str:
    """The catalog's id for what a provider calls it.

    ``us.anthropic.claude-opus-4-6-v1:0``, ``claude-haiku-4-5@20251001``, ``claude-haiku-4-5-20251001`` and
    ``claude-opus-4-6[1m]`` name models of the catalog; anything else comes back as it is.
    """
    found = _CLAUDE.search(model.lower())
    if not found:
        return model
    name = found.group()
    while (shorter := _SUFFIX.sub("", name)) != name:
        name = shorter
    return name


def model_info(model: str, *, provider: Provider = "first_party") -> ModelInfo:
    """What is known of the model; never fails.

    An unknown Claude model gets its family's newest rules, a model of somebody else's plain defaults (no thinking, no
    effort); both without prices and with ``known`` false.  On Bedrock the minimum of 512 is 1,024.
    """
    row = MODELS.get(base_id(model))
    if row is None:
        row = _unknown(model)
    minimum = max(row.cache_minimum, 1_024) if provider == "bedrock" else row.cache_minimum
    return replace(row, id=model, cache_minimum=minimum)


def told(known: ModelInfo, answer: Mapping[str, Any]) -> ModelInfo:
    """With what the server's ``models.retrieve`` says of its windows; its name only where we have none."""
    window, output, name = (answer.get(k) for k in ("max_input_tokens", "max_tokens", "display_name"))
    return replace(
        known,
        window=window if isinstance(window, int) and window > 0 else known.window,
        max_output=output if isinstance(output, int) and output > 0 else known.max_output,
        name=name if isinstance(name, str) and name and not known.known else known.name,
    )


def _unknown(model: str) -> ModelInfo:
    family = _FAMILY.search(model.lower())
    if family:
        newest = next(r for r in _ROWS if family.group(1) in r.id)
        return replace(
            newest,
            name=model,
            input_price=None,
            output_price=None,
            long_prompt=None,
            knowledge_cutoff=None,
            known=False,
        )
    return ModelInfo(model, model, FOREIGN_WINDOW, FOREIGN_MAX_TOKENS, 1_024, thinking="none", efforts=(), known=False)


def resolve_model(
    name: str,
    *,
    env: Mapping[str, str] | None = None,
    overrides: Mapping[str, str] | None = None,
    provider: Provider = "first_party",
) -> str:
    """The exact id for an alias or id.

    ``overrides`` is the setting ``modelOverrides`` (our id to the provider's id).  ``default`` is the default alias.
    Unknown ids pass; a name that is empty or holds blanks is a ``UserError``.
    """
    wanted = name.strip()
    if not wanted or any(c.isspace() for c in wanted):
        known = ", ".join(ALIASES)
        raise UserError(f"Not a model name: {name!r}. Give an alias ({known}) or an exact id.")
    alias = DEFAULT_MODEL if wanted.lower() == "default" else wanted.lower()
    alias = alias.removesuffix("[1m]")
    if alias in ALIASES:
        given = (env or {}).get(f"ANTHROPIC_DEFAULT_{alias.upper()}_MODEL", "").strip()
        wanted = given or _provider_id(ALIASES[alias], provider)
    wanted = wanted.removesuffix("[1m]")
    return (overrides or {}).get(wanted, wanted)


def _provider_id(model: str, provider: Provider) -> str:
    return f"anthropic.{model}" if provider == "bedrock" else model


def model_choices() -> tuple[ModelInfo, ...]:
    """The aliases' models, in the order in which a menu shows them."""
    return tuple(MODELS[ALIASES[alias]] for alias in ("opus", "sonnet", "haiku", "fable"))


def check_effort(effort: str, info: ModelInfo) -> Effort:
    """The effort as this model takes it; ``UserError`` names those that it has."""
    for known in info.efforts:
        if known == effort:
            return known
    if not info.efforts:
        raise UserError(f"{info.name} has no effort setting.")
    raise UserError(f"{info.name} has no effort {effort!r}. It has: {', '.join(info.efforts)}.")


def default_max_tokens(info: ModelInfo, effort: Effort | None = None, *, env: Mapping[str, str] | None = None) -> int:
    """Output limit for a request (``CLAUDE_CODE_MAX_OUTPUT_TOKENS`` or ours), never above the model's own."""
    usual = DEFAULT_MAX_TOKENS * (2 if effort in ("xhigh", "max") else 1)
    wanted = number("CLAUDE_CODE_MAX_OUTPUT_TOKENS", usual, env or {}) or usual
    return min(wanted, info.max_output)


def effective_window(info: ModelInfo, *, env: Mapping[str, str] | None = None) -> int:
    """The model's window in tokens, or ``CLAUDE_CODE_MAX_CONTEXT_TOKENS`` where that is set."""
    return number("CLAUDE_CODE_MAX_CONTEXT_TOKENS", info.window, env or {}) or info.window
