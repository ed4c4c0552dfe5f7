"""What an exit code means, and what it does not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.tools.bash_exit import answer, describe


@pytest.mark.parametrize(
    ("command", "meaning"),
    [
        ("grep x f", "no line matched"),
        ("/usr/bin/grep -r 'a;b' .", "no line matched"),
        ("LC_ALL=C grep x f", "no line matched"),
        ("cat f | rg x", "no line matched"),
        ("make; grep x f", "no line matched"),
        ("make\ngrep x f\n", "no line matched"),
        ("cd src && grep x f", "no line matched"),
        ("diff a b", "the files differ"),
        ("git -P diff --exit-code", "there are differences"),
        ("git grep x", "no line matched"),
        ("test -f x", "the condition is false"),
        ("[ -f x ]", "the condition is false"),
        ("grep -q a f && diff a b", "the files differ"),
        ("find / -name x", "some directories could not be searched"),
        ("make", ""),
        ("npm test && grep x f", ""),
        ("grep x f | sort", ""),
        ("git push", ""),
        ("grep 'unfinished", ""),
        ("", ""),
    ],
)
def test_exit_code_one(command: str, meaning: str) -> None:
    assert answer(command, 1, "") == meaning


def test_only_one_is_an_answer() -> None:
    assert [answer("grep x f", code, "") for code in (0, 2, 127, 137)] == [""] * 4


def test_a_failed_cd_is_a_failure() -> None:
    assert answer("cd nowhere && grep x f", 1, "bash: line 1: cd: nowhere: No such file or directory") == ""


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab |&;\n'\"\\$(){}<>#=-[", max_size=40))
def test_any_text_is_taken(command: str) -> None:
    assert isinstance(answer(command, 1, ""), str)


def test_descriptions() -> None:
    assert [describe(7, None), describe(137, 9), describe(143, None), describe(255, None)] == [
        "exit code 7",
        "killed by signal 9 (SIGKILL), exit code 137",
        "exit code 143, as after being killed by signal 15 (SIGTERM)",
        "exit code 255",
    ]
