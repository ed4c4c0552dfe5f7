"""The one stream of events that goes up from the engine to every front end.

``Event`` is a closed union of frozen dataclasses; each docstring says when it may occur.  ``to_record`` makes one
JSON-ready.  A front end matches on the union with ``assert_never``, so that the type checker names every place that
must draw a new event.
"""

from agentcli.events.calls import (
    PermissionAsked,
    PermissionResolved,
    ToolFinished,
    ToolOutput,
    ToolResultsAppended,
    ToolStarted,
)
from agentcli.events.records import to_record
from agentcli.events.states import (
    Compacted,
    ConversationCleared,
    JobChanged,
    ModeChanged,
    ModelChanged,
    Notice,
    QueueChanged,
    TodosChanged,
)
from agentcli.events.steps import (
    AssistantMessage,
    AttemptDiscarded,
    CacheObserved,
    FallbackUsed,
    ModelStream,
    RetryScheduled,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCallStarted,
)
from agentcli.events.stream import Emit, EventStream, Listener
from agentcli.events.types import Event, FromSubagent, PromptAccepted, TurnFinished, TurnStarted

__all__ = [
    "AssistantMessage",
    "AttemptDiscarded",
    "CacheObserved",
    "Compacted",
    "ConversationCleared",
    "Emit",
    "Event",
    "EventStream",
    "FallbackUsed",
    "FromSubagent",
    "JobChanged",
    "Listener",
    "ModeChanged",
    "ModelChanged",
    "ModelStream",
    "Notice",
    "PermissionAsked",
    "PermissionResolved",
    "PromptAccepted",
    "QueueChanged",
    "RetryScheduled",
    "StepStarted",
    "TextDelta",
    "ThinkingDelta",
    "TodosChanged",
    "ToolCallStarted",
    "ToolFinished",
    "ToolOutput",
    "ToolResultsAppended",
    "ToolStarted",
    "TurnFinished",
    "TurnStarted",
    "to_record",
]
