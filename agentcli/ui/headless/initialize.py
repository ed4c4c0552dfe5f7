"""The client's first request: what it says about the session that is to be built."""

from __future__ import annotations

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


def _missing(body: Json) -> tuple[str, ...]:
    """What this version can't do yet and says so."""
    words = {
        "agents": "agents of the client are not available in this version",
        "skills": "the choice of skills has no effect in this version",
        "excludeDynamicSections": "excludeDynamicSections has no effect in this version",
    }
    return tuple(text for name, text in words.items() if body.get(name))
