"""What a session here would find, what is missing, and what to do about it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentcli import __version__
from agentcli.errors import SetupError, UserError
from agentcli.paths import agentcli_home
from agentcli.runtime.health import problems
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.world import World, read_world

State = Literal["ok", "note", "missing"]


@dataclass(frozen=True, slots=True)
class Finding:
    """``todo`` says what to do; empty where nothing is to be done."""

    state: State
    topic: str
    text: str
    todo: str = ""


async def examine(directory: Path) -> list[Finding]:
    """Looks at everything that a session in this directory would use.  Sends nothing."""
    findings = [
        Finding("ok", "agentcli", f"{__version__} on Python {sys.version.split()[0]} ({sys.platform})"),
        _home(),
    ]
    try:
        world = read_world(SessionOptions(cwd=directory))
    except UserError as error:
        return [*findings, Finding("missing", "settings", str(error), "mend the file that is named")]
    findings += _settings(world)
    # A run that is trusted reads more: its warnings are told before anybody trusts it.
    trusted = read_world(SessionOptions(cwd=directory, trust=True))
    findings += [Finding("note", topic, text, "mend the file that is named") for topic, text in problems(trusted)]
    findings.append(await _key(world))
    findings += [_program(name, use, todo) for name, use, todo in _PROGRAMS]
    findings += [*_sandbox(world), _ripgrep(), _terminal()]
    return findings


_PROGRAMS: tuple[tuple[str, str, str], ...] = (
    ("git", "diffs, branches and the trust of a repository", "install git"),
    ("bash", "the shell tool", "install bash, or set CLAUDE_CODE_SHELL to another shell"),
)


def _program(name: str, use: str, todo: str) -> Finding:
    path = shutil.which(name)
    return Finding("ok", name, path) if path else Finding("note", name, f"not found; needed for {use}", todo)


def _ripgrep() -> Finding:
    from agentcli.tools.search import ripgrep

    path = ripgrep()
    if path is None:
        return Finding("note", "ripgrep", "not found; Grep and Glob use the slower built-in search", "install ripgrep")
    return Finding("ok", "ripgrep", str(path))


def _sandbox(world: World) -> list[Finding]:
    """Only where one is wanted."""
    from agentcli.runtime.confining import sandbox_settings
    from agentcli.sandbox.mechanism import Missing, find_mechanism

    settings = sandbox_settings(world)
    if settings is None:
        return []
    found = find_mechanism(world.env, wish=str(settings.get("bwrapPath") or ""))
    if isinstance(found, Missing):
        fatal = settings.get("failIfUnavailable") is True
        text = f"{found.reason}; " + ("no session starts without it" if fatal else "commands run without one")
        return [Finding("missing" if fatal else "note", "sandbox", text, found.todo)]
    return [Finding("ok", "sandbox", f"{found.program}, tried")]


def _home() -> Finding:
    home = agentcli_home()
    if home is None:
        return Finding(
            "note", "AGENTCLI_HOME", "no home directory: sessions are not stored", "set HOME or AGENTCLI_HOME"
        )
    place = next((p for p in (home, *home.parents) if os.path.exists(p)), home)
    if not os.access(place, os.W_OK):
        return Finding(
            "note", "AGENTCLI_HOME", f"{home} can't be written: sessions are not stored", f"make {place} writable"
        )
    return Finding("ok", "AGENTCLI_HOME", str(home))


def _settings(world: World) -> list[Finding]:
    settings = world.settings
    read = [layer.source.label for layer in settings.layers if layer.exists and not layer.error]
    findings = [Finding("ok", "settings", ", ".join(read) or "none; defaults are used")]
    findings += [Finding("missing", "settings", text, "mend the file") for text in settings.errors]
    findings += [Finding("note", "settings", text) for text in settings.warnings]
    findings += [Finding("note", "settings", f"unknown key: {text}; kept, without effect") for text in settings.unknown]
    if not settings.trusted and any(layer.foreign and layer.exists for layer in settings.layers):
        text = "this project is not trusted: of its settings only what restricts counts"
        findings.append(Finding("note", "trust", text, "start agentcli here and answer the question, or use --trust"))
    return findings


async def _key(world: World) -> Finding:
    from agentcli.model.connection import connect
    from agentcli.runtime.client import key_helper

    settings = {key: world.settings.get(key) for key in ("apiKeyHelper", "anthropicVersion", "authHeader")}
    try:
        connection = await connect(settings, world.env, run_helper=key_helper(world))
    except SetupError as error:
        first, _, rest = str(error).partition("\n")
        return Finding("missing", "server", first, " ".join(rest.split()))
    where = connection.base_url or connection.provider
    return Finding("ok", "server", f"{where} ({connection.provider}), key from {connection.key_source}")


def _terminal() -> Finding:
    checks: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("input is not a terminal", sys.stdin.isatty),
        ("output is not a terminal", sys.stdout.isatty),
    )
    problems = [text for text, check in checks if not check()]
    term = os.environ.get("TERM", "")
    if problems:
        return Finding("note", "terminal", "; ".join(problems) + ": only headless runs (-p) work here")
    if term in ("", "dumb"):
        return Finding("note", "terminal", f"TERM={term or 'unset'}: plain lines without colour or keys")
    return Finding("ok", "terminal", f"TERM={term}, {shutil.get_terminal_size().columns} columns")
