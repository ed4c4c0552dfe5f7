"""What a session knows while it runs: the conversation, what shaped its prefix, and what it has used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from agentcli.conversation import ConversationCache
from agentcli.messages import Json, Message, ToolUseBlock, Usage, append
from agentcli.ports.display import Todo
from agentcli.ports.model import Effort, QuerySource, ThinkingChoice, ToolSpec
from agentcli.ports.prompt import Reminder
from agentcli.ports.sessions import Earlier


@dataclass(slots=True)
class SessionState:
    """One conversation's state.  ``messages`` is what the API gets, one for one; it only grows, but for ``replace``.

    ``start_date`` is the local date (YYYY-MM-DD) that the prompt was built with, ``cost`` US dollars (``None`` once a
    model without known prices was used), ``context_tokens`` the last request's input and output together.
    """

    session_id: str
    model: str
    start_date: str
    tools: tuple[ToolSpec, ...] = ()
    """Frozen for the conversation; only late definitions are added (``Rooms.late_tools``)."""
    effort: Effort | None = None
    thinking: ThinkingChoice = "default"
    conversation_id: str = "main"
    query_source: QuerySource = "repl"
    interactive: bool = True
    output_schema: Json | None = None
    """JSON schema that the API holds final answers to; part of every request of the conversation."""
    cache: ConversationCache = field(default_factory=ConversationCache)
    messages: list[Message] = field(default_factory=list)
    usage: dict[str, Usage] = field(default_factory=dict)
    """By model, all requests of the session."""
    cost: float | None = 0.0
    todos: tuple[Todo, ...] = ()
    turn: int = 0
    steps: int = 0
    steps_since_todos: int = 0
    """Steps since the todo list was last written."""
    context_tokens: int = 0
    measured: int = 0
    """How many messages ``context_tokens`` covers."""
    front_tokens: int = 0
    """Estimated tokens of tools and system prompt of the last request."""
    answered_at: datetime | None = None
    """When the last answer came: the API's cache lives from then on."""
    earlier: list[Earlier] = field(default_factory=list)
    """The conversation before its last compactions, newest last."""
    intent: str = ""
    """Why the next request's prefix differs on purpose; taken once."""
    pending: list[Reminder] = field(default_factory=list)
    """Notes of the engine's own (an interruption, a hook's context) for the next user message."""
    call_ids: set[str] = field(default_factory=set)
    on_spend: Callable[[str, Usage, float | None], None] | None = None
    """Hears of every paid request: (model, usage, cost)."""

    def append(self, message: Message) -> None:
        append(self.messages, message)
        self.call_ids.update(c.id for c in message.tool_uses())

    def replace(self, messages: Iterable[Message], *, intent: str) -> None:
        """A documented rewrite of history.  The next request names ``intent`` as the cause of its cache break."""
        self.messages[:] = messages
        self.intent = intent
        self.call_ids = {b.id for m in self.messages for b in m.content if isinstance(b, ToolUseBlock)}
        self.context_tokens = 0
        self.measured = 0

    def restore(
        self,
        messages: Iterable[Message],
        *,
        usage: dict[str, Usage],
        cost: float | None,
        turn: int,
        context_tokens: int = 0,
        measured: int = 0,
    ) -> None:
        """Takes on what a session file tells, before the first turn."""
        self.replace(messages, intent="")
        self.usage = dict(usage)
        self.cost = cost
        self.turn = turn
        self.context_tokens = context_tokens if measured <= len(self.messages) else 0
        self.measured = measured if self.context_tokens else 0

    def take_intent(self) -> str:
        intent, self.intent = self.intent, ""
        return intent

    def spend(self, model: str, usage: Usage, cost: float | None) -> None:
        self.usage[model] = self.usage.get(model, Usage()) + usage
        self.cost = None if cost is None or self.cost is None else self.cost + cost
        if self.on_spend is not None:
            self.on_spend(model, usage, cost)

    def set_todos(self, todos: tuple[Todo, ...]) -> None:
        self.todos = todos
        self.steps_since_todos = 0
