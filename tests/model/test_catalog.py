"""Models: ids, aliases, rules, prices."""

from __future__ import annotations

import pytest

from agentcli.errors import UserError
from agentcli.messages import Usage
from agentcli.model.catalog import (
    ALIASES,
    MODELS,
    base_id,
    check_effort,
    effective_window,
    model_choices,
    model_info,
    resolve_model,
)
from agentcli.model.usage import Ledger, category, cost_of, saved_of, usage_from_api
from tests.api import models as server_models


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("us.anthropic.claude-opus-4-6-v1:0", "claude-opus-4-6"),
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("arn:aws:bedrock:x::inference-profile/eu.anthropic.claude-opus-5-v2:0", "claude-opus-5"),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("anthropic/claude-sonnet-5-5", "claude-sonnet-5-5"),
        ("qwen2.5-coder:7b", "qwen2.5-coder:7b"),
    ],
)
def test_what_providers_call_a_model(name: str, id: str) -> None:
    assert base_id(name) == id


def test_names_resolve_to_ids() -> None:
    assert resolve_model("sonnet") == resolve_model("default") == "claude-sonnet-5-5"
    assert resolve_model("Opus[1m]") == "claude-opus-5-5"
    assert resolve_model("opus", env={"ANTHROPIC_DEFAULT_OPUS_MODEL": "claude-opus-5"}) == "claude-opus-5"
    assert resolve_model("haiku", provider="bedrock") == "anthropic.claude-haiku-5-5"
    assert resolve_model("sonnet", overrides={"claude-sonnet-5-5": "arn:x"}) == "arn:x"
    assert resolve_model("My-Model:7b") == "My-Model:7b"
    for bad in ("", "  ", "two words"):
        with pytest.raises(UserError, match="alias"):
            resolve_model(bad)
    assert [m.id for m in model_choices()] == list(ALIASES.values())


def test_unknown_models_have_no_price_and_safe_rules() -> None:
    new = model_info("claude-opus-7")
    assert (new.known, new.thinking, new.window, new.input_price, new.name) == (
        False,
        "always",
        1_000_000,
        None,
        "claude-opus-7",
    )
    local = model_info("qwen2.5-coder")
    assert (local.known, local.thinking, local.efforts, local.input_price) == (False, "none", (), None)
    assert cost_of(Usage(input=10), local) is None
    assert effective_window(local, env={"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "9000"}) == 9000
    assert effective_window(local) == 128_000


def test_on_bedrock_the_smallest_cache_entry_is_larger() -> None:
    assert model_info("claude-opus-5-5").cache_minimum == 512
    assert model_info("anthropic.claude-opus-5-5", provider="bedrock").cache_minimum == 1024
    assert model_info("anthropic.claude-opus-4-6-v1:0", provider="bedrock").cache_minimum == 4096


@pytest.mark.parametrize("id", sorted(set(MODELS) & set(server_models.MODELS)))
def test_both_tables_follow_the_documentation(id: str) -> None:
    ours, theirs = MODELS[id], server_models.MODELS[id]
    assert (ours.cache_minimum, ours.max_output) == (theirs.cache_minimum, theirs.max_output)
    if ours.input_price is not None:
        assert (ours.input_price, ours.output_price) == (theirs.input_price, theirs.output_price)
    assert set(ours.efforts) <= set(theirs.efforts)
    assert ours.long_prompt == theirs.long_prompt


def test_efforts_are_checked_by_model() -> None:
    assert check_effort("xhigh", MODELS["claude-opus-5-5"]) == "xhigh"
    with pytest.raises(UserError, match="low, medium, high, max"):
        check_effort("xhigh", MODELS["claude-opus-4-6"])
    with pytest.raises(UserError, match="no effort setting"):
        check_effort("low", MODELS["claude-haiku-4-5"])


def test_costs_follow_the_price_list() -> None:
    usage = Usage(input=1_000, output=2_000, cache_read=100_000, cache_write_5m=10_000, cache_write_1h=5_000)
    opus = MODELS["claude-opus-5-5"]
    weighted = 1_000 + 10_000 + 12_500 + 10_000
    assert cost_of(usage, opus) == pytest.approx((weighted * 4 + 2_000 * 20) / 1e6)
    assert saved_of(usage, opus) == pytest.approx((usage.total_input - weighted) * 4 / 1e6)


def test_a_long_prompt_has_its_own_price() -> None:
    haiku = MODELS["claude-haiku-5-5"]
    assert cost_of(Usage(input=100_000, output=1_000_000), haiku) == pytest.approx(0.01 + 0.5)
    assert cost_of(Usage(input=100_001, output=1_000_000), haiku) == pytest.approx(0.0500005 + 2.5)


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        (None, Usage()),
        ({"input_tokens": 5, "output_tokens": 3}, Usage(5, 3)),
        ({"input_tokens": 5, "cache_read_input_tokens": None}, Usage(5)),
        ({"input_tokens": "many", "output_tokens": -1, "cache_creation": 7}, Usage()),
        ({"cache_creation_input_tokens": 7}, Usage(cache_write_5m=7)),
        (
            {
                "cache_creation_input_tokens": 7,
                "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 5},
            },
            Usage(cache_write_5m=2, cache_write_1h=5),
        ),
    ],
)
def test_usage_is_read_from_any_server(raw, usage) -> None:
    assert usage_from_api(raw) == usage


def test_the_last_word_on_usage_keeps_what_it_does_not_repeat() -> None:
    started = Usage(5, 1, 10, 2, 5)
    assert usage_from_api({"output_tokens": 40}, started) == Usage(5, 40, 10, 2, 5)
    assert usage_from_api({"cache_creation_input_tokens": 7, "output_tokens": 40}, started) == Usage(5, 40, 10, 2, 5)


def test_the_ledger_adds_up_by_model_and_category() -> None:
    ledger = Ledger()
    ledger.record("a", category("repl"), Usage(1, 2), cost=0.5, saved=0.25)
    ledger.record("a", category("compact"), Usage(3, 4), cost=1.0, saved=-0.25)
    ledger.record("b", category("subagent"), Usage(5, 6), cost=None)
    assert ledger.total.usage == Usage(9, 12)
    assert (ledger.total.total_cost, ledger.total.unpriced) == (1.5, 1)
    assert {m: (n.requests, n.total_cost) for m, n in ledger.by_model().items()} == {"a": (2, 1.5), "b": (1, None)}
    assert list(ledger.by_category()) == ["main", "subagent", "compaction"]
    assert ledger.to_record()["categories"]["compaction"]["costUSD"] == 1.0
