"""Which files are read at the start, in which order, and what is left out with which reason."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agentcli.memory.places import managed_path, read_places
from agentcli.settings.merged import Settings
from tests.memory.worlds import Desk, settings, write


async def test_all_scopes_from_the_widest_to_the_nearest(world: Path, home: Path, project: Path, golden) -> None:
    write(world / "etc" / "CLAUDE.md", "MANAGED")
    write(home / ".claude" / "CLAUDE.md", "USER")
    write(home / ".claude" / "rules" / "style.md", "USER RULE")
    write(world / "CLAUDE.md", "ABOVE")
    write(world / "CLAUDE.local.md", "ABOVE LOCAL")
    write(project / "CLAUDE.md", "PROJECT\n\n<!-- for people -->\n\n@docs/more.md\n\nEND")
    write(project / "docs" / "more.md", "IMPORTED")
    write(project / ".claude" / "CLAUDE.md", "PROJECT TOO")
    write(project / ".claude" / "rules" / "b.md", "RULE B")
    write(project / ".claude" / "rules" / "a" / "z.md", "RULE A/Z")
    write(project / "CLAUDE.local.md", "LOCAL")
    desk = Desk(project)
    section = await desk.section()
    assert desk.paths() == [
        "etc/CLAUDE.md",
        "home/.claude/CLAUDE.md",
        "home/.claude/rules/style.md",
        "CLAUDE.md",
        "CLAUDE.local.md",
        "project/CLAUDE.md",
        "project/.claude/CLAUDE.md",
        "project/.claude/rules/a/z.md",
        "project/.claude/rules/b.md",
        "project/CLAUDE.local.md",
    ]
    assert (desk.warnings, desk.skipped()) == ([], [])
    golden("section.md", section.replace(str(world), "/w") + "\n")


async def test_nothing_to_say(project: Path) -> None:
    assert await Desk(project).room.section() is None


@pytest.mark.parametrize(
    ("mode", "with_claude", "without"),
    [("fallback", False, True), ("always", True, True), ("never", False, False)],
)
async def test_agents_md(project: Path, mode: str, with_claude: bool, without: bool) -> None:
    write(project / "AGENTS.md", "AGENTS ABOVE")
    inner = project / "inner"
    write(inner / "AGENTS.md", "AGENTS HERE")
    write(inner / "CLAUDE.md", "CLAUDE HERE")
    section = await Desk(inner, settings(agentsMd=mode)).section()
    assert ("AGENTS HERE" in section, "AGENTS ABOVE" in section) == (with_claude, without)


async def test_agents_md_is_not_read_twice(project: Path) -> None:
    write(project / "AGENTS.md", "AGENTS")
    write(project / "CLAUDE.md", "@AGENTS.md\nmore")
    section = await Desk(project, settings(agentsMd="always")).section()
    assert section.count("AGENTS\n") == 1
    (project / "CLAUDE.md").unlink()
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    desk = Desk(project, settings(agentsMd="always"))
    assert (await desk.section()).count("AGENTS\n") == 1
    assert desk.skipped() == [f"{project}/AGENTS.md: is loaded already, by way of {project}/CLAUDE.md"]


async def test_one_load_for_each_real_file(project: Path) -> None:
    write(project / "shared" / "r.md", "MARK_rule")
    write(project / "CLAUDE.md", "MARK_top")
    (project / ".claude" / "rules").mkdir(parents=True)
    (project / ".claude" / "rules" / "link.md").symlink_to("../../shared/r.md")
    (project / ".claude" / "rules" / "self").symlink_to("../rules")
    (project / "sub" / ".claude").mkdir(parents=True)
    (project / "sub" / ".claude" / "rules").symlink_to("../../.claude/rules")
    (project / "pkg").mkdir()
    (project / "pkg" / "CLAUDE.md").symlink_to("../CLAUDE.md")
    (project / "AGENTS.md").symlink_to("CLAUDE.md")
    desk = Desk(project)
    section = await desk.section()
    told = section + await desk.touch(project / "sub" / "f") + await desk.touch(project / "pkg" / "f")
    told += await desk.touch(project / "CLAUDE.md") + await desk.step()
    assert (told.count("MARK_rule"), told.count("MARK_top"), desk.warnings) == (1, 1, [])


async def test_one_load_for_each_hard_linked_file(project: Path) -> None:
    for original, link in (("CLAUDE.md", "sub/CLAUDE.md"), ("r.md", "sub/.claude/rules/r.md"), ("imp.md", "imp2.md")):
        write(project / original, f"MARK {original}\n")
        (project / link).parent.mkdir(parents=True, exist_ok=True)
        (project / link).hardlink_to(project / original)
    (project / ".claude" / "rules").mkdir(parents=True)
    (project / ".claude" / "rules" / "r.md").hardlink_to(project / "r.md")
    write(project / "CLAUDE.local.md", "@imp.md @imp2.md")
    desk = Desk(project)
    told = await desk.section() + await desk.touch(project / "sub" / "f")
    assert [told.count(f"MARK {name}") for name in ("CLAUDE.md", "r.md", "imp.md")] == [1, 1, 1]
    (project / "sub" / "CLAUDE.md").unlink()
    write(project / "sub" / "CLAUDE.md", "a file of its own")
    assert "a file of its own" in await desk.touch(project / "sub" / "g")


async def test_a_nested_work_tree_has_its_own_copy(repo: Path) -> None:
    write(repo / "CLAUDE.md", "COMMITTED")
    write(repo / "CLAUDE.local.md", "ONLY HERE")
    subprocess.run(["git", "add", "CLAUDE.md"], check=True)
    subprocess.run(["git", "commit", "-qm", "memory"], check=True)
    tree = repo / ".trees" / "one"
    subprocess.run(["git", "worktree", "add", "-q", str(tree)], check=True)
    desk = Desk(tree)
    section = await desk.section()
    assert desk.paths() == ["project/CLAUDE.local.md", "project/.trees/one/CLAUDE.md"]
    assert section.count("COMMITTED") == 1
    why = "belongs to the main checkout around this work tree, which has files of its own"
    assert desk.skipped() == [f"{repo}/CLAUDE.md: {why}"]
    assert desk.warnings == []


async def test_what_has_the_name_but_is_no_text(project: Path) -> None:
    (project / "CLAUDE.md").mkdir()
    write(project / "AGENTS.md", "AGENTS")
    write(project / ".claude" / "rules" / "ok.md", "OK")
    (project / ".claude" / "CLAUDE.md").symlink_to("nowhere")
    (project / ".claude" / "rules" / "bad.md").write_bytes(b"a\nb\nc\xff\xfe\n")
    (project / ".claude" / "rules" / "bin.md").write_bytes(b"a\0b")
    (project / ".claude" / "rules" / "big.md").write_bytes(b"a" * (4 * 1024 * 1024 + 1))
    (project / ".claude" / "rules" / "loop.md").symlink_to("loop.md")
    os.mkfifo(project / "CLAUDE.local.md")
    desk = Desk(project)
    section = await desk.section()
    assert ("AGENTS" in section, "OK" in section) == (True, True)
    rules = project / ".claude" / "rules"
    assert desk.warnings == [
        f"{project}/CLAUDE.md: is a directory, not a file; ignored",
        f"{project}/.claude/CLAUDE.md: is a link to nothing",
        f"{project}/CLAUDE.local.md: is not a regular file; ignored",
        f"{rules}/bad.md: is not UTF-8 (line 3); save it as UTF-8",
        f"{rules}/big.md: is larger than 4 MB (4,194,305 bytes); not loaded",
        f"{rules}/bin.md: is not a text file (it holds NUL bytes)",
        f"{rules}/loop.md: is a link that goes in circles",
    ]
    assert desk.skipped() == desk.warnings


async def test_control_characters_of_a_file_are_left_out(project: Path) -> None:
    write(project / "CLAUDE.md", "be \x1b[31mkind\x1b[0m\n\ttab\x07 \x1b]0;title\x07end\x08\n")
    text = await Desk(project).section()
    assert "be kind\n\ttab end" in text
    assert not set("\x1b\x07\x08") & set(text)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_what_may_not_be_read(project: Path) -> None:
    write(project / "CLAUDE.md", "x").chmod(0)
    desk = Desk(project)
    await desk.section()
    assert desk.warnings == [f"{project}/CLAUDE.md: can't be read (Permission denied)"]


async def test_other_encodings_and_line_ends(project: Path) -> None:
    (project / "CLAUDE.md").write_bytes("one\r\nzwölf\r\n".encode("utf-16"))
    (project / "CLAUDE.local.md").write_bytes(b"\xef\xbb\xbfthree\rfour\r")
    section = await Desk(project).section()
    assert "one\nzwölf\n</instr" in section
    assert ">\nthree\nfour\n</instr" in section


async def test_a_large_file_is_sent_whole_and_told(project: Path) -> None:
    text = "# root\n" + "rule 漢字 line\n" * 6000 + "MARK_root_end\n"
    write(project / "CLAUDE.md", text)
    write(project / "pkg" / "CLAUDE.md", "MARK_pkg")
    desk = Desk(project / "pkg")
    section = await desk.section()
    assert section.index("MARK_root_end") < section.index("MARK_pkg")
    assert "\ufffd" not in section
    assert len(desk.warnings) == 1
    assert desk.warnings[0].startswith(f"{project}/CLAUDE.md: {len(text):,} characters, all of them sent")


async def test_excludes(world: Path, home: Path, project: Path) -> None:
    write(world / "etc" / "CLAUDE.md", "MANAGED")
    write(home / ".claude" / "CLAUDE.md", "USER")
    write(project / "CLAUDE.md", "PROJECT")
    write(project / ".claude" / "rules" / "x.md", "RULE")
    write(project / "CLAUDE.local.md", "LOCAL")
    patterns = ["**/rules/**", f"{project}/CLAUDE.md", "~/.claude/CLAUDE.md", f"{world}/etc/**", "{" + "a,b}{" * 12]
    desk = Desk(project, settings(claudeMdExcludes=patterns))
    await desk.section()
    assert desk.paths() == ["etc/CLAUDE.md", "project/CLAUDE.local.md"]
    assert desk.skipped() == [
        f"{home}/.claude/CLAUDE.md: is excluded by claudeMdExcludes (~/.claude/CLAUDE.md)",
        f"{project}/CLAUDE.md: is excluded by claudeMdExcludes ({project}/CLAUDE.md)",
        f"{project}/.claude/rules/x.md: is excluded by claudeMdExcludes (**/rules/**)",
    ]


async def test_added_directories_only_where_it_is_asked_for(
    project: Path, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = write(world / "more" / "CLAUDE.md", "MORE").parent
    write(project / "CLAUDE.md", "PROJECT")
    assert "MORE" not in await Desk(project, add_dirs=[more]).section()
    monkeypatch.setenv("CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD", "1")
    section = await Desk(project, add_dirs=[more]).section()
    assert section.index("PROJECT") < section.index("MORE")


@pytest.mark.parametrize(
    ("sources", "told"),
    [
        (("user",), ["home/.claude/CLAUDE.md"]),
        (("project",), ["project/CLAUDE.md"]),
        (("local",), ["project/CLAUDE.local.md"]),
        ((), []),
    ],
)
async def test_setting_sources(home: Path, sources: tuple[str, ...], told: list[str]) -> None:
    project = home.parent / "project"
    write(home / ".claude" / "CLAUDE.md", "USER")
    write(project / "CLAUDE.md", "PROJECT")
    write(project / "CLAUDE.local.md", "LOCAL")
    desk = Desk(project, sources=sources)
    await desk.section()
    assert desk.paths() == told


async def test_below_the_home_the_users_files_are_the_users(home: Path) -> None:
    write(home / ".claude" / "CLAUDE.md", "USER")
    write(home / ".claude" / "rules" / "r.md", "RULE")
    write(home / "CLAUDE.md", "OF THE HOME")
    work = home / "work"
    work.mkdir()
    desk = Desk(work)
    await desk.section()
    assert desk.paths() == ["home/.claude/CLAUDE.md", "home/.claude/rules/r.md", "home/CLAUDE.md"]
    assert [f.scope for f in desk.room.loaded()] == ["user", "user", "project"]
    assert desk.skipped() == []
    only = Desk(work, sources=["project"])
    await only.section()
    assert only.paths() == ["home/CLAUDE.md"]


async def test_switched_off(world: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(world / "etc" / "CLAUDE.md", "MANAGED")
    write(project / "CLAUDE.md", "PROJECT")
    write(project / "sub" / "CLAUDE.md", "SUB")
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1")
    desk = Desk(project, auto=True)
    section = await desk.section()
    assert ("MANAGED" in section, "PROJECT" in section, "# Memory" in section) == (True, False, False)
    assert await desk.touch(project / "sub" / "f") == ""


async def test_the_managed_setting(project: Path) -> None:
    desk = Desk(project, settings(scope="managed", claudeMd="BY SETTING"))
    assert 'what="set by the organisation">\nBY SETTING\n</instructions>' in await desk.section()
    assert "BY SETTING" not in await Desk(project, settings(scope="user", claudeMd="BY SETTING")).section()


def test_where_the_organisation_keeps_its_file() -> None:
    assert managed_path("linux") == Path("/etc/claude-code/CLAUDE.md")
    assert managed_path("darwin") == Path("/Library/Application Support/ClaudeCode/CLAUDE.md")


async def test_a_start_directory_behind_a_link(project: Path, world: Path) -> None:
    write(project / "CLAUDE.md", "PROJECT")
    link = world / "link"
    link.symlink_to(project)
    assert read_places(link, Settings(()), os.environ).start == project
    desk = Desk(link)
    await desk.section()
    assert desk.paths() == ["project/CLAUDE.md"]


async def test_the_same_bytes_each_time(project: Path) -> None:
    for n in range(40):
        write(project / ".claude" / "rules" / f"{(n * 7) % 40:02}" / "r.md", f"RULE {n}")
    first = await Desk(project).section()
    assert [await Desk(project).section() for _ in range(3)] == [first] * 3


async def test_a_large_project_is_not_searched(project: Path) -> None:
    """Of thousands of directories only those of rules are listed."""
    for n in range(60):
        front = f'---\npaths:\n  - "src/m{n}/**/*.py"\n---\n' if n % 2 else ""
        write(project / ".claude" / "rules" / f"g{n % 4}" / f"r{n}.md", f"{front}Rule {n}.\n")
        write(project / "src" / f"d{n}" / "CLAUDE.md", "not yet")
    desk = Desk(project)
    assert "not yet" not in await desk.section()
    assert len(desk.room.loaded()) == 30
    rules = project / ".claude" / "rules"
    listed = desk.room._main.findings.directories
    assert sorted(listed) == [rules, *(rules / f"g{n}" for n in range(4))]
