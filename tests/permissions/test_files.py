"""Reading and changing files: places, links, path rules, protected files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentcli.permissions.gate import Gate
from agentcli.ports.permissions import Decision, PermissionUpdate
from agentcli.ports.tools import ToolCall, Workspace
from agentcli.settings.layers import Layer, Scope, Source
from agentcli.settings.merged import Settings
from tests.permissions.conftest import GateMaker, shell


def read(gate: Gate, path: str, tool: str = "Read") -> Decision:
    return gate.check(ToolCall("t", tool, {"file_path" if tool == "Read" else "path": path}))


def edit(gate: Gate, path: str, tool: str = "Edit") -> Decision:
    key = "notebook_path" if tool == "NotebookEdit" else "file_path"
    return gate.check(ToolCall("t", tool, {key: path}))


def with_rules(scope: Scope, base: Path, **permissions: list[str]) -> Settings:
    return Settings((Layer(Source(scope, base / "settings.json", base), {"permissions": permissions}),), trusted=True)


@pytest.mark.parametrize("path", ["f", "src/x.py", "./src/../f", ".", "new/file"])
def test_reading_inside_needs_no_question(gate: GateMaker, path: str) -> None:
    assert read(gate(), path).behavior == "allow"


@pytest.mark.parametrize(
    "path", ["/etc/hostname", "../outside", "~/notes", "link_out/hostname", "link_out", "src/../../outside"]
)
def test_reading_outside_asks(gate: GateMaker, path: str) -> None:
    decision = read(gate(), path)
    assert decision.behavior == "ask"
    assert "outside of the working directories" in decision.reason


@pytest.mark.parametrize(("name", "listed"), [(b"odd\xff", "odd\ufffd"), (b"tab\there", '"tab\\there"')])
def test_a_name_as_listings_show_it_is_judged_as_the_file_that_it_opens(
    gate: GateMaker, site: Path, name: bytes, listed: str
) -> None:
    os.symlink(b"/etc/hostname", os.fsencode(site) + b"/" + name)
    assert read(gate(), listed).behavior == "ask"
    assert edit(gate(mode="acceptEdits"), listed).behavior == "ask"
    made = gate(deny=["Read(//etc/hostname)"], mode="bypassPermissions")
    assert read(made, listed).behavior == "deny"


def test_searches_are_reading(gate: GateMaker) -> None:
    made = gate(deny=["Read(/src/**)"])
    assert made.check(ToolCall("t", "Grep", {"pattern": "x"})).behavior == "allow"
    assert made.check(ToolCall("t", "Grep", {"pattern": "x", "path": "src"})).behavior == "deny"
    assert made.check(ToolCall("t", "Glob", {"pattern": "**/*.py"})).behavior == "allow"
    assert made.check(ToolCall("t", "Glob", {"pattern": "/etc/*.conf"})).behavior == "ask"
    assert made.check(ToolCall("t", "Glob", {"pattern": "../*"})).behavior == "ask"
    assert made.check(ToolCall("t", "Read", {})).behavior == "ask"
    assert made.check(ToolCall("t", "Read", {"file_path": 7})).behavior == "ask"


def test_added_directories_count_as_inside(gate: GateMaker, world: Path) -> None:
    (world / "other").mkdir()
    made = gate()
    assert read(made, str(world / "other" / "x")).behavior == "ask"
    made.apply((PermissionUpdate("addDirectories", directories=(str(world / "other"),)),))
    assert read(made, str(world / "other" / "x")).behavior == "allow"
    made.apply((PermissionUpdate("removeDirectories", directories=(str(world / "other"),)),))
    assert read(made, str(world / "other" / "x")).behavior == "ask"


def test_an_answer_for_a_directory_is_offered_and_works(gate: GateMaker, world: Path) -> None:
    (world / "lib" / "deep").mkdir(parents=True)
    (world / "lib" / "deep" / "a").write_text("x")
    made = gate()
    decision = read(made, str(world / "lib" / "deep" / "a"))
    assert decision.suggestions == (PermissionUpdate("addRules", (f"Read(/{world}/lib/deep/**)",)),)
    made.apply(decision.suggestions)
    assert read(made, str(world / "lib" / "deep" / "b")).behavior == "allow"
    assert read(made, str(world / "lib" / "b")).behavior == "ask"


def test_an_allow_rule_must_cover_link_and_target(gate: GateMaker, site: Path, world: Path) -> None:
    (world / "secret").write_text("x")
    (site / "way").symlink_to(world / "secret")
    assert read(gate(allow=["Read(way)"]), "way").behavior == "ask"
    assert read(gate(allow=[f"Read(/{world}/secret)"]), "way").behavior == "ask"
    assert read(gate(allow=["Read(way)", f"Read(/{world}/**)"]), "way").behavior == "allow"


def test_a_deny_rule_holds_for_link_and_target(gate: GateMaker, site: Path) -> None:
    (site / "again").symlink_to("link_env")
    made = gate(deny=["Read(.env)"], allow=["Read"])
    for path in (".env", "link_env", "again", "./src/../.env", "src/.env", ".ENV", str(site / ".env")):
        assert read(made, path).behavior == "deny", path
    assert read(made, ".env.sample").behavior == "allow"
    by_link = gate(deny=["Read(link_env)"])
    assert read(by_link, "link_env").behavior == "deny"
    assert read(by_link, "again").behavior == "deny"
    assert read(by_link, ".env").behavior == "allow"


def test_a_denied_file_is_denied_to_the_shell_too(gate: GateMaker) -> None:
    made = gate(mode="bypassPermissions", allow=["Bash", "Read"], deny=["Read(.env)", "Edit(src/**)"])
    for command in (
        "cat .env",
        "cat < .env",
        "head -n 1 ./.env",
        "cat src/../.env",
        "cd src && cat ../.env",
        "cat link_env",
        "cat .e*",
        "cat .en{v,w}",
        "grep x .env",
        "grep -f .env f",
        "sed -n p .env",
        "base64 .env",
        "cp .env x",
        "mv .env x",
        "rm .env",
        "tee .env",
        "echo x > .env",
        "git show HEAD:.env",
        "bash -c 'cat .env'",
        "ls | xargs cat .env",
        "touch src/a",
        "echo x > src/a",
        "cp f src/",
        "cp f src",
        "mv f src",
        "cp -t src f",
        "cp /tmp/.env .",
        "sed -i s/a/b/ src/x.py",
        "cd src && touch a",
        "dd if=.env of=x",
    ):
        assert shell(made, command).behavior in {"deny"}, command
    for command in ("python3 x.py .env", "cat $f", "tar cf x .env"):
        decision = shell(gate(allow=["Bash"], deny=["Read(.env)"]), command)
        assert decision.behavior == "ask", command
    for command in ("cat f", "cat src/x.py", "echo .env", "ls src"):
        assert shell(made, command).behavior == "allow", command


def test_anchors(site: Path, home: Path, gate: GateMaker) -> None:
    project = gate(settings=with_rules("project", site, deny=["Read(/src/**)"]))
    assert read(project, "src/x.py").behavior == "deny"
    assert read(project, "sub/src/x.py").behavior == "allow"
    user = gate(settings=with_rules("user", home / ".claude", deny=["Read(/notes)", "Read(~/notes)"]))
    assert read(user, str(home / ".claude" / "notes")).behavior == "deny"
    assert read(user, "~/notes").behavior == "deny"
    whole = gate(deny=["Read(//etc/**)"])
    assert read(whole, "/etc/hostname").behavior == "deny"
    assert read(whole, "link_out/hostname").behavior == "deny"
    relative = gate(deny=["Read(./f)"])
    assert read(relative, "f").behavior == "deny"
    assert read(relative, "src/f").behavior == "allow"


def test_a_single_directory_pattern_denies_at_any_depth_and_allows_only_here(gate: GateMaker) -> None:
    deny = gate(deny=["Edit(vendor/**)"], mode="acceptEdits")
    assert edit(deny, "vendor/a").behavior == "deny"
    assert edit(deny, "sub/vendor/a").behavior == "deny"
    allow = gate(allow=["Edit(vendor/**)"])
    assert edit(allow, "vendor/a").behavior == "allow"
    assert edit(allow, "sub/vendor/a").behavior == "ask"


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", ["a.py", "src/x.py"], ["a.pyc"]),
        ("src/*.py", ["src/x.py"], ["src/a/x.py", "x.py"]),
        ("src/**/*.py", ["src/x.py", "src/a/b/x.py"], ["x.py"]),
        ("docs/", ["docs/a", "sub/docs/a"], ["doc/a"]),
        ("a?c", ["abc"], ["a/c", "ac"]),
        ("[ab].txt", ["a.txt"], ["c.txt"]),
        ("[!ab].txt", ["c.txt"], ["a.txt"]),
        ("[z-a].txt", ["[z-a].txt"], ["z.txt"]),
        ("**", ["f", "src/x.py"], []),
        ("\\*.py", ["*.py"], ["a.py"]),
        ("a.b", ["a.b"], ["axb"]),
    ],
)
def test_gitignore_patterns(gate: GateMaker, pattern: str, yes: list[str], no: list[str]) -> None:
    made = gate(allow=[f"Edit({pattern})"])
    for path in yes + no:
        if pattern == "docs/" and path == "sub/docs/a":
            continue
        assert edit(made, path).behavior == ("allow" if path in yes else "ask"), path


def test_edits_by_mode(gate: GateMaker) -> None:
    for tool in ("Edit", "Write", "MultiEdit", "NotebookEdit"):
        assert edit(gate(), "f", tool).behavior == "ask"
        assert edit(gate(mode="acceptEdits"), "f", tool).behavior == "allow"
        assert edit(gate(mode="plan"), "f", tool).behavior == "deny"
        assert edit(gate(mode="dontAsk"), "f", tool).behavior == "deny"
        assert edit(gate(mode="bypassPermissions"), "/etc/zz", tool).behavior == "allow"
        assert edit(gate(mode="acceptEdits"), "../f", tool).behavior == "ask"
    assert edit(gate(), "f").suggestions == (PermissionUpdate("setMode", mode="acceptEdits"),)


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".claude/settings.json",
        "sub/.vscode/tasks.json",
        ".npmrc",
        ".mcp.json",
        ".envrc",
        ".husky/x",
        ".github/workflows/ci.yml",
        ".pre-commit-config.yaml",
        ".gitmodules",
        "gradle/wrapper/gradle-wrapper.properties",
        ".GIT/config",
        ".claude/worktrees/a/.git",
    ],
)
def test_protected_files_ask_even_where_edits_are_accepted(gate: GateMaker, path: str) -> None:
    decision = edit(gate(mode="acceptEdits", allow=["Edit", "Edit(**)"]), path)
    assert decision.behavior == "ask"
    assert "is protected" in decision.reason


def test_protection_by_link_and_its_exceptions(gate: GateMaker, site: Path) -> None:
    (site / "hooks").symlink_to(".git/hooks")
    assert edit(gate(mode="acceptEdits"), "hooks/pre-commit").behavior == "ask"
    assert edit(gate(mode="acceptEdits"), ".claude/worktrees/a/src/x.py").behavior == "allow"
    assert edit(gate(allow=["Edit(.claude/**)"]), ".claude/agents/x.md").behavior == "allow"


def test_only_the_plan_may_be_written_in_plan_mode(gate: GateMaker, site: Path) -> None:
    made = gate(mode="plan", allow=["Edit", "Bash"])
    made.plan_files = (site / "plan.md",)
    assert edit(made, "plan.md", "Write").behavior == "allow"
    assert edit(made, "f").behavior == "deny"
    assert shell(made, "ls").behavior == "allow"
    assert shell(made, "npm test").behavior == "ask"
    assert shell(made, "ls > f").behavior == "deny"


def test_a_read_deny_blocks_editing(gate: GateMaker) -> None:
    assert edit(gate(mode="acceptEdits", deny=["Read(f)"]), "f").behavior == "deny"


def test_may_read_is_for_files_met_on_the_way(gate: GateMaker, site: Path) -> None:
    made = gate(deny=["Read(.env)"])
    assert made.may_read(site / ".env").behavior == "deny"
    assert made.may_read(site / "f").behavior == "allow"


def test_a_search_through_a_directory_meets_the_denied_file(gate: GateMaker, site: Path) -> None:
    made = gate(deny=["Read(.env)"])
    through = ("grep -r KEY .", "grep -R KEY", "grep --recursive KEY .", "rg --hidden KEY", "rg -uu KEY .")
    for command in (*through, "cd src && grep -r K .."):
        decision = shell(made, command)
        assert decision.behavior == "ask", command
        assert ".env" in decision.reason
    for command in ("grep -r KEY src", "rg KEY", "grep KEY f", "rg --files"):
        assert shell(made, command).behavior == "allow", command
    assert shell(gate(deny=["Read(secret.txt)"]), "rg KEY").behavior == "allow"
    (site / "src" / "secret.txt").write_text("x")
    assert shell(gate(deny=["Read(secret.txt)"]), "rg KEY").behavior == "ask"


def test_a_link_to_nothing_asks_and_names_what_would_be_made(project: Path) -> None:
    (project / "dangling.txt").symlink_to("nowhere.txt")
    gate = Gate(Workspace(project, project), Settings(()), mode="acceptEdits")
    decision = gate.check(ToolCall("t", "Write", {"file_path": "dangling.txt", "content": "y"}))
    assert decision.behavior == "ask"
    assert str(project / "nowhere.txt") in decision.reason
