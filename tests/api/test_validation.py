"""What the API accepts; headers, bytes, and the options that change the rules."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.api import ApiServer, reply
from tests.api.samples import (
    Change,
    all_of,
    assistant,
    base,
    fresh,
    image,
    png,
    post,
    put,
    said,
    user,
)

HAIKU = "claude-haiku-4-5"
EPHEMERAL = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
GLOBAL = {"type": "ephemeral", "scope": "global"}


LAST = "messages.2.content"
RESULT = "messages.2.content.1"
FORMAT = {"type": "json_schema", "schema": {"type": "object", "properties": {}, "additionalProperties": False}}


@pytest.fixture(scope="module")
def strict() -> Iterator[ApiServer]:
    with ApiServer() as server:
        server.always("ok")
        yield server


ACCEPTED: dict[str, tuple[Change, dict[str, str]]] = {
    "the base": (lambda b: None, {}),
    "bearer token": (lambda b: None, {"x-api-key": "", "authorization": "Bearer sk-test"}),
    "older version with temperature": (
        all_of(put("model", HAIKU), put("temperature", 0.2)),
        {"anthropic-version": "2023-06-01"},
    ),
    "default temperature on a current model": (put("temperature", 1), {"anthropic-version": "2023-06-01"}),
    "strings for content and system": (
        all_of(put("system", "hi"), fresh({"role": "user", "content": "hi"})),
        {},
    ),
    "system message in the middle": (
        all_of(put("messages.-", {"role": "system", "content": "now plan"}), put("messages.-", assistant(said("ok"))),
               put("messages.-", user(said("go")))),
        {},
    ),
    "no result content": (put("messages.2.content.0.content", ...), {}),
    "blank text in a result": (put(f"{RESULT}.content.0.text", "\n"), {}),
    "reference to a deferred tool": (
        put(f"{RESULT}.content", [{"type": "tool_reference", "tool_name": "mcp__x__y"}]),
        {},
    ),
    "global scope": (put("system.0.cache_control", GLOBAL), {"anthropic-beta": "prompt-caching-scope-2026-01-05"}),
    "an hour, then five minutes": (
        all_of(put("system.0.cache_control", HOUR), put(f"{RESULT}.cache_control", EPHEMERAL)),
        {},
    ),
    "context management": (
        put("context_management", {"edits": [{"type": "clear_thinking_20251015", "keep": "all"},
                                             {"type": "clear_tool_uses_20250919"}]}),
        {"anthropic-beta": "context-management-2025-06-27"},
    ),
    "prefill on an old model": (
        all_of(put("model", HAIKU), fresh(user(said("hi")), assistant(said("I")))),
        {},
    ),
    "a paused turn goes on": (
        fresh(user(said("hi")), assistant({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search",
                                           "input": {"query": "x"}})),
        {},
    ),
    "warming": (all_of(put("model", "claude-sonnet-5"), put("max_tokens", 0)), {}),
    "forced choice": (all_of(put("model", HAIKU), put("tool_choice", {"type": "tool", "name": "Read"})), {}),
    "effort and format": (put("output_config", {"effort": "xhigh", "format": FORMAT}), {}),
    "wide alone": (put(f"{LAST}.2", image(png(2001, 9))), {}),
    "a search with its bounds": (
        put("tools.-", {"type": "web_search_20250305", "name": "web_search", "max_uses": 8,
                        "allowed_domains": ["a.test/b"], "blocked_domains": None,
                        "user_location": {"type": "approximate", "country": "KR"}}),
        {},
    ),
    "server tools": (put("tools.-", {"type": "web_search_20260318", "name": "web_search", "max_uses": 3}), {}),
}  # fmt: skip


@pytest.mark.parametrize(("change", "headers"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_is_accepted(strict: ApiServer, change: Change, headers: dict[str, str]) -> None:
    body = base()
    change(body)
    status, answer = post(strict, body, headers=headers)
    assert (status, answer.get("error")) == (200, None)


@pytest.mark.parametrize(
    ("headers", "status", "kind", "message"),
    [
        ({"x-api-key": None}, 401, "authentication_error", "x-api-key header is required"),
        ({"anthropic-version": None}, 400, "invalid_request_error", "anthropic-version: header is required"),
        ({"anthropic-version": "2024-01-01"}, 400, "invalid_request_error", "is not a valid version"),
        ({"anthropic-beta": "a-2025-01-01"}, 400, "invalid_request_error", "Unexpected value(s) `a-2025-01-01`"),
        ({"content-type": "text/plain"}, 400, "invalid_request_error", "must be application/json"),
    ],
)
def test_headers(strict: ApiServer, headers: dict[str, str | None], status: int, kind: str, message: str) -> None:
    got, answer = post(strict, base(), headers=headers)
    assert (got, answer["error"]["type"]) == (status, kind)
    assert message in answer["error"]["message"]


@pytest.mark.parametrize(
    ("raw", "status", "message"),
    [
        (b"{", 400, "not valid JSON"),
        (b"[]", 400, "not an object"),
        (b'{"model": "\xff"}', 400, "not valid JSON: invalid start byte"),
        (b'{"model": "\\ud83d"}', 400, "no low surrogate in string"),
        (b'{"model": NaN}', 400, "NaN is no JSON"),
        (b" " * (32 * 1024 * 1024 + 1), 413, "Request exceeds the maximum size"),
    ],
)
def test_bytes(strict: ApiServer, raw: bytes, status: int, message: str) -> None:
    got, answer = post(strict, raw)
    assert got == status
    assert message in answer["error"]["message"]


def test_an_unknown_model_is_not_found(strict: ApiServer) -> None:
    body = {**base(), "model": "gpt"}
    assert post(strict, body)[0] == 404
    strict.options.any_model = True
    try:
        assert post(strict, body)[0] == 200
    finally:
        strict.options.any_model = False


def test_counting_takes_the_request_without_its_limit(strict: ApiServer) -> None:
    body = base()
    assert post(strict, body, path="/v1/messages/count_tokens")[1]["error"]["message"].startswith("max_tokens: Extra")
    del body["max_tokens"]
    status, answer = post(strict, body, path="/v1/messages/count_tokens")
    parts = [json.dumps(t, separators=(",", ":")) for t in body["tools"][:2]]
    parts += ["You are a test.", "please read", "I read.", "ok", "two", "go on"]
    parts += ["Read", '{"file_path":"a"}'] * 2
    assert (status, answer) == (200, {"input_tokens": sum(-(-len(p) * 2 // 7) for p in parts)})


def test_options_switch_features_off() -> None:
    with ApiServer("ok") as api:
        api.options.refused_betas.add("context-management-2025-06-27")
        api.options.refuse_scope = True
        headers = {"anthropic-beta": "context-management-2025-06-27"}
        assert "`context-management-2025-06-27`" in post(api, base(), headers=headers)[1]["error"]["message"]
        body = base()
        body["system"][0]["cache_control"] = GLOBAL
        headers = {"anthropic-beta": "prompt-caching-scope-2026-01-05"}
        message = post(api, body, headers=headers)[1]["error"]["message"]
        assert message == "system.0.cache_control.ephemeral.scope: Extra inputs are not permitted"
        api.options.keys = {"sk-other"}
        assert post(api, base()) == (
            401,
            {
                "type": "error",
                "error": {"type": "authentication_error", "message": "invalid x-api-key"},
                "request_id": "req_000003",
            },
        )
        api.options.keys = None
        api.options.strict_alternation = False
        body = base()
        body["messages"].append(user(said("more")))
        assert post(api, body)[0] == 200
        assert api.steps_left == 0


def test_the_window_can_be_made_small() -> None:
    with ApiServer("ok") as api:
        api.options.window = 10
        assert "tokens > 10 maximum" in post(api, base())[1]["error"]["message"]


def test_warming_fills_the_cache_without_a_step() -> None:
    with ApiServer(reply("not asked for")) as api:
        status, answer = post(api, {**base(), "model": "claude-sonnet-5", "max_tokens": 0})
        assert (status, answer["content"], answer["stop_reason"]) == (200, [], "max_tokens")
        assert answer["usage"]["output_tokens"] == 0
        assert api.steps_left == 1
