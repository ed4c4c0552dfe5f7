"""Schemas and names of servers become ones that the Messages API takes, and the way back is kept."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.mcp.schema import DEPTH, Repaired, UnusableSchema, repair_schema
from agentcli.ports.toolnames import order, server_part, server_parts, tool_name
from tests.api.errors import Refusal
from tests.api.validate.tools import check_tools

OBJECT = {"type": "object", "properties": {}}


def accepted(schema: Any, name: str = "mcp__a__b") -> None:
    check_tools([{"name": name, "description": "d", "input_schema": schema}], ())


def test_a_good_schema_stays_as_it_is() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "b": {"$ref": "#/$defs/B"}},
        "required": ["a"],
        "$defs": {"B": {"type": "array", "items": {"$ref": "#/$defs/B"}}},
        "additionalProperties": False,
    }
    assert repair_schema(schema) == Repaired(schema)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, OBJECT),
        ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}),
        ({"type": ["object", "null"]}, OBJECT),
        ({"type": "object", "properties": [], "required": "x"}, OBJECT),
        ({"type": "object", "properties": {"a": 3}}, {"type": "object", "properties": {"a": {}}}),
        ({"type": "object", "properties": {}, "required": [1, "a", "a"]}, {**OBJECT, "required": ["a"]}),
        ({"$schema": "x", "type": "object"}, OBJECT),
        (
            {
                "oneOf": [
                    {"type": "object", "properties": {"id": {"type": "integer"}, "x": {}}, "required": ["id", "x"]},
                    {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
                ]
            },
            {
                "type": "object",
                "properties": {"id": {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "x": {}},
                "required": ["id"],
            },
        ),
        (
            {
                "type": "object",
                "allOf": [{"properties": {"a": {}}, "required": ["a"]}, {"$ref": "#/$defs/B"}],
                "$defs": {"B": {"properties": {"b": {}}, "required": ["b"]}},
            },
            {
                "type": "object",
                "properties": {"a": {}, "b": {}},
                "required": ["a", "b"],
                "$defs": {"B": {"properties": {"b": {}}, "required": ["b"]}},
            },
        ),
        (
            {"$ref": "#/definitions/In", "definitions": {"In": {"type": "object", "properties": {"a": {}}}}},
            {
                "type": "object",
                "properties": {"a": {}},
                "definitions": {"In": {"type": "object", "properties": {"a": {}}}},
            },
        ),
        (
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/Nowhere", "description": "d"}}},
            {"type": "object", "properties": {"a": {"description": "d"}}},
        ),
        (
            {"type": "object", "properties": {"a": {"$ref": "https://elsewhere.test/s.json"}}},
            {"type": "object", "properties": {"a": {}}},
        ),
    ],
)
def test_what_can_be_mended_is(given: Any, wanted: Any) -> None:
    made = repair_schema(given).schema
    assert made == wanted
    accepted(made)


@pytest.mark.parametrize(
    "given",
    [
        {"type": "string"},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        {"$ref": "#/$defs/Nowhere"},
        {"type": "object", "properties": {"a": {"description": "x" * 70_000}}},
        {"type": "object", "properties": {"a": {"default": float("nan")}}},
    ],
)
def test_what_means_nothing_is_left_out(given: Any) -> None:
    with pytest.raises(UnusableSchema):
        repair_schema(given)


def test_a_deep_schema_is_cut_and_a_bottomless_one_left_out() -> None:
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(40):
        deep = {"type": "object", "properties": {"a": deep}}
    made = repair_schema(deep)
    assert made.notes == (f"what lies deeper than {DEPTH} levels was left open",)
    accepted(made.schema)
    endless: dict[str, Any] = {}
    endless["properties"] = {"a": endless}
    with pytest.raises(UnusableSchema):
        repair_schema(endless)


def test_odd_property_names_come_back_to_the_server() -> None:
    made = repair_schema({"type": "object", "properties": {"a b": {}, "ok": {}}, "required": ["a b"]})
    (new,) = made.renamed
    assert made.schema["required"] == [new]
    assert re.fullmatch(r"a_b_[0-9a-f]{6}", new)
    assert made.arguments({new: 1, "ok": 2}) == {"a b": 1, "ok": 2}
    accepted(made.schema)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["object", "#/$defs/x", "string"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "anyOf", "allOf", "oneOf", "$ref", "required", "$defs", "x", "é y"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(["type", "properties", "anyOf", "$ref", "required", "$defs"]), JSON, max_size=4))
def test_whatever_a_server_says_the_api_is_never_given_a_bad_schema(schema: dict[str, Any]) -> None:
    try:
        made = repair_schema(schema)
    except UnusableSchema:
        return
    try:
        accepted(made.schema)
    except Refusal as error:
        raise AssertionError(f"{json.dumps(made.schema)}: {error}") from error


# --- names ----------------------------------------------------------------------------------------------------------


def test_names_keep_what_they_can_and_are_stable() -> None:
    assert tool_name("gam-ma", "get_a") == "mcp__gam-ma__get_a"
    assert tool_name("my server.x", "do it") == "mcp__my_server_x__do_it"
    assert server_part("a__b") == "a_b"
    assert server_part("ü") == "server"
    long = tool_name("s" * 30, "t" * 80)
    assert len(long) == 64
    assert long == tool_name("s" * 30, "t" * 80) != tool_name("s" * 30, "t" * 81)
    first = tool_name("a", "x y")
    second = tool_name("a", "x.y", taken={first})
    assert first == "mcp__a__x_y"
    assert re.fullmatch(r"mcp__a__x_y_[0-9a-f]{8}", second)


def test_the_tool_that_needs_no_change_gets_the_plain_name() -> None:
    assert order(["x.y", "x_y", "b"]) == ["b", "x_y", "x.y"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=6, unique=True), st.text(max_size=90))
def test_every_name_is_valid_and_belongs_to_one_server(servers: list[str], tool: str) -> None:
    parts = server_parts(servers)
    assert len(set(parts.values())) == len(servers)
    for server in servers:
        assert "__" not in parts[server]
        name = tool_name(server, tool, part=parts[server])
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)
        assert name.startswith(f"mcp__{parts[server]}__")
