"""Output on its way to the screen while a command runs."""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import Callable

from agentcli.tools.bash_text import readable

_PAUSE = 0.05
"""Seconds between two pieces."""
_AT_MOST = 16_384
"""Bytes of a piece; of a flood only the newest are shown."""


class LiveOutput:
    """Collects for a moment and hands on readable text, so that a flood of output never floods the screen."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, data: bytes) -> None:
        self._pending = (self._pending + self._decoder.decode(data))[-_AT_MOST:]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._flush)

    def close(self) -> None:
        """Shows what is left; nothing comes after."""
        if self._timer is not None:
            self._timer.cancel()
        self._pending += self._decoder.decode(b"", final=True)
        self._flush()

    def _flush(self) -> None:
        self._timer = None
        text, self._pending = readable(self._pending.encode()), ""
        if text:
            self._show(text)
