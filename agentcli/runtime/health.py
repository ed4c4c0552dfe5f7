"""What is wrong with the files that a session here would read: its warnings, without starting it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from agentcli.env import truthy
from agentcli.errors import UserError
from agentcli.extend.hooks import read_hooks
from agentcli.mcp.config import read_configuration
from agentcli.memory import read_places
from agentcli.memory.approvals import Approvals
from agentcli.memory.conversation import load_start
from agentcli.runtime.extending import make_extensions
from agentcli.runtime.guard import make_gate
from agentcli.runtime.prompting import output_style
from agentcli.runtime.world import World

_NAMED = re.compile(r"(.*\((?P<file>/[^()]+)\)|(?P<bare>/[^:]+)): hooks(?:\.(?P<event>\w+))?")


def problems(world: World) -> Iterator[tuple[str, str]]:
    """(topic, warning), file and line first where there are some.  Reads only; starts and asks nothing."""
    configured = read_configuration(world.workspace.start, world.settings, world.env, bare=world.bare)
    yield from (("mcp", text) for text in configured.warnings)
    for broken in configured.broken:
        where = _with_line(broken.origin, "mcpServers", broken.name)
        yield "mcp", f"{where}: server {broken.name}: {broken.error}"
    extensions = make_extensions(world, agents=world.options.agents)
    yield from ((_topic(text), text) for text in extensions.warnings)
    styles: list[str] = []
    output_style(extensions, styles.append)
    yield from (("output style", text) for text in styles)
    yield from (("hooks", _hook(text)) for text in read_hooks(world.settings).warnings)
    if not world.bare and not truthy("CLAUDE_CODE_SIMPLE", world.env):
        yield from (("memory", text) for text in _memory(world))
    try:
        yield from (("permissions", text) for text in make_gate(world).warnings)
    except UserError as error:
        yield "permissions", str(error)


def _memory(world: World) -> Iterator[str]:
    places = read_places(world.workspace.start, world.settings, world.env, sources=world.options.setting_sources)
    loader, _ = load_start(places, Approvals.load(world.home, places.main))
    yield from loader.findings.warnings


def _topic(text: str) -> str:
    for folder, topic in (("agents", "agents"), ("skills", "skills"), ("output-styles", "output style")):
        if f"/{folder}/" in text.partition(": ")[0]:
            return topic
    return "commands"


def _hook(text: str) -> str:
    """With the line of the event, where the settings file can be read."""
    found = _NAMED.match(text)
    if found is None:
        return text
    file = found["file"] or found["bare"]
    keys = ("hooks", found["event"]) if found["event"] else ("hooks",)
    return text.replace(file, _with_line(file, *keys), 1)


def _with_line(origin: str, *keys: str) -> str:
    """``file:line`` of a key, looked for one below the other; the origin as it is where it is no such file."""
    try:
        text = Path(origin).read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return origin
    position = 0
    for key in keys:
        position = text.find(json.dumps(key, ensure_ascii=False), position)
        if position < 0:
            return origin
    return f"{origin}:{text.count(chr(10), 0, position) + 1}"
