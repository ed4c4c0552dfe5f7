"""Thinking blocks come back untouched, or not at all."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.api import ApiServer, redacted, reply, text, thinking, tool_use
from tests.api.samples import MODEL, base, post, result, said

Json = dict[str, Any]
BINDING = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
DROP = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}


def start(api: ApiServer, model: str = MODEL) -> Json:
    """A conversation of two answers with thinking, as an honest client has it: ready for the third request."""
    body = {**base(), "model": model, "messages": [{"role": "user", "content": [said("please read")]}]}
    api.play(
        reply(thinking("first"), text("I read."), thinking(""), tool_use("Read", {"b": 1, "a": 2}, id="toolu_1")),
        reply(redacted(), text("Done.")),
    )
    for answered in ([result("toolu_1")], [said("and now?")]):
        status, answer = post(api, body)
        assert status == 200, answer
        body["messages"] += [
            {"role": "assistant", "content": answer["content"]},
            {"role": "user", "content": answered},
        ]
    return body


def test_untouched_thinking_is_accepted() -> None:
    with ApiServer() as api:
        body = start(api)
        body["tools"][0]["cache_control"] = {"type": "ephemeral"}
        body["tools"].append({**body["tools"][2], "name": "mcp__x__new"})
        api.play("ok")
        assert post(api, body)[0] == 200


def test_a_session_goes_on_at_another_server() -> None:
    with ApiServer() as first:
        body = start(first)
    with ApiServer("ok") as second:
        assert post(second, body)[0] == 200


def drop_block(body: Json, message: int, block: int) -> None:
    del body["messages"][message]["content"][block]


CHANGES: dict[str, tuple[Callable[[Json], object], str]] = {
    "text of the thinking": (
        lambda b: b["messages"][1]["content"][0].update(thinking="other"),
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    "signature cut": (
        lambda b: b["messages"][1]["content"][0].update(signature=b["messages"][1]["content"][0]["signature"][:-1]),
        "messages.1.content.0: Invalid `signature`",
    ),
    "message in front": (
        lambda b: b["messages"][0]["content"].append(said("more")),
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation",
    ),
    "system prompt": (lambda b: b["system"].append(said("more")), "bound to a different conversation"),
    "tool in front": (lambda b: b["tools"][0].update(description="new"), "bound to a different conversation"),
    "tool result cleared": (
        lambda b: b["messages"][2]["content"][0].update(content="[cleared]"),
        "messages.3.content.0: Invalid `signature` in `redacted_thinking` block. The block is bound",
    ),
    "thinking left out between others": (lambda b: drop_block(b, 1, 2), "messages.3.content.0: Invalid `signature`"),
}


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES.keys())
def test_a_change_is_refused(change: Callable[[Json], object], message: str) -> None:
    with ApiServer() as api:
        body = start(api)
        change(body)
        api.play("ok")
        status, answer = post(api, body)
        assert (status, answer["error"]["type"]) == (400, "invalid_request_error")
        assert message in answer["error"]["message"]


def test_thinking_may_be_taken_out_from_the_front_or_whole() -> None:
    with ApiServer() as api:
        body = start(api)
        shorter = copy.deepcopy(body)
        drop_block(shorter, 1, 0)
        without = copy.deepcopy(body)
        for message in without["messages"]:
            message["content"] = [b for b in message["content"] if "thinking" not in b["type"]]
        api.play("ok", "ok")
        assert post(api, shorter)[0] == 200
        assert post(api, without)[0] == 200


def test_the_request_can_ask_to_drop_what_does_not_match() -> None:
    with ApiServer() as api:
        body = start(api)
        body["messages"][2]["content"][0]["content"] = "[cleared]"
        body["thinking"] = DROP
        api.play("ok")
        status, answer = post(api, body, headers=BINDING)
        assert (status, answer["input_transformations"]) == (
            200,
            [{"type": "thinking_dropped", "path": "messages.3.content.0", "reason": "prefix_binding_mismatch"}],
        )


def test_thinking_of_a_model_that_cannot_be_read_is_dropped_in_silence() -> None:
    with ApiServer() as api:
        body = start(api, "claude-sonnet-5")
        body["model"] = MODEL
        api.play("ok")
        status, answer = post(api, body, headers=BINDING)
        assert status == 200
        assert [t["reason"] for t in answer["input_transformations"]] == ["model_binding_mismatch"] * 3


def test_older_models_do_not_check_the_prefix() -> None:
    with ApiServer() as api:
        body = start(api, "claude-opus-5")
        body["system"].append(said("more"))
        api.play("ok")
        assert post(api, body)[0] == 200


def test_thinking_stays_with_the_account_that_made_it() -> None:
    with ApiServer() as api:
        body = start(api, "claude-sonnet-5-5")
        api.play("ok")
        status, answer = post(api, body, headers={**BINDING, "x-api-key": "sk-other"})
        assert status == 200
        assert {t["reason"] for t in answer["input_transformations"]} == {"organization_binding_mismatch"}


@pytest.mark.parametrize("option", ["check_signatures", "prefix_check"])
def test_the_checks_can_be_switched_off(option: str) -> None:
    with ApiServer() as api:
        body = start(api)
        body["system"].append(said("more"))
        setattr(api.options, option, False)
        api.play("ok")
        assert post(api, body)[0] == 200
