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
from agentcli.i18n import IN_ENGLISH, Texts
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


async def examine(directory: Path, t: Texts = IN_ENGLISH) -> list[Finding]:
    """Looks at everything that a session in this directory would use.  Sends nothing."""
    python = sys.version.split()[0]
    about = t("doctor.python", version=__version__, python=python, platform=sys.platform)
    findings = [Finding("ok", "agentcli", about), _home(t)]
    try:
        world = read_world(SessionOptions(cwd=directory))
    except UserError as error:
        return [*findings, Finding("missing", "settings", str(error), t("doctor.mend"))]
    findings += _settings(world, t)
    # A run that is trusted reads more: its warnings are told before anybody trusts it.
    trusted = read_world(SessionOptions(cwd=directory, trust=True))
    findings += [Finding("note", topic, text, t("doctor.mend")) for topic, text in problems(trusted)]
    findings.append(await _key(world, t))
    findings += [
        _program("git", t("doctor.git"), t("doctor.git.todo"), t),
        _program("bash", t("doctor.bash"), t("doctor.bash.todo"), t),
        *_sandbox(world, t),
        _ripgrep(t),
        _terminal(t),
    ]
    return findings


def _program(name: str, use: str, todo: str, t: Texts) -> Finding:
    path = shutil.which(name)
    return Finding("ok", name, path) if path else Finding("note", name, t("doctor.not_found", use=use), todo)


def _ripgrep(t: Texts) -> Finding:
    from agentcli.tools.search import ripgrep

    path = ripgrep()
    if path is None:
        return Finding("note", "ripgrep", t("doctor.ripgrep"), t("doctor.ripgrep.todo"))
    return Finding("ok", "ripgrep", str(path))


def _sandbox(world: World, t: Texts) -> list[Finding]:
    """Only where one is wanted."""
    from agentcli.runtime.confining import sandbox_settings
    from agentcli.sandbox.mechanism import Missing, find_mechanism

    settings = sandbox_settings(world)
    if settings is None:
        return []
    found = find_mechanism(world.env, wish=str(settings.get("bwrapPath") or ""))
    if isinstance(found, Missing):
        fatal = settings.get("failIfUnavailable") is True
        text = f"{found.reason}; " + t("doctor.sandbox.fatal" if fatal else "doctor.sandbox.without")
        return [Finding("missing" if fatal else "note", "sandbox", text, found.todo)]
    return [Finding("ok", "sandbox", t("doctor.sandbox.tried", program=found.program))]


def _home(t: Texts) -> Finding:
    home = agentcli_home()
    if home is None:
        return Finding("note", "AGENTCLI_HOME", t("doctor.home.none"), t("doctor.home.none.todo"))
    place = next((p for p in (home, *home.parents) if os.path.exists(p)), home)
    if not os.access(place, os.W_OK):
        locked, todo = t("doctor.home.locked", home=home), t("doctor.home.locked.todo", place=place)
        return Finding("note", "AGENTCLI_HOME", locked, todo)
    return Finding("ok", "AGENTCLI_HOME", str(home))


def _settings(world: World, t: Texts) -> list[Finding]:
    settings = world.settings
    read = [layer.source.label for layer in settings.layers if layer.exists and not layer.error]
    findings = [Finding("ok", "settings", ", ".join(read) or t("doctor.settings.none"))]
    findings += [Finding("missing", "settings", text, t("doctor.settings.mend")) for text in settings.errors]
    findings += [Finding("note", "settings", text) for text in settings.warnings]
    findings += [Finding("note", "settings", t("doctor.settings.unknown", name=text)) for text in settings.unknown]
    if not settings.trusted and any(layer.foreign and layer.exists for layer in settings.layers):
        findings.append(Finding("note", "trust", t("doctor.trust"), t("doctor.trust.todo")))
    return findings


async def _key(world: World, t: Texts) -> Finding:
    from agentcli.model.connection import connect
    from agentcli.runtime.client import key_helper

    settings = {key: world.settings.get(key) for key in ("apiKeyHelper", "anthropicVersion", "authHeader")}
    try:
        connection = await connect(settings, world.env, run_helper=key_helper(world))
    except SetupError as error:
        first, _, rest = str(error).partition("\n")
        return Finding("missing", "server", first, " ".join(rest.split()))
    where = connection.base_url or connection.provider
    told = t("doctor.server", where=where, provider=connection.provider, source=connection.key_source)
    return Finding("ok", "server", told)


def _terminal(t: Texts) -> Finding:
    checks: tuple[tuple[str, Callable[[], bool]], ...] = (
        (t("doctor.terminal.input"), sys.stdin.isatty),
        (t("doctor.terminal.output"), sys.stdout.isatty),
    )
    problems = [text for text, check in checks if not check()]
    term = os.environ.get("TERM", "")
    if problems:
        return Finding("note", "terminal", t("doctor.terminal.headless", problems="; ".join(problems)))
    if term in ("", "dumb"):
        return Finding("note", "terminal", t("doctor.terminal.dumb", term=term or t("doctor.terminal.unset")))
    columns = shutil.get_terminal_size().columns
    return Finding("ok", "terminal", t("doctor.terminal", term=term, columns=columns))
