"""``agentcli config``: settings with their origins."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agentcli.errors import UsageError, UserError
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.world import read_world
from agentcli.settings.merged import Settings, Value


def list_settings(*, as_json: bool) -> int:
    """Every value that is set, with the files it comes from."""
    values = _settings().values()
    if as_json:
        rows = [{"key": v.key, "value": v.value, "origins": list(v.origins)} for v in values]
        sys.stdout.write(json.dumps(rows, ensure_ascii=False, indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{_line(v)}\n" for v in values) or "no settings are set; defaults are used\n")
    return 0


def get_setting(key: str, *, as_json: bool) -> int:
    """One value.  ``UserError`` when it is not set."""
    value = _settings().value(key)
    if value is None:
        raise UserError(f"{key} is not set in any settings file (`agentcli config list` shows what is)")
    if as_json:
        row = {"key": key, "value": value.value, "origins": list(value.origins)}
        sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(_line(value) + "\n")
    return 0


def set_setting(key: str, text: str, *, scope: str) -> int:
    """Writes one value to the user's, the project's or the local file; the rest of the file stays as it is."""
    from agentcli.settings.edit import set_value
    from agentcli.settings.schema import unknown_key

    if scope not in ("user", "project", "local"):
        raise UsageError(f"--scope {scope!r}: one of user, project, local")
    if unknown := unknown_key(key):
        raise UserError(f"{unknown}; nothing was written (a key for another program: write it into the file yourself)")
    world = read_world(SessionOptions(cwd=Path.cwd()))
    source = next((s for s in world.files.sources if s.scope == scope), None)
    if source is None or source.path is None:
        raise UserError(f"there is no {scope} settings file here")
    set_value(source.path, key, _value(text), private=scope != "project")
    sys.stdout.write(f"{key} = {json.dumps(_value(text), ensure_ascii=False)}  ({source.path})\n")
    return 0


def _value(text: str) -> object:
    """JSON where it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _settings() -> Settings:
    return read_world(SessionOptions(cwd=Path.cwd())).settings


def _line(value: Value) -> str:
    return f"{value.key} = {json.dumps(value.value, ensure_ascii=False)}  ({', '.join(value.origins)})"
