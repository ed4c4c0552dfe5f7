"""What a server may ask of us while it is connected: values from the user, and where we work.

Sampling is not offered: the package answers such a request with an error of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentcli.messages import Json
from agentcli.ports.elicitation import Elicitation, ElicitField, Elicitor, FieldKind
from agentcli.text import clean, one_line, strip_ansi

if TYPE_CHECKING:
    from mcp.client.session import ElicitationFnT, ListRootsFnT

_KINDS: Mapping[str, FieldKind] = {"string": "text", "number": "number", "integer": "integer", "boolean": "boolean"}

_LIMITS: Mapping[FieldKind, tuple[str, str]] = {
    "text": ("minLength", "maxLength"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "boolean": ("", ""),
    "choice": ("", ""),
    "choices": ("minItems", "maxItems"),
}


def elicitation_callback(server: str, elicitor: Elicitor) -> ElicitationFnT:
    """Hands the server's question to ``elicitor`` and its answer back."""

    async def ask(context: Any, params: Any) -> Any:
        from mcp.types import ElicitResult

        message = strip_ansi(clean(params.message))
        url = getattr(params, "url", None)
        if url:
            request = Elicitation(server, message, url=str(url))
        else:
            schema = _plain(params.requested_schema)
            request = Elicitation(server, message, fields_of(schema), schema=schema)
        reply = await elicitor.elicit(request)
        content = dict(reply.content or {}) if reply.action == "accept" and not url else None
        return ElicitResult(action=reply.action, content=content)

    return ask


def roots_callback(roots: Callable[[], tuple[Path, ...]]) -> ListRootsFnT:
    async def tell(context: Any) -> Any:
        from mcp.types import ListRootsResult, Root
        from pydantic import FileUrl

        return ListRootsResult(
            roots=[Root(uri=FileUrl(path.resolve().as_uri()), name=path.name or str(path)) for path in roots()]
        )

    return tell


def fields_of(schema: Json) -> tuple[ElicitField, ...]:
    """The fields of a flat form: what the protocol allows in ``requestedSchema``."""
    properties = schema.get("properties")
    required = schema.get("required") or ()
    if not isinstance(properties, Mapping):
        return ()
    return tuple(
        _field(name, value, required=name in required) for name, value in properties.items() if isinstance(value, dict)
    )


def _field(name: str, schema: Json, *, required: bool) -> ElicitField:
    kind = _KINDS.get(str(schema.get("type")), "text")
    options = _options(schema)
    if schema.get("type") == "array":
        kind, options = "choices", _options(schema.get("items") or {})
    elif options:
        kind = "choice"
    return ElicitField(
        name=name,
        kind=kind,
        title=_text(schema.get("title")),
        description=_text(schema.get("description")),
        required=required,
        default=schema.get("default"),
        options=options,
        least=_limit(schema, _LIMITS[kind][0]),
        most=_limit(schema, _LIMITS[kind][1]),
        format=_text(schema.get("format")),
    )


def _limit(schema: Json, name: str) -> float | None:
    value = schema.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _options(schema: Json) -> tuple[tuple[str, str], ...]:
    """(value, label): from ``enum`` with ``enumNames``, or ``oneOf``/``anyOf`` of ``const`` with ``title``."""
    titled = schema.get("oneOf") or schema.get("anyOf") or ()
    if titled:
        return tuple((str(o["const"]), _text(o.get("title")) or str(o["const"])) for o in titled if "const" in o)
    values = [str(v) for v in schema.get("enum") or ()]
    labels = [_text(v) for v in schema.get("enumNames") or ()]
    return tuple((v, labels[i] if i < len(labels) else v) for i, v in enumerate(values))


def _text(value: Any) -> str:
    return one_line(strip_ansi(value), 500) if isinstance(value, str) else ""


def _plain(schema: Any) -> Json:
    if isinstance(schema, Mapping):
        return schema
    made: Json = schema.model_dump(mode="json", by_alias=True, exclude_none=True) if schema is not None else {}
    return made
