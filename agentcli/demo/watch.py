"""The demonstration without questions: every permission is granted, everything that happens is printed as lines."""

from __future__ import annotations

import sys

from agentcli.events import Event, PermissionAsked, PromptAccepted
from agentcli.i18n import Texts
from agentcli.ports.frontend import UserInput
from agentcli.ports.model import ModelClient
from agentcli.ports.permissions import Answer
from agentcli.runtime.build import open_session
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.session import Session
from agentcli.ui.terminal.permission import reason
from agentcli.ui.terminal.plain_lines import Lines, PlainView


async def watch(options: SessionOptions, prompt: str, client: ModelClient) -> None:
    """One turn, watched."""
    session = await open_session(options, client=client)
    view = PlainView(Lines(sys.stdin, sys.stdout), Texts("en"))

    def handle(event: Event) -> None:
        match event:
            case PermissionAsked():
                _grant(session, view, event)
            case PromptAccepted(message=message):
                view.line(f"you: {message.text()}")
            case _:
                view.handle(event)

    session.events.subscribe(handle)
    try:
        session.start()
        await session.run(UserInput(prompt))
    finally:
        await session.close()


def _grant(session: Session, view: PlainView, event: PermissionAsked) -> None:
    view.line(f"? {event.name} {event.title}: {reason(event)}\n  (--auto answers: yes)")
    session.answer(event.request_id, Answer(allowed=True))
