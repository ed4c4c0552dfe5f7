"""What "don't ask again" offers, and what happens to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentcli.errors import SettingsError, SetupError, UsageError
from agentcli.permissions.gate import Gate, GivenRules
from agentcli.permissions.store import RuleStore
from agentcli.ports.permissions import PermissionUpdate
from agentcli.ports.tools import Workspace
from agentcli.settings.live import SettingsFiles
from agentcli.settings.merged import Settings
from tests.permissions.conftest import SYSTEM_PATH, GateMaker, shell

MESSAGE = 'git commit -m "$(cat <<\'EOF\'\nTitle "quoted" and (parens)\n2031-01-02\ndone\nEOF\n)"'
BIG = "cat > big.md <<'EOF'\n" + "word " * 1600 + "\nEOF"


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("touch z", ["Bash(touch:*)"]),
        ("git commit -m x", ["Bash(git commit:*)"]),
        (MESSAGE, ["Bash(git commit:*)"]),
        ('for i in a b; do\ntouch "$i"\ndone', ["Bash(touch:*)"]),
        (BIG, []),
        ('bash -c "touch q; done"', ["Bash(touch:*)"]),
        ("cargo build && npm run lint", ["Bash(cargo build:*)", "Bash(npm run lint:*)"]),
        ("npm test", ["Bash(npm test:*)"]),
        ("./gradlew test", ["Bash(./gradlew:*)"]),
        ("timeout 60 npm test", ["Bash(npm test:*)"]),
        ("python3 x.py --a", ["Bash(python3 x.py --a)"]),
        ("python3 -c 'print(1)'", ["Bash(python3 -c 'print(1)')"]),
        ("npx prettier .", ["Bash(npx prettier .)"]),
        ("git -c a.b=c commit", ["Bash(git -c a.b=c commit)"]),
        ("node x.js " + "y" * 300, []),
        ("node -e 'a\nb'", []),
        ("node $x", []),
        ("make", ["Bash(make)"]),
        ("make all", ["Bash(make all:*)"]),
        ("rm f", []),
        ("rm -rf src", []),
        ("npm test && rm -rf src", ["Bash(npm test:*)"]),
        ("sudo apt update", []),
        ("curl http://x", []),
        ("bash x.sh", []),
        ("FOO=1 npm test", []),
        ("$x", []),
        ("git reset --hard", []),
        ("find . -exec touch {} +", []),
        ("ssh host ls", []),
        ("a1;b1;c1;d1;e1;f1", []),
        ("a1;b1;c1;d1;e1", [f"Bash({n}1:*)" for n in "abcde"]),
        ("PATH=x; npm test", []),
        ("echo 'unclosed", []),
        ("sed -i s/a*/b/ f", []),
        ("sed -i 's/a*/b/' f", ["Bash(sed -i s/a\\*/b/ f)"]),
    ],
)
def test_the_smallest_general_rule(gate: GateMaker, command: str, rules: list[str]) -> None:
    decision = shell(gate(), command)
    assert decision.behavior == "ask"
    assert [r for u in decision.suggestions if u.destination == "localSettings" for r in u.rules] == rules


def test_reading_elsewhere_offers_the_directory_and_not_the_program(gate: GateMaker, world: Path) -> None:
    (world / "lib" / "deep").mkdir(parents=True)
    made = gate()
    decision = shell(made, f"cat {world}/lib/deep/x")
    assert decision.suggestions == (PermissionUpdate("addRules", (f"Read(/{world}/lib/deep/**)",)),)
    assert shell(made, "cd ..").suggestions == ()


@pytest.mark.parametrize("command", ["sed -i 's/a*/b/' f", "python3 x.py '*'", "make", "touch z", "cargo build --x"])
def test_what_is_offered_allows_the_command(gate: GateMaker, command: str) -> None:
    made = gate()
    made.apply(shell(made, command).suggestions)
    assert shell(made, command).behavior == "allow"


def test_a_redirection_offers_the_mode_for_this_session(gate: GateMaker) -> None:
    decision = shell(gate(), "date > out")
    assert decision.suggestions == (PermissionUpdate("setMode", mode="acceptEdits"),)


@pytest.fixture
def store(site: Path, home: Path) -> RuleStore:
    claude = site / ".claude"
    return RuleStore(claude / "settings.local.json", claude / "settings.json", home / ".claude" / "settings.json")


def gate_of(site: Path, home: Path, store: RuleStore) -> Gate:
    files = SettingsFiles.load(site, {"HOME": str(home)}, managed=site / "none.json")
    return Gate(
        Workspace(site, site),
        files.current,
        home=home,
        environment={"PATH": SYSTEM_PATH},
        given=GivenRules(),
        store=store,
    )


def test_remembered_rules_survive_a_restart_and_nothing_else_passes(site: Path, home: Path, store: RuleStore) -> None:
    first = gate_of(site, home, store)
    path = site / ".claude" / "settings.local.json"
    for command in (MESSAGE, 'for i in a b; do\ntouch "$i"\ndone', BIG, 'grep -E "a\\"|\\"b" f'):
        first.apply(tuple(u for u in shell(first, command).suggestions if u.type == "addRules"))
        if path.exists():
            json.loads(path.read_text())
    assert json.loads(path.read_text()) == {"permissions": {"allow": ["Bash(git commit:*)", "Bash(touch:*)"]}}
    assert path.stat().st_mode & 0o777 == 0o600
    again = gate_of(site, home, store)
    assert shell(again, "git commit --allow-empty -m x").behavior == "allow"
    assert shell(again, "touch z").behavior == "allow"
    assert shell(again, "done").behavior == "ask"
    assert shell(again, "2031-01-02").behavior == "ask"


def test_other_keys_and_their_order_are_kept(site: Path, home: Path, store: RuleStore) -> None:
    path = site / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{\n\t"zebra": 1,\n\t"permissions": {"deny": ["Bash(rm:*)"], "x": 2},\n\t"alpha": "ü"\n}\n')
    path.chmod(0o640)
    gate_of(site, home, store).apply((PermissionUpdate("addRules", ("Bash(ls:*)",), destination="localSettings"),))
    text = path.read_text()
    assert list(json.loads(text)) == ["zebra", "permissions", "alpha"]
    assert json.loads(text)["permissions"] == {"deny": ["Bash(rm:*)"], "x": 2, "allow": ["Bash(ls:*)"]}
    assert '\n\t"alpha": "ü"' in text
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in path.parent.iterdir()] == ["settings.local.json"]


def test_a_broken_file_is_never_overwritten(site: Path, home: Path, store: RuleStore) -> None:
    made = gate_of(site, home, store)
    path = site / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{"permissions":{"deny":["Bash(curl:*)"')
    with pytest.raises(SettingsError, match=r"settings.local.json:1:\d+: .*nothing overwritten"):
        made.apply((PermissionUpdate("addRules", ("Bash(touch:*)",), destination="localSettings"),))
    assert path.read_text() == '{"permissions":{"deny":["Bash(curl:*)"'
    assert shell(made, "touch z").behavior == "allow"


def test_rules_go_where_the_answer_says(site: Path, home: Path, store: RuleStore) -> None:
    made = gate_of(site, home, store)
    made.apply(
        (
            PermissionUpdate("addRules", ("Bash(a)",), destination="projectSettings"),
            PermissionUpdate("addRules", ("Bash(b)",), "deny", destination="userSettings"),
            PermissionUpdate("setMode", mode="acceptEdits", destination="userSettings"),
            PermissionUpdate("addDirectories", directories=("/tmp",), destination="localSettings"),
        )
    )
    assert json.loads((site / ".claude" / "settings.json").read_text()) == {"permissions": {"allow": ["Bash(a)"]}}
    assert json.loads((home / ".claude" / "settings.json").read_text()) == {
        "permissions": {"deny": ["Bash(b)"], "defaultMode": "acceptEdits"}
    }
    assert json.loads((site / ".claude" / "settings.local.json").read_text()) == {
        "permissions": {"additionalDirectories": ["/tmp"]}
    }
    assert made.mode == "acceptEdits"
    made.apply((PermissionUpdate("removeRules", ("Bash(b)",), "deny", destination="userSettings"),))
    assert json.loads((home / ".claude" / "settings.json").read_text())["permissions"]["deny"] == []
    assert shell(made, "b").behavior == "ask"


def test_rules_that_are_none_are_refused_whole(gate: GateMaker) -> None:
    made = gate()
    with pytest.raises(UsageError, match="no tool Nope"):
        made.apply((PermissionUpdate("addRules", ("Bash(touch:*)", "Nope(x)")),))
    assert shell(made, "touch z").behavior == "ask"


def test_long_and_many_lined_rules_are_not_stored(site: Path, store: RuleStore) -> None:
    for text in ("Bash(" + "x" * 600 + ")", "Bash(a\nb)"):
        with pytest.raises(SetupError, match="not stored"):
            store.save(PermissionUpdate("addRules", (text,), destination="localSettings"))
    assert not (site / ".claude").exists()


def test_a_destination_without_a_file_is_said(gate: GateMaker) -> None:
    with pytest.raises(SetupError, match="no file to keep userSettings"):
        RuleStore().save(PermissionUpdate("addRules", ("Bash(a)",), destination="userSettings"))


def test_session_rules_can_be_replaced(gate: GateMaker) -> None:
    made = gate()
    made.apply((PermissionUpdate("addRules", ("Bash(a)", "Bash(b)")),))
    made.apply((PermissionUpdate("replaceRules", ("Bash(c)",)),))
    assert [shell(made, c).behavior for c in ("a", "b", "c")] == ["ask", "ask", "allow"]
    assert [r.text for r in made.rules] == ["Bash(c)"]


def test_settings_are_taken_over_while_session_rules_stay(gate: GateMaker) -> None:
    made = gate(allow=["Bash(x1)"])
    made.apply((PermissionUpdate("addRules", ("Bash(y1)",)),))
    made.use(Settings(()))
    assert [shell(made, c).behavior for c in ("x1", "y1")] == ["allow", "allow"]
