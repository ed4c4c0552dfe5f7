"""What a session changed is taken back: by edit tools, shell commands and subagents, bytes and modes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentcli.model.scripted import call, say
from agentcli.runtime.options import Resume
from agentcli.sessions import remove
from tests.checkpoints.desk import tree, work

CRLF = b"\xef\xbb\xbfone\r\ntwo\r\n"


def _project(found: dict[str, tuple[str, int, bytes]]) -> dict[str, tuple[str, int, bytes]]:
    """Without the repository's own files."""
    return {name: state for name, state in found.items() if name.partition("/")[0] != ".git"}


async def test_an_edit_is_taken_back_byte_for_byte(project: Path) -> None:
    file = project / "a.txt"
    file.write_bytes(CRLF)
    file.chmod(0o640)
    async with work(project) as at:
        await at.turn(
            call("Read", file_path="a.txt"), call("Edit", file_path="a.txt", old_string="two", new_string="2")
        )
        assert file.read_bytes() != CRLF
        assert await at.plan() == {"a.txt": "changed"}
        assert await at.rewind() == []
    assert tree(project) == {"a.txt": ("file", 0o640, CRLF)}


async def test_shell_commands_are_taken_back(repo: Path) -> None:
    (repo / ".gitignore").write_text("build/\n")
    (repo / "build").mkdir()
    (repo / "src" / "deep").mkdir(parents=True)
    (repo / "src" / "latin.txt").write_bytes(b"caf\xe9\n")
    (repo / "src" / "deep" / "run.sh").write_text("#!/bin/sh\n")
    (repo / "src" / "deep" / "run.sh").chmod(0o755)
    (repo / "secret").write_text("s\n")
    (repo / "secret").chmod(0o600)
    (repo / "link").symlink_to("README.md")
    before = tree(repo)
    async with work(repo) as at:
        await at.turn(
            call("Bash", command="sed -i s/sample/other/ README.md && chmod -x src/deep/run.sh"),
            call("Bash", command="for f in secret src/latin.txt link; do rm $f; done; ln -s secret link"),
            call(
                "Bash",
                command="mkdir -p new/dir && (cd new/dir; echo x > file) && for f in build/out; do echo y > $f; done",
            ),
        )
        assert await at.plan() == {
            "README.md": "changed",
            "link": "changed",
            "new/dir/file": "removed",
            "secret": "created",
            "src/deep/run.sh": "mode",
            "src/latin.txt": "created",
        }
        assert await at.rewind() == []
    after = tree(repo)
    assert after.pop("build/out") == ("file", 0o644, b"y\n")
    assert after == before


async def test_the_projects_own_repository_is_not_touched(repo: Path) -> None:
    (repo / "staged").write_text("s\n")
    os.system("git add staged")
    before = tree(repo / ".git")
    async with work(repo) as at:
        await at.shell("echo x > staged; echo y > other")
        assert await at.rewind() == []
        assert at.told == []
    assert tree(repo / ".git") == before


@pytest.mark.parametrize(
    "command",
    ["git reset -q --hard", "git checkout -q .", "git restore .", "git clean -qfd", "rm -r src", "find src -delete"],
)
async def test_destruction_in_bypass_mode_is_taken_back(repo: Path, command: str) -> None:
    (repo / "src").mkdir()
    (repo / "src" / "untracked").write_text("only here\n")
    (repo / "README.md").write_text("uncommitted\n")
    before = tree(repo)
    async with work(repo, allowed_tools=(f"Bash({command})",)) as at:
        await at.shell(command)
        assert await at.plan()
        assert await at.rewind() == []
    assert _project(tree(repo)) == _project(before)


async def test_without_a_repository_and_with_names_of_any_kind(project: Path) -> None:
    odd = [os.fsdecode(b"caf\xe9"), "new\nline", "-dash", "tab\t", "'quote\"", "한글.txt"]
    for name in odd:
        (project / name).write_text(name.encode(errors="replace").decode())
    before = tree(project)
    async with work(project) as at:
        await at.shell('for f in ./*; do echo changed > "$f"; done')
        assert sorted(await at.plan()) == sorted(odd)
        assert await at.rewind() == []
    assert tree(project) == before


async def test_files_that_a_command_names_are_kept_even_when_ignored_or_elsewhere(repo: Path, world: Path) -> None:
    (repo / ".gitignore").write_text(".env\n")
    (repo / ".env").write_text("KEY=1\n")
    (repo / ".env").chmod(0o600)
    away = world / "away.txt"
    away.write_text("away\n")
    before = tree(repo)
    async with work(repo) as at:
        await at.shell(f"rm .env; echo more >> {away}")
        assert await at.plan() == {".env": "created", "../away.txt": "changed"}
        assert await at.rewind() == []
    assert tree(repo) == before
    assert away.read_text() == "away\n"


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "d/../a", "a/b/c", "~nobody/x", "$HOME/x", "*"])
async def test_names_that_lead_nowhere_are_no_obstacle(project: Path, name: str) -> None:
    (project / "a").write_text("0\n")
    async with work(project) as at:
        await at.turn(
            call("Bash", command=f"echo 1 > {name.replace(chr(0), '')}; mv a {name.replace(chr(0), '')}"),
            call("Write", file_path=name, content="x"),
            call("Bash", command="for f in a; do echo 2 > $f; done"),
        )
        assert await at.rewind() == []
        assert at.told == []
    assert tree(project) == {"a": ("file", 0o644, b"0\n")}


async def test_going_back_over_several_turns_and_back_again(project: Path) -> None:
    (project / "a").write_text("0\n")
    async with work(project) as at:
        await at.shell("echo 1 > a")
        await at.turn(call("Write", file_path="b", content="b\n"))
        await at.shell("echo 3 > a; rm b; echo c > c")
        last = tree(project)
        assert await at.plan(1) == {"a": "changed", "c": "removed"}
        assert await at.plan(2) == {"a": "changed", "c": "removed"}
        assert await at.rewind(0) == []
        assert sorted(tree(project)) == ["a", "b"]
        assert (project / "a").read_text() == "1\n"
        assert await at.rewind(2) == []
        assert tree(project) == {"a": ("file", 0o644, b"0\n")}
        first, second = [p.position for p in at.room.points() if p.kind == "restore"]
        await at.room.restore(await at.room.plan(first))
        assert tree(project) == last
        assert second > first


async def test_what_somebody_else_changed_stays(project: Path) -> None:
    for name in "abcd":
        (project / name).write_text("0\n")
    async with work(project) as at:
        await at.shell("for f in a b c; do echo 1 > $f; done")
        (project / "b").write_text("mine\n")
        (project / "d").write_text("mine\n")
        await at.turn(call("Read", file_path="b"), call("Write", file_path="b", content="theirs\n"))
        (project / "c").unlink()
        assert await at.plan() == {"b": "changed"}
        assert await at.plan(1) == {"a": "changed", "b": "between", "c": "foreign"}
        assert await at.rewind(1) == []
    assert {n: s[2] for n, s in tree(project).items()} == {"a": b"0\n", "b": b"theirs\n", "d": b"mine\n"}


async def test_a_file_that_changes_while_the_plan_is_read_stays(project: Path) -> None:
    async with work(project) as at:
        await at.shell("echo 1 > a; echo 1 > b")
        plan = await at.room.plan(at.position(0))
        (project / "a").write_text("mine\n")
        done = await at.room.restore(plan)
        assert [s.path.name for s in done.done] == ["b"]
        assert [(p.name, why) for p, why in done.failed] == [("a", "somebody else changed it meanwhile")]
    assert sorted(tree(project)) == ["a"]


async def test_a_directory_takes_the_place_of_a_file_and_gives_it_back(project: Path) -> None:
    (project / "a").write_text("file\n")
    (project / "d").mkdir()
    (project / "d" / "x").write_text("x\n")
    before = tree(project)
    async with work(project) as at:
        await at.shell("for n in a; do rm $n; mkdir $n; echo y > $n/y; done; rm -r d; echo z > d")
        assert await at.rewind() == []
        assert tree(project) == before
        await at.room.restore(await at.room.plan(at.room.points()[-1].position))
    assert sorted(tree(project)) == ["a", "a/y", "d"]


async def test_it_works_after_a_resume(repo: Path) -> None:
    (repo / "a").write_text("0\n")
    before = _project(tree(repo))
    async with work(repo) as at:
        await at.shell("echo 1 > a; echo n > new")
        session_id = at.session.id
    (repo / "README.md").write_text("changed by hand\n")
    async with work(repo, resume=Resume(query=session_id)) as at:
        await at.shell("echo 2 >> a")
        assert await at.plan(1) == {"a": "changed", "new": "removed"}
        assert await at.rewind(1) == []
    assert _project(tree(repo)) == {**before, "README.md": ("file", 0o644, b"changed by hand\n")}


async def test_a_copy_of_a_session_takes_back_what_the_session_did(project: Path, home: Path) -> None:
    (project / "a").write_text("0\n")
    async with work(project) as at:
        await at.shell("for f in a; do echo 1 > $f; done")
        session_id = at.session.id
    async with work(project, resume=Resume(query=session_id, fork=True)) as at:
        await at.shell("for f in b; do echo 2 > $f; done")
        assert await at.rewind(1) == []
        assert tree(project) == {"a": ("file", 0o644, b"0\n")}
    kept = [p for p in home.rglob("checkpoints") if p.parent.name == session_id]
    assert len(kept) == 1
    async with work(project, resume=Resume(query=session_id)) as at:
        assert await at.plan() == {}
        assert len(at.room.points()) == 1
    assert remove([kept[0].parent.with_suffix(".jsonl")]) == []
    assert not kept[0].parent.exists()


async def test_a_subagents_changes_belong_to_the_turn(project: Path) -> None:
    (project / "a").write_text("0\n")
    async with work(project) as at:
        at._script += [
            say(call("Agent", description="d", prompt="p", subagent_type="general-purpose")),
            say(call("Bash", command="echo 1 > a; touch b")),
            say(call("Write", file_path="c", content="c\n")),
            say("reported"),
        ]
        await at.turn()
        assert sorted(tree(project)) == ["a", "b", "c"]
        assert await at.rewind() == []
    assert tree(project) == {"a": ("file", 0o644, b"0\n")}
