"""The engine: a turn is steps, a step is one request and the calls of its answer.

``loop`` is the page to read first; ``turn`` folds one answer's stream, ``execute`` states the life of a tool call,
``compact`` replaces a conversation by a summary and what ``successor`` keeps, ``clearing`` takes old results away,
``agent`` is the door.
"""

from agentcli.agent.agent import Agent
from agentcli.agent.reminders import Reminders
from agentcli.agent.rooms import Limits, Rooms
from agentcli.agent.sources import (
    ChangedFilesSource,
    DateSource,
    GrantedSource,
    HeadSource,
    ModeSource,
    NewsSource,
    TodoSource,
)
from agentcli.agent.state import SessionState
from agentcli.agent.todos import SessionTodos

__all__ = [
    "Agent",
    "ChangedFilesSource",
    "DateSource",
    "GrantedSource",
    "HeadSource",
    "Limits",
    "ModeSource",
    "NewsSource",
    "Reminders",
    "Rooms",
    "SessionState",
    "SessionTodos",
    "TodoSource",
]
