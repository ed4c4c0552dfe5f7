"""Session files: the append-only journal, reading it back, finding and continuing sessions."""

from agentcli.sessions.export import to_json, to_markdown
from agentcli.sessions.index import SessionInfo, describe, last_words, list_sessions, search
from agentcli.sessions.journal import FileJournal, MemoryJournal
from agentcli.sessions.load import Loaded, load, restored_cache
from agentcli.sessions.lock import Owner, SessionLock, acquire, owner
from agentcli.sessions.recorder import recorder
from agentcli.sessions.resume import Chosen, choose_latest, find
from agentcli.sessions.retention import expired, remove
from agentcli.sessions.store import OpenSession, SessionOwned, SessionStore

__all__ = [
    "Chosen",
    "FileJournal",
    "Loaded",
    "MemoryJournal",
    "OpenSession",
    "Owner",
    "SessionInfo",
    "SessionLock",
    "SessionOwned",
    "SessionStore",
    "acquire",
    "choose_latest",
    "describe",
    "expired",
    "find",
    "last_words",
    "list_sessions",
    "load",
    "owner",
    "recorder",
    "remove",
    "restored_cache",
    "search",
    "to_json",
    "to_markdown",
]
