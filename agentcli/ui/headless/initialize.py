"""The client's first request: what it says about the session that is to be built."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from agentcli.errors import UsageError
from agentcli.messages import Json
from agentcli.runtime.options import SessionOptions
from agentcli.ui.headless.hooks import EVENTS, Matcher, read_hooks
from agentcli.ui.headless.servers import entries
from agentcli.ui.headless.structured import OutputSchema


@dataclass(frozen=True, slots=True)
class Wishes:
    """``warnings`` name what was asked for and is not there."""

    options: SessionOptions
    schema: OutputSchema | None = None
    hooks: Mapping[str, tuple[Matcher, ...]] = field(default_factory=dict)
    subagent_text: bool = False
    warnings: tuple[str, ...] = ()


def read_initialize(body: Json, wishes: Wishes) -> Wishes:
    """The wishes of the command line with what the request adds.  ``UsageError`` where a field is malformed."""
    system = _words("systemPrompt", body.get("systemPrompt"))
    append = _words("appendSystemPrompt", body.get("appendSystemPrompt"))
    given = body.get("jsonSchema")
    options = wishes.options
    hooks = read_hooks(body.get("hooks"))
    return Wishes(
        options=replace(
            options,
            system_prompt=system or options.system_prompt,
            append_system_prompt=append or options.append_system_prompt,
            agents=_agents(body.get("agents"), options.agents),
            name=_words("title", body.get("title")) or options.name,
            mcp_config=(*options.mcp_config, *entries(body.get("sdkMcpServers"), body.get("sdkMcpServerConfigs"))),
        ),
        schema=OutputSchema.parse(given, where="initialize: jsonSchema") if given is not None else wishes.schema,
        hooks=hooks,
        subagent_text=wishes.subagent_text or body.get("forwardSubagentText") is True,
        warnings=(*_missing(body), *(f"the hook event {e} does not happen here" for e in hooks if e not in EVENTS)),
    )


def _words(name: str, value: object) -> str:
    """A text, or a list of texts that are joined."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return "\n\n".join(v for v in value if v.strip())
    raise UsageError(f"initialize: {name} is a text or a list of texts")


def _agents(given: object, flag: str) -> str:
    """Agents as the JSON of ``--agents``, those of the flag of this name too; a name that both have is the client's."""
    if given is None:
        return flag
    if not isinstance(given, dict):
        raise UsageError("initialize: agents is not an object")
    try:
        known = json.loads(flag) if flag.strip() else {}
    except ValueError as error:
        raise UsageError(f"--agents: not JSON: {error}") from error
    return json.dumps({**(known if isinstance(known, dict) else {}), **given}) if given else flag


def _missing(body: Json) -> tuple[str, ...]:
    """What this version can't do yet and says so."""
    words = {
        "skills": "the choice of skills has no effect in this version",
        "excludeDynamicSections": "excludeDynamicSections has no effect in this version",
    }
    return tuple(text for name, text in words.items() if body.get(name))
