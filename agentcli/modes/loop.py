"""Loop mode: one prompt again and again until it is done.  Its instructions are the override prompt."""

from __future__ import annotations

from pathlib import Path

from agentcli.prompt.environment import Environment, environment_lines
from agentcli.prompt.words import read_words

LOOP_DONE = "LOOP_DONE"
"""A last line that holds only this ends the loop."""


def loop_system_prompt(environment: Environment, start_date: str) -> str:
    """The override prompt.  It stands alone, without appended text or head reminder, so it names the place itself;
    rounds are not counted in it, since it must stay the same for all of them."""
    words = read_words(Path(__file__).with_suffix(".md")).replace("{done}", LOOP_DONE)
    facts = "\n".join(f"- {line}" for line in (*environment_lines(environment), f"Date: {start_date}"))
    return f"{words}\n\n# Environment\n\n{facts}"


def says_done(answer: str) -> bool:
    """Whether an answer ends the loop: its last line with text holds the word alone."""
    return answer.rstrip().rpartition("\n")[2].strip() == LOOP_DONE
