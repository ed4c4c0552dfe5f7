"""Makes a server's input schema one that the Messages API takes, as far as its meaning can be kept.

The API wants ``type: object`` at the top, no ``anyOf``, ``oneOf`` or ``allOf`` there, and property names of
``[a-zA-Z0-9_.-]{1,64}``; it refuses the whole request for one bad schema.  The server checks its arguments itself, so a
schema that became looser costs at most an error message.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DEPTH = 24
SIZE = 64 * 1024
"""Characters of JSON.  A tool above it is left out: it would fill the context."""
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_COMBINED = ("anyOf", "oneOf", "allOf")


class UnusableSchema(ValueError):
    """The tool has to be left out; ``str`` says why."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """``renamed`` maps the names that the model gets back to the server's; ``notes`` say what was changed."""

    schema: dict[str, Any]
    renamed: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The model's arguments under the server's names."""
        return {self.renamed.get(name, name): value for name, value in given.items()}


def repair_schema(raw: Mapping[str, Any]) -> Repaired:
    """``UnusableSchema`` where nothing that means the same can be made."""
    try:
        schema: Any = json.loads(json.dumps(raw, allow_nan=False))
        size = len(json.dumps(schema))
    except (ValueError, TypeError, RecursionError) as error:
        raise UnusableSchema(f"its input schema is no JSON ({error})") from error
    if size > SIZE:
        raise UnusableSchema(f"its input schema has {size:,} characters (at most {SIZE:,})")
    notes: list[str] = []
    schema = _top(schema, notes)
    schema.pop("$schema", None)
    renamed = _rename(schema, notes)
    made: dict[str, Any] = _inside(schema, schema, 0, notes)
    return Repaired(made, renamed, tuple(dict.fromkeys(notes)))


def _top(schema: Any, notes: list[str]) -> dict[str, Any]:
    if not isinstance(schema, dict):
        notes.append("the schema was no object")
        return {"type": "object", "properties": {}}
    if "$ref" in schema:
        target = _resolve(schema["$ref"], schema)
        if not isinstance(target, dict):
            raise UnusableSchema(f"its input schema is the reference {schema['$ref']!r}, which leads nowhere")
        schema = {**target, **{k: v for k, v in schema.items() if k != "$ref"}}
        notes.append("a reference at the top was replaced by what it names")
    kind = schema.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise UnusableSchema(f"its input must be an object, not {kind!r}")
    made: dict[str, Any] = {**schema, "type": "object"}
    for key in ("$defs", "definitions"):
        if not isinstance(made.get(key, {}), dict):
            del made[key]
    _tidy(made)
    for word in _COMBINED:
        if word in made:
            _merge(made, word, notes)
    _tidy(made)
    return made


def _tidy(schema: dict[str, Any]) -> None:
    """``properties`` of schemas and ``required`` of names, whatever stood there."""
    properties = schema.get("properties")
    found = properties if isinstance(properties, dict) else {}
    schema["properties"] = {n: v if isinstance(v, dict | bool) else {} for n, v in found.items()}
    given = schema.pop("required", None)
    kept = [r for r in given if isinstance(r, str)] if isinstance(given, list) else []
    if kept:
        schema["required"] = list(dict.fromkeys(kept))


def _merge(schema: dict[str, Any], word: str, notes: list[str]) -> None:
    """A combination at the top as one object: every property of every branch, required what all of them require."""
    given = schema.pop(word)
    branches = given if isinstance(given, list) else []
    found = [b for b in (_branch(b, schema) for b in branches) if b is not None]
    if branches and not found and not schema["properties"]:
        raise UnusableSchema(f"its input is {word} of what are no objects")
    for branch in found:
        for name, value in branch["properties"].items():
            schema["properties"][name] = _both(schema["properties"].get(name), value, word)
        for name, value in branch.get("$defs", {}).items():
            schema.setdefault("$defs", {}).setdefault(name, value)
    required = [set(b.get("required", ())) for b in found]
    if required:
        joined = set.union(*required) if word == "allOf" else set.intersection(*required)
        own = schema.get("required", [])
        schema["required"] = [*own, *sorted(joined - set(own))]
    if word != "allOf" and any("additionalProperties" in b for b in found):
        schema.pop("additionalProperties", None)
    notes.append(f"{word} at the top was merged into one object")


def _both(known: Any, value: Any, word: str) -> Any:
    """A property that two branches have: either of them will do, and of ``allOf`` the first."""
    if known is None or known == value:
        return value
    if word == "allOf":
        return known
    options = known["anyOf"] if isinstance(known, dict) and set(known) == {"anyOf"} else [known]
    return known if value in options else {"anyOf": [*options, value]}


def _branch(branch: Any, root: dict[str, Any]) -> dict[str, Any] | None:
    if isinstance(branch, dict) and "$ref" in branch:
        branch = _resolve(branch["$ref"], root)
    if not isinstance(branch, dict) or branch.get("type", "object") != "object":
        return None
    made = dict(branch)
    if not isinstance(made.get("$defs", {}), dict):
        del made["$defs"]
    _tidy(made)
    return made


def _rename(schema: dict[str, Any], notes: list[str]) -> dict[str, str]:
    properties = schema["properties"]
    renamed: dict[str, str] = {}
    made: dict[str, Any] = {}
    for name, value in properties.items():
        new = name
        if not _PROPERTY.fullmatch(name):
            ending = "_" + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]
            new = re.sub(r"[^a-zA-Z0-9_.-]", "_", name)[: 64 - len(ending)] + ending
            renamed[new] = name
            notes.append(f"the property {name!r} is called {new}")
        made[new] = value
    schema["properties"] = made
    back = {old: new for new, old in renamed.items()}
    if "required" in schema:
        schema["required"] = [back.get(r, r) for r in schema["required"]]
    return renamed


def _inside(value: Any, root: dict[str, Any], depth: int, notes: list[str]) -> Any:
    """References that lead nowhere, and what lies too deep, become "anything"."""
    if isinstance(value, list):
        return [_inside(v, root, depth + 1, notes) for v in value]
    if not isinstance(value, dict):
        return value
    if depth > DEPTH:
        notes.append(f"what lies deeper than {DEPTH} levels was left open")
        return {}
    reference = value.get("$ref")
    if isinstance(reference, str) and _resolve(reference, root) is None:
        notes.append(f"the reference {reference!r} leads nowhere")
        value = {k: v for k, v in value.items() if k != "$ref"}
    return {k: _inside(v, root, depth + 1, notes) for k, v in value.items()}


def _resolve(reference: Any, root: Any) -> Any:
    """What a reference inside the schema names; ``None`` if it leads nowhere or outside."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    found = root
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            return None
    return found
