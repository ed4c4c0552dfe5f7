from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentcli.errors import SettingsError
from agentcli.settings.edit import set_value, unset_value
from tests.settings.conftest import put


def test_one_value_changes_and_the_rest_stays(world: Path) -> None:
    path = put(world / "s.json", '\ufeff{\n    "z": [1, {"é": null}],\n    "a": {"b": 1}\n}\n')
    path.chmod(0o604)
    set_value(path, "a.c.d", True)
    assert path.read_text(encoding="utf-8") == (
        '\ufeff{\n    "z": [\n        1,\n        {\n            "é": null\n        }\n    ],\n'
        '    "a": {\n        "b": 1,\n        "c": {\n            "d": true\n        }\n    }\n}\n'
    )
    assert path.stat().st_mode & 0o777 == 0o604


def test_nothing_is_written_when_nothing_changes(world: Path) -> None:
    path = put(world / "s.json", '{"a":1}')
    set_value(path, "a", 1)
    assert path.read_text() == '{"a":1}'
    assert unset_value(path, "b") is False
    assert unset_value(path, "b.c") is False
    assert unset_value(path, "a") is True
    assert json.loads(path.read_text()) == {}


def test_new_files_are_private_whatever_the_umask(world: Path) -> None:
    old = os.umask(0)
    try:
        set_value(world / "new" / "s.json", "a", 1)
    finally:
        os.umask(old)
    assert (world / "new" / "s.json").stat().st_mode & 0o777 == 0o600
    assert os.listdir(world / "new") == ["s.json"]


def test_a_link_stays_a_link(world: Path) -> None:
    put(world / "dotfiles" / "s.json", {"a": 1})
    (world / "s.json").symlink_to("dotfiles/s.json")
    set_value(world / "s.json", "b", 2)
    assert (world / "s.json").is_symlink()
    assert json.loads((world / "dotfiles" / "s.json").read_text()) == {"a": 1, "b": 2}


@pytest.mark.parametrize("text", ['{"a": 1,}', "[1]", '{"a": 1'])
def test_a_broken_file_is_left_alone(world: Path, text: str) -> None:
    path = put(world / "s.json", text)
    with pytest.raises(SettingsError, match="nothing overwritten"):
        set_value(path, "a", 1)
    assert path.read_text() == text
    assert [p.name for p in world.glob("*.json*")] == ["s.json"]


def test_a_value_that_is_no_object_is_not_replaced(world: Path) -> None:
    path = put(world / "s.json", {"a": 1})
    with pytest.raises(SettingsError, match=r"a is not an object, so a\.b can't be set"):
        set_value(path, "a.b", 1)
    assert json.loads(path.read_text()) == {"a": 1}


def test_a_place_that_can_not_be_written_is_named(world: Path) -> None:
    put(world / "file", "x")
    with pytest.raises(SettingsError, match="can't be written"):
        set_value(world / "file" / "s.json", "a", 1)


def test_writers_do_not_lose_each_others_values(world: Path) -> None:
    path = put(world / "s.json", {})
    script = (
        "import sys; from pathlib import Path; from agentcli.settings.edit import set_value\n"
        "for i in range(15): set_value(Path(sys.argv[1]), f'{sys.argv[2]}{i}', i)"
    )
    children = [subprocess.Popen([sys.executable, "-c", script, str(path), name]) for name in "abc"]
    assert [c.wait(60) for c in children] == [0, 0, 0]
    assert json.loads(path.read_text()) == {f"{name}{i}": i for name in "abc" for i in range(15)} | {}


def test_a_value_of_the_wrong_type_is_refused(world: Path) -> None:
    for key, value, told in (
        ("verbose", "yes", "verbose must be true or false"),
        ("permissions.defaultMode", "wild", "permissions.defaultMode must be one of default, manual"),
        ("permissions.allow", "Bash(ls)", r"permissions.allow must be a list \(\[...\]\)"),
    ):
        with pytest.raises(SettingsError, match=told):
            set_value(world / "s.json", key, value)
    set_value(world / "s.json", "unknown.key", 1)
    assert json.loads((world / "s.json").read_text()) == {"unknown": {"key": 1}}
