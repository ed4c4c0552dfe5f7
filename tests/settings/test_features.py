from __future__ import annotations

import pytest

from agentcli.errors import Bug
from agentcli.settings.features import DESCRIPTIONS, NAMES, Features, feature, read_features, use_features


def test_everything_is_off_unless_switched_on() -> None:
    found = read_features(None, {})
    assert found == Features()
    assert [found(name) for name in DESCRIPTIONS] == [False] * len(NAMES)
    assert set(DESCRIPTIONS) == NAMES


def test_the_environment_wins_over_settings() -> None:
    env = {"AGENTCLI_FEATURE_KAIROS": "0", "AGENTCLI_FEATURE_TEAMMEM": "yes", "OTHER": "1"}
    found = read_features({"KAIROS": True, "PROACTIVE": True}, env)
    assert found.on == {"PROACTIVE", "TEAMMEM"}
    assert found.origins == (
        ("KAIROS", "AGENTCLI_FEATURE_KAIROS"),
        ("PROACTIVE", "settings"),
        ("TEAMMEM", "AGENTCLI_FEATURE_TEAMMEM"),
    )


def test_unknown_names_warn_in_settings_and_are_a_bug_in_code() -> None:
    found = read_features({"PROACTVE": True, "KAIROS": "yes"}, {"AGENTCLI_FEATURE_X": "1"})
    assert found.warnings == (
        "features.PROACTVE: there is no such feature (did you mean PROACTIVE?)",
        "features.KAIROS must be true or false; ignored",
        "AGENTCLI_FEATURE_X: there is no such feature (features are COORDINATOR_MODE, KAIROS, PROACTIVE, TEAMMEM)",
    )
    assert "must be an object" in read_features(["KAIROS"], {}).warnings[0]
    with pytest.raises(Bug, match="no feature 'NOPE'"):
        found("NOPE")  # type: ignore[arg-type]


async def test_the_sessions_features_answer_everywhere_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not feature("KAIROS")
    monkeypatch.setenv("AGENTCLI_FEATURE_KAIROS", "1")
    assert feature("KAIROS")
    use_features(Features(frozenset({"TEAMMEM"})))
    assert (feature("KAIROS"), feature("TEAMMEM")) == (False, True)
