"""Session files: the append-only journal, reading it back, finding and continuing sessions."""

from agentcli.sessions.journal import FileJournal, MemoryJournal

__all__ = ["FileJournal", "MemoryJournal"]
