"""Proactive mode: the texts of an agent that works on its own.

Loaded only where the feature ``PROACTIVE`` or ``KAIROS`` is on and the mode is active.
"""

from __future__ import annotations

from pathlib import Path

from agentcli.prompt.context import ProactiveWords
from agentcli.prompt.words import read_words


def proactive_words() -> ProactiveWords:
    """Identity with the security instruction, and the section that closes the prompt."""
    here = Path(__file__)
    return ProactiveWords(
        identity=read_words(here.with_name("proactive_identity.md")), section=read_words(here.with_suffix(".md"))
    )
