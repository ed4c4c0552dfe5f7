"""Which servers of the project may start: a server that came with the repository runs the moment it is connected.

The user's answer is bound to the entry's content: a changed command, argument or variable asks again, the order of
keys does not.  Names that the user's own settings list (``enabledMcpjsonServers``, ``enableAllProjectMcpServers``)
count as a yes, ``disabledMcpjsonServers`` anywhere as a no; the project's own files can't say yes for themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from agentcli.mcp.config import content_of
from agentcli.mcp.values import ServerEntry
from agentcli.settings.approvals import Approvals
from agentcli.settings.merged import Settings
from agentcli.settings.trust import Project, TrustStore

KIND = "mcp"
Verdict = Literal["yes", "no", "ask", "changed", "untrusted"]


class Guard:
    """``trusted`` is the command line's word for this session (``--trust``): a yes to everything that was not refused.

    ``settings`` are the session's; ``project_trusted`` whether the directory itself is trusted (asked of the record of
    trust where it is not given).
    """

    def __init__(
        self,
        project: Project,
        settings: Settings,
        env: Mapping[str, str] | None = None,
        *,
        trusted: bool = False,
        project_trusted: bool | None = None,
    ) -> None:
        self._approvals = Approvals(project, env)
        self._settings = settings
        self._given = trusted
        known = TrustStore(env).trusted(project) if project_trusted is None else project_trusted
        self._trusted = trusted or known

    def verdict(self, entry: ServerEntry) -> Verdict:
        if entry.scope != "project":
            return "yes"
        if entry.name in self._names("disabledMcpjsonServers", foreign=True):
            return "no"
        state = self._approvals.state(KIND, entry.name, content_of(entry))
        if state == "rejected":
            return "no"
        if not self._trusted:
            return "untrusted"
        if state == "approved" or self._given or self._listed(entry.name):
            return "yes"
        return "changed" if state == "changed" else "ask"

    def answer(self, entry: ServerEntry, *, approved: bool) -> bool:
        """Records the user's answer.  False when it holds for this session only."""
        self._trusted = self._trusted or approved
        return self._approvals.answer(KIND, entry.name, content_of(entry), approved=approved)

    def _listed(self, name: str) -> bool:
        every = any(
            layer.data.get("enableAllProjectMcpServers") is True for layer in self._settings.layers if not layer.foreign
        )
        return every or name in self._names("enabledMcpjsonServers", foreign=False)

    def _names(self, key: str, *, foreign: bool) -> set[str]:
        found: set[str] = set()
        for layer in self._settings.layers:
            names: Any = layer.data.get(key)
            if isinstance(names, list) and (foreign or not layer.foreign):
                found |= {n for n in names if isinstance(n, str)}
        return found


def reason(verdict: Verdict) -> str:
    """Why a server is not started, for ``/mcp``."""
    match verdict:
        case "untrusted":
            return "the project is not trusted (start agentcli here and say yes, or use --trust)"
        case "changed":
            return "its entry in .mcp.json changed since it was approved: approve it again"
        case "ask":
            return "waits for your approval, since it came with the project"
        case "no":
            return "refused for this project"
        case "yes":
            return ""
