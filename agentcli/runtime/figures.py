"""Figures of a session for status lines and results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentcli.agent.measure import used
from agentcli.model.usage import Ledger
from agentcli.ports.frontend import SessionStatus
from agentcli.runtime.branch import current_branch
from agentcli.runtime.models import Models

if TYPE_CHECKING:
    from agentcli.runtime.session import Session


def status_of(session: Session) -> SessionStatus:
    """What a status line shows now."""
    state, info = session.state, session.info
    return SessionStatus(
        session_id=session.id,
        model=state.model,
        model_name=info.name,
        effort=state.effort,
        mode=session.gate.mode,
        cwd=str(session.workspace.cwd),
        branch=current_branch(session.workspace.start),
        context_used=used(state),
        window=info.window,
        cost=state.cost,
        cache_read_share=session.cache_read_share,
        turn_running=session.agent.busy,
        queued=len(session.agent.queue),
        title=session.title,
    )


def usage_by_model(ledger: Ledger, models: Models) -> dict[str, Mapping[str, Any]]:
    """Per model, under the field names of the documented ``modelUsage``."""
    return {
        name: {
            "inputTokens": line.usage.input,
            "outputTokens": line.usage.output,
            "cacheReadInputTokens": line.usage.cache_read,
            "cacheCreationInputTokens": line.usage.cache_write,
            "webSearchRequests": 0,
            "costUSD": None if line.unpriced else line.cost,
            "contextWindow": models.info(name).window,
        }
        for name, line in ledger.by_model().items()
    }
