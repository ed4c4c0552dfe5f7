"""A strict Messages API server for tests: real HTTP and SSE on loopback, scripted answers, a simulated prompt cache.

    from tests.api import ApiServer, error, reply, text, thinking, tool_use

    async with ApiServer(                      # or: with ApiServer(…) as api, for subprocesses and ptys
        reply(thinking("hm"), text("I look."), tool_use("Read", {"file_path": "a"})),
        error(529),                            # the next request fails …
        "Done.",                               # … and the one after it gets a plain text answer
    ) as api:
        client = AsyncAnthropic(base_url=api.url, api_key=api.key)
        …
        assert api.requests[0].tool_names == ["Read"]
        assert api.requests[1].tool_results[0]["content"][0]["text"] == "…"
        assert api.requests[1].cache.lost == 0

The fixture ``api`` is such a server without steps: ``api.play(reply(…), …)``; it sets ``ANTHROPIC_BASE_URL`` and
``ANTHROPIC_API_KEY`` and fails the test when a request was refused as invalid.

- Steps, blocks, failures and faults: ``script.py``.  Parallel conversations: ``api.lane("first words", step, …)``.
- What was sent: ``api.requests`` (``recorder.Request``: ``messages``, ``system``, ``tools``, ``last_text``,
  ``tool_results``, ``betas``, ``body`` …); ``api.wait_for(n)`` and ``await api.arrived(n)`` wait for requests.
- Tool calls get ids of their own; ``tool_use("Read", {…}, id="toolu_a")`` names one.
- Order without sleeps: ``gate = Gate()``, ``reply("Hel", gate, "lo")`` or ``after(gate, reply(…))``,
  ``gate.wait_reached()``, ``gate.open()``.
- Cost: ``request.cache`` (read, written, uncached, total, ``lost`` against the conversation's request before …),
  ``request.cost``, ``api.cache.history``, ``totals(api.cache.history)``.
- Time: ``api.clock.advance(301)`` lets 5-minute cache entries expire.  Tokens: ``tokens.py``.
- Behaviour: ``api.options`` (``options.py``); with ``options=Options.local()`` it is a local server that takes
  everything.
"""

from __future__ import annotations

from tests.api.cache import CacheFigures, Totals, totals
from tests.api.faults import Gate, close, cut, error_event, event, garbage, pause, pings, reset, stall
from tests.api.options import Options
from tests.api.recorder import Request, result_text
from tests.api.script import after, block, error, http_date, redacted, reply, server_tool_use, text, thinking, tool_use
from tests.api.server import ApiServer

__all__ = [
    "ApiServer",
    "CacheFigures",
    "Gate",
    "Options",
    "Request",
    "Totals",
    "after",
    "block",
    "close",
    "cut",
    "error",
    "error_event",
    "event",
    "garbage",
    "http_date",
    "pause",
    "pings",
    "redacted",
    "reply",
    "reset",
    "result_text",
    "server_tool_use",
    "stall",
    "text",
    "thinking",
    "tool_use",
    "totals",
]
