"""YAML front matter of Markdown files (agents, skills, commands, rules, output styles)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentcli.errors import UserError

if TYPE_CHECKING:
    import yaml

_FENCE = "---"
_KEPT_TAGS = ("str", "null", "seq", "map")


class FrontMatterError(UserError):
    """The front matter can't be read; the text names file, line and column."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    values: Mapping[str, Any]
    body: str
    """Everything behind the closing fence."""
    body_line: int
    """Number of the body's first line in the file, from 1."""


def read_front_matter(text: str, *, source: Path | str, plain: bool = False) -> FrontMatter:
    """Splits a file into its front matter and its body.  Without a fence in the first line all of it is body.

    With ``plain`` every scalar is the string that stands there, so that ``on: yes`` is ``{"on": "yes"}`` and
    ``12:30:45`` stays a time; else YAML's types hold for values, and keys are still strings as written.
    ``FrontMatterError`` where the fence is not closed, the YAML is wrong or is not a mapping.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        return FrontMatter({}, "\n".join(lines), 1)
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise FrontMatterError(f"{source}:1: the front matter is not closed. Put a line with --- behind it.")
    values = _load("\n".join(lines[1:end]) + "\n", source, plain)
    return FrontMatter(values, "\n".join(lines[end + 1 :]), end + 2)


def _load(source_text: str, source: Path | str, plain: bool) -> dict[str, Any]:
    import yaml

    try:
        value = yaml.load(source_text, Loader=_loader(plain))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{mark.line + 2}:{mark.column + 1}" if mark else "1"
        raise FrontMatterError(f"{source}:{place}: {error.problem or error.context or 'wrong YAML'}.") from error
    except (yaml.YAMLError, ValueError) as error:
        raise FrontMatterError(f"{source}:1: the front matter is not YAML: {error}") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FrontMatterError(f"{source}:2: the front matter must be a list of `name: value` lines.")
    return value


def _as_written(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> str:
    return str(node.value)


@lru_cache(maxsize=2)
def _loader(plain: bool) -> type[yaml.SafeLoader]:
    """A safe loader whose mapping keys are strings as written; with ``plain`` values too."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    def mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[str, Any]:
        loader.flatten_mapping(node)
        return {_key(key): loader.construct_object(value, deep=True) for key, value in node.value}

    def _key(node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(None, None, "a name must be a plain word", node.start_mark)
        return str(node.value)

    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    if plain:
        for tag in ("bool", "int", "float", "timestamp", "binary"):
            Loader.add_constructor(f"tag:yaml.org,2002:{tag}", _as_written)
    return Loader
