"""``get_context_usage``: what fills the window, in the shape that clients take."""

from __future__ import annotations

from typing import Any

from agentcli.agent.compact import BUFFER
from agentcli.agent.measure import used
from agentcli.model.parts import dumps, tool_to_api
from agentcli.model.window import window_use
from agentcli.runtime.explain import explain, next_request
from agentcli.runtime.session import Session
from agentcli.text import estimate_tokens

COLORS = ("blue", "cyan", "green", "magenta", "yellow", "red", "white")


async def context_usage(session: Session) -> dict[str, Any]:
    """Sizes by category.  ``estimated`` says which figures are ours: all but a total that the API has counted."""
    request, info = await next_request(session), session.info
    reserved = min(info.max_output + BUFFER, info.window // 2)
    counted = used(session.state) if session.state.context_tokens else None
    use = window_use(request, window=info.window, reserved=reserved, counted=counted)
    report = (await explain(session)).report
    parts = [
        {"name": name, "tokens": count, "color": COLORS[i % len(COLORS)], "kind": "used"}
        for i, (name, count) in enumerate(use.parts)
    ]
    buffer = {"name": "reserved", "tokens": reserved, "color": "gray", "kind": "buffer"}
    free = {"name": "free", "tokens": use.free, "color": "gray", "kind": "free"}
    tools = [{"name": t.name, "tokens": estimate_tokens(dumps(tool_to_api(t)))} for t in request.tools if not t.mcp]
    threshold = info.window - reserved
    automatic = session.agent.limits.auto_compact
    return {
        "categories": [*parts, buffer, free],
        "totalTokens": use.used,
        "maxTokens": threshold if automatic else info.window,
        "rawMaxTokens": info.window,
        "percentage": round(100 * use.used / info.window, 1) if info.window else 0.0,
        "model": session.state.model,
        "isAutoCompactEnabled": automatic,
        "autoCompactThreshold": threshold,
        "estimated": {"total": counted is None, "categories": True},
        "memoryFiles": _memory(session),
        "mcpTools": [],
        "agents": [],
        "skills": [],
        "gridRows": [],
        "systemTools": tools,
        "systemPromptSections": [{"name": r.name, "tokens": r.tokens} for r in report.rows if r.included],
        "apiUsage": None,
    }


def _memory(session: Session) -> list[dict[str, Any]]:
    files = session.memory.loaded() if session.memory is not None else ()
    return [{"path": str(f.path), "type": f.scope, "tokens": estimate_tokens(f.text)} for f in files]
