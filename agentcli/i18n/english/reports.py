"""Figures and tables: money, cache, window."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    "count.request": "{count} request|{count} requests",
    "count.break": "{count} break|{count} breaks",
    "price.unknown": "unknown",
    "kind.main": "conversation",
    "kind.subagent": "subagents",
    "kind.compaction": "compaction",
    "kind.side": "side questions",
    "column.model": "model",
    "column.for": "for",
    "column.requests": "requests",
    "column.input": "input",
    "column.cache_read": "cache read",
    "column.cache_written": "cache written",
    "column.output": "output",
    "column.cost": "cost",
    "column.request": "request",
    "column.of": "of",
    "column.read": "read",
    "column.written": "written",
    "column.uncached": "uncached",
    "column.lost": "lost",
    "column.what": "what",
    "column.tokens": "tokens",
    "column.share": "share",
    # /cost
    "cost.none": "Nothing has been asked yet: no cost.",
    "cost.sum": "**{cost}** for {requests}{saving}.",
    "cost.unknown": "Unknown cost",
    "cost.saved": "; caching saved {price}",
    "cost.more": "; caching cost {price} more so far",
    "cost.turn": "Last turn: {price} for {requests}{more}.",
    "cost.turn.read": ", {share} read from the cache",
    "cost.turn.efficiency": " ({share} of what was readable)",
    "cost.turn.saved": ", {price} saved",
    "cost.searches": "Web searches: {count} ({price} at list price).",
    "cost.breaks": "Cache breaks: {count}, {tokens} tokens paid again ({price}).",
    "cost.unpriced": "Not in the sum: {requests} to models without a known price.",
    "cost.prices": "Prices are list prices of the API; the bill of your provider decides.",
    # /cache
    "cache.none": "Nothing has been asked yet.",
    "cache.share": "**{share}** of {tokens} input tokens were read from the cache{efficiency}.",
    "cache.efficiency": ", {share} of what was readable",
    "cache.lost": "Lost: {lost} tokens, {unintended} of them unintended ({breaks}).",
    "cache.request": "request {number} ({whose})",
    "cache.line": "{kind}: {cause}: {tokens} tokens paid again{price}{diagnosis}",
    "cache.expected": "expected",
    "cache.unexpected": "cache break",
    "cache.diagnosis": "; the API says {cause}",
    # /context
    "window.head": "**{used} of {window} tokens ({share})**, {basis}.",
    "window.counted": "counted by the API",
    "window.counted_sum": "counted by the API; shares are estimated",
    "window.estimated": "estimated offline",
    "window.threshold": "At {tokens} the conversation is compacted by itself.",
    "window.system prompt": "system prompt",
    "window.skills, agents and guidance": "skills, agents and guidance",
    "window.memory files": "memory files",
    "window.MCP instructions": "MCP instructions",
    "window.tools": "tools",
    "window.MCP tools": "MCP tools",
    "window.tool results": "tool results",
    "window.reminders": "reminders",
    "window.summary": "summary",
    "window.conversation": "conversation",
    "window.free": "free",
    "window.reserved for the answer and compaction": "reserved for the answer and compaction",
    "window.advice.mcp": "MCP tools take much room in every request: let them be deferred (`ENABLE_TOOL_SEARCH=true`).",
    "window.advice.memory": (
        "Memory files are long: keep CLAUDE.md to what every task needs, the rest in rules or skills."
    ),
    "window.advice.result": (
        "`{title}` brought {tokens} tokens: ask for ranges, or leave wide searches to a subagent."
    ),
    "window.advice.clearable": (
        "Old tool results hold {tokens} tokens that could be had again: with the setting `toolResultClearing` they "
        "give way to notes."
    ),
    "window.advice.half": "More than half of the window is used: `/compact` now, or `/clear` between tasks.",
    "window.unknown": "/context does not know {given!r}. Give nothing, or: prompt",
    # /model, /effort
    "switch.line": "re-reads {tokens} tokens uncached{price}",
    "switch.about": ", about {price}",
    "switch.next": "The next request {price}.",
    "switch.model": "Model",
    "switch.effort": "Effort",
    "switch.now": "as now",
    "switch.model.stays": "The model stays {name} (`{id}`).",
    "switch.effort.stays": "The effort stays {effort}.",
    "switch.effort.default": "as the model has it",
    "switch.effort.none": "{model} has no effort setting.",
}
