"""Which session file a start means: a new one, the newest here, a named one, or a copy."""

from __future__ import annotations

from agentcli.errors import UserError
from agentcli.messages import Json
from agentcli.runtime.checkpointing import inherit
from agentcli.runtime.options import Resume, SessionOptions
from agentcli.sessions import OpenSession, SessionInfo, SessionStore, choose_latest, find


def open_file(store: SessionStore, options: SessionOptions, facts: Json) -> tuple[OpenSession, str]:
    """The session file and a sentence for the user about what was chosen (empty where it is plain).

    ``UserError`` when there is nothing to continue, the name is ambiguous, or another process owns the session.
    """
    if options.resume is None:
        return store.create(facts, session_id=options.session_id or None), ""
    info, note = _chosen(store, options.resume)
    if info is None:
        return store.create(facts, session_id=options.session_id or None), note
    opened = store.fork(info, facts) if options.resume.fork else store.resume(info, facts)
    if options.resume.fork and opened.directory is not None:
        try:
            inherit(info.path.with_suffix(""), opened.directory)
        except BaseException:
            opened.close("failed start")
            raise
    return opened, note


def _chosen(store: SessionStore, resume: Resume) -> tuple[SessionInfo | None, str]:
    infos = store.list()
    spoken = [info for info in infos if info.first_prompt]
    if not resume.newest:
        if not resume.query:
            raise UserError("--resume needs a session here: its id, the beginning of one, or words of its title.")
        return find(infos, resume.query, home=store.home), ""
    if resume.fork and spoken:
        return spoken[0], ""
    chosen = choose_latest(spoken)
    if chosen.info is None and not chosen.note:
        raise UserError("There is no session to continue in this directory.")
    return chosen.info, chosen.note
