"""Each rule of the API, as one small change to a valid request that is refused for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api import ApiServer
from tests.api.samples import (
    Change,
    Json,
    all_of,
    assistant,
    base,
    call,
    fresh,
    image,
    png,
    post,
    put,
    result,
    said,
    tool,
    user,
)
from tests.api.web import cited, hit

HAIKU = "claude-haiku-4-5"
EPHEMERAL = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
GLOBAL = {"type": "ephemeral", "scope": "global"}


@pytest.fixture(scope="module")
def strict() -> Iterator[ApiServer]:
    with ApiServer() as server:
        server.always("ok")
        yield server


CALLED = "messages.1.content.1"
LAST = "messages.2.content"
RESULT = "messages.2.content.1"
FORMAT = {"type": "json_schema", "schema": {"type": "object", "properties": {}, "additionalProperties": False}}
SEARCH = {"type": "web_search_20250305", "name": "web_search"}
CALLED_SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
HIT = hit("A page", "https://a.test/")
(CITED,) = cited("So it is.", HIT).citations


def found(*hits: Json, error: Json | None = None) -> Json:
    """The result of ``CALLED_SEARCH``."""
    return {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": error or list(hits)}


REFUSED: dict[str, tuple[Change, str]] = {
    # top level
    "no model": (put("model", ...), "model: Field required"),
    "no messages": (put("messages", ...), "messages: Field required"),
    "no max_tokens": (put("max_tokens", ...), "max_tokens: Field required"),
    "unknown field": (put("foo", 1), "foo: Extra inputs are not permitted"),
    "max_tokens is text": (put("max_tokens", "1"), "max_tokens: Input should be a valid integer"),
    "max_tokens is a boolean": (put("max_tokens", True), "max_tokens: Input should be a valid integer"),
    "max_tokens below zero": (put("max_tokens", -1), "greater than or equal to 0"),
    "max_tokens above the model's": (put("max_tokens", 128_001), "128001 > 128000"),
    "warming a model that always thinks": (put("max_tokens", 0), "must be at least 1 when thinking"),
    "temperature": (put("temperature", 1), "temperature: `temperature` is not supported"),
    "top_k": (put("top_k", 5), "top_k"),
    "stream is text": (put("stream", "yes"), "stream: Input should be a valid boolean"),
    "metadata with more than a user": (put("metadata", {"session": "x"}), "metadata.session: Extra inputs"),
    "an unknown service tier": (put("service_tier", "gold"), "Input should be 'auto' or 'standard_only'"),
    "blank stop sequence": (put("stop_sequences", [" "]), "stop_sequences.0: each stop sequence must contain"),
    "speed without its header": (put("speed", "fast"), "speed: Extra inputs"),
    "context management without its header": (put("context_management", {"edits": []}), "context_management: Extra"),
    "compaction without its header": (put("compaction", {"type": "summarize"}), "compaction: Extra inputs"),
    # system
    "empty system text": (put("system", ""), "system: text content blocks must be non-empty"),
    "empty system block": (put("system.0.text", ""), "system: text content blocks must be non-empty"),
    "blank system block": (put("system.0.text", "\n"), "system: text content blocks must contain non-whitespace"),
    "image in the system": (put("system.0", image(png(1, 1))), "system.0.type: Input should be 'text'"),
    "unknown field in the system": (put("system.0.origin", "x"), "system.0.text.origin: Extra inputs"),
    # messages
    "no message": (fresh(), "messages: at least one message is required"),
    "unknown role": (
        put("messages.0.role", "tool"),
        "messages.0.role: Input should be 'user', 'assistant' or 'system'",
    ),
    "unknown field in a message": (put("messages.0.id", "x"), "messages.0.id: Extra inputs"),
    "first message of the assistant": (fresh(assistant(said("hi")), user(said("hi"))), "first message must use"),
    "two messages of the user": (put("messages.-", user(said("more"))), "roles must alternate"),
    "prefill": (fresh(user(said("hi")), assistant(said("I"))), "does not support assistant message prefill"),
    "no content": (put("messages.0.content", []), "messages.0: all messages must have non-empty content"),
    "empty text content": (put("messages.0.content", ""), "messages.0: all messages must have non-empty content"),
    "empty text block": (put("messages.0.content.0.text", ""), "messages: text content blocks must be non-empty"),
    "blank text block": (put("messages.0.content.0.text", " \n"), "must contain non-whitespace text"),
    "unknown block": (put("messages.0.content.0", {"type": "video"}), "Input tag 'video' found using 'type'"),
    "unknown field in a block": (put("messages.0.content.0.id", "x"), "messages.0.content.0.text.id: Extra inputs"),
    "text is no text": (put("messages.0.content.0.text", 1), "Input should be a valid string"),
    "call in a user message": (put("messages.0.content.-", call("toolu_9")), "`tool_use` blocks are not permitted"),
    "result in an assistant message": (put("messages.1.content.-", result("x")), "`tool_result` blocks are not"),
    "image in an assistant message": (put("messages.1.content.0", image(png(1, 1))), "`image` blocks are not"),
    "document in an assistant message": (
        put("messages.1.content.0", {"type": "document", "source": {"type": "text"}}),
        "`document` blocks are not",
    ),
    "citations of a user": (put("messages.0.content.0.citations", [{}]), "citations are not permitted"),
    "beta block without its header": (
        put("messages.0.content.0", {"type": "compaction", "content": "x"}),
        "Input tag 'compaction'",
    ),
    # calls and results
    "call without a result": (put(f"{LAST}.0", ...), "`tool_use` ids were found without `tool_result` blocks"),
    "call without a message": (put("messages.2", ...), "does not support assistant message prefill"),
    "result without a call": (put(f"{LAST}.-", result("toolu_3")), "unexpected `tool_use_id` found"),
    "second result": (put(f"{LAST}.0.tool_use_id", "toolu_2"), "each tool_use must have a single result"),
    "text in front of the results": (
        lambda b: b["messages"][2]["content"].insert(0, said("x")),
        "`tool_result` blocks must come first",
    ),
    "two calls with one id": (put(f"{CALLED}.id", "toolu_2"), "`tool_use` ids must be unique"),
    "an id used again": (
        lambda b: b["messages"].extend([assistant(call("toolu_1")), user(result("toolu_1"))]),
        "`tool_use` ids must be unique",
    ),
    "id with a dot": (put(f"{CALLED}.id", "a.b"), "String should match pattern '^[a-zA-Z0-9_-]+$'"),
    "input is no object": (put(f"{CALLED}.input", "{}"), "input: Input should be a valid object"),
    "call without a name": (put(f"{CALLED}.name", ""), "name: String should have at least 1 character"),
    "result says null": (put(f"{RESULT}.is_error", None), "is_error: Input should be a valid boolean"),
    "empty text in a result": (put(f"{RESULT}.content.0.text", ""), "text content blocks must be non-empty"),
    "image in a failed result": (
        all_of(put(f"{RESULT}.is_error", True), put(f"{RESULT}.content.0", image(png(1, 1)))),
        "all content must be type `text` if `is_error` is true",
    ),
    "call in a result": (put(f"{RESULT}.content.0", call("x")), "`tool_use` blocks are not permitted in `tool_result`"),
    "server result without its call": (
        put("messages.1.content.0", {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}),
        "`web_search_tool_result` without its call",
    ),
    "search result that was altered": (
        fresh(user(said("hi")), assistant(CALLED_SEARCH, found({**HIT, "title": "Another"})), user(said("go on"))),
        "Invalid `encrypted_content`",
    ),
    "search result with a field of ours": (
        fresh(user(said("hi")), assistant(CALLED_SEARCH, found({**HIT, "rank": 1})), user(said("go on"))),
        "content.0.rank: Extra inputs",
    ),
    "search that failed for no known reason": (
        fresh(
            user(said("hi")),
            assistant(CALLED_SEARCH, found(error={"type": "web_search_tool_result_error", "error_code": "x"})),
            user(said("go on")),
        ),
        "error_code: Input should be 'invalid_tool_input', 'unavailable'",
    ),
    "citation that was altered": (
        fresh(user(said("hi")), assistant(said("So.", citations=[{**CITED, "cited_text": "No."}])), user(said("?"))),
        "Invalid `encrypted_index`",
    ),
    "server tool that there is not": (
        put("messages.1.content.0", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "magic", "input": {}}),
        "server_tool_use.name: Input should be",
    ),
    "server call with a client's id": (
        put("messages.1.content.0", {"type": "server_tool_use", "id": "toolu_7", "name": "web_search", "input": {}}),
        "String should match pattern '^srvtoolu_",
    ),
    # tools
    "tool name with a dot": (put("tools.0.name", "a.b"), "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"),
    "tool name too long": (put("tools.0.name", "a" * 65), "{1,64}"),
    "two tools with one name": (put("tools.1.name", "Read"), "tools: Tool names must be unique."),
    "unknown field in a tool": (put("tools.0.deferred", True), "tools.0.deferred: Extra inputs"),
    "unknown tool type": (put("tools.0.type", "magic_2026"), "Input tag 'magic_2026' found using 'type'"),
    "tool without a schema": (put("tools.0.input_schema", ...), "tools.0.input_schema: Field required"),
    "schema without a type": (put("tools.0.input_schema.type", ...), "input_schema.type: Field required"),
    "schema of an array": (put("tools.0.input_schema.type", "array"), "Input should be 'object'"),
    "anyOf on top": (put("tools.0.input_schema.anyOf", []), "does not support oneOf, allOf, or anyOf"),
    "odd property name": (put("tools.0.input_schema.properties", {"a b": {}}), "Property keys should match pattern"),
    "required is no list": (put("tools.0.input_schema.required", "a"), "JSON schema is invalid"),
    "all tools deferred": (put("tools", [tool("a", defer_loading=True)]), "At least one tool must have"),
    "deferred and marked": (put("tools.2.cache_control", EPHEMERAL), "cannot have both defer_loading=true and"),
    "server tool under another name": (
        put("tools.0", {"type": "web_search_20260318", "name": "search"}),
        "Input should be 'web_search'",
    ),
    "search with both lists of domains": (
        put("tools.-", {**SEARCH, "allowed_domains": ["a.test"], "blocked_domains": ["b.test"]}),
        "Only one of `allowed_domains` and `blocked_domains`",
    ),
    "search of a domain with a scheme": (
        put("tools.-", {**SEARCH, "allowed_domains": ["https://a.test"]}),
        "'https://a.test' is not a valid domain",
    ),
    "search of a domain that is no text": (
        put("tools.-", {**SEARCH, "blocked_domains": [1]}),
        "blocked_domains.0: Input should be a valid string",
    ),
    "search with an unknown field": (put("tools.-", {**SEARCH, "max_results": 3}), "max_results: Extra inputs"),
    "search without a use": (put("tools.-", {**SEARCH, "max_uses": 0}), "max_uses: Input should be greater than 0"),
    "search from an exact place": (
        put("tools.-", {**SEARCH, "user_location": {"type": "exact"}}),
        "user_location.type: Input should be 'approximate'",
    ),
    "search called by a stranger": (
        put("tools.-", {**SEARCH, "allowed_callers": ["me"]}),
        "allowed_callers.0: Input should be one of direct",
    ),
    "inclusion in an old search": (
        put("tools.-", {**SEARCH, "response_inclusion": "full"}),
        "response_inclusion: Extra inputs",
    ),
    "two searches": (
        all_of(put("tools.-", SEARCH), put("tools.-", {"type": "web_search_20260318", "name": "web_search"})),
        "tools: Tool names must be unique.",
    ),
    "reference to nothing": (
        put(f"{RESULT}.content", [{"type": "tool_reference", "tool_name": "mcp__x__z"}]),
        "Tool reference 'mcp__x__z' not found in available tools",
    ),
    "reference to a tool in front": (
        put(f"{RESULT}.content", [{"type": "tool_reference", "tool_name": "Write"}]),
        "must name a tool with defer_loading=true",
    ),
    # tool_choice
    "unknown tool choice": (put("tool_choice", {"type": "some"}), "Input tag 'some' found"),
    "choice of a missing tool": (
        all_of(put("model", HAIKU), put("tool_choice", {"type": "tool", "name": "Grep"})),
        "Tool 'Grep' not found in provided tools",
    ),
    "choice without tools": (
        all_of(put("tools", []), put("tool_choice", {"type": "auto"})),
        "tool_choice may only be specified while providing tools",
    ),
    "parallel with none": (
        put("tool_choice", {"type": "none", "disable_parallel_tool_use": True}),
        "disable_parallel_tool_use: Extra inputs",
    ),
    "forced choice on a model that refuses it": (put("tool_choice", {"type": "any"}), '"any" is not supported'),
    "forced choice while thinking": (
        all_of(
            put("model", "claude-opus-5"),
            put("thinking", {"type": "adaptive"}),
            put("tool_choice", {"type": "tool", "name": "Read"}),
        ),
        "Thinking may not be enabled when tool_choice forces tool use",
    ),
    # cache_control
    "five marks": (
        all_of(
            *(put(f"{p}.cache_control", EPHEMERAL) for p in ("tools.0", "tools.1", "system.0", RESULT)),
            put("messages.0.content.0.cache_control", EPHEMERAL),
        ),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    "the top mark is the fifth": (
        all_of(
            *(put(f"{p}.cache_control", EPHEMERAL) for p in ("tools.0", "tools.1", "system.0", RESULT)),
            put("cache_control", EPHEMERAL),
        ),
        "Found 5.",
    ),
    "an hour behind five minutes": (
        all_of(put("tools.0.cache_control", EPHEMERAL), put("system.0.cache_control", HOUR)),
        "a ttl='1h' cache_control block must not come after a ttl='5m'",
    ),
    "unknown ttl": (put("system.0.cache_control", {"type": "ephemeral", "ttl": "2h"}), "Input should be '5m' or '1h'"),
    "unknown mark": (put("system.0.cache_control", {"type": "forever"}), "Input should be 'ephemeral'"),
    "scope without its header": (put("system.0.cache_control", GLOBAL), "scope: Extra inputs are not permitted"),
    "marked thinking": (
        put("messages.1.content.0", {"type": "thinking", "thinking": "", "signature": "", "cache_control": EPHEMERAL}),
        "thinking.cache_control: Extra inputs",
    ),
    # thinking, effort, format
    "thinking off where it is always on": (put("thinking", {"type": "disabled"}), '"thinking.type.disabled" is not'),
    "a budget where thinking is adaptive": (
        put("thinking", {"type": "enabled", "budget_tokens": 2000}),
        '"thinking.type.enabled" is not supported',
    ),
    "between tools elsewhere": (put("thinking", {"type": "between_tools"}), '"thinking.type.between_tools" is not'),
    "off where it is between tools": (
        all_of(put("model", "claude-sonnet-5-5"), put("thinking", {"type": "disabled"})),
        '"thinking.type.disabled" is not',
    ),
    "adaptive on an old model": (
        all_of(put("model", HAIKU), put("thinking", {"type": "adaptive"})),
        '"thinking.type.adaptive" is not',
    ),
    "unknown thinking": (put("thinking", {"type": "hard"}), "Input tag 'hard' found"),
    "unknown display": (put("thinking", {"type": "adaptive", "display": "full"}), "Input should be 'summarized' or"),
    "binding without its header": (
        put("thinking", {"type": "adaptive", "block_binding": {}}),
        "block_binding: Extra inputs",
    ),
    "small budget": (
        all_of(put("model", HAIKU), put("thinking", {"type": "enabled", "budget_tokens": 1023})),
        "greater than or equal to 1024",
    ),
    "budget above max_tokens": (
        all_of(put("model", HAIKU), put("thinking", {"type": "enabled", "budget_tokens": 1024})),
        "`max_tokens` must be greater than `thinking.budget_tokens`",
    ),
    "tool loop without its thinking": (
        all_of(
            put("model", HAIKU),
            put("max_tokens", 4000),
            put("thinking", {"type": "enabled", "budget_tokens": 1024}),
        ),
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`",
    ),
    "thinking that nobody signed": (
        put("messages.1.content.0", {"type": "thinking", "thinking": "x", "signature": "abc"}),
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    "redacted thinking from elsewhere": (
        put("messages.1.content.0", {"type": "redacted_thinking", "data": "abc"}),
        "Invalid `signature` in `redacted_thinking` block",
    ),
    "unknown effort": (put("output_config", {"effort": "huge"}), "Input should be 'low'"),
    "effort on a model without": (
        all_of(put("model", HAIKU), put("output_config", {"effort": "low"})),
        "does not support the effort parameter",
    ),
    "effort that the model lacks": (
        all_of(put("model", "claude-opus-4-6"), put("output_config", {"effort": "xhigh"})),
        "Effort level 'xhigh' is not supported",
    ),
    "open output schema": (
        put("output_config", {"format": {"type": "json_schema", "schema": {"type": "object", "properties": {}}}}),
        "'additionalProperties' must be explicitly set to false",
    ),
    "open object inside an output schema": (
        put(
            "output_config",
            {"format": {"type": "json_schema", "schema": {"type": "array", "items": {"type": "object"}}}},
        ),
        "output_config.format.schema.items: For 'object' type",
    ),
    "unknown format": (
        put("output_config", {"format": {"type": "xml", "schema": {}}}),
        "Input should be 'json_schema'",
    ),
    # media
    "unknown media type": (put(f"{LAST}.2", image(png(1, 1), "image/tiff")), "Input should be 'image/jpeg'"),
    "broken base64": (put(f"{LAST}.2", image("a$b=")), "invalid base64 data"),
    "no image": (put(f"{LAST}.2", image("bm90IGFuIGltYWdl")), "Could not process image"),
    "another kind of image": (put(f"{LAST}.2", image(png(1, 1), "image/jpeg")), "appears to be a image/png image"),
    "too many bytes": (put(f"{LAST}.2", image(png(1, 1, size=4_000_000))), "image exceeds 5 MB maximum: 5333336 bytes"),
    "too wide": (put(f"{LAST}.2", image(png(8001, 10))), "dimensions exceed max allowed size: 8000 pixels"),
    "too high in a result": (put(f"{RESULT}.content", [image(png(10, 8001))]), "max allowed size: 8000 pixels"),
    "wide among many": (
        put(LAST, [result("toolu_1"), result("toolu_2"), *[image(png(9, 9))] * 20, image(png(2001, 9))]),
        "max allowed size for many-image requests: 2000 pixels",
    ),
    "no PDF": (
        put(
            f"{LAST}.2",
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "bm90IGEgcGRm"},
            },
        ),
        "The PDF specified was not valid",
    ),
    # size
    "prompt longer than the window": (
        all_of(put("model", HAIKU), put("messages.0.content.0.text", "a" * 700_000)),
        "prompt is too long",
    ),
}


@pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_is_refused(strict: ApiServer, change: Change, message: str) -> None:
    body = base()
    change(body)
    status, answer = post(strict, body)
    assert (status, answer.get("type"), answer.get("error", {}).get("type")) == (400, "error", "invalid_request_error")
    assert message in answer["error"]["message"]
    assert answer["request_id"].startswith("req_")
