"""Agent definitions: ``agents/**/*.md`` with front matter; the body is the prompt.

Looked for in the ``.claude`` directories from the working directory up to the repository's root (nearest wins), then in
the user's directory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentcli.errors import UserError
from agentcli.frontmatter import FrontMatter, read_front_matter


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """``tools`` ``None`` is all of them; ``model`` ``None`` inherits."""

    name: str
    description: str
    body: str
    path: Path
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None


def find_agent(name: str, *, cwd: Path, user: Path | None) -> AgentDefinition | None:
    """The nearest definition of that name; ``UserError`` (file and line) when it can't be read."""
    for directory in agent_directories(cwd, user):
        for path in _files(directory):
            front = _read(path)
            if str(front.values.get("name") or path.stem) == name:
                return _definition(name, front, path)
    return None


def agent_directories(cwd: Path, user: Path | None) -> list[Path]:
    """Nearest first.  The walk ends at the repository's root, so that nothing from above it is taken in."""
    found: list[Path] = []
    for directory in (cwd, *cwd.parents):
        found.append(directory / ".claude" / "agents")
        if (directory / ".git").exists():
            break
    else:
        found = found[:1]
    return [*found, *([user / "agents"] if user else [])]


def _files(directory: Path) -> Iterator[Path]:
    if directory.is_dir():
        yield from sorted(p for p in directory.rglob("*.md") if p.is_file())


def _read(path: Path) -> FrontMatter:
    try:
        return read_front_matter(path.read_text(encoding="utf-8"), source=path)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: can't be read: {error}") from error


def _definition(name: str, front: FrontMatter, path: Path) -> AgentDefinition:
    values = front.values
    body = front.body.strip()
    if not body:
        raise UserError(f"{path}: the agent has no prompt; write it below the front matter")
    return AgentDefinition(
        name=name,
        description=str(values.get("description") or ""),
        body=body,
        path=path,
        tools=_names(values, "tools", path),
        disallowed_tools=_names(values, "disallowedTools", path) or (),
        model=None if values.get("model") in (None, "inherit") else str(values["model"]),
    )


def _names(values: Mapping[str, Any], key: str, path: Path) -> tuple[str, ...] | None:
    """A list of names, also written with commas."""
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, str):
        value = [v.strip() for v in value.split(",")]
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise UserError(f"{path}: {key} must be a list of tool names")
    return tuple(v for v in value if v and v != "*") or None
