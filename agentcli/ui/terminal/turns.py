"""What is said to the agent: turns, what steers them, what was queued too late."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from agentcli.ports.frontend import SessionHandle, UserInput
from agentcli.text import clean

Prepare: TypeAlias = Callable[[SessionHandle, UserInput], Awaitable[UserInput]]


class Turns:
    """The turns of one session.  ``prepare`` makes of what was typed what is sent (``None``: nothing to do)."""

    def __init__(self, session: SessionHandle, prepare: Prepare | None) -> None:
        self._session = session
        self._prepare = prepare
        self._typed: list[tuple[UserInput, UserInput]] = []
        self.running = False
        self.starting = False
        """A turn's prompt is being prepared."""
        self._behind: list[UserInput] = []

    async def run(self, prompt: UserInput, *, ready: bool = False) -> None:
        """One turn, and one more for what was queued too late to be delivered in it.  ``ready``: not to be
        prepared."""
        self.starting = True
        try:
            following: UserInput | None = prompt if ready else await self.prepared(prompt)
        finally:
            self.starting = False
        while following is not None:
            self.running = True
            try:
                await self._session.run(following)
            finally:
                self.running = False
            following = self._leftover()
        self._typed.clear()

    async def prepared(self, prompt: UserInput) -> UserInput:
        """The prompt as it is sent; ``take_back`` finds what was typed."""
        if self._prepare is None:
            return prompt
        ready = await self._prepare(self._session, prompt)
        if ready is not prompt:
            self._typed.append((ready, prompt))
        return ready

    def wait(self, prompt: UserInput) -> None:
        """Keeps what is said while a turn starts: it comes behind that turn's own prompt."""
        self._behind.append(prompt)

    def waited(self) -> tuple[UserInput, ...]:
        """What was kept, oldest first; from now on it is the caller's."""
        kept, self._behind = tuple(self._behind), []
        return kept

    @property
    def behind(self) -> tuple[str, ...]:
        return tuple(p.text for p in self._behind)

    def at_once(self, prompt: UserInput) -> bool:
        """Whether there is nothing to prepare."""
        return self._prepare is None or "@" not in prompt.text

    def take_back(self) -> UserInput | None:
        """The newest queued message, as it was typed."""
        if self._behind:
            return self._behind.pop()
        taken = self._session.take_back()
        return next((typed for ready, typed in self._typed if ready is taken), taken)

    def _leftover(self) -> UserInput | None:
        """All messages that are still queued, oldest first, as one."""
        queued: list[UserInput] = []
        while (taken := self._session.take_back()) is not None:
            queued.insert(0, taken)
        if not queued:
            return None
        attachments = tuple(block for q in queued for block in q.attachments)
        return UserInput("\n\n".join(q.text for q in queued), attachments)


def user_input(text: str, attachments: tuple[Any, ...] = ()) -> UserInput:
    """What was typed as valid text."""
    return UserInput(clean(text).replace("\r\n", "\n").replace("\r", "\n"), attachments)
