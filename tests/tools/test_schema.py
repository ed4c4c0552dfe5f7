from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import jsonschema
import pytest

from agentcli.errors import ToolInputError
from agentcli.tools.schema import json_schema, param, parse


@dataclass(frozen=True, slots=True)
class Item:
    label: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Params:
    path: str = param("Where.")
    limit: int | None = param("How many.", default=None, minimum=1)
    ignore_case: bool = param(name="-i", default=False)
    mode: Literal["a", "b"] = param(default="a")
    items: tuple[Item, ...] = param("Things.", default=())


def test_the_schema_is_made_from_the_dataclass() -> None:
    schema = json_schema(Params)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where."},
            "limit": {"type": "integer", "description": "How many."},
            "-i": {"type": "boolean"},
            "mode": {"type": "string", "enum": ["a", "b"]},
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"label": {"type": "string"}, "weight": {"type": "number"}},
                    "required": ["label"],
                    "additionalProperties": False,
                },
                "description": "Things.",
            },
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    assert list(schema["properties"]) == ["path", "limit", "-i", "mode", "items"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"path": "x"}, Params("x")),
        ({"path": "x", "limit": None, "-i": None}, Params("x")),
        ({"path": "x", "limit": 3, "-i": True, "mode": "b"}, Params("x", 3, True, "b")),
        ({"path": "x", "limit": "3", "-i": "true"}, Params("x", 3, True)),
        ({"path": "x", "limit": 3.0}, Params("x", 3)),
        ({"path": "7"}, Params("7")),
        ({"path": "x", "items": [{"label": "l", "weight": 2}]}, Params("x", items=(Item("l", 2),))),
        ({"path": "x", "items": '[{"label": "l"}]'}, Params("x", items=(Item("l"),))),
    ],
)
def test_input_is_parsed_with_good_will(given: dict[str, object], expected: Params) -> None:
    assert parse(Params, given) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "The parameter `path` is missing."),
        ({"path": None}, "`path` must be a string, not null."),
        ({"path": 3}, "`path` must be a string, not 3."),
        ({"path": "x", "limti": 3}, "Unknown parameter `limti`. Did you mean `limit`?"),
        ({"path": "x", "limit": "many"}, '`limit` must be an integer, not "many".'),
        ({"path": "x", "limit": 0}, "`limit` must be at least 1, not 0."),
        ({"path": "x", "limit": 2.5}, "`limit` must be an integer, not 2.5."),
        ({"path": "x", "limit": True}, "`limit` must be an integer, not true."),
        ({"path": "x", "-i": 1}, "`-i` must be a boolean, not 1."),
        ({"path": "x", "mode": "c"}, '`mode` must be one of a, b, not "c".'),
        ({"path": "x", "items": {"label": "l"}}, '`items` must be an array, not {"label": "l"}.'),
        ({"path": "x", "items": [{"lable": "l"}]}, "Unknown parameter `items[0].lable`. Did you mean `label`?"),
        ({"path": "x", "items": ["l"]}, 'items[0] must be an object, not "l".'),
    ],
)
def test_an_error_says_what_is_wrong_and_what_to_send(given: dict[str, object], message: str) -> None:
    with pytest.raises(ToolInputError) as caught:
        parse(Params, given)
    assert message in str(caught.value)
    assert str(caught.value).endswith("Parameters: path, limit?, -i?, mode?, items?. Call the tool again with these.")


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(ToolInputError) as caught:
        parse(Params, {"file": "x", "mode": 1})
    assert len(str(caught.value).splitlines()) == 4
