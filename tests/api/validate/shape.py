"""Shapes of JSON objects: which fields, of which kind, and which beta header a field needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tests.api.errors import bad

KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list,),
    "object": (dict,),
}


@dataclass(frozen=True, slots=True)
class Field:
    """``kind`` is a name in ``KINDS``, several joined by ``|``, or ``any``; ``choices`` are the only values; ``betas``:
    without one of these headers the field does not exist."""

    kind: str = "any"
    required: bool = False
    nullable: bool = False
    choices: tuple[str, ...] = ()
    betas: tuple[str, ...] = ()


Shape = Mapping[str, Field]
CONTROL = Field("object", nullable=True)
"""``cache_control``; its own shape is checked with the breakpoints."""


def need(kind: str = "string", *choices: str) -> Field:
    return Field(kind, required=True, choices=choices)


def may(kind: str = "string", *choices: str, nullable: bool = True, betas: tuple[str, ...] = ()) -> Field:
    return Field(kind, nullable=nullable, choices=choices, betas=betas)


def check(path: str, value: Any, shape: Shape, betas: Collection[str]) -> None:
    """Refuses unknown, missing and ill-typed fields of one object."""
    if not isinstance(value, dict):
        raise bad(path, "Input should be a valid dictionary")
    for name, field in shape.items():
        if field.required and name not in value:
            raise bad(join(path, name), "Field required")
    for name, item in value.items():
        at = join(path, name)
        field_or_none = shape.get(name)
        if field_or_none is None or (field_or_none.betas and not set(field_or_none.betas) & set(betas)):
            raise bad(at, "Extra inputs are not permitted")
        _check_field(at, item, field_or_none)


def join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _check_field(path: str, value: Any, field: Field) -> None:
    if value is None and field.nullable:
        return
    kinds = [] if field.kind == "any" else field.kind.split("|")
    if kinds and not any(_is(value, kind) for kind in kinds):
        raise bad(path, f"Input should be a valid {' or '.join(kinds)}")
    if field.choices and value not in field.choices:
        wanted = ", ".join(f"'{c}'" for c in field.choices[:-1])
        last = f"'{field.choices[-1]}'"
        raise bad(path, f"Input should be {f'{wanted} or {last}' if wanted else last}")


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))
