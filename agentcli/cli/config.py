"""``agentcli config``: settings with their origins."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agentcli.errors import UserError
from agentcli.runtime.configure import write_setting
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
    value, path = write_setting(read_world(SessionOptions(cwd=Path.cwd())), key, text, scope=scope)
    sys.stdout.write(f"{key} = {json.dumps(value, ensure_ascii=False)}  ({path})\n")
    return 0


def _settings() -> Settings:
    return read_world(SessionOptions(cwd=Path.cwd())).settings


def _line(value: Value) -> str:
    return f"{value.key} = {json.dumps(value.value, ensure_ascii=False)}  ({', '.join(value.origins)})"
