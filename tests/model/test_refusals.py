"""Features that a server does not take: switched off, sent again at once, remembered for a day."""

from __future__ import annotations

import json
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from agentcli.errors import ApiError
from agentcli.model.betas import Refusals, disabled_by_env, refused_feature
from agentcli.model.failures import from_response
from agentcli.ports.model import ModelNotice
from tests.api import ApiServer, error
from tests.model.clock import VirtualClock
from tests.model.conftest import MakeClient
from tests.model.worlds import ask, collect, prompt, report

SCOPE = "prompt-caching-scope-2026-01-05"


async def test_a_refused_scope_costs_one_request_and_is_remembered(
    api: ApiServer, make_client: MakeClient, clock: VirtualClock, tmp_path: Path
) -> None:
    api.options.refuse_scope = True
    api.refused_is_fine = True
    api.play("fine", "again", "tomorrow")
    client = make_client()
    asked = ask(system=prompt(scope=True))
    events = await collect(client.stream(asked))
    assert [e for e in events if isinstance(e, ModelNotice)] == [
        ModelNotice("The server does not take the global cache scope; it is switched off for a day.", "feature_refused")
    ]
    assert report(events).usage.output > 0
    assert clock.slept == []
    assert [r.status for r in api.requests] == [400, 200]
    assert SCOPE in api.requests[0].betas
    assert SCOPE not in api.requests[1].betas
    assert [b["text"] for b in api.requests[0].system] == [b["text"] for b in api.requests[1].system]
    assert client.refused == {"scope"}

    path = tmp_path / "state" / "refused-features.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(json.loads(path.read_text()).values()) == [{"scope": clock.now().isoformat()}]
    assert api.key not in path.read_text()

    following = make_client()
    await collect(following.stream(ask(system=prompt(scope=True))))
    assert [r.status for r in api.requests] == [400, 200, 200]

    clock.advance(86_401)
    api.options.refuse_scope = False
    tomorrow = make_client()
    await collect(tomorrow.stream(ask(system=prompt(scope=True))))
    assert SCOPE in api.requests[-1].betas


async def test_a_refused_beta_header_leaves_the_conversation(api: ApiServer, make_client: MakeClient) -> None:
    api.options.refused_betas = {"cache-diagnosis-2026-04-07", "task-budgets-2026-03-13"}
    api.refused_is_fine = True
    api.play("fine")
    client = make_client(betas=("task-budgets-2026-03-13",))
    asked = ask()
    await collect(client.stream(asked))
    assert [r.status for r in api.requests] == [400, 400, 200]
    assert (api.requests[-1].betas, asked.conversation.beta_headers) == ((), [])
    assert "diagnostics" not in api.requests[-1].json
    assert client.refused == {"diagnosis", "task-budgets-2026-03-13"}


async def test_a_gateway_that_knows_no_marks_gets_none(api: ApiServer, make_client: MakeClient) -> None:
    api.play(error(400, "system.1.cache_control: Extra inputs are not permitted"), "fine")
    await collect(make_client(provider="gateway").stream(ask()))
    assert b"cache_control" in api.requests[0].body
    assert b"cache_control" not in api.requests[1].body


async def test_other_refusals_are_errors(api: ApiServer, make_client: MakeClient) -> None:
    api.play(error(400, "messages.3: `thinking` blocks cannot be modified"))
    with pytest.raises(ApiError, match="cannot be modified"):
        await collect(make_client().stream(ask(effort="low")))
    assert len(api.requests) == 1


EVERYTHING = frozenset(
    {"scope", "diagnosis", "interleaved", "keep_thinking", "ttl", "deferral", "effort", "display", "caching"}
)


@pytest.mark.parametrize(
    ("message", "feature"),
    [
        (f"Unexpected value(s) `{SCOPE}` for the `anthropic-beta` header", "scope"),
        ("system.1.cache_control.ephemeral.scope: Extra inputs are not permitted", "scope"),
        ("messages.0.content.0.cache_control.ephemeral.ttl: Extra inputs are not permitted", "ttl"),
        ("diagnostics: Extra inputs are not permitted", "diagnosis"),
        ("context_management: Extra inputs are not permitted", "keep_thinking"),
        ("tools.4.custom.defer_loading: Extra inputs are not permitted", "deferral"),
        ("output_config.effort: not supported by this model", "effort"),
        ("thinking.adaptive.display: Extra inputs are not permitted", "display"),
        ("unknown field cache_control", "caching"),
        ("cache_control: unknown field", "caching"),
        ("my-own-beta-2026-01-01 is not known", "my-own-beta-2026-01-01"),
        ("max_tokens: too large", None),
        ("a maximum of 4 blocks with cache_control may be provided", None),
    ],
)
def test_what_a_message_refuses(message: str, feature: str | None) -> None:
    failure = from_response(400, {"error": {"type": "invalid_request_error", "message": message}}, {})
    assert refused_feature(failure, used=EVERYTHING, betas=("my-own-beta-2026-01-01",)) == feature
    assert refused_feature(failure, used=(), betas=()) is None
    other = from_response(403, {"error": {"type": "permission_error", "message": message}}, {})
    assert refused_feature(other, used=EVERYTHING, betas=("my-own-beta-2026-01-01",)) is None


def test_refusals_hold_for_a_day_per_endpoint_and_key(tmp_path: Path, clock: VirtualClock) -> None:
    path = tmp_path / "deep" / "refused.json"
    Refusals(path, "one", clock.now).add("scope")
    clock.advance(3600)
    Refusals(path, "two", clock.now).add("ttl")
    assert Refusals(path, "one", clock.now).names == {"scope"}
    clock.advance(timedelta(hours=23, minutes=30).total_seconds())
    assert Refusals(path, "one", clock.now).names == frozenset()
    assert Refusals(path, "two", clock.now).names == {"ttl"}


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"one": 3}', '{"one": {"scope": "yesterday"}}'])
def test_a_spoilt_file_is_no_error(tmp_path: Path, clock: VirtualClock, text: str) -> None:
    path = tmp_path / "refused.json"
    path.write_text(text)
    refusals = Refusals(path, "one", clock.now)
    assert refusals.names == frozenset()
    refusals.add("scope")
    assert Refusals(path, "one", clock.now).names == {"scope"}


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path, clock: VirtualClock) -> None:
    (tmp_path / "file").write_text("")
    refusals = Refusals(tmp_path / "file" / "refused.json", "one", clock.now)
    refusals.add("scope")
    assert refusals.names == {"scope"}


def test_experimental_betas_can_be_switched_off() -> None:
    assert disabled_by_env({}) == frozenset()
    assert disabled_by_env({"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1"}) == {"scope", "diagnosis", "keep_thinking"}
