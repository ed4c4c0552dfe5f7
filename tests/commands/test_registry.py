"""Slash commands are found by being there, described in every language, and cost nothing before they are used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import agentcli.commands
from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.commands.registry import Registry, built_in, parse
from agentcli.i18n.english import TEXTS


async def _nothing(context: CommandContext, arguments: str) -> CommandResult:
    return CommandResult()


EXTRA = Command("deploy", "Ship it", _nothing, aliases=("ship",))


def test_every_module_is_a_command_and_its_name_is_the_modules() -> None:
    folder = Path(agentcli.commands.__path__[0])
    modules = {p.stem for p in folder.glob("[!_]*.py")} - {"base", "registry"}
    assert {c.name.replace("-", "_") for c in built_in()} == modules


def test_names_and_aliases_are_unique_and_described() -> None:
    names = [name for c in built_in() for name in (c.name, *c.aliases)]
    assert len(names) == len(set(names))
    for command in built_in():
        assert TEXTS[f"command.{command.name}"] == command.description


def test_a_command_is_found_by_name_alias_and_what_was_meant() -> None:
    registry = Registry(lambda: (EXTRA,))
    assert registry.find("quit") is registry.find("exit")
    assert registry.find("ship") is EXTRA
    assert registry.find("nothing") is None
    assert registry.nearest("hlep") == "help"
    assert registry.nearest("deplyo") == "deploy"
    assert registry.nearest("perm") == "permissions"
    assert registry.nearest("xyzzy") is None


def test_an_extra_command_does_not_hide_one_of_ours() -> None:
    extra = (Command("clear", "something else", _nothing), Command("new", "an alias of ours", _nothing), EXTRA)
    registry = Registry(lambda: extra)
    assert registry.find("clear") is not extra[0]
    assert [c.name for c in registry.all() if c in extra] == ["deploy"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/help", ("help", "")),
        ("  /compact  keep the\nplan ", ("compact", "keep the\nplan")),
        ("/team:review 12", ("team:review", "12")),
        ("/usr/bin/env is a path", None),
        ("/", None),
        ("// comment", None),
        ("/ help", None),
        ("say /help", None),
        ("/1", None),
    ],
)
def test_lines_that_are_commands(text: str, expected: tuple[str, str] | None) -> None:
    assert parse(text) == expected


def test_loading_all_commands_loads_no_front_end_and_no_client() -> None:
    code = (
        "import sys; from agentcli.commands.registry import built_in; built_in();"
        "print([m for m in ('anthropic', 'mcp', 'rich', 'prompt_toolkit', 'typer', 'PIL') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
