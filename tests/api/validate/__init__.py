"""Accepts a request or refuses it as the API would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.api import models
from tests.api.errors import Refusal, bad
from tests.api.models import Model
from tests.api.options import Options
from tests.api.recorder import Request
from tests.api.render import ChainBlock, render


@dataclass(frozen=True, slots=True)
class Accepted:
    model: Model
    chain: Sequence[ChainBlock]
    transformations: list[dict[str, Any]]
    """Thinking blocks that were dropped, in the API's words."""


def accept(request: Request, options: Options) -> Accepted:
    """The request as the model reads it; ``Refusal`` where the API answers with an error."""
    body = request.json
    if not isinstance(body, dict):
        raise Refusal(400, "The request body is not valid JSON")
    for name in ("model", "messages"):
        if name not in body:
            raise bad(name, "Field required")
    model = models.find(body["model"], any_model=options.any_model)
    if model is None:
        raise Refusal(404, f"model: {body['model']}")
    return Accepted(model, render(body, model, request.betas), [])
