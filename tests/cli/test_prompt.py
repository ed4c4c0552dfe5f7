"""``agentcli prompt``: what the model would be told, by the same options as a conversation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Run, run

COORDINATOR = {"AGENTCLI_FEATURE_COORDINATOR_MODE": "1", "CLAUDE_CODE_COORDINATOR_MODE": "Yes"}
PARROT = "---\nname: parrot\ndescription: repeats\n---\nYou are a parrot.\n"
LEVELS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "default": ((), {}),
    "custom": (("--system-prompt-file", "prompt.txt"), {}),
    "agent": (("--agent", "parrot", "--system-prompt", "loses"), {}),
    "coordinator": (("--agent", "parrot"), COORDINATOR),
    "override": (("--loop", "--append-system-prompt", "dropped"), COORDINATOR),
    "simple": ((), {"CLAUDE_CODE_SIMPLE": "on"}),
    "proactive": (("--proactive",), {"AGENTCLI_FEATURE_PROACTIVE": "TRUE"}),
}


@pytest.fixture
def place(project: Path) -> Path:
    (project / "prompt.txt").write_text("From a file.\n")
    (project / "CLAUDE.md").write_text("Use tabs.\n")
    (project / ".claude" / "agents").mkdir(parents=True)
    (project / ".claude" / "agents" / "parrot.md").write_text(PARROT)
    return project


def told(done: Run) -> Any:
    assert (done.code, done.err) == (0, "")
    return done.json


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_can_be_looked_at(place: Path, level: str) -> None:
    arguments, environment = LEVELS[level]
    found = told(run("prompt", "--json", *arguments, cwd=place, env=environment))
    assert list(found) == ["level", "append", "path", "layout", "sections", "blocks"]
    assert (found["level"], found["append"]) == (level, False)
    sizes = sum(s["bytes"] for s in found["sections"] if s["included"])
    texts = [b["text"].encode() for b in found["blocks"]]
    joints = len([s for s in found["sections"] if s["included"]]) - len(texts)
    assert sum(map(len, texts)) == sizes + 2 * joints


def test_the_options_of_a_conversation_count(place: Path) -> None:
    other = place.parent / "other"
    other.mkdir()
    append = place / "more.txt"
    append.write_text("Be kind.")
    raw = run("prompt", "--raw", "--add-dir", str(other), "--append-system-prompt-file", str(append), cwd=place).out
    assert f"Additional working directories: {other}" in raw
    assert raw.endswith("\n\nBe kind.\n")
    assert "Use tabs." in raw
    assert "Use tabs." not in run("prompt", "--raw", "--bare", cwd=place).out
    assert "Nobody can answer" in run("prompt", "--raw", "-p", cwd=place).out
    language = json.dumps({"language": "Korean"})
    assert "Always answer in Korean" in run("prompt", "--raw", "--settings", language, cwd=place).out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--system-prompt", "a", "--system-prompt-file", "prompt.txt"), "can't be used together"),
        (("--agent", "nobody"), "no file .claude/agents/nobody.md"),
        (("--frobnicate",), "No such option: --frobnicate"),
        (("--system-prompt-file", "missing"), "can't read missing"),
    ],
)
def test_what_a_conversation_refuses_is_refused(place: Path, arguments: tuple[str, ...], words: str) -> None:
    done = run("prompt", *arguments, cwd=place)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_empty_texts_are_not_given(place: Path) -> None:
    plain = told(run("prompt", "--json", cwd=place))
    assert told(run("prompt", "--json", "--system-prompt", "", "--append-system-prompt", " ", cwd=place)) == plain


def test_the_same_bytes_in_another_process_in_another_locale_and_without_a_home(place: Path) -> None:
    first = run("prompt", "--raw", cwd=place, env={"PYTHONHASHSEED": "1"})
    second = run("prompt", "--raw", cwd=place, env={"PYTHONHASHSEED": "2", "LANG": "C", "LC_ALL": "C"})
    assert first == second
    own = {"AGENTCLI_HOME": str(place / "own"), "CLAUDE_CONFIG_DIR": str(place / "none")}
    without = run("prompt", "--json", cwd=place, env=own, unset=["HOME", "SHELL"])
    static = [s for s in told(without)["sections"] if s["region"] == "static"]
    assert next(s["name"] for s in static) == "intro"
    assert told(without)["blocks"][1]["text"] in first.out


def test_the_daily_log_comes_with_its_feature_and_its_mode(place: Path) -> None:
    kairos = {"AGENTCLI_FEATURE_KAIROS": "1"}
    assert "logs/YYYY/MM/DD.md" in run("prompt", "--raw", "--proactive", cwd=place, env=kairos).out
    assert "one line in the index `MEMORY.md`" in run("prompt", "--raw", cwd=place, env=kairos).out


def test_nothing_is_left_behind(place: Path, home: Path) -> None:
    run("prompt", cwd=place)
    assert list(home.rglob("*")) == []
