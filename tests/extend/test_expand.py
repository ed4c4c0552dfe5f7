"""What is put into the text of a skill or command, and what never is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as rounds
from hypothesis import strategies as st

from agentcli.errors import UserError
from agentcli.extend.expand import OFF, UNTRUSTED, Surroundings, expand
from agentcli.extend.skills import Skill
from agentcli.ports.skills import LineOutcome
from tests.extend.worlds import write

HINT = "Allow it in the permission rules, or with allowed-tools in the file."


@dataclass
class Lines:
    """Runs nothing: answers, and remembers what it was asked to run."""

    answers: dict[str, LineOutcome] = field(default_factory=dict)
    ran: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    async def __call__(self, command: str, allowed: tuple[str, ...]) -> LineOutcome:
        self.ran.append((command, allowed))
        return self.answers.get(command, LineOutcome(f"<{command}>\n"))


def made(*names: str, trusted: bool = True) -> Skill:
    path = Path("/p/.claude/skills/review/SKILL.md")
    return Skill(
        "review",
        "skill",
        "",
        path,
        "project",
        trusted,
        arguments=names,
        allowed_tools=("Bash(git *)",) if trusted else (),
    )


async def filled(
    body: str,
    typed: str = "",
    *names: str,
    lines: Lines | None = None,
    cwd: Path = Path("/p"),
    trusted: bool = True,
    allowed: bool = True,
) -> str:
    world = Surroundings(
        cwd=cwd,
        project=cwd,
        session_id="s1",
        effort="high",
        run=lines or Lines(),
        may_read=lambda path: path.name != "secret.txt",
        shell_allowed=allowed,
    )
    return await expand(made(*names, trusted=trusted), body, typed, world)


@pytest.mark.parametrize(
    ("body", "typed", "names", "expected"),
    [
        ("Fix $ARGUMENTS now", "issue 12", (), "Fix issue 12 now"),
        ("Fix it", "issue 12", (), "Fix it\n\nARGUMENTS: issue 12"),
        ("Fix it", "", (), "Fix it"),
        ("Fix $ARGUMENTS", "", (), "Fix"),
        ("$0 to $1, $2.", "a 'b c'", (), "a to b c, ."),
        ("$ARGUMENTS[1] $ARGUMENTS[0] $ARGUMENTS[7]", "a b", (), "b a"),
        ("branch $name into $target ($other)", "x y", ("name", "target"), "branch x into y ($other)"),
        ("$0 and $name", "x", ("name",), "x and x"),
        ("it costs $100, or $12.50", "a", (), "it costs $100, or $12.50\n\nARGUMENTS: a"),
        ("$10", "a b c d e f g h i j k", (), "k"),
        (r"write \$ARGUMENTS and \$1, not $0", "x", (), "write $ARGUMENTS and $1, not x"),
        ("$HOME $ARGUMENTSX ${HOME} $", "x", (), "$HOME $ARGUMENTSX ${HOME} $\n\nARGUMENTS: x"),
        ("don't: $0|$1", "don't stop", (), "don't: don't|stop"),
        ("$0", '"two words" x', (), "two words"),
        ("$ARGUMENTS", "$0 $ARGUMENTS !`rm x` @a", (), "$0 $ARGUMENTS !`rm x` @a"),
        (
            "${CLAUDE_SESSION_ID} ${CLAUDE_EFFORT} ${CLAUDE_SKILL_DIR} ${CLAUDE_PROJECT_DIR} ${CLAUDE_OTHER}",
            "",
            (),
            "s1 high /p/.claude/skills/review /p ${CLAUDE_OTHER}",
        ),
    ],
)
async def test_arguments(body: str, typed: str, names: tuple[str, ...], expected: str) -> None:
    assert await filled(body, typed, *names) == expected


async def test_commands_run_before_the_model_sees_the_text() -> None:
    lines = Lines({"git log -1": LineOutcome("two\nlines\n\n"), "true": LineOutcome("")})
    body = "!`git status` is\n- log: !`git log -1`\nnothing: !`true`, but`!`code`` and x!`y` stay"
    assert await filled(body, lines=lines) == (
        "<git status> is\n- log: two\nlines\nnothing: , but`!`code`` and x!`y` stay"
    )
    rules = ("Bash(git *)",)
    assert lines.ran == [("git status", rules), ("git log -1", rules), ("true", rules)]


async def test_a_fenced_block_is_one_command() -> None:
    lines = Lines()
    body = "Before\n```!\nfor f in *; do\n  echo $0\ndone\n```\nafter\n```sh\n!`git diff`\n```"
    script = "for f in *; do\n  echo a\ndone"
    assert await filled(body, "a", lines=lines) == f"Before\n<{script}>\nafter\n```sh\n<git diff>\n```"
    assert [c for c, _ in lines.ran] == [script, "git diff"]


async def test_what_a_value_brings_is_never_run_or_read(project: Path) -> None:
    write(project / "a.txt", "SECRET")
    lines = Lines({"git show x": LineOutcome("!`rm -rf /` @a.txt $0")})
    found = await filled("!`git show $0` $ARGUMENTS", "x !`rm -rf /` @a.txt", lines=lines, cwd=project)
    assert found == "!`rm -rf /` @a.txt $0 x !`rm -rf /` @a.txt"
    assert [c for c, _ in lines.ran] == ["git show x"]


@rounds(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("!`@$\\ \n01ARGUMENTSa\"'{}[]"), max_size=40))
async def test_no_argument_becomes_a_command(typed: str) -> None:
    lines = Lines()
    await filled("Do $ARGUMENTS with $0 and $1", typed, lines=lines)
    assert lines.ran == []


@pytest.mark.parametrize(
    ("outcome", "problem"),
    [
        (
            LineOutcome(refused="no rule allows rm"),
            f"/review: the command `rm x` is not allowed: no rule allows rm. {HINT}",
        ),
        (LineOutcome("no such file\n", 2), "/review: the command `rm x` failed with exit code 2: no such file"),
        (LineOutcome("", 1), "/review: the command `rm x` failed with exit code 1"),
    ],
)
async def test_a_command_that_does_not_work_ends_the_invocation(outcome: LineOutcome, problem: str) -> None:
    with pytest.raises(UserError) as caught:
        await filled("!`rm x`", lines=Lines({"rm x": outcome}))
    assert str(caught.value) == problem


async def test_commands_can_be_switched_off_and_need_trust() -> None:
    lines = Lines()
    assert await filled("now !`date`", lines=lines, allowed=False) == f"now {OFF}"
    assert await filled("now !`date`", lines=lines, trusted=False) == f"now {UNTRUSTED}"
    assert lines.ran == []


async def test_long_output_is_cut() -> None:
    found = await filled("!`cat big`", lines=Lines({"cat big": LineOutcome("x" * 50_000)}))
    assert len(found) < 30_100
    assert "[… 20,000 characters left out …]" in found


async def test_files_stand_behind_the_text(project: Path) -> None:
    write(project / "src" / "a.py", "print(1)\n")
    write(project / "b.md", "has ``` inside")
    write(project / "secret.txt", "no")
    (project / "c.bin").write_bytes(b"a\0b")
    body = (
        "See @src/a.py, (@b.md) and @src/a.py again. Ask @anna, mail x@b.md, not `@a.py` or @c.bin, @src, @secret.txt\n"
        "```\n@b.md\n```"
    )
    assert await filled(body, cwd=project) == (
        f"{body}\n\n{project}/src/a.py:\n```\nprint(1)\n```\n\n{project}/b.md:\n````\nhas ``` inside\n````"
    )


async def test_a_file_may_be_named_by_an_argument(project: Path) -> None:
    write(project / "a.py", "A")
    write(project / "b.py", "B")
    found = await filled("Review @$0 and $1", "a.py @b.py", cwd=project)
    assert found == f"Review @a.py and @b.py\n\n{project}/a.py:\n```\nA\n```"


async def test_an_untrusted_text_names_no_file_outside(project: Path, tmp_path: Path) -> None:
    write(tmp_path / "private.txt", "KEY")
    (project / "link.txt").symlink_to(tmp_path / "private.txt")
    body = "@../private.txt @link.txt"
    assert await filled(body, cwd=project, trusted=False) == body
    assert "KEY" in await filled(body, cwd=project)


async def test_nothing_to_run_with() -> None:
    world = Surroundings(cwd=Path("/p"), project=None)
    with pytest.raises(UserError, match="the command `date` can't be run here"):
        await expand(made(), "!`date`", "", world)
