"""Invoking a skill or command: may it be, what does its file say now, and which ones are in use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from agentcli.errors import UserError
from agentcli.extend.definition import read_document
from agentcli.extend.expand import Surroundings, expand
from agentcli.extend.skills import Skill
from agentcli.ports.skills import InvokedSkill
from agentcli.text import estimate_tokens, head_tail

ONE_IN_USE = 5_000
"""Tokens of one skill that is attached again after a compaction …"""
ALL_IN_USE = 25_000
"""… and of all of them."""
_BYTES_PER_TOKEN = 3


class Invoker:
    """``find`` gives the skill or command of a name as it is now."""

    def __init__(
        self,
        find: Callable[[str], Skill | None],
        surroundings: Callable[[], Surroundings],
        shell_allowed: Callable[[], bool],
    ) -> None:
        self._find = find
        self._surroundings = surroundings
        self._shell_allowed = shell_allowed
        self._used: dict[str, str] = {}
        """Texts by name, the latest last."""

    async def invoke(
        self, name: str, arguments: str, *, by: Literal["model", "user"], hidden: bool = False
    ) -> InvokedSkill:
        """``hidden``: for an agent that begins with it, so that it does not count as in use here."""
        skill = self._allowed(name.strip().removeprefix("/"), by, hidden=hidden)
        if skill.fork and by == "user" and not hidden:
            return InvokedSkill(skill.name, _ask_for(skill, arguments))
        body = read_document(skill.path).body
        world = replace(self._surroundings(), shell_allowed=self._shell_allowed())
        text = await expand(skill, body, arguments, world)
        if skill.kind == "skill":
            text = f"Skill {skill.name}. Files that it names are in {skill.directory}.\n\n{text}"
        if not hidden and not skill.fork:
            self._used.pop(skill.name, None)
            self._used[skill.name] = text
        return InvokedSkill(
            skill.name,
            text,
            allowed_tools=skill.allowed_tools,
            disallowed_tools=skill.disallowed_tools,
            model=skill.model,
            effort=skill.effort,
            fork=skill.fork,
            background=skill.background,
            agent=skill.agent,
        )

    def forget(self) -> None:
        """Nothing is in use any more."""
        self._used.clear()

    def in_use(self) -> str:
        """What is attached again after a compaction: the latest first, until the tokens are used up."""
        parts: list[str] = []
        left = ALL_IN_USE
        for text in reversed(self._used.values()):
            kept = _shortened(text, min(ONE_IN_USE, left))
            left -= estimate_tokens(kept)
            if not kept:
                break
            parts.append(kept)
        if not parts:
            return ""
        return "\n\n".join(["These skills were invoked before and still hold where their work goes on.", *parts])

    def _allowed(self, name: str, by: str, *, hidden: bool) -> Skill:
        skill = self._find(name)
        if skill is None:
            raise UserError(f"there is no skill {name!r}. Use a name from the list of skills.")
        if hidden:
            return skill
        if by == "model" and not skill.by_model:
            raise UserError(f"only the user starts the skill {name!r}: ask them to type /{name}")
        if by == "user" and not skill.by_user:
            raise UserError(f"/{name} is a skill for the model only; say what you want to have done")
        return skill


def _shortened(text: str, tokens: int) -> str:
    if estimate_tokens(text) <= tokens:
        return text
    cut = head_tail(text, tokens * _BYTES_PER_TOKEN)
    return f"{cut.head}\n[… {cut.dropped:,} characters left out; invoke it again to see them …]" if tokens > 100 else ""


def _ask_for(skill: Skill, arguments: str) -> str:
    given = f" with the arguments: {arguments}" if arguments.strip() else ""
    return f"Run the skill {skill.name} (call Skill){given}, and tell me what came of it."
