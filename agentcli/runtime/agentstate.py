"""The state that a subagent begins with: its model, its effort, its place among the session's conversations."""

from __future__ import annotations

from agentcli.agent.state import SessionState
from agentcli.agent.subagent import Hire
from agentcli.errors import ToolError, UserError
from agentcli.extend.agents import AgentDefinition
from agentcli.model.catalog import check_effort
from agentcli.runtime.parent import FORCED, Parent


def state_of(parent: Parent, hire: Hire, definition: AgentDefinition) -> SessionState:
    """``ToolError`` for a model that can't be had."""
    model = _model(parent, hire, definition)
    info = parent.models.info(model)
    effort = hire.order.effort or definition.effort or parent.state.effort
    return SessionState(
        session_id=parent.state.session_id,
        model=model,
        start_date=parent.world.clock.now().date().isoformat(),
        effort=check_effort(effort, info) if effort in info.efforts and effort else None,
        thinking=parent.state.thinking if model == parent.state.model else "default",
        conversation_id=f"{parent.state.session_id}/{hire.id}",
        query_source="subagent",
        interactive=False,
    )


def _model(parent: Parent, hire: Hire, definition: AgentDefinition) -> str:
    """Environment, then the call, then the definition, then the parent's."""
    own = parent.state.model
    # A server with models of its own need not have those that built-in agents prefer.
    foreign = definition.scope == "built-in" and not parent.models.info(own).known
    kind = None if foreign else definition.model
    forced = parent.world.env.get(FORCED, "").strip()
    named = next((n for n in (forced, hire.order.model, kind) if n and n != "inherit"), None)
    if named is None:
        return own
    try:
        return parent.models.resolve(named)
    except UserError as error:
        raise ToolError(f"model {named!r}: {error}") from error
