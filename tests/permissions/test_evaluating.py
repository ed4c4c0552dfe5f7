"""What the shells really evaluate is never allowed: constructs run in bash (and zsh, where there is one) with a value
from outside that holds a command, and judged as a line."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.permissions.conftest import make_gate, shell

CONSTRUCTS = """
[ $x -eq 1 ]|[ "$x" -gt 0 ]|test "$x" -lt 9|[[ $x -eq 1 ]]|[[ 1 -ge $x ]]|(( x ))|(( $x ))|y=$x; (( y + 1 ))|echo $((x))
echo $(( $x ))|echo $[x]|let y=x|let "$x"|declare -i y=$x|typeset -i y; y=$x|a=(1); echo ${a[$x]}|a=(1); echo ${a[x]}
a[$x]=1|a[x]=1|a=([$x]=1)|printf -v "$x" q|printf "%d" "$x"|printf "%s %x" a "$x"|printf "%*d" "$x" 3|echo ${PATH:x}
echo ${PATH:$x}|echo ${PATH:0:x}|echo ${@:$x}|f(){ return $x; }; f|exit $x|shift $x|while true; do break $x; done
read "$x" <<< 1|read -t "$x" y <<< 1|unset "$x"|unset "y[$x]"|export "$x=1"|declare "$x=1"|[ -v "$x" ]|[[ -v $x ]]
[ -t "$x" ]|echo ${x@P}|echo ${!x}|RANDOM=$x|OPTIND=$x|SECONDS=$x|HISTSIZE=$x|read RANDOM <<< "$x"|echo $PATH[$x]
echo "$PATH[$x]"|declare -i y; read y <<< "$x"|declare -n r=$x; echo $r|f(){ local -i q=$x; }; f
for ((;x;)); do break; done
for i in "$x"; do (( i )); done|y=${x%z}; (( y ))|y=${x:-1}; (( y ))|z=x; (( z ))|y=$x; z=$y; (( z ))|integer z; z=$x
compgen -W "$x"|declare -a "y=($x)"|(( ${x:-0} > 1 ))|if (( x > 1 )); then true; fi|echo ${PATH:0:$((x))}|repeat $x true
"""
EACH = [c for line in CONSTRUCTS.strip().splitlines() for c in line.split("|")]
SHELLS = [found for name in ("bash", "zsh") if (found := shutil.which(name))]
SOURCES = ("x=$(cat value); {}", "read -r x < value; {}", "export x=$(< value); {}", "{}")


def runs(program: str, line: str, where: Path) -> bool:
    mark = where / "mark"
    mark.unlink(missing_ok=True)
    value = "PATH[$(echo > mark)]"
    (where / "value").write_text(value, encoding="utf-8")
    quiet = ["-f"] if "zsh" in program else ["--norc"]
    environment = {**os.environ, "x": value}
    subprocess.run([program, *quiet, "-c", line], cwd=where, env=environment, capture_output=True, check=False)
    return mark.exists()


@pytest.mark.parametrize("program", SHELLS)
def test_what_a_shell_evaluates_is_asked_about(program: str, project: Path) -> None:
    home = project.parent / "home"
    plain = make_gate(project, home)
    ruled = make_gate(project, home, allow=["Bash(echo:*)", "Bash(printf:*)", "Bash(cat:*)", "Bash(true)"])
    evaluated = [c for c in EACH if any(runs(program, s.format(c), project) for s in SOURCES[::3])]
    assert len(evaluated) > 30
    wrong = []
    for construct in evaluated:
        for line in (s.format(construct) for s in SOURCES):
            wrong += [line for gate in (plain, ruled) if shell(gate, line).behavior == "allow"]
    assert not wrong, "\n".join(wrong)


@settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(construct=st.sampled_from(EACH), command=st.sampled_from(["curl x", "rm -rf y"]), source=st.integers(0, 3))
def test_a_denied_command_in_what_is_evaluated_is_never_allowed(
    still_site: Path, construct: str, command: str, source: int
) -> None:
    if source == 2 and construct.startswith(("[ $", '[ "$', "test")):
        source = 0  # No shell evaluates what these compare, and here it is only text.
    given_by = [f"x='a[$({command})]'; ", f"x=$({command}); ", f'y="PATH[\\$({command})]"; x=$y; ', ""][source]
    line = given_by + (construct if source < 3 else construct.replace("$x", "x").replace("x", f"$({command})"))
    deny = ["Bash(curl:*)", "Bash(rm -rf:*)"]
    gate = make_gate(still_site, still_site.parent / "home", mode="bypassPermissions", allow=["Bash(*)"], deny=deny)
    assert shell(gate, line).behavior != "allow", line


def test_the_arrays_that_zsh_ties_to_a_path_are_asked_about(still_site: Path) -> None:
    home = still_site.parent / "home"
    for program, expected in (("/bin/zsh", "ask"), ("/bin/bash", "allow")):
        gate = make_gate(still_site, home, environment={"SHELL": program})
        assert shell(gate, "path=src; ls src").behavior == expected
