"""Which session ``--continue`` and ``--resume`` mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentcli.errors import UserError
from agentcli.sessions.index import SessionInfo, describe, search
from agentcli.sessions.lock import owner


@dataclass(frozen=True, slots=True)
class Chosen:
    """``info`` is ``None`` when there is nothing to continue.  ``note`` is for the user: what was passed over."""

    info: SessionInfo | None
    note: str = ""


def choose_latest(infos: Sequence[SessionInfo]) -> Chosen:
    """The newest session that nobody has open."""
    passed: list[str] = []
    for info in infos:
        holder = owner(info.path)
        if holder is None:
            return Chosen(info, " ".join(passed))
        passed.append(f"Session {info.id[:8]} ({info.label}) is open in {holder}; passed over.")
    return Chosen(None, " ".join(passed))


def find(infos: Sequence[SessionInfo], text: str, *, home: Path | None = None) -> SessionInfo:
    """By exact id (of any directory, with ``home``), unique beginning of an id, title, or words of title and first
    prompt.  ``UserError`` when nothing or more than one fits."""
    exact = [i for i in infos if i.id == text]
    if not exact and home is not None and text and not set(text) & set("/*?[\\"):
        exact = [i for i in (describe(p) for p in sorted(home.glob(f"projects/*/{text}.jsonl"))) if i is not None]
    starts = [i for i in infos if text and i.id.startswith(text)]
    titled = [i for i in infos if i.title and i.title.lower() == text.lower()]
    for fitting in (exact, starts, titled, search(infos, text) if text.strip() else []):
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            listed = "\n".join(f"  {i.id}  {i.label}" for i in fitting[:10])
            raise UserError(f"More than one session fits {text!r}; name one by its id:\n{listed}")
    raise UserError(f"No session of this directory fits {text!r}. 'agentcli --resume' lists them.")
