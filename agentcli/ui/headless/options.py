"""How a headless run reads and writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

OutputFormat = Literal["text", "json", "stream-json"]
InputFormat = Literal["text", "stream-json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlessOptions:
    """``partial``: the API's stream events too; ``replay``: user lines are echoed when they are taken on;
    ``permission_prompts``: the client answers permission questions; ``states``: lines that say who has to act;
    ``warnings`` are told once the run begins."""

    output_format: OutputFormat = "text"
    input_format: InputFormat = "text"
    partial: bool = False
    replay: bool = False
    subagent_text: bool = False
    json_schema: str | None = None
    permission_prompts: bool = False
    permission_tool: str = ""
    """The MCP tool that answers permission questions (its full name)."""
    states: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Streams:
    """File descriptors; ``input`` is ``None`` where there is none."""

    input: int | None = 0
    output: int = 1
