"""The end of a session, in the order in which its rooms need each other."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcli.runtime.session import Session


async def end(session: Session) -> None:
    """Ends the turn, children and connections; the journal is whole, whatever fails."""
    session.broker.withdraw_all()
    session.agent.interrupt()
    await session.agent.idle()
    await session.crew.close()
    if session.warming is not None:
        await session.warming.close()
    try:
        await session.extended.close()
        if session.mcp is not None:
            await session.mcp.close()
        await session.checkpoints.close()
        await session.toolbox.close()
        with contextlib.suppress(OSError):  # the connection may be gone already
            await session.client.close()
    finally:
        session.opened.close("exit")
        session.directory.remove_temporary()
