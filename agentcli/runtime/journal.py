"""The journal that the engine writes to, whichever session file is the present one."""

from __future__ import annotations

from agentcli.messages import Json
from agentcli.ports.sessions import EntryKind, Journal, PrefixRecord


class CurrentJournal:
    """``ports.sessions.Journal`` that hands on to ``target``; ``/clear`` puts another file there."""

    def __init__(self, target: Journal) -> None:
        self.target = target

    def append(self, kind: EntryKind, data: Json) -> None:
        self.target.append(kind, data)

    def prefix(self, record: PrefixRecord) -> None:
        self.target.prefix(record)

    def sync(self) -> None:
        self.target.sync()
