"""Settings written on somebody's word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentcli.errors import UsageError, UserError
from agentcli.runtime.world import World
from agentcli.settings.edit import set_value
from agentcli.settings.schema import unknown_key

SCOPES = ("user", "project", "local")


def write_setting(world: World, key: str, text: str, *, scope: str) -> tuple[Any, Path]:
    """Writes one value (JSON, or else the text itself) to the file of a scope; the rest of the file stays as it is.
    The value and the file.  ``UserError`` for a key that nothing reads, a value that does not fit, or no such file."""
    if scope not in SCOPES:
        raise UsageError(f"--scope {scope!r}: one of {', '.join(SCOPES)}")
    if unknown := unknown_key(key):
        raise UserError(f"{unknown}; nothing was written (a key for another program: write it into the file yourself)")
    source = next((s for s in world.files.sources if s.scope == scope), None)
    if source is None or source.path is None:
        raise UserError(f"there is no {scope} settings file here")
    value = _value(text)
    set_value(source.path, key, value, private=scope != "project")
    return value, source.path


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
