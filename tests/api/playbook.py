"""Which step answers which request."""

from __future__ import annotations

import inspect
import threading
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from tests.api.faults import Fault
from tests.api.recorder import Request
from tests.api.script import After, ErrorReply, Reply, Step, Text

Match: TypeAlias = str | Callable[[Request], bool]
Concrete: TypeAlias = Reply | ErrorReply | Fault | After


class Playbook:
    """Steps in a queue; *lanes* are queues of their own for the requests that match (a subagent's conversation), looked
    at first; ``default`` answers when the queue is empty."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue: deque[Step] = deque()
        self._lanes: list[tuple[Match, deque[Step]]] = []
        self.default: Step | None = None

    def add(self, *steps: Step) -> None:
        with self._lock:
            self._queue.extend(steps)

    def lane(self, match: Match, *steps: Step) -> None:
        with self._lock:
            self._lanes.append((match, deque(steps)))

    @property
    def left(self) -> int:
        """Steps that nobody has asked for yet."""
        with self._lock:
            return len(self._queue) + sum(len(steps) for _, steps in self._lanes)

    def take(self, request: Request) -> Step | None:
        """The step for this request; ``None`` when the script has none left."""
        with self._lock:
            for match, steps in self._lanes:
                if match in request.opening if isinstance(match, str) else match(request):
                    return steps.popleft() if steps else None
            return self._queue.popleft() if self._queue else self.default


async def resolve(step: Step, request: Request) -> Concrete:
    """Calls answer functions until there is something to send."""
    while True:
        if isinstance(step, str):
            return Reply((Text((step,)),))
        if isinstance(step, Reply | ErrorReply | Fault | After):
            return step
        if not callable(step):
            raise TypeError(f"a script step can't be {step!r}")
        result = step(request)
        step = await result if inspect.isawaitable(result) else result
