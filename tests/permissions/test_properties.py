"""Whatever a denied command is wrapped in or put beside: it is never allowed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentcli.permissions.gate import Gate
from agentcli.permissions.shellpatterns import command_form, compile_pattern, matches, may_match, text_form
from agentcli.ports.permissions import PermissionMode
from agentcli.shell import Piece, Word, parse, word
from tests.permissions.conftest import make_gate, shell

ROUNDS = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
MODES: tuple[PermissionMode, ...] = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")


def items(text: str) -> list[str]:
    """A list, written as one text."""
    return text.split("¦")


DENIED = st.sampled_from(
    items("curl http://x¦curl¦rm -rf x¦rm -r -f x¦/bin/rm -fr x¦\\curl y¦'curl' z¦cu''rl¦FOO=1 curl q")
)
HARMLESS = st.sampled_from(
    items("ls¦git status¦echo 'a;b|c'¦cat f¦echo \"$x\"¦x=1¦cd src¦true¦grep -E 'a|b' f¦echo a # b\n")
)
WRAPPERS = st.sampled_from(
    items(
        "timeout 5 {}¦nice -n 3 {}¦env A=b {}¦sudo {}¦xargs {}¦nohup {}¦command {}¦exec {}¦time {}¦"
        "stdbuf -oL {}¦setsid {}¦ssh host {}¦busybox {}¦doas {}¦ionice -c 3 {}¦find . -exec {} \\;"
    )
)
AROUND = st.sampled_from(
    items(
        '( {} )¦{{ {}; }}¦$( {} )¦`{}`¦echo $( {} )¦echo "$( {} )"¦if {}; then ls; fi¦if ls; then {}; fi¦'
        "while {}; do break; done¦for i in a b; do {}; done¦case x in *) {};; esac¦! {}¦f() {{ {}; }}; f¦"
        "cat <( {} )¦cat > >( {} )¦cat <<E\n$( {} )\nE\n¦x=$( {} )¦echo ${{x:-$( {} )}}¦[[ -n $( {} ) ]]¦{} &¦"
        "until {}; do break; done¦echo $(( $( {} ) ))¦export x=$( {} )¦a=($( {} ))¦{} > f 2>&1¦{} <<< x"
    )
)
JOINS = st.sampled_from([" && ", " || ", "; ", " | ", " |& ", " & ", "\n", " &&\n", "\n\n"])
SHELLS = st.sampled_from(["bash -c {}", "sh -c {}", "bash -lc {}", "eval {}", "su -c {}", "trap {} EXIT"])


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def simple(command: str) -> bool:
    """Wrappers take a program, not an assignment or a compound."""
    return not command.startswith(
        ("FOO", "(", "{", "!", "if", "while", "for", "case", "f(", "x=", "until", "[[", "export")
    )


@st.composite
def hostile(draw: st.DrawFn) -> str:
    """A denied command, a few layers deep, between harmless neighbours."""
    text = draw(DENIED)
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["around", "wrapper", "shell", "join", "before"]))
        if kind == "around":
            text = draw(AROUND).format(text)
        elif kind == "wrapper" and simple(text) and not set(text) & set("\n;|&"):
            text = draw(WRAPPERS).format(text)
        elif kind == "shell":
            text = draw(SHELLS).format(quoted(text))
        elif kind == "join":
            text = text + draw(JOINS) + draw(HARMLESS)
        else:
            text = draw(HARMLESS) + draw(JOINS) + text
    return text


@pytest.fixture(scope="module")
def gates(tmp_path_factory: pytest.TempPathFactory) -> dict[PermissionMode, Gate]:
    base = tmp_path_factory.mktemp("gates")
    for name in ("project", "home"):
        (base / name).mkdir()
    project: Path = base / "project"
    rules = {"allow": ["Bash", "Bash(*)", "Bash(curl:*)", "Bash(rm:*)"], "deny": ["Bash(rm -rf:*)", "Bash(curl:*)"]}
    return {mode: make_gate(project, base / "home", mode=mode, **rules) for mode in MODES}


@ROUNDS
@given(text=hostile())
def test_a_denied_command_is_never_allowed(gates: dict[PermissionMode, Gate], text: str) -> None:
    for mode, gate in gates.items():
        decision = shell(gate, text)
        assert decision.behavior != "allow", (mode, text, decision)


@ROUNDS
@given(text=hostile())
def test_what_is_understood_is_denied_outright(gates: dict[PermissionMode, Gate], text: str) -> None:
    line = parse(text)
    if line.understood and not any(c.problem for c in line.commands):
        assert shell(gates["bypassPermissions"], text).behavior == "deny", text


@ROUNDS
@given(text=st.text(max_size=60) | st.text(alphabet="ab $(){}[]<>|&;\"'`\\\n#!=*?~-/xrm", max_size=40))
def test_no_text_makes_the_policy_fail(gates: dict[PermissionMode, Gate], text: str) -> None:
    line = parse(text)
    assert line.text == text
    for gate in gates.values():
        assert shell(gate, text).behavior in {"allow", "ask", "deny"}


WORDS = st.lists(st.text(alphabet="abc- ", min_size=1, max_size=4), min_size=1, max_size=4)


@ROUNDS
@given(words=WORDS, pattern=st.text(alphabet="abc-* ", max_size=8), holes=st.sets(st.integers(0, 3)))
def test_a_rule_that_matches_one_filling_may_match(words: list[str], pattern: str, holes: set[int]) -> None:
    """If a pattern matches a command, it may match the same command with some words unknown."""
    known = tuple(word(w) for w in words)
    unknown = tuple(Word((Piece("hole", "$x"),)) if i in holes else w for i, w in enumerate(known))
    compiled = compile_pattern(pattern)
    if matches(compiled, command_form(known)):
        assert may_match(compiled, command_form(unknown, vanishing=True))
    if matches(compiled, command_form(unknown)):
        assert may_match(compiled, command_form(known))


@ROUNDS
@given(text=st.text(alphabet="abc*\\ :", max_size=10), sample=st.text(alphabet="abc ", max_size=10))
def test_patterns_agree_with_expressions(text: str, sample: str) -> None:
    import re

    compiled = compile_pattern(text)

    def expression(tokens: tuple[object, ...]) -> str:
        return "".join(re.escape(t) if isinstance(t, str) else ".*" for t in tokens)

    expected = any(re.fullmatch(expression(a), sample, re.DOTALL) for a in compiled.alternatives)
    assert matches(compiled, text_form(sample)) == expected
