"""``scratchpad``: a place for temporary files.  Its path differs per session, so only the first reminder names it."""

from __future__ import annotations

from agentcli.ports.prompt import PromptSources
from agentcli.prompt.context import PromptContext
from agentcli.prompt.section import SystemPromptSection, system_prompt_section

_WORDS = (
    "# Scratch directory\n\nPut temporary files into `$AGENTCLI_SCRATCH`, not `/tmp` or the repository. It is this "
    "session's own and writing there needs no permission."
)


def section(context: PromptContext, _sources: PromptSources) -> SystemPromptSection:
    return system_prompt_section("scratchpad", lambda: _WORDS if context.scratch_directory else None)
