"""Approvals of single things that a project brings (MCP servers): bound to their content, not to their name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from agentcli.paths import agentcli_home
from agentcli.settings.jsonfile import JsonObject
from agentcli.settings.statefile import StateFile
from agentcli.settings.trust import Project

FILE = "approvals.json"
Approval = Literal["approved", "rejected", "changed", "unknown"]
"""``changed``: something of this name was answered about, but it was something else."""


def fingerprint(content: Any) -> str:
    """SHA-256 of a JSON value; the order of keys makes no difference."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Approvals:
    """``approvals.json`` below ``AGENTCLI_HOME``, by project, kind and name."""

    def __init__(self, project: Project, env: Mapping[str, str] | None = None) -> None:
        home: Path | None = agentcli_home(env)
        self._file = StateFile(home / FILE) if home else None
        self._key = str(project.key)
        self._session: dict[tuple[str, str], tuple[str, bool]] = {}

    def state(self, kind: str, name: str, content: Any) -> Approval:
        """What was answered about exactly this content."""
        found = self._session.get((kind, name)) or self._stored(kind, name)
        if found is None:
            return "unknown"
        digest, approved = found
        if digest != fingerprint(content):
            return "changed"
        return "approved" if approved else "rejected"

    def answer(self, kind: str, name: str, content: Any, *, approved: bool) -> bool:
        """Records an answer.  False when it could not be kept and holds for this session only."""
        digest = fingerprint(content)
        self._session[kind, name] = (digest, approved)
        if self._file is None:
            return False

        def change(data: JsonObject) -> None:
            inner = data
            for step in (self._key, kind):
                inner[step] = inner[step] if isinstance(inner.get(step), dict) else {}
                inner = inner[step]
            inner[name] = {"digest": digest, "approved": approved}

        try:
            self._file.change(change)
        except OSError:
            return False
        return True

    def _stored(self, kind: str, name: str) -> tuple[str, bool] | None:
        if self._file is None:
            return None
        entry: Any = self._file.read()
        for step in (self._key, kind, name):
            entry = entry.get(step) if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(entry.get("digest"), str):
            return None
        return entry["digest"], entry.get("approved") is True
