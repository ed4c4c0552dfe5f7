"""A bench for the file tools: real files, the real tools, calls as the engine makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentcli.errors import ToolError
from agentcli.events import Event
from agentcli.files import FilesSeen
from agentcli.messages import ResultContent, TextBlock
from agentcli.ports.tools import Tool, ToolContext, ToolResult, Workspace, text_result
from agentcli.tools.edit import Edit
from agentcli.tools.glob import Glob
from agentcli.tools.grep import Grep
from agentcli.tools.read import Read
from agentcli.tools.todo_write import TodoList, TodoWrite
from agentcli.tools.write import Write

TOOLS: dict[str, Tool] = {t.spec.name: t for t in (Read(), Write(), Edit(), Glob(), Grep(), TodoWrite())}


@dataclass
class Bench:
    project: Path
    seen: FilesSeen = field(default_factory=FilesSeen)
    todos: TodoList = field(default_factory=TodoList)
    events: list[Event] = field(default_factory=list)
    workspace: Workspace = field(init=False)

    def __post_init__(self) -> None:
        self.workspace = Workspace(self.project, self.project)

    @property
    def ctx(self) -> ToolContext:
        return ToolContext(
            workspace=self.workspace,
            emit=self.events.append,
            output=lambda text: None,
            spill=lambda text, suffix: self.project / f"spilled{suffix}",
            seen=self.seen,
            services={"todos": self.todos},
        )

    async def call(self, tool: str, **input: Any) -> ToolResult:
        """The result; a ``ToolError`` as an error result, as the engine makes it."""
        try:
            return await TOOLS[tool].run(input, self.ctx)
        except ToolError as error:
            return text_result(str(error), summary="error", is_error=True)

    async def text(self, tool: str, **input: Any) -> str:
        """The text of a call that succeeds."""
        result = await self.call(tool, **input)
        assert not result.is_error, said(result.for_model)
        return said(result.for_model)

    async def error(self, tool: str, **input: Any) -> str:
        result = await self.call(tool, **input)
        assert result.is_error, said(result.for_model)
        return said(result.for_model)

    async def read(self, *names: str) -> None:
        for name in names:
            await self.text("Read", file_path=name)

    async def edit(self, name: str, old: str, new: str, **more: Any) -> str:
        return await self.text("Edit", file_path=name, old_string=old, new_string=new, **more)


def said(content: Sequence[ResultContent]) -> str:
    return "\n".join(b.text for b in content if isinstance(b, TextBlock))
