"""Feature flags: one typed registry, everything off unless switched on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, get_args

from agentcli.env import TRUTHY
from agentcli.errors import Bug

FeatureName = Literal["PROACTIVE", "KAIROS", "TEAMMEM", "COORDINATOR_MODE"]
NAMES: frozenset[str] = frozenset(get_args(FeatureName))
DESCRIPTIONS: dict[FeatureName, str] = {
    "PROACTIVE": "the agent wakes by itself when nothing happens and looks for useful work",
    "KAIROS": "like PROACTIVE, with a daily log as its memory",
    "TEAMMEM": "a memory that is committed with the project, beside the personal one",
    "COORDINATOR_MODE": "the main thread plans and delegates to workers",
}
PREFIX = "AGENTCLI_FEATURE_"


@dataclass(frozen=True, slots=True)
class Features:
    """The flags that are on, where each was set, and what was set in vain."""

    on: frozenset[str] = frozenset()
    origins: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()

    def __call__(self, name: FeatureName) -> bool:
        """Whether the feature is on.  An unknown name is a bug of ours."""
        if name not in NAMES:
            raise Bug(f"there is no feature {name!r}; features are {', '.join(sorted(NAMES))}")
        return name in self.on


def read_features(settings: object = None, env: Mapping[str, str] | None = None) -> Features:
    """The flags of the setting ``features`` (an object of true and false) and of ``AGENTCLI_FEATURE_<NAME>``, which
    wins.  An unknown name, or a value that is neither true nor false, is a warning."""
    values = os.environ if env is None else env
    states: dict[str, tuple[bool, str]] = {}
    warnings: list[str] = []
    for name, value in (settings if isinstance(settings, dict) else {}).items():
        if name not in NAMES:
            warnings.append(f"features.{name}: there is no such feature ({_close(name)})")
        elif not isinstance(value, bool):
            warnings.append(f"features.{name} must be true or false; ignored")
        else:
            states[name] = (value, "settings")
    for variable, text in values.items():
        if not variable.startswith(PREFIX):
            continue
        name = variable.removeprefix(PREFIX)
        if name not in NAMES:
            warnings.append(f"{variable}: there is no such feature ({_close(name)})")
        else:
            states[name] = (text.strip().lower() in TRUTHY, variable)
    if settings is not None and not isinstance(settings, dict):
        warnings.append('features must be an object, as in {"PROACTIVE": true}; ignored')
    on = frozenset(name for name, (state, _) in states.items() if state)
    origins = tuple(sorted((name, origin) for name, (_, origin) in states.items()))
    return Features(on, origins, tuple(warnings))


def _close(name: Any) -> str:
    import difflib

    near = difflib.get_close_matches(str(name).upper(), sorted(NAMES), 1)
    return f"did you mean {near[0]}?" if near else f"features are {', '.join(sorted(NAMES))}"


_CURRENT: ContextVar[Features | None] = ContextVar("features", default=None)


def use_features(features: Features) -> None:
    """Makes these the flags that ``feature`` answers with, in this context and what is started from it."""
    _CURRENT.set(features)


def feature(name: FeatureName) -> bool:
    """Whether a feature is on: as ``use_features`` said, before that as the environment says."""
    current = _CURRENT.get()
    return (read_features() if current is None else current)(name)
