"""Agent definitions: ``agents/**/*.md`` with front matter, the body is the prompt; or JSON of the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from agentcli.errors import UsageError, UserError
from agentcli.extend.definition import DefinitionError, Document, Fields, read_document
from agentcli.extend.places import BUILT_IN, Place, Scope, find_places, markdown_files
from agentcli.ports.permissions import PERMISSION_MODES, PermissionMode

MemoryScope = Literal["user", "project", "local"]
EFFORTS = ("low", "medium", "high", "xhigh", "max")
_NAME = re.compile(r"[^\s:/\\]{1,64}")


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """``tools`` ``None`` is all of them, ``model`` ``None`` inherits; an empty ``body`` is the default agent prompt.

    ``permission_mode``, ``mcp_servers``, ``hooks``, ``memory`` and ``isolation`` of an untrusted project are left out.
    """

    name: str
    description: str
    body: str
    path: Path
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None
    scope: Scope = "project"
    permission_mode: PermissionMode | None = None
    max_turns: int | None = None
    skills: tuple[str, ...] = ()
    """Skills whose whole text the agent begins with."""
    mcp_servers: tuple[str | Mapping[str, Any], ...] = ()
    """Names of servers of the session, or definitions of the agent's own."""
    hooks: Mapping[str, Any] = field(default_factory=dict)
    """As under ``hooks`` in the settings; they hold while the agent runs."""
    memory: MemoryScope | None = None
    background: bool = False
    effort: str | None = None
    color: str = ""
    isolation: Literal["worktree"] | None = None
    initial_prompt: str = ""
    """The first prompt where the agent runs on the main thread."""

    def allows(self, tool: str) -> bool:
        """Whether the agent has the tool; what is disallowed wins.  ``Agent(a, b)`` in the list is ``Agent``."""
        return tool not in self.disallowed_tools and (self.tools is None or tool in plain_names(self.tools))

    @property
    def read_only(self) -> bool:
        """A built-in agent that only looks: it gets no memory files."""
        return self.scope == "built-in" and self.tools is not None


def plain_names(tools: Iterable[str]) -> set[str]:
    """The tools of a list, without what stands in parentheses; ``Task`` is the old name of ``Agent``."""
    names = {t.partition("(")[0] for t in tools}
    return names | {"Agent"} if "Task" in names else names


def agent_kinds(tools: Iterable[str] | None) -> frozenset[str] | None:
    """The kinds of agents, in lower case, that ``Agent(a, b)`` in a list of tools allows to start; ``None``: every one,
    as ``Agent`` alone does."""
    forms = [t.partition("(") for t in tools or ()]
    given = [inner.rstrip(")") for name, _, inner in forms if name in ("Agent", "Task")]
    if not given or not all(given):
        return None
    return frozenset(kind.strip().lower() for inner in given for kind in inner.split(",") if kind.strip())


def parse_agent(document: Document, place: Place) -> tuple[AgentDefinition | None, list[str]]:
    """The definition and warnings; ``None`` for a file without front matter, which is no agent.  ``DefinitionError``
    for one that can't be used."""
    if not document.fenced:
        return None, []
    fields = Fields(document)
    name = fields.text("name") or document.path.stem
    if not _NAME.fullmatch(name):
        raise DefinitionError(f"{fields.place('name')}: the name {name!r} must be one word without : and /")
    description = fields.text("description")
    if not description:
        raise DefinitionError(
            f"{document.path}:1: the agent has no description. Say in the front matter when to hand work to it."
        )
    body = document.body.strip()
    if not body and place.scope != "built-in":
        raise DefinitionError(f"{document.path}: the agent has no prompt; write it below the front matter")
    return _agent(fields, name, description, body, place), fields.warnings


def _agent(fields: Fields, name: str, description: str, body: str, place: Place) -> AgentDefinition:
    model = fields.text("model")
    trusted = place.trusted
    tools = fields.names("tools")
    return AgentDefinition(
        name=name,
        description=description,
        body=body,
        path=fields.document.path,
        tools=None if tools is not None and "*" in tools else tools,
        disallowed_tools=fields.names("disallowedTools", "disallowed-tools") or (),
        model=None if model in ("", "inherit") else model,
        scope=place.scope,
        permission_mode=_mode(fields) if trusted else None,
        max_turns=fields.number("maxTurns"),
        skills=fields.names("skills") or (),
        mcp_servers=_servers(fields) if trusted else (),
        hooks=_hooks(fields) if trusted else {},
        memory=_memory(fields) if trusted else None,
        background=fields.flag("background"),
        effort=fields.choice("effort", EFFORTS),
        color=fields.text("color"),
        isolation=_isolation(fields) if trusted else None,
        initial_prompt=fields.text("initialPrompt"),
    )


def _mode(fields: Fields) -> PermissionMode | None:
    return cast("PermissionMode | None", fields.choice("permissionMode", PERMISSION_MODES))


def _memory(fields: Fields) -> MemoryScope | None:
    return cast("MemoryScope | None", fields.choice("memory", ("user", "project", "local")))


def _isolation(fields: Fields) -> Literal["worktree"] | None:
    return cast("Literal['worktree'] | None", fields.choice("isolation", ("worktree",)))


def _servers(fields: Fields) -> tuple[str | Mapping[str, Any], ...]:
    value = fields.document.values.get("mcpServers")
    if isinstance(value, str):
        return fields.names("mcpServers") or ()
    if isinstance(value, dict):
        return tuple({name: server} for name, server in value.items())
    if value is None or (isinstance(value, list) and all(isinstance(v, str | dict) for v in value)):
        return tuple(value or ())
    fields.warn("mcpServers", "must be a list of names and definitions")
    return ()


def _hooks(fields: Fields) -> Mapping[str, Any]:
    value = fields.document.values.get("hooks")
    if value is None or isinstance(value, dict):
        return value or {}
    fields.warn("hooks", "must be a list of events with their hooks")
    return {}


def find_agent(name: str, *, cwd: Path, user: Path | None, trusted: bool = False) -> AgentDefinition | None:
    """The definition of that name that wins, as in the catalog; ``UserError`` (file and line) when the file of that
    name can't be used.  For callers that need one agent and no catalog."""
    broken: DefinitionError | None = None
    places = find_places(cwd, user=user, trusted=trusted)
    strange = [p for p in places if not p.trusted]  # takes the place of nothing that the user knows
    for place in (*(p for p in places if p.trusted), BUILT_IN, *strange):
        for file in markdown_files(place, "agents"):
            try:
                agent, _ = parse_agent(read_document(file.path), place)
            except DefinitionError as error:
                broken = broken or (error if file.path.stem == name else None)
                continue
            if agent is not None and agent.name == name:
                return agent
        if broken is not None:
            raise broken
    return None


def agents_from_json(text: str) -> tuple[AgentDefinition, ...]:
    """``--agents``: ``{"name": {"description": …, "prompt": …, …}}`` with the keys of the files.  ``UsageError`` for
    anything that can't be used: what is asked for on the command line is never left out silently."""
    try:
        given = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--agents: not JSON: {error}") from error
    if not isinstance(given, dict):
        raise UsageError('--agents: must be an object: {"name": {"description": "…", "prompt": "…"}}')
    place = Place(Path("--agents"), "session", trusted=True, root=Path("--agents"))
    found = []
    for name, values in given.items():
        if not isinstance(values, dict) or not isinstance(values.get("prompt"), str):
            raise UsageError(f"--agents: {name}: must be an object with a description and a prompt")
        document = Document(Path(f"--agents/{name}"), {**values, "name": name}, values["prompt"], fenced=True)
        try:
            agent, warnings = parse_agent(document, place)
        except UserError as error:
            raise UsageError(f"--agents: {error}") from error
        if warnings:
            raise UsageError(f"--agents: {warnings[0]}")
        if agent is not None:
            found.append(agent)
    return tuple(found)
