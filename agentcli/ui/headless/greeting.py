"""What a client is told about a session: the init line, and the answer to ``initialize``."""

from __future__ import annotations

from typing import Any

from agentcli import __version__
from agentcli.extend.output_styles import DEFAULT
from agentcli.model.catalog import model_choices
from agentcli.model.client import AnthropicClient
from agentcli.runtime.session import Session
from agentcli.ui.headless.lines import PROTOCOL_LEVEL

PROVIDERS = {"first_party": "firstParty", "gateway": "gateway"}


def init_fields(session: Session) -> dict[str, Any]:
    """The fields of ``system``/``init``."""
    return {
        "cwd": str(session.workspace.start),
        "tools": [tool.name for tool in session.state.tools],
        "mcp_servers": _servers(session),
        "model": session.state.model,
        "permissionMode": session.gate.mode,
        "slash_commands": [command["name"] for command in _commands(session)],
        "skills": list(session.extensions.skills),
        "agents": list(session.extensions.agents),
        "plugins": [],
        "output_style": session.extensions.style_name(),
        "apiKeySource": _key_source(session),
        "claude_code_version": PROTOCOL_LEVEL,
        "agent": "agentcli",
        "version": __version__,
        "betas": list(session.world.options.betas),
        "effort": session.state.effort,
    }


def initialize_answer(session: Session) -> dict[str, Any]:
    """The answer to the client's first request."""
    client = session.client
    provider = client.connection.provider if isinstance(client, AnthropicClient) else "scripted"
    return {
        "commands": _commands(session),
        "agents": _agents(session),
        "models": _models(session.state.model),
        "output_style": session.extensions.style_name(),
        "available_output_styles": [DEFAULT, *session.extensions.styles],
        "account": {"apiKeySource": _key_source(session), "apiProvider": PROVIDERS.get(provider, provider)},
        "hook_on_failure_supported": True,
        "pending_permission_requests": [],
    }


def _servers(session: Session) -> list[dict[str, str]]:
    found = session.mcp.statuses() if session.mcp is not None else ()
    return [{"name": s.name, "status": s.state} for s in found]


def _commands(session: Session) -> list[dict[str, Any]]:
    """Ours, and skills and custom commands that a user can call."""
    from agentcli.commands.registry import Registry
    from agentcli.commands.skills import slash_commands

    return [
        {"name": c.name, "description": c.description, "argumentHint": c.argument_hint, "aliases": list(c.aliases)}
        for c in Registry(lambda: slash_commands(session.extensions)).all()
    ]


def _agents(session: Session) -> list[dict[str, str]]:
    return [
        {"name": a.name, "description": a.description, **({"model": a.model} if a.model else {})}
        for a in session.extensions.agents.values()
    ]


def _models(current: str) -> list[dict[str, Any]]:
    found = [{"value": m.id, "displayName": m.name, "description": _description(m.window)} for m in model_choices()]
    if all(m["value"] != current for m in found):
        found.append({"value": current, "displayName": current, "description": "as this session was started"})
    return found


def _description(window: int) -> str:
    return f"{window:,} tokens of context"


def _key_source(session: Session) -> str:
    return session.client.connection.key_source if isinstance(session.client, AnthropicClient) else "none"
