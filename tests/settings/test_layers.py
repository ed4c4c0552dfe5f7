from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agentcli.errors import SettingsError, UsageError
from agentcli.settings.layers import broken
from agentcli.settings.merged import Value
from agentcli.settings.schema import MODES
from tests.settings.conftest import Loader, put


def test_the_highest_file_wins(load: Loader, user: Path, local: Path, shared: Path, managed: Path) -> None:
    for rank, path in enumerate((user, shared, local, managed)):
        put(path, {"model": f"m{rank}"})
    assert load(flag='{"model": "flag"}').current.get("model") == "m3"
    managed.unlink()
    assert load(flag='{"model": "flag"}').current.get("model") == "flag"
    assert load().current.get("model") == "m2"
    local.unlink()
    assert load().current.get("model") == "m1"
    shared.unlink()
    assert load().current.get("model") == "m0"
    user.unlink()
    assert load().current.get("model") is None
    assert load().current.get("model", "none") == "none"


def test_objects_merge_lists_join_scalars_replace(load: Loader, user: Path, shared: Path, local: Path) -> None:
    put(user, {"env": {"A": "1", "B": "1"}, "permissions": {"allow": ["Bash(a)", "Bash(b)"]}, "fallbackModel": ["x"]})
    put(shared, {"env": {"B": "2"}, "permissions": {"allow": ["Bash(b)", "Bash(c)"], "deny": ["Bash(d)"]}})
    put(local, {"env": {"C": 3}, "fallbackModel": ["y"]})
    current = load().current
    assert current.environment == {"A": "1", "B": "2", "C": "3"}
    assert current.get("permissions.allow") == ["Bash(b)", "Bash(c)", "Bash(a)"]
    assert current.get("fallbackModel") == ["y"]
    assert [(r.kind, r.text, r.source.scope) for r in current.rules()] == [
        ("deny", "Bash(d)", "project"),
        ("allow", "Bash(b)", "project"),
        ("allow", "Bash(c)", "project"),
        ("allow", "Bash(a)", "user"),
        ("allow", "Bash(b)", "user"),
    ]


def test_every_value_knows_where_it_comes_from(load: Loader, user: Path, shared: Path) -> None:
    put(user, {"model": "a", "permissions": {"deny": ["Bash(x)"]}, "my.key": 1})
    put(shared, {"model": "b", "permissions": {"deny": ["Bash(y)"], "defaultMode": "plan"}})
    labels = f"project settings ({shared})", f"user settings ({user})"
    assert load().current.values() == (
        Value("model", "b", (labels[0],)),
        Value("my.key", 1, (labels[1],)),
        Value("permissions.defaultMode", "plan", (labels[0],)),
        Value("permissions.deny", ["Bash(y)", "Bash(x)"], labels),
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": 1,}', ":1:8: a comma before the closing }"),
        ('{\n  "a": 1 // x\n}', ":2:10: comments are not allowed in JSON"),
        ('{"a": 1', ":1:8: the file ends before the object does"),
        ('{"a": [1, 2}', ":1:12: not valid JSON"),
        ('{"a": NaN}', ": NaN is not JSON"),
        ("[1]", ":1:1: must hold a JSON object"),
        ('{\n"a": 1,\n"a": 2}', ":3:1: the key 'a' stands twice"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_syntax_error_names_file_line_and_column(load: Loader, user: Path, text: str, told: str) -> None:
    put(user, text)
    current = load().current
    assert len(current.errors) == 1
    assert current.errors[0].startswith(str(user))
    assert told in current.errors[0]
    assert current.unsafe == current.errors
    error = broken(current.layers)
    assert isinstance(error, SettingsError)
    assert str(error) == current.errors[0]


def test_what_can_be_read_is_no_error(load: Loader, user: Path, shared: Path, local: Path) -> None:
    put(user, "")
    put(shared, " \n\t")
    put(local, '\ufeff{"model": "ü"}')
    current = load().current
    assert (current.errors, current.get("model")) == ((), "ü")
    assert broken(current.layers) is None


def test_what_is_no_file_can_not_be_read(load: Loader, user: Path, shared: Path, local: Path) -> None:
    user.parent.mkdir()
    os.mkfifo(user)
    shared.mkdir(parents=True)
    local.write_bytes(b'{"a": "\xff"}')
    errors = load().current.errors
    assert [e.rpartition(": ")[2] for e in errors] == ["is not UTF-8", "is not a regular file", "is not a regular file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_named(load: Loader, user: Path) -> None:
    put(user, {}).chmod(0)
    assert "Permission denied" in load().current.errors[0]


def test_wrong_types_are_named_and_left_out(load: Loader, user: Path) -> None:
    put(user, {"model": 7, "verbose": "yes", "permissions": {"defaultMode": "wild", "allow": ["Bash(a)", 3], "odd": 1}})
    current = load().current
    assert current.warnings == (
        f"{user}: model must be a text; ignored",
        f"{user}: verbose must be true or false; ignored",
        f"{user}: permissions.defaultMode must be one of {', '.join(MODES)}, auto; ignored",
        f"{user}: permissions.allow[1]: 3 is not a text; ignored",
        f"{user}: permissions.odd is not known",
    )
    assert current.unsafe == ()
    assert current.get("permissions.allow") == ["Bash(a)"]


@pytest.mark.parametrize(
    "data", [{"permissions": []}, {"permissions": {"deny": "Bash(x)"}}, {"permissions": {"ask": {}}}]
)
def test_a_guarding_list_of_the_wrong_type_is_not_taken_for_empty(load: Loader, user: Path, data: object) -> None:
    put(user, data)
    assert load().current.unsafe == (f"{user}: permissions could not be read",)


def test_unknown_keys_are_kept_and_listed(load: Loader, user: Path) -> None:
    put(user, {"somebodyElses": {"x": 1}, "model": "m"})
    current = load().current
    assert current.unknown == (f"somebodyElses in user settings ({user})",)
    assert current.get("somebodyElses.x") == 1


def test_some_keys_count_only_in_some_files(load: Loader, shared: Path, user: Path, managed: Path) -> None:
    put(shared, {"skipAutoPermissionPrompt": True, "allowManagedHooksOnly": True})
    put(user, {"skipAutoPermissionPrompt": True, "allowManagedHooksOnly": True})
    current = load().current
    assert current.flag("skipAutoPermissionPrompt")
    assert not current.flag("allowManagedHooksOnly")
    assert len(current.warnings) == 3
    put(managed, {"allowManagedHooksOnly": True})
    assert load().current.flag("allowManagedHooksOnly")


def test_settings_from_the_command_line(load: Loader, project: Path) -> None:
    put(project / "more" / "s.json", {"permissions": {"deny": ["Read(/x)"]}})
    layer = load(flag="more/s.json").current.rules()[0]
    assert (layer.source.scope, layer.source.base) == ("flag", project / "more")
    assert load(flag=str(project / "more" / "s.json")).current.get("permissions.deny") == ["Read(/x)"]
    assert load(flag=' {"model": "x"}').current.get("model") == "x"
    assert load(flag='{"model": }').current.errors[0].startswith("--settings:1:11: not valid JSON")
    with pytest.raises(UsageError, match=r"no file .*/missing\.json"):
        load(flag="missing.json")


def test_sources_can_be_chosen(load: Loader, user: Path, shared: Path, local: Path, managed: Path) -> None:
    for path in (user, shared, local, managed):
        put(path, {"permissions": {"allow": [f"Bash({path.parent.parent.name}-{path.name})"]}})

    def scopes(**options: object) -> list[str]:
        return [r.source.scope for r in load(**options).current.rules()]

    assert scopes() == ["managed", "local", "project", "user"]
    assert scopes(only=("user",)) == ["managed", "user"]
    assert scopes(only=()) == ["managed"]
    with pytest.raises(UsageError, match="--setting-sources: wild"):
        load(only=("user", "wild"))


def test_managed_drop_ins_win_over_the_main_file(load: Loader, managed: Path) -> None:
    put(managed, {"model": "main", "language": "de"})
    put(managed.with_suffix(".d") / "10-a.json", {"model": "ten"})
    put(managed.with_suffix(".d") / "20-b.json", {"model": "twenty"})
    put(managed.with_suffix(".d") / ".hidden.json", {"model": "hidden"})
    current = load().current
    assert (current.get("model"), current.get("language")) == ("twenty", "de")


def test_managed_settings_can_forbid_others_rules(load: Loader, managed: Path, user: Path) -> None:
    put(managed, {"allowManagedPermissionRulesOnly": True, "permissions": {"allow": ["Bash(a)"]}})
    put(user, {"permissions": {"allow": ["Bash(b)"], "deny": ["Bash(c)"]}})
    assert [(r.kind, r.text) for r in load().current.rules()] == [("allow", "Bash(a)"), ("deny", "Bash(c)")]


def test_the_users_directory_can_be_moved(load: Loader, world: Path, home: Path) -> None:
    put(world / "config" / "settings.json", {"model": "moved"})
    env = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(world / "config")}
    assert load(env=env).current.get("model") == "moved"


def test_files_stand_at_the_root_of_the_repository(load: Loader, repo: Path, shared: Path) -> None:
    put(shared, {"model": "root"})
    (repo / "a" / "b").mkdir(parents=True)
    assert load(cwd=repo / "a" / "b").current.get("model") == "root"


def test_in_the_home_directory_the_users_file_counts_once(load: Loader, home: Path, user: Path) -> None:
    put(user, {"permissions": {"allow": ["Bash(a)"]}})
    assert [r.source.scope for r in load(cwd=home, trusted=False).current.rules()] == ["user"]


def test_reloading_tells_what_changed(load: Loader, user: Path, shared: Path) -> None:
    put(user, {"model": "a", "verbose": True})
    files = load()
    assert not files.stale()
    put(user, {"model": "bb", "verbose": True})
    put(shared, {"language": "fr"})
    assert files.stale()
    again = files.reload()
    assert (again.changed, again.problems) == (("language", "model"), ())
    assert files.current.get("model") == "bb"
    assert not files.stale()


def test_a_file_that_is_emptied_keeps_its_last_good_state(load: Loader, user: Path) -> None:
    """As by a full disk; whoever means it writes ``{}``."""
    put(user, {"permissions": {"deny": ["Bash(curl:*)"]}})
    files = load()
    rules = files.current.rules()
    for _ in range(2):
        put(user, " \n")
        again = files.reload()
        assert again.problems == (f"{user}: is empty; its former settings stay in force ({{}} would end them)",)
        assert (again.changed, files.current.rules()) == ((), rules)
    put(user, {})
    assert (files.reload().problems, files.current.rules()) == ((), ())


def test_a_file_that_breaks_keeps_its_last_good_state(load: Loader, user: Path, shared: Path) -> None:
    put(user, {"model": "a"})
    files = load()
    put(user, '{"model": "b"')
    again = files.reload()
    assert again.problems == (f"{user}:1:14: the file ends before the object does; its former settings stay in force",)
    assert (again.changed, files.current.get("model"), files.current.unsafe) == ((), "a", ())
    put(shared, "{")
    again = files.reload()
    assert len(again.problems) == 2
    assert files.current.unsafe == (f"{shared}:1:2: the file ends before the object does",)
    put(user, {"model": "c"})
    shared.unlink()
    assert files.reload().problems == ()
    assert (files.current.get("model"), files.current.unsafe) == ("c", ())


def test_a_linked_work_tree_shares_the_local_settings_of_its_main_checkout(
    load: Loader, repo: Path, world: Path, local: Path
) -> None:
    put(local, {"model": "main's"})
    subprocess.run(["git", "worktree", "add", "-q", str(world / "tree")], cwd=repo, check=True)
    current = load(cwd=world / "tree", trusted=False).current
    assert current.get("model") == "main's"
    assert [s.source.path for s in current.layers if s.source.scope == "local"] == [local.resolve()]
