"""Accepts a request or refuses it as the API would.

``headers``: key, version, betas.  ``body``: bytes and top-level fields.  ``tools``.  ``content``: blocks.
``messages``: the conversation.  ``media``: images and documents.  ``thinking``.  ``caching``: breakpoints.  The first
fault found is the one that is told, with the API's status, error type and wording.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.api import models
from tests.api.errors import Refusal, bad
from tests.api.models import Model
from tests.api.options import Options
from tests.api.recorder import Request
from tests.api.render import ChainBlock, as_blocks, render
from tests.api.validate.body import check_limits, check_top, parse
from tests.api.validate.caching import check_context_management, check_marks
from tests.api.validate.content import Context, check_system
from tests.api.validate.headers import check_headers
from tests.api.validate.media import check_dimensions
from tests.api.validate.messages import check_messages, check_pairs, check_roles
from tests.api.validate.thinking import check_blocks, check_output, check_thinking
from tests.api.validate.tools import check_choice, check_tools

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Accepted:
    model: Model
    chain: Sequence[ChainBlock]
    transformations: list[Json]
    """Thinking blocks that were dropped, in the API's words."""


def accept(request: Request, options: Options) -> Accepted:
    """The request as the model reads it; ``Refusal`` where the API answers with an error."""
    check_headers(request, options)
    body = parse(request.body)
    counting = request.path.endswith("/count_tokens")
    if options.validate:
        _check_shapes(body, request, options, counting=counting)
    for name in ("model", "messages"):
        if name not in body:
            raise bad(name, "Field required")
    model = models.find(body["model"], any_model=options.any_model)
    if model is None:
        raise Refusal(404, f"model: {body['model']}")
    dropped: list[Json] = []
    if options.validate:
        dropped = _check_meaning(body, request, model, options, counting=counting)
    chain = render(body, model, request.betas, dropped=frozenset(d["path"] for d in dropped))
    total = sum(b.tokens for b in chain)
    window = options.window or model.window
    if total > window and not counting:
        raise Refusal(400, f"prompt is too long: {total} tokens > {window} maximum")
    return Accepted(model, chain, dropped)


def _check_shapes(body: Json, request: Request, options: Options, *, counting: bool) -> None:
    check_top(body, request.betas, request.version, counting=counting)
    ctx = Context(request.betas, request.version, body.get("tools", []))
    check_tools(ctx.tools, ctx.betas, server_tools=options.server_tools)
    if "system" in body:
        check_system(body["system"], ctx)
    check_messages(body["messages"], ctx)


def _check_meaning(body: Json, request: Request, model: Model, options: Options, *, counting: bool) -> list[Json]:
    betas = request.betas
    check_roles(body["messages"], model, strict=options.strict_alternation)
    check_pairs(body["messages"])
    check_dimensions(list(_images(body)))
    check_choice(body, model, betas)
    check_thinking(body, model, betas)
    check_output(body, model, betas)
    if not counting:
        check_limits(body, model)
    check_marks(body, betas, options)
    check_context_management(body, betas)
    return check_blocks(body, model, key=request.key, options=options)


def _images(body: Json) -> Iterator[tuple[str, Json]]:
    for i, message in enumerate(body["messages"]):
        for j, block in enumerate(as_blocks(message["content"])):
            path = f"messages.{i}.content.{j}"
            if block["type"] == "image":
                yield path, block
            if block["type"] == "tool_result":
                for k, inner in enumerate(as_blocks(block.get("content", ""))):
                    if inner["type"] == "image":
                        yield f"{path}.tool_result.content.{k}", inner
