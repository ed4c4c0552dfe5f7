"""Optional features of the API: which header each needs, when one counts as refused, and for how long.

A server that does not know a feature answers 400 and names it.  The feature is then switched off, the request built
anew and sent again at once; the refusal is remembered for a day per endpoint and key, so that the next session starts
right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, TypeAlias

from agentcli.env import truthy
from agentcli.files import write_private
from agentcli.model.failures import Failure
from agentcli.paths import private_directory

FeatureName: TypeAlias = Literal[
    "scope", "diagnosis", "interleaved", "keep_thinking", "ttl", "deferral", "effort", "display", "caching"
]


@dataclass(frozen=True, slots=True)
class Feature:
    """``words`` names it for people; ``pattern`` finds it in the message of a 400; an ``experimental`` one is off with
    ``CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS``."""

    name: FeatureName
    words: str
    pattern: re.Pattern[str]
    header: str | None = None
    experimental: bool = False


def _feature(
    name: FeatureName, words: str, pattern: str, header: str | None = None, *, experimental: bool = False
) -> Feature:
    return Feature(name, words, re.compile(pattern, re.IGNORECASE), header, experimental)


FEATURES: tuple[Feature, ...] = (
    _feature(
        "scope",
        "the global cache scope",
        r"cache_control\S*\s*\S*\bscope\b|\bscope\b.*cache_control",
        "prompt-caching-scope-2026-01-05",
        experimental=True,
    ),
    _feature("diagnosis", "cache diagnostics", r"\bdiagnostics\b", "cache-diagnosis-2026-04-07", experimental=True),
    _feature("interleaved", "interleaved thinking", r"$^", "interleaved-thinking-2025-05-14"),
    _feature(
        "keep_thinking",
        "keeping old thinking",
        r"context_management|clear_thinking",
        "context-management-2025-06-27",
        experimental=True,
    ),
    _feature("ttl", "the one-hour cache", r"cache_control\S*\s*\S*\bttl\b|\bttl\b.*cache_control"),
    _feature("deferral", "deferred tools", r"defer_loading|tool_reference"),
    _feature("effort", "the effort setting", r"output_config|\beffort\b"),
    _feature("display", "summarised thinking", r"^thinking\b\S*\bdisplay\b"),
    _feature(
        "caching",
        "prompt caching",
        r"cache_control\b.*(extra input|not permitted|unknown|unexpected|unsupport)"
        r"|(unknown|unexpected|unsupport)\w*\b.*cache_control",
    ),
)
"""Special ones first: a refusal of ``cache_control.scope`` is not one of caching."""
BY_NAME: Mapping[str, Feature] = {f.name: f for f in FEATURES}


def disabled_by_env(env: Mapping[str, str]) -> frozenset[str]:
    """Features that the environment switches off."""
    if not truthy("CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS", env):
        return frozenset()
    return frozenset(f.name for f in FEATURES if f.experimental)


def refused_feature(failure: Failure, *, used: Collection[str], betas: Collection[str]) -> str | None:
    """What the server refused: the name of a feature that the request used, or a beta header's value.

    ``None`` when the failure is about something else.
    """
    if failure.status not in (400, 422):
        return None
    message = failure.reason
    for feature in FEATURES:
        if feature.header and feature.header in message and (feature.name in used or feature.header in betas):
            return feature.name
    for beta in betas:
        if beta in message:
            return beta
    for feature in FEATURES:
        if feature.name in used and feature.pattern.search(message):
            return feature.name
    return None


def describe(refused: str) -> str:
    """The refused thing in words."""
    feature = BY_NAME.get(refused)
    return feature.words if feature else f"the beta {refused}"


@dataclass(slots=True)
class Refusals:
    """What this endpoint and key refused within the last day.  ``path`` ``None``: remembered for the session only.

    A file that can't be read or written is no error: the feature is tried once more then.
    """

    path: Path | None
    fingerprint: str
    now: Callable[[], datetime]
    lasting: timedelta = timedelta(days=1)
    _session: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._session.update(self._read().get(self.fingerprint, {}))

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._session)

    def add(self, refused: str) -> None:
        self._session.add(refused)
        if self.path is None:
            return
        stored = self._read()
        stored.setdefault(self.fingerprint, {})[refused] = self.now().isoformat()
        try:
            private_directory(self.path.parent)
            write_private(self.path, json.dumps(stored, indent=1, sort_keys=True).encode())
        except OSError:
            # A read-only home: the session remembers all the same.
            self.path = None

    def _read(self) -> dict[str, dict[str, str]]:
        """Entries that still hold, by fingerprint."""
        if self.path is None:
            return {}
        try:
            raw = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        found: dict[str, dict[str, str]] = {}
        for key, entries in raw.items() if isinstance(raw, dict) else ():
            fresh = {n: t for n, t in entries.items() if self._holds(t)} if isinstance(entries, dict) else {}
            if fresh:
                found[str(key)] = fresh
        return found

    def _holds(self, text: object) -> bool:
        try:
            since = datetime.fromisoformat(str(text))
            return timedelta(0) <= self.now() - since < self.lasting
        except (ValueError, TypeError):
            return False
