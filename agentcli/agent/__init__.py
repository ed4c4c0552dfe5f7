"""The engine: a turn is steps, a step is one request and the calls of its answer.

``loop`` is the page to read first; ``turn`` folds one answer's stream, ``execute`` states the life of a tool call,
``compact`` replaces a conversation by a summary, ``agent`` is the door.
"""

from agentcli.agent.agent import Agent
from agentcli.agent.rooms import Limits, Rooms
from agentcli.agent.state import SessionState

__all__ = ["Agent", "Limits", "Rooms", "SessionState"]
