"""``--json-schema``: the answer as data.

Where the API can hold an answer to a schema it is asked to; elsewhere the model is told the schema.  Either way the
answer is validated here against the schema as it was given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias
from urllib.parse import unquote

from agentcli.errors import UsageError
from agentcli.messages import Json
from agentcli.text import one_line
from agentcli.ui.headless.result import Structured

Schema: TypeAlias = Mapping[str, Any] | str
"""A JSON schema, or its text."""
RETRIES = 5
MOST_PROBLEMS = 5
_FENCE = re.compile(r"\A\s*```(?:json)?[ \t]*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_KEPT = frozenset(
    {"type", "title", "description", "enum", "const", "anyOf", "allOf", "$ref", "default", "required", "items"}
)
_LEFT_OUT = frozenset(
    {"$schema", "$id", "$comment", "examples", "format", "pattern", "minLength", "maxLength", "minimum", "maximum"}
    | {"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems"}
    | {"minProperties", "maxProperties", "readOnly", "writeOnly", "deprecated"}
)
"""Left out of what the API gets (structured-outputs page: not supported); they hold in our own validation."""


class _Unfit(Exception):
    """The schema says something that the API's form can't."""


@dataclass(frozen=True, slots=True)
class OutputSchema:
    schema: Mapping[str, Any]

    @classmethod
    def parse(cls, given: str | Mapping[str, Any], *, where: str = "--json-schema") -> OutputSchema:
        """``UsageError`` when the text is no JSON schema, or refers to one elsewhere: nothing is fetched."""
        schema: Any = given
        if isinstance(given, str):
            try:
                schema = json.loads(given)
            except ValueError as error:
                raise UsageError(f"{where} is not JSON: {error}") from error
        if not isinstance(schema, dict):
            raise UsageError(f"{where}: a JSON schema is an object")
        for reference in _references(schema):
            if not reference.startswith("#"):
                raise UsageError(f"{where}: the reference {reference!r} leads elsewhere; put the definition into $defs")
        made = cls(schema)
        problem = made._schema_problem()
        if problem:
            raise UsageError(f"{where} is not a valid JSON schema: {problem}")
        return made

    def read(self, text: str) -> Structured:
        """The answer's value, or why it is not one.  A fence of Markdown around it is taken off."""
        fenced = _FENCE.match(text)
        try:
            value = json.loads(fenced[1] if fenced else text, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            return Structured(problem=f"it is not JSON: {one_line(str(error), 300)}")
        problems = list(self._problems(value))
        return Structured(value) if not problems else Structured(problem="; ".join(problems))

    def api_form(self) -> Json | None:
        """The schema as the API takes it: every object closed, unsupported limits left out; ``None`` where that can't
        say the same."""
        if self.schema.get("type") != "object":
            return None
        try:
            _check_recursion(self.schema)
            return _api(self.schema)
        except _Unfit:
            return None

    def instruction(self) -> str:
        return (
            "When you are done, your final message must be one JSON value that fits this JSON schema, and nothing "
            f"else: no words around it, no code fence.\n{json.dumps(self.schema, ensure_ascii=False)}"
        )

    def correction(self, problem: str) -> str:
        return f"Your final message does not fit the required form: {problem}.\n{self.instruction()}"

    def _schema_problem(self) -> str:
        from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]  # it ships no types
        from jsonschema.validators import validator_for  # type: ignore[import-untyped]  # it ships no types

        try:
            validator_for(self.schema).check_schema(self.schema)
        except SchemaError as error:
            return one_line(error.message, 300)
        lost = [r for r in _references(self.schema) if r.startswith("#/") and not _leads(self.schema, r)]
        return f"the reference {lost[0]!r} leads nowhere" if lost else ""

    def _problems(self, value: object) -> Iterator[str]:
        from jsonschema.validators import validator_for
        from referencing import Registry
        from referencing.exceptions import Unresolvable

        validator = validator_for(self.schema)(self.schema, registry=Registry())
        try:
            for number, error in enumerate(validator.iter_errors(value)):
                if number >= MOST_PROBLEMS:
                    return
                yield f"at {error.json_path}: {one_line(error.message, 300)}"
        except Unresolvable as error:
            yield f"the schema can't be used: {one_line(str(error), 300)}"


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, list):
        for item in schema:
            yield from _references(item)
    elif isinstance(schema, dict):
        for key, item in schema.items():
            if key in ("$ref", "$dynamicRef") and isinstance(item, str):
                yield item
            elif key not in ("enum", "const", "default", "examples"):
                yield from _references(item)


def _leads(schema: Mapping[str, Any], reference: str) -> bool:
    """Whether a JSON pointer names something."""
    place: Any = schema
    for part in unquote(reference).removeprefix("#/").split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, list) and key.isdecimal() and int(key) < len(place):
            place = place[int(key)]
        elif isinstance(place, dict) and key in place:
            place = place[key]
        else:
            return False
    return True


def _api(schema: object) -> dict[str, Any]:
    if not isinstance(schema, dict):
        raise _Unfit
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs", "definitions") and isinstance(value, dict):
            made[key] = {name: _api(inner) for name, inner in value.items()}
        elif key == "items":
            made[key] = _api(value)
        elif key in ("anyOf", "allOf") and isinstance(value, list):
            made[key] = [_api(inner) for inner in value]
        elif key in _KEPT:
            made[key] = value
        elif key == "additionalProperties" and value is False:
            continue
        elif key not in _LEFT_OUT:
            raise _Unfit
    kind = schema.get("type")
    if kind == "object" or (isinstance(kind, list) and "object" in kind):
        if not schema.get("properties"):
            raise _Unfit
        made["additionalProperties"] = False
    return made


def _check_recursion(schema: Mapping[str, Any]) -> None:
    """``_Unfit`` where a definition refers to itself, or a reference is not to a definition."""
    groups = [(group, schema.get(group) or {}) for group in ("$defs", "definitions")]
    definitions = {f"#/{group}/{name}": value for group, values in groups for name, value in values.items()}

    def follow(reference: str, trail: tuple[str, ...]) -> None:
        if reference in trail or reference not in definitions:
            raise _Unfit
        for inner in _references(definitions[reference]):
            follow(inner, (*trail, reference))

    for reference in _references(schema):
        follow(reference, ())


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
