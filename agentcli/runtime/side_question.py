"""A single question to a small model, beside the conversation: for hooks of type ``prompt``, and for web pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, cast

from agentcli.agent.state import SessionState
from agentcli.conversation import ConversationCache, PromptPart, SystemPrompt
from agentcli.extend.hooks.running import AskModel
from agentcli.messages import user
from agentcli.ports.model import ApiEvent, AttemptFailed, ModelClient, ModelRequest
from agentcli.runtime.models import Models

SMALL_MODEL = "haiku"
MAX_TOKENS = 1_024
READER = "You read one web page for a coding agent and answer its question from it."
_WORDS = "You check one condition about a coding session and answer in the form that is asked for."


def small_model(
    client: ModelClient, resolve: Callable[[str], str], *, words: str = _WORDS, conversation_id: str = "hook"
) -> AskModel:
    """Asks the client; ``resolve`` turns an alias into an exact id; ``words`` is the system prompt.  Errors are the
    client's own (``TurnError``)."""

    async def ask(prompt: str, model: str | None) -> str:
        request = ModelRequest(
            system=SystemPrompt((PromptPart("identity", "custom", words),), "custom"),
            tools=(),
            messages=(user(prompt),),
            model=resolve(model or SMALL_MODEL),
            conversation=ConversationCache(),
            conversation_id=conversation_id,
            max_tokens=MAX_TOKENS,
            query_source="side",
        )
        text = ""
        stream = cast("Any", client.stream(request))  # an async generator, which is what aclosing closes
        async with aclosing(stream) as events:
            async for event in events:
                if isinstance(event, AttemptFailed):
                    text = ""
                elif isinstance(event, ApiEvent):
                    text += _delta(event.raw)
        return text

    return ask


def page_reader(client: ModelClient, models: Models, state: SessionState) -> Callable[[str], Awaitable[str]]:
    """Who reads web pages: the small model, or the session's own where the server has models of its own."""
    ask = small_model(client, models.resolve, words=READER, conversation_id="web")

    async def read(question: str) -> str:
        return await ask(question, None if models.info(state.model).known else state.model)

    return read


def _delta(raw: Any) -> str:
    delta = raw.get("delta") if raw.get("type") == "content_block_delta" else None
    return str(delta.get("text", "")) if isinstance(delta, dict) and delta.get("type") == "text_delta" else ""
