"""``--json-schema``: the answer as data, validated, asked for again where it does not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentcli.errors import UsageError
from agentcli.ui.headless.result import Structured
from agentcli.ui.headless.structured import OutputSchema
from tests.api import ApiServer
from tests.ui.headless.client import running

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}},
    },
    "required": ["name"],
    "$defs": {"tag": {"type": "string"}},
}
FIRST_PARTY = {"environment": {"AGENTCLI_FIRST_PARTY_GATEWAY": "1"}}
GOOD = '{"name": "fox", "tags": ["red"]}'


def run(**more: Any):
    return running("go", streaming=False, output_format="json", json_schema=json.dumps(SCHEMA), **more)


@pytest.mark.parametrize("answer", [GOOD, f"```json\n{GOOD}\n```", f"\n{GOOD}\n"])
async def test_a_good_answer(answer: str, api: ApiServer, project: Path) -> None:
    api.play(answer)
    async with run() as client:
        assert await client.rest() == 0
    result = client.lines[0]
    assert (result["subtype"], result["structured_output"]) == ("success", {"name": "fox", "tags": ["red"]})
    told = "\n".join(b["text"] for b in api.requests[0].messages[0]["content"])
    assert json.dumps(SCHEMA) in told


async def test_the_api_is_asked_to_hold_to_it_where_it_can(api: ApiServer, project: Path) -> None:
    api.play('{"name": "f"}', GOOD)
    async with run(options=FIRST_PARTY) as client:
        assert await client.rest() == 0
    sent = [r.json["output_config"]["format"] for r in api.requests]
    closed = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}}},
        "required": ["name"],
        "$defs": {"tag": {"type": "string"}},
        "additionalProperties": False,
    }
    assert sent == [{"type": "json_schema", "schema": closed}] * 2
    assert "JSON schema" not in json.dumps(api.requests[0].messages)


async def test_an_answer_that_does_not_fit_is_asked_for_again(api: ApiServer, project: Path, golden) -> None:
    api.play("a fox", '{"name": "f", "tags": [1]}', GOOD)
    async with run() as client:
        assert await client.rest() == 0
    assert (client.lines[0]["num_turns"], len(client.lines)) == (3, 1)
    assert [r.last_text for r in api.requests][1].startswith("Your final message does not fit the required form: it is")
    assert "at $.name: 'f' is too short" in api.requests[2].last_text
    assert "at $.tags[0]: 1 is not of type 'string'" in api.requests[2].last_text


async def test_after_so_many_tries_it_is_an_error(api: ApiServer, project: Path) -> None:
    api.always("a fox")
    async with run(options={"environment": {"MAX_STRUCTURED_OUTPUT_RETRIES": "2"}}) as client:
        assert await client.rest() == 1
    result = client.lines[0]
    assert len(api.requests) == 3
    assert (result["subtype"], result["terminal_reason"], result["error_type"], result["num_turns"]) == (
        "error_max_structured_output_retries",
        "structured_output_retry_exhausted",
        "structured_output",
        3,
    )
    assert "structured_output" not in result
    assert "result" not in result


async def test_the_bound_of_turns_holds_for_all_tries(api: ApiServer, project: Path) -> None:
    api.always("a fox")
    async with run(options={"max_turns": 2}) as client:
        assert await client.rest() == 3
    assert (client.lines[0]["subtype"], len(api.requests)) == ("error_max_turns", 2)


async def test_stream_json_shows_the_correction_and_one_result(api: ApiServer, project: Path) -> None:
    api.play("a fox", GOOD)
    async with running("go", streaming=False, json_schema=json.dumps(SCHEMA)) as client:
        assert await client.rest() == 0
    assert [x["type"] for x in client.lines[1:]] == ["assistant", "user", "assistant", "result"]
    assert client.of("user")[0]["isSynthetic"] is True


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "an object"),
        ('{"type": "nonsense"}', "not a valid JSON schema"),
        ('{"$ref": "#/$defs/missing"}', "leads nowhere"),
        ('{"$ref": "https://example.test/schema.json"}', "leads elsewhere"),
    ],
)
async def test_a_bad_schema_is_refused_before_anything_is_asked(
    text: str, words: str, api: ApiServer, project: Path
) -> None:
    with pytest.raises(UsageError, match=words):
        OutputSchema.parse(text)
    async with running("go", streaming=False, output_format="json", json_schema=text) as client:
        assert await client.rest() == 2
    assert words in client.lines[0]["errors"][0]
    assert api.requests == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "object"}}},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": True},
        {"type": "object", "properties": {"a": {}}, "patternProperties": {"x": {}}},
        {"type": "object", "properties": {"a": True}},
        {"type": "object", "properties": {"a": {"oneOf": [{}]}}},
        {"type": "object", "properties": {"a": {"$ref": "#"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/t"}},
         "$defs": {"t": {"type": "object", "properties": {"t": {"$ref": "#/$defs/t"}}}}},
    ],
)  # fmt: skip
def test_what_the_api_can_not_say_is_left_to_words(schema: dict[str, Any]) -> None:
    assert OutputSchema.parse(schema).api_form() is None


@pytest.mark.parametrize(("text", "value"), [("7", 7), (" null ", None), ('"x"', "x")])
def test_any_json_can_be_an_answer(text: str, value: Any) -> None:
    assert OutputSchema.parse({}).read(text) == Structured(value)


@pytest.mark.parametrize("text", ["", "NaN", "Infinity", "{", "[" * 100_000, "```\n7"])
def test_what_is_no_json(text: str) -> None:
    assert OutputSchema.parse({}).read(text).problem.startswith("it is not JSON")
