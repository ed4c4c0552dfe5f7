"""What the built-in tools share: words from the file beside the code, parsed parameters, one line as title."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from agentcli.messages import Json
from agentcli.ports.display import Display
from agentcli.ports.model import ToolSpec
from agentcli.ports.tools import Effect, ToolContext, ToolResult
from agentcli.text import clean, one_line
from agentcli.tools.schema import json_schema, parse

P = TypeVar("P")


def words(code: str) -> str:
    """The tool's description: the ``.md`` file beside the module ``code`` (its ``__file__``)."""
    return Path(code).with_suffix(".md").read_text(encoding="utf-8").strip()


class BuiltinTool(ABC, Generic[P]):
    """A tool whose input is the dataclass ``params``.  A subclass names it, and writes ``call``.

    ``key`` is the parameter that tells most about a call; ``code`` the subclass's ``__file__``.
    """

    name: ClassVar[str]
    code: ClassVar[str]
    key: ClassVar[str]
    deferred: ClassVar[bool] = False
    kind: ClassVar[Effect] = "read"

    def __init__(self, params: type[P]) -> None:
        self._params = params

    @cached_property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, words(self.code), json_schema(self._params), deferred=self.deferred)

    def effect(self, input: Json) -> Effect:
        return self.kind

    def title(self, input: Json) -> str:
        value: Any = input.get(self.key, "") if hasattr(input, "get") else ""
        return one_line(clean(value if isinstance(value, str) else str(value)))

    def preview(self, input: Json, ctx: ToolContext) -> Display | None:
        return None

    def check(self, input: Json) -> None:
        parse(self._params, input)

    async def run(self, input: Json, ctx: ToolContext) -> ToolResult:
        return await self.call(parse(self._params, input), ctx)

    @abstractmethod
    async def call(self, params: P, ctx: ToolContext) -> ToolResult:
        """Does the work.  ``ToolError`` becomes an error result."""
