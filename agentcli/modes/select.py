"""Which modes are on.  Modules behind a flag are imported here, when it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from agentcli.env import truthy
from agentcli.prompt.effective import LevelText, nothing
from agentcli.settings.features import FeatureName

if TYPE_CHECKING:
    from agentcli.prompt.context import ProactiveWords

NEEDED = "the feature PROACTIVE: AGENTCLI_FEATURE_PROACTIVE=1, or the setting features"
"""What proactive mode needs, for messages."""
Feature = Callable[[FeatureName], bool]
"""Whether the named feature is switched on."""


def coordinator_active(feature: Feature, env: Mapping[str, str]) -> bool:
    return feature("COORDINATOR_MODE") and truthy("CLAUDE_CODE_COORDINATOR_MODE", env)


def coordinator_level(feature: Feature, env: Mapping[str, str]) -> LevelText:
    """The coordinator level of the prompt; a level that is not given where the mode is off."""
    if not coordinator_active(feature, env):
        return nothing
    from agentcli.modes.coordinator import coordinator_system_prompt

    return coordinator_system_prompt


def coordinator_tools(feature: Feature, env: Mapping[str, str]) -> tuple[str, ...] | None:
    """The only tools of the main thread in coordinator mode; ``None`` where it is off."""
    if not coordinator_active(feature, env):
        return None
    from agentcli.modes.coordinator import COORDINATOR_TOOLS

    return COORDINATOR_TOOLS


def proactive_active(feature: Feature, *, active: bool) -> bool:
    """``active``: the user asked for it."""
    return active and (feature("PROACTIVE") or feature("KAIROS"))


def active_proactive_words(feature: Feature, *, active: bool) -> ProactiveWords | None:
    """The texts of proactive mode; ``None`` where its flags are off or it is not active."""
    if not proactive_active(feature, active=active):
        return None
    from agentcli.modes.proactive import proactive_words

    return proactive_words()
