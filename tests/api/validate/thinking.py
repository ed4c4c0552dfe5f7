"""The thinking parameter, effort, and the thinking blocks that come back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tests.api import signing
from tests.api.errors import bad
from tests.api.models import Model
from tests.api.options import Options
from tests.api.render import as_blocks
from tests.api.signing import Prefix
from tests.api.validate.shape import Field, Shape, check, may, need

Json = dict[str, Any]
BINDING = "thinking-binding-controls-2026-08-01"
UPDATES = "thinking-display-updates-2026-08-18"
TYPES: Mapping[str, Shape] = {
    "adaptive": {"type": need(), "display": may(), "block_binding": may("object", betas=(BINDING,))},
    "enabled": {"type": need(), "budget_tokens": need("integer"), "display": may("string", "summarized", "omitted")},
    "disabled": {"type": need()},
    "between_tools": {"type": need()},
}
OUTPUT: Shape = {
    "effort": may("string", "low", "medium", "high", "xhigh", "max"),
    "format": may("object"),
    "task_budget": may("object", betas=("task-budgets-2026-03-13",)),
}
MIN_BUDGET = 1024


def check_thinking(body: Json, model: Model, betas: Collection[str]) -> None:
    thinking = body.get("thinking")
    if thinking is None:
        return
    kind = thinking.get("type")
    if kind not in TYPES:
        raise bad("thinking", f"Input tag '{kind}' found using 'type' does not match any of the expected tags")
    check(f"thinking.{kind}", thinking, TYPES[kind], betas)
    if kind not in model.thinking:
        raise bad(
            "",
            f'"thinking.type.{kind}" is not supported for {model.id}. '
            f'Use "thinking.type.{model.thinking[0]}" and "output_config.effort" to control thinking.',
        )
    if kind == "adaptive":
        shown = ("summarized", "omitted", "updates") if UPDATES in betas else ("summarized", "omitted")
        check("thinking.adaptive", {"display": thinking.get("display")}, {"display": may("string", *shown)}, betas)
        behaviour = Field("string", nullable=True, choices=("error", "drop_block"))
        binding = thinking.get("block_binding") or {}
        check("thinking.adaptive.block_binding", binding, {"prefix_mismatch_behavior": behaviour}, betas)
    if kind == "enabled":
        _check_budget(body, thinking["budget_tokens"])


def _check_budget(body: Json, budget: int) -> None:
    if budget < MIN_BUDGET:
        raise bad("thinking.enabled.budget_tokens", "Input should be greater than or equal to 1024")
    if budget >= body.get("max_tokens", budget + 1):
        raise bad("", "`max_tokens` must be greater than `thinking.budget_tokens`.")
    last = body["messages"][-1]
    if len(body["messages"]) > 1 and any(b["type"] == "tool_result" for b in as_blocks(last["content"])):
        first = as_blocks(body["messages"][-2]["content"])[0]["type"]
        if first not in ("thinking", "redacted_thinking"):
            raise bad(
                f"messages.{len(body['messages']) - 2}.content.0.type",
                f"Expected `thinking` or `redacted_thinking`, but found `{first}`. When `thinking` is enabled, a final "
                "`assistant` message must start with a thinking block.",
            )


def check_output(body: Json, model: Model, betas: Collection[str]) -> None:
    """``output_config``: effort and the answer's format."""
    output = body.get("output_config")
    if output is None:
        return
    check("output_config", output, OUTPUT, betas)
    effort = output.get("effort")
    if effort and not model.efforts:
        raise bad("", f"This model does not support the effort parameter: {model.id}")
    if effort and effort not in model.efforts:
        raise bad("output_config.effort", f"Effort level '{effort}' is not supported by {model.id}")
    if output.get("format") is not None:
        shape = {"type": need("string", "json_schema"), "schema": need("object")}
        check("output_config.format", output["format"], shape, betas)
        _check_closed("output_config.format.schema", output["format"]["schema"])


def _check_closed(path: str, schema: Any) -> None:
    """Every object of an output schema says that it has no other properties."""
    if isinstance(schema, list):
        for item in schema:
            _check_closed(path, item)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        raise bad(path, "For 'object' type, 'additionalProperties' must be explicitly set to false")
    for name, value in schema.items():
        if name not in ("enum", "const", "default", "examples", "required"):
            _check_closed(f"{path}.{name}", value)


def check_blocks(body: Json, model: Model, *, key: str, options: Options) -> list[Json]:
    """Checks the signature of every thinking block; returns the blocks that are dropped, in the API's words.

    Blocks that were altered or never signed are refused.  Blocks of a model that this one can't read, or of another
    account where it matters, are dropped.  On models with preserved thinking a block whose prefix has changed is
    refused, or dropped where the request says so (``block_binding``).
    """
    if not options.check_signatures:
        return []
    drop = ((body.get("thinking") or {}).get("block_binding") or {}).get("prefix_mismatch_behavior") == "drop_block"
    dropped: list[Json] = []
    prefix = Prefix(body, model=model.id, account=key)
    for i, message in enumerate(body["messages"]):
        for j, block in enumerate(as_blocks(message["content"])):
            if block["type"] in signing.THINKING:
                path = f"messages.{i}.content.{j}"
                reason = _check_signature(path, block, model, prefix)
                if reason == "prefix_binding_mismatch" and options.prefix_check and not drop:
                    raise bad(
                        path,
                        f"Invalid `signature` in `{block['type']}` block. The block is bound to a different "
                        "conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "
                        '"drop_block".',
                    )
                if reason and (reason != "prefix_binding_mismatch" or drop):
                    dropped.append({"type": "thinking_dropped", "path": path, "reason": reason})
            prefix.add(message["role"], block)
    return dropped


def _check_signature(path: str, block: Json, model: Model, prefix: Prefix) -> str:
    """Why this model is not shown the block, in the API's words; empty where it is."""
    signed = signing.read(block["signature"] if block["type"] == "thinking" else block["data"], block)
    if signed is None:
        raise bad(path, f"Invalid `signature` in `{block['type']}` block")
    now = prefix.signature()
    if model.account_bound and signed.account != now.account:
        return "organization_binding_mismatch"
    if signed.model not in {signing.digest(m) for m in (model.id, *model.reads)}:
        return "model_binding_mismatch"
    moved = prefix.has_thinking and signed.link != now.link
    same = (signed.tools, signed.system, signed.before) == (now.tools, now.system, now.before)
    return "prefix_binding_mismatch" if model.preserved_thinking and (moved or not same) else ""
