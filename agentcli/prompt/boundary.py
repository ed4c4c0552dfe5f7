"""The boundary between what all sessions share and what is this session's own.

Its place is an architectural invariant: in front of it stand constant bytes, behind it everything that depends on a
user, a directory, a tool set, a setting or a day.  One condition in front of it doubles the number of prefixes that
are in use, N of them make 2^N, and the shared entry is hardly ever found again.  So a new condition goes behind it,
and the boundary never moves.
"""

from __future__ import annotations

from collections.abc import Mapping

from agentcli.conversation import PromptPart
from agentcli.env import truthy

SYSTEM_PROMPT_DYNAMIC_BOUNDARY = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__"
"""Text of the boundary part.  It never reaches the wire, and nothing looks for it: a part's ``kind`` marks it, so the
same words in somebody's text are just words."""


def boundary_part() -> PromptPart:
    return PromptPart("boundary", "boundary", SYSTEM_PROMPT_DYNAMIC_BOUNDARY)


def should_use_global_cache_scope(*, first_party: bool, refused: bool, env: Mapping[str, str]) -> bool:
    """Whether the static region may carry the API's global cache scope.

    ``first_party``: the provider is the Anthropic API itself or a gateway that says it only passes through;
    ``refused``: the API has answered that it does not take the scope.  The scope is a beta, so
    ``CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS`` rules it out.
    """
    return first_party and not refused and not truthy("CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS", env)
