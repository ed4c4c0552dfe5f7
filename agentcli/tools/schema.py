"""A tool's parameters: a frozen dataclass from which the JSON schema is made and into which the input is parsed.

Supported field types: ``str``, ``int``, ``float``, ``bool``, ``Literal`` of strings, ``tuple[X, ...]``, another such
dataclass, and any of them ``| None``.  A field without a default is required; ``null`` for a field with one means the
default.  Parsing is strict about names and types, but forgives what models do in good faith: a number or a truth
value sent as a string, a list or an object sent as its JSON text.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, field
from functools import lru_cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from agentcli.errors import ToolInputError
from agentcli.messages import Json

P = TypeVar("P")
_SIMPLE: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def param(
    description: str = "", *, default: Any = MISSING, name: str = "", minimum: int | None = None, told: bool = True
) -> Any:
    """A field with words for the model; ``name`` where the parameter is no identifier (``-i``).

    ``minimum`` is checked, not rendered: the words and the error suffice, and every byte stands in every request.  One
    that is not ``told`` stands in no schema: a result says where it helps.
    """
    words = {"description": description, "name": name, "minimum": minimum, "told": told}
    return field(default=default, metadata=words)


@lru_cache(maxsize=256)
def _fields(params: type) -> dict[str, tuple[Field[Any], Any]]:
    """Parameter name -> (field, type), in the order in which they stand."""
    hints = get_type_hints(params)
    return {f.metadata.get("name") or f.name: (f, hints[f.name]) for f in dataclasses.fields(params)}


def json_schema(params: type) -> dict[str, Any]:
    """The JSON schema of a parameter class; keys in fixed order, so that the same class is the same bytes."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, (found, hint) in _fields(params).items():
        if not found.metadata.get("told", True):
            continue
        schema = _type_schema(hint)
        if found.metadata.get("description"):
            schema["description"] = found.metadata["description"]
        properties[name] = schema
        if _is_required(found):
            required.append(name)
    result: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        result["required"] = required
    result["additionalProperties"] = False
    return result


def _is_required(found: Field[Any]) -> bool:
    return found.default is MISSING and found.default_factory is MISSING


def _plain_type(hint: Any) -> Any:
    """The type without ``| None``."""
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = [a for a in get_args(hint) if a is not type(None)]
    return hint


def _type_schema(hint: Any) -> dict[str, Any]:
    plain = _plain_type(hint)
    if plain in _SIMPLE:
        return {"type": _SIMPLE[plain]}
    if get_origin(plain) is Literal:
        return {"type": "string", "enum": list(get_args(plain))}
    if get_origin(plain) is tuple:
        return {"type": "array", "items": _type_schema(get_args(plain)[0])}
    if dataclasses.is_dataclass(plain) and isinstance(plain, type):
        return json_schema(plain)
    raise TypeError(f"a parameter can't be of type {hint}")


def parse(params: type[P], input: Json) -> P:
    """The input as an instance of ``params``.  ``ToolInputError`` names everything that is wrong and what to send."""
    problems: list[str] = []
    plain: type = params
    value = _parse_object(plain, input, "", problems)
    if problems:
        told = [(n, f) for n, (f, _) in _fields(plain).items() if f.metadata.get("told", True)]
        known = ", ".join(f"{n}{'' if _is_required(f) else '?'}" for n, f in told)
        raise ToolInputError("\n".join([*problems, f"Parameters: {known}. Call the tool again with these."]))
    result: P = value
    return result


def _parse_object(params: type, given: Any, where: str, problems: list[str]) -> Any:
    given = _from_text(given, dict)
    if not isinstance(given, Mapping):
        problems.append(f"{where or 'The input'} must be an object, not {_describe(given)}.")
        return None
    known = _fields(params)
    prefix = f"{where}." if where else ""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f" Did you mean `{near[0]}`?" if near else ""
            problems.append(f"Unknown parameter `{prefix}{name}`.{hint}")
    values: dict[str, Any] = {}
    for name, (found, hint) in known.items():
        missing = name not in given or (given[name] is None and not _is_required(found))
        if not missing:
            values[found.name] = _parse_value(hint, given[name], prefix + name, problems)
            _check_minimum(found, values[found.name], prefix + name, problems)
        elif _is_required(found):
            problems.append(f"The parameter `{prefix}{name}` is missing.")
    return None if problems else params(**values)


def _check_minimum(found: Field[Any], value: Any, where: str, problems: list[str]) -> None:
    minimum = found.metadata.get("minimum")
    if minimum is not None and isinstance(value, int | float) and value < minimum:
        problems.append(f"`{where}` must be at least {minimum}, not {value}.")


def _parse_value(hint: Any, given: Any, where: str, problems: list[str]) -> Any:
    plain = _plain_type(hint)
    if dataclasses.is_dataclass(plain) and isinstance(plain, type):
        return _parse_object(plain, given, where, problems)
    if get_origin(plain) is tuple:
        items = _from_text(given, list)
        if isinstance(items, list | tuple):
            inner = get_args(plain)[0]
            return tuple(_parse_value(inner, v, f"{where}[{i}]", problems) for i, v in enumerate(items))
        problems.append(f"`{where}` must be an array, not {_describe(given)}.")
        return None
    if get_origin(plain) is Literal:
        if given not in get_args(plain):
            problems.append(f"`{where}` must be one of {', '.join(get_args(plain))}, not {_describe(given)}.")
        return given
    value = _simple(plain, given)
    if value is None:
        problems.append(f"`{where}` must be {_article(_SIMPLE[plain])}, not {_describe(given)}.")
    return value


def _simple(plain: type, given: Any) -> Any:
    """The value as ``str``, ``bool``, ``int`` or ``float``; ``None`` if it is not one."""
    if plain is str:
        return given if isinstance(given, str) else None
    if plain is bool:
        text = given.strip().lower() if isinstance(given, str) else given
        return {"true": True, "false": False}.get(text) if isinstance(text, str) else _if(given, bool)
    if isinstance(given, bool):
        return None
    number = _number(given) if isinstance(given, str) else _if(given, (int, float))
    if plain is int and isinstance(number, float):
        return int(number) if number.is_integer() else None
    return number


def _if(value: Any, wanted: type | tuple[type, ...]) -> Any:
    return value if isinstance(value, wanted) else None


def _number(text: str) -> int | float | None:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return None


def _from_text(given: Any, wanted: type) -> Any:
    """A list or an object that came as its JSON text."""
    if not isinstance(given, str):
        return given
    try:
        value = json.loads(given)
    except ValueError:
        return given
    return value if isinstance(value, wanted) else given


def _describe(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else text[:59] + "…"


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
