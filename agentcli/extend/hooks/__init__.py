"""Hooks: commands and prompts of the settings that are run at events of a session."""

from agentcli.extend.hooks.config import EVENTS, Handler, HookConfig, hooks_of, read_hooks
from agentcli.extend.hooks.room import HookRoom
from agentcli.extend.hooks.running import HookMeans

__all__ = ["EVENTS", "Handler", "HookConfig", "HookMeans", "HookRoom", "hooks_of", "read_hooks"]
