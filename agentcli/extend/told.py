"""What a conversation has been told of skills and agents, and what is new since."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agentcli.extend.listing import Item

SKILLS, AGENTS = "## Skills", "## Agents"
NEWS = {
    SKILLS: ("There are new or changed skills:", "These skills are gone; don't use them any more:"),
    AGENTS: ("There are new or changed agents:", "These agents are gone; don't start them any more:"),
}
_LINE = re.compile(r"- (?P<name>[^\s:]+(?::[^\s:]+)*)(?::? .*)?")


@dataclass(slots=True)
class Told:
    """One list.  ``items`` is ``None`` while nobody has asked for it: there is nothing to add to then.  A name whose
    text is ``None`` was told in an earlier run, which does not say how it was described."""

    heading: str
    items: dict[str, str | None] | None = None

    def tell(self, items: Iterable[Item]) -> None:
        """The whole list is being told now."""
        self.items = {item.name: item.text for item in items}

    def believe(self, texts: Iterable[str], *, asked: bool = False) -> None:
        """What an earlier run told, by the lists in its texts.  ``asked``: a list was asked for, even if it was
        empty."""
        names = [name for text in texts for name in _names(text, self.heading)]
        if names or asked:
            self.items = dict.fromkeys(names)

    def news(self, items: Iterable[Item]) -> str:
        """What to say about the difference; empty where there is none.  It counts as told then."""
        if self.items is None:
            return ""
        now = {item.name: item for item in items}
        fresh = [i for n, i in now.items() if n not in self.items or self.items[n] not in (None, i.text)]
        gone = [name for name in self.items if name not in now]
        for name in gone:
            del self.items[name]
        self.items |= {item.name: item.text for item in now.values()}
        new_words, gone_words = NEWS[self.heading]
        parts = []
        if fresh:
            parts.append("\n".join([new_words, *(item.line(LONGEST) for item in fresh)]))
        if gone:
            parts.append("\n".join([gone_words, *(f"- {name}" for name in gone)]))
        return "\n\n".join(parts)


LONGEST = 1_536
"""Characters of one description in a piece of news."""


def _names(text: str, heading: str) -> list[str]:
    """Names in the lists under the heading, and in news of their kind, in the order in which they were told."""
    new_words, gone_words = NEWS[heading]
    names: dict[str, None] = {}
    mode = ""
    for line in text.split("\n"):
        if line in (heading, new_words):
            mode = "add"
        elif line == gone_words:
            mode = "drop"
        elif not (found := _LINE.fullmatch(line)):
            mode = mode if not line.strip() else ""
        elif mode == "add":
            names[found["name"]] = None
        elif mode == "drop":
            names.pop(found["name"], None)
    return list(names)
