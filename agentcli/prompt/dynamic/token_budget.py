"""``token_budget``: what a token target of the user means.

Its wording is conditional in itself, so it stands in every prompt and never flips: a section that came with a budget
and went with it would cost the whole cached prefix each time.
"""

from __future__ import annotations

from agentcli.ports.prompt import PromptSources
from agentcli.prompt.context import PromptContext
from agentcli.prompt.section import SystemPromptSection, system_prompt_section

_WORDS = (
    "# Token target\n\nWhen the user names a token target (such as `+500k` or `use 2M tokens`), it is how much work "
    "they want: go on improving and checking until it is nearly used up or nothing useful is left. Without one, this "
    "means nothing."
)


def section(_context: PromptContext, _sources: PromptSources) -> SystemPromptSection:
    return system_prompt_section("token_budget", lambda: _WORDS)
