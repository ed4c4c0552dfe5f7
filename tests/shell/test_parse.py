"""How lines are read: commands, wrappers, directories, redirections, and what is not understood."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agentcli.shell import LONGEST, CommandLine, destroys, parse, removal_targets, removes
from agentcli.shell.values import SimpleCommand


def read(text: str) -> list[str]:
    """Every command: its text, then how it comes to run and where, if not simply here."""
    line = parse(text)
    assert line.understood, line.reason
    return [described(c) for c in line.commands]


def described(command: SimpleCommand) -> str:
    notes = [] if command.via == "line" else [command.via]
    if command.directories is None:
        notes.append("anywhere")
    elif command.directories != ("",):
        notes.append("|".join(command.directories))
    return command.text + (f" [{' '.join(notes)}]" if notes else "")


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("a && b || c; d | e & f", ["a", "b", "c", "d", "e", "f"]),
        ("(a; b) && { c; d; }", ["a", "b", "c", "d"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]),
        ("for x in $(a); do b; done", ["a [substitution]", "b"]),
        ("select x in a; do b; done", ["b"]),
        ("case $(a) in x|y) b;; *) c;; esac", ["a [substitution]", "b", "c"]),
        ("f() { a; }; f", ["a [function]", "f"]),
        ("x=$(a) b", ["a [substitution]", "b"]),
        ('echo `a` "$(b)" ${x:-$(c)} $(( $(d) ))', [f"{n} [substitution]" for n in "abcd"] + ["*"]),
        ("a <(b) >(c)", ["b [substitution]", "c [substitution]", "*"]),
        ("a <<E\n$(b)\nE", ["b [substitution]", "a"]),
        ("a <<'E'\n$(b)\nE", ["a"]),
        ("a <<< $(b)", ["b [substitution]", "a"]),
        ("[[ -n $(a) ]] && b", ["a [substitution]", "b"]),
        ("! a", ["a"]),
        ("a #b\nc", ["a", "c"]),
        # Wrappers and what they run.
        ("timeout -k 5 10 a b", ["timeout -k 5 10 a b", "a b [transparent]"]),
        ("nice -n 5 nohup a", ["nice -n 5 nohup a", "nohup a [transparent]", "a [transparent]"]),
        ("env -u X A=1 a", ["env -u X A=1 a", "a [transparent]"]),
        ("env -C d a", ["env -C d a", "a [transparent anywhere]"]),
        ("sudo -u root -- a", ["sudo -u root -- a", "a [privileged]"]),
        ("sudo -i a b", ["sudo -i a b", "a b [privileged]"]),
        ("xargs -0 -n1 a b", ["xargs -0 -n1 a b", "a b … [transparent]"]),
        ("xargs -I{} a {}/x", ["xargs -I{} a {}/x", "a {}/x [transparent]"]),
        (
            "find . -exec a {} + -o -ok b {} ';'",
            ["find . -exec a {} + -o -ok b {} ';'", "a {} [argument]", "b {} [argument]"],
        ),
        ("find . -execdir a ';'", ["find . -execdir a ';'", "a [argument anywhere]"]),
        ("bash -c 'a; b'", ["bash -c 'a; b'", "a [script]", "b [script]"]),
        ("bash -euo pipefail -c a", ["bash -euo pipefail -c a", "a [script]"]),
        ("bash x.sh -c a", ["bash x.sh -c a"]),
        ("sh <<E\na\nE", ["sh", "a [script]"]),
        ("sh <<< 'a b'", ["sh", "a b [script]"]),
        ("eval a '&& b'", ["eval a '&& b'", "a [script]", "b [script]"]),
        ("trap 'a; b' EXIT INT", ["trap 'a; b' EXIT INT", "a [script]", "b [script]"]),
        ("trap - EXIT", ["trap - EXIT"]),
        ("alias x='a b' y", ["alias 'x=a b' y", "a b [script]"]),
        ("command -v a", ["command -v a"]),
        ("command a", ["command a", "a [transparent]"]),
        ("exec -a n a", ["exec -a n a", "a [transparent]"]),
        ("watch -n 1 a b", ["watch -n 1 a b", "a b [argument]", "a b [argument]"]),
        ("flock -w 1 l a", ["flock -w 1 l a", "a [argument]"]),
        ("ssh -p 22 h 'a; b'", ["ssh -p 22 h 'a; b'", "a [remote anywhere]", "b [remote anywhere]"]),
        ("ssh h", ["ssh h"]),
        ("su -c 'a' u", ["su -c a u", "a [privileged]"]),
        ("git -c alias.x='!a b' x", ["git -c 'alias.x=!a b' x", "a b [script]"]),
        ("busybox a b", ["busybox a b", "a b [transparent]"]),
        ("coproc a", ["coproc a", "a [transparent]"]),
        ("time -p a", ["time -p a", "a [transparent]"]),
        ("bash -c \"bash -c 'a'\"", ["bash -c 'bash -c '\\''a'\\'''", "bash -c a [script]", "a [script]"]),
        # Words.
        ("a 'b c' \"d\" e\\ f $'g\\x41'", ["a 'b c' d 'e f' gA"]),
        ("a{b,c}d {x,y{1,2}}", ["abd acd x y1 y2"]),
        ("r''m \"-r\"f", ["rm -rf"]),
        ('a $"b"', ["a b"]),
        ("a -- - *", ["a -- - *"]),
        # Where they run.
        ("cd x && a; b", ["cd x", "a [x]", "b [|x]"]),
        ("cd x || exit 1; a", ["cd x", "exit 1", "a [x]"]),
        ("(cd x && a); b", ["cd x", "a [x]", "b"]),
        ("cd x | a; b", ["cd x", "a", "b"]),
        ("cd x & a", ["cd x", "a"]),
        ("cd; a", ["cd", "a [|~]"]),
        ("cd ~/x && cd ../y && a", ["cd ~/x", "cd ../y [~/x]", "a [~/x/../y]"]),
        ("cd /x && a", ["cd /x", "a [/x]"]),
        ("cd $x && a", ["cd $x", "a [anywhere]"]),
        ("cd - && a", ["cd -", "a [anywhere]"]),
        ("pushd x && popd && a", ["pushd x", "popd [x]", "a [anywhere]"]),
        ("source f; a", ["source f", "a [anywhere]"]),
        ("eval 'cd x' && a", ["eval 'cd x'", "cd x [script]", "a [|x]"]),
        ("command cd x && a", ["command cd x", "cd x [transparent]", "a [|x]"]),
        ("for i in 1 2; do cd x; a; done", ["cd x [anywhere]", "a [anywhere]"]),
        ("if a; then cd x; fi; b", ["a", "cd x", "b [|x]"]),
        ("f() { cd x; }; f; a", ["cd x [function]", "f", "a [anywhere]"]),
        (
            "cd x && bash -c 'cd y; a'; b",
            ["cd x", "bash -c 'cd y; a' [x]", "cd y [script x]", "a [script x|x/y]", "b [|x]"],
        ),
    ],
)
def test_lines(text: str, commands: list[str]) -> None:
    found = read(text)
    assert [f if c != "*" else "*" for f, c in zip(found, commands, strict=True)] == commands


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a 'b", "could not be parsed"),
        ("a )", "could not be parsed"),
        ("if a", "could not be parsed"),
        ("a\x00b", "U+0000"),
        ("a\rb", "U+000D"),
        ("a\u00a0b", "U+00A0"),
        ("a\x1bb", "U+001B"),
        ("\ud800", "not valid Unicode"),
        ("x" * (LONGEST + 1), "more than 10,000 characters"),
        ("[a]", "a test"),
        ("[ \nrm x ]", "could not be parsed"),
        ("[  \n${z:-w}$x ]", "a test"),
        ("r\\\nm x", "continued inside a word"),
        ("echo ${x@P}", "evaluates a variable"),
        ("echo ${!x}", "evaluates a variable"),
        ("x='a[$(b)]'; (( x ))", "arithmetic"),
        ("let 'a[$(b)]'; x='$(c)'; echo $(( x + 1 ))", "arithmetic"),
        ("declare 'a[$(b)]=1'", "evaluates a command"),
        ("echo `a \\`b\\``", "escapes inside of backticks"),
        ("a -x2>&1", "touches a redirection"),
        ("eval " * 12 + "a", "too deep"),
        ("a;" * 450, "too many commands"),
    ],
)
def test_what_is_not_understood(text: str, reason: str) -> None:
    line = parse(text)
    assert not line.understood
    assert reason in line.reason


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("$x a", "name of the program"),
        ("${x}/bin/y a", "name of the program"),
        ("*x a", "name of the program"),
        ('bash -c "$x"', "only known when it runs"),
        ("eval $x", "only known when it runs"),
        ("ssh h $x", "only known when it runs"),
        ("timeout $x a", "options of timeout"),
        ("timeout -s$x a", "options of timeout"),
        ("env -S 'a b'", "splits a text"),
        ("a | sh", "its commands from its input"),
        ("sh < f", "its commands from its input"),
        ("bash <<E\n$x\nE", "its commands from its input"),
        ("parallel a ::: b", "builds its commands"),
        ('trap "$x" EXIT', "only known when it runs"),
        ('alias a="$x"', "only known when it runs"),
        ('git -c alias.a="$x" a', "only known when it runs"),
    ],
)
def test_commands_that_can_not_be_judged(text: str, problem: str) -> None:
    line = parse(text)
    assert line.understood
    problems = [c.problem for c in line.commands if c.problem]
    assert bool(problems) == bool(problem)
    assert not problem or problem in problems[0]


def redirected(line: CommandLine) -> list[tuple[str, str, str | None, tuple[str, ...] | None]]:
    return [(r.kind, r.operator, r.target.text if r.target else r.body, r.directories) for r in line.redirects]


@pytest.mark.parametrize(
    ("text", "redirects"),
    [
        ("a > f 2>> g < h", [("write", ">", "f", ("",)), ("write", ">>", "g", ("",)), ("read", "<", "h", ("",))]),
        (
            "a &> f; b &>> g; c >| h",
            [("write", "&>", "f", ("",)), ("write", "&>>", "g", ("",)), ("write", ">|", "h", ("",))],
        ),
        ("a 2>&1 >&2 2>&-", []),
        ("a >& f", [("write", ">&", "f", ("",))]),
        ("{ a; } > f", [("write", ">", "f", ("",))]),
        ("while a; do b; done > f", [("write", ">", "f", ("",))]),
        ("> f", [("write", ">", "f", ("",))]),
        ("cd d && a > f", [("write", ">", "f", ("d",))]),
        ("a <<'E'\nx $y\nE", [("heredoc", "<<", "x $y\n", ("",))]),
        ("a <<E\nx $y\nE", [("heredoc", "<<", None, ("",))]),
        ("a <<< 'x y'", [("herestring", "<<<", "x y", ("",))]),
        ("a < <(b)", []),
        ('a > "$f"', [("write", ">", "$f", ("",))]),
        ("$(a > f)", [("write", ">", "f", ("",))]),
    ],
)
def test_redirections(text: str, redirects: list[object]) -> None:
    assert redirected(parse(text)) == redirects


def test_names_that_a_line_defines_and_variables_that_it_sets() -> None:
    line = parse(
        "f() { a; }; function g { b; }; alias h=c; x=1; y=2 z=$(d) e; export W=3; for v in a; do b; done; : ${u:=1}"
    )
    assert line.functions == {"f", "g", "h"}
    assert [(a.name, a.exported) for a in line.assignments] == [("x", False), ("W", True), ("v", False), ("u", False)]
    command = next(c for c in line.commands if c.name == "e")
    assert [(a.name, a.value.text, a.prefix) for a in command.assignments] == [("y", "2", True), ("z", "$(d)", True)]


@pytest.mark.parametrize(
    ("command", "expected"),
    [("rm f", True), ("rm -rf d", True), ("find . -delete", True), ("find . -name x", False), ("mv a b", False)],
)
def test_removals(command: str, expected: bool) -> None:
    assert removes(parse(command).commands[0]) is expected


def test_what_is_removed_and_destroyed() -> None:
    assert [w.text for w in removal_targets(parse("rm -rf -- a -b").commands[0])] == ["a", "-b"]
    assert destroys(parse("git reset --hard").commands[0]) == "git reset --hard throws uncommitted work away"
    assert destroys(parse("git reset --har").commands[0]) == "git reset --hard throws uncommitted work away"
    assert destroys(parse("git -C x clean -fd").commands[0])
    assert not destroys(parse("git reset").commands[0])


def test_the_parser_is_loaded_when_it_is_needed() -> None:
    script = (
        "import sys, agentcli.shell, agentcli.permissions.gate\n"
        "assert not {'tree_sitter', 'tree_sitter_bash'} & set(sys.modules)\n"
        "agentcli.shell.parse('ls')\n"
        "assert 'tree_sitter' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
