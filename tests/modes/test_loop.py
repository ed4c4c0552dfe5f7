"""Loops: what is typed, and what ends them."""

from __future__ import annotations

import pytest

from agentcli.errors import UsageError
from agentcli.modes.loop import LoopPlan, parse_interval, parse_loop


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mend a test", LoopPlan(prompt="mend a test")),
        ("10m mend a test", LoopPlan(prompt="mend a test", interval=600.0)),
        ("90 mend", LoopPlan(prompt="mend", interval=90.0)),
        ("1.5h  mend ", LoopPlan(prompt="mend", interval=5400.0)),
        ("3 tests are broken", LoopPlan(prompt="tests are broken", interval=3.0)),
        ("10m", LoopPlan(prompt="10m")),
        ("2nd-try it", LoopPlan(prompt="2nd-try it")),
        ("2nd round: mend", LoopPlan(prompt="2nd round: mend")),
    ],
)
def test_an_interval_may_stand_in_front_of_the_prompt(text: str, expected: LoopPlan) -> None:
    assert parse_loop(text) == expected


@pytest.mark.parametrize("text", ["", "soon", "-5", "nan", "inf", "5w", "m"])
def test_what_is_no_interval_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no interval"):
        parse_interval(text)


def test_a_loop_needs_a_prompt() -> None:
    with pytest.raises(UsageError, match="needs a prompt"):
        parse_loop("  ")
