"""Figures of a session for status lines and results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentcli.agent.agent import Agent
from agentcli.agent.measure import used
from agentcli.model.usage import Ledger
from agentcli.ports.frontend import SessionStatus
from agentcli.ports.model import ModelInfo
from agentcli.ports.permissions import PermissionMode
from agentcli.ports.tools import Workspace
from agentcli.runtime.branch import current_branch
from agentcli.runtime.models import Models


def status_of(
    agent: Agent, info: ModelInfo, workspace: Workspace, *, mode: PermissionMode, share: float | None, title: str
) -> SessionStatus:
    """What a status line shows now.  ``share`` is that of the last request's input that was read from the cache."""
    state = agent.state
    return SessionStatus(
        session_id=state.session_id,
        model=state.model,
        model_name=info.name,
        effort=state.effort,
        mode=mode,
        cwd=str(workspace.cwd),
        branch=current_branch(workspace.start),
        context_used=used(state),
        window=info.window,
        cost=state.cost,
        cache_read_share=share,
        turn_running=agent.busy,
        queued=len(agent.queue),
        title=title,
    )


def usage_by_model(ledger: Ledger, models: Models) -> dict[str, Mapping[str, Any]]:
    """Per model, under the field names of the documented ``modelUsage``."""
    return {
        name: {
            "inputTokens": line.usage.input,
            "outputTokens": line.usage.output,
            "cacheReadInputTokens": line.usage.cache_read,
            "cacheCreationInputTokens": line.usage.cache_write,
            "webSearchRequests": line.usage.web_searches,
            "costUSD": None if line.unpriced else line.cost,
            "contextWindow": models.info(name).window,
        }
        for name, line in ledger.by_model().items()
    }
