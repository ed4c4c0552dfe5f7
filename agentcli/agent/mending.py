"""Errors of the API that a documented change of the conversation can mend, once each."""

from __future__ import annotations

from agentcli.agent.conversation import Conversation
from agentcli.agent.images import about_image, without_refused_image
from agentcli.agent.images_fit import all_fitted
from agentcli.agent.measure import without_thinking
from agentcli.agent.rooms import Rooms
from agentcli.agent.state import SessionState
from agentcli.errors import ApiError, TurnError
from agentcli.events import Notice


class Mender:
    """For one turn: a prompt that is too long is compacted once, a refused image gives way to a note, thinking that
    is not taken back is dropped."""

    def __init__(self, state: SessionState, rooms: Rooms, talk: Conversation) -> None:
        self._state = state
        self._rooms = rooms
        self._talk = talk
        self._compacted = False
        self._unthought = False

    async def mended(self, error: ApiError) -> bool:
        """Whether the conversation was changed so that the request can be sent again."""
        if error.kind == "prompt_too_long":
            return await self.compact_once()
        if self._thinking_dropped(error):
            return True
        if await self._scaled(error):
            return True
        mended = without_refused_image(self._state.messages, error)
        if mended is None:
            return False
        self._talk.rewrite(mended, intent="image removed")
        self._rooms.emit(Notice("warning", "The API refused an image; a note stands in its place.", "image_removed"))
        return True

    async def _scaled(self, error: ApiError) -> bool:
        """All images within the limits, in one step: those of an older session may be larger than we send them."""
        if not about_image(error) or (smaller := await all_fitted(self._state.messages)) is None:
            return False
        self._talk.rewrite(smaller, intent="images scaled")
        words = "The API refused an image; all that were too large are smaller now."
        self._rooms.emit(Notice("warning", words, "images_scaled"))
        return True

    def _thinking_dropped(self, error: ApiError) -> bool:
        """Thinking that the server does not take back (another account, a damaged file) is dropped whole."""
        text = str(error).lower()
        if self._unthought or error.kind != "invalid_request" or not ("signature" in text and "thinking" in text):
            return False
        self._unthought = True
        plain = [m for m in map(without_thinking, self._state.messages) if m.content]
        self._talk.rewrite(plain, intent="thinking removed")
        words = "The API does not take earlier thinking back; the conversation goes on without it."
        self._rooms.emit(Notice("warning", words, "thinking_removed"))
        return True

    async def compact_once(self) -> bool:
        if self._compacted:
            return False
        self._compacted = True
        try:
            return await self._talk.compactor.compact("auto") is not None
        except TurnError as error:
            self._rooms.emit(Notice("error", str(error), "compaction_failed"))
            return False
