"""Another model, effort or thinking for the conversation."""

from __future__ import annotations

from typing import cast

from agentcli.agent.state import SessionState
from agentcli.events import ModelChanged
from agentcli.model.catalog import check_effort
from agentcli.ports.model import ThinkingChoice
from agentcli.prompt.source import PromptSource
from agentcli.runtime.models import Models


def switch(
    state: SessionState,
    models: Models,
    prompt: PromptSource,
    *,
    model: str | None,
    effort: str | None,
    thinking: str | None,
) -> ModelChanged:
    """Holds from the next request on, whose cache break then has this as its cause.  ``UserError`` for an unknown alias
    or an effort that the model does not have."""
    chosen = models.resolve(model) if model else state.model
    info = models.info(chosen)
    new_effort = check_effort(effort, info) if effort else state.effort if state.effort in info.efforts else None
    new_thinking = cast("ThinkingChoice", thinking or state.thinking)
    if chosen != state.model:
        prompt.model_switched()
        state.intent = "model switch"
    elif new_effort != state.effort:
        state.intent = "effort"
    elif new_thinking != state.thinking:
        state.intent = "thinking"
    state.model, state.effort, state.thinking = chosen, new_effort, new_thinking
    return ModelChanged(chosen, new_effort, new_thinking)
