"""The last turn in full, as plain text for a pager: everything that the sheet folds."""

from __future__ import annotations

import json

from agentcli.events import AssistantMessage, Event, PromptAccepted, ToolFinished, ToolResultsAppended, TurnStarted
from agentcli.messages import TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from agentcli.ports.display import DiffDisplay
from agentcli.ui.terminal.output.diff import compare
from agentcli.ui.terminal.output.pen import safe


class TurnLog:
    """Keeps the last turn (the running one, once it has begun)."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._names: dict[str, str] = {}

    def note(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._parts, self._names = [], {}
            case PromptAccepted(message) | AssistantMessage(message) | ToolResultsAppended(message):
                for block in message.content:
                    self._block(block, message.role)
            case ToolFinished(name=name, title=title, display=DiffDisplay() as display):
                self._add(f"{name} {title}", _plain_diff(display))
            case _:
                pass

    def _block(self, block: object, role: str) -> None:
        match block:
            case TextBlock(text, origin):
                self._add(origin if origin != "user" else role, text)
            case ThinkingBlock(thinking=thinking) if thinking:
                self._add("thinking", thinking)
            case ToolUseBlock(id=id, name=name, input=input):
                self._names[id] = name
                self._add(f"call {name}", json.dumps(dict(input), indent=2, ensure_ascii=False))
            case ToolResultBlock(tool_use_id=id, content=content, is_error=is_error):
                texts = [c.text if isinstance(c, TextBlock) else f"[{type(c).__name__}]" for c in content]
                self._add(f"{'error' if is_error else 'result'} {self._names.get(id, '')}", "\n".join(texts))
            case _:
                pass

    def _add(self, head: str, text: str) -> None:
        self._parts.append(f"── {head.strip()} " + "─" * max(4, 60 - len(head)) + f"\n{safe(text).rstrip()}\n")

    @property
    def empty(self) -> bool:
        return not self._parts

    def text(self) -> str:
        return "\n".join(self._parts)


def _plain_diff(display: DiffDisplay) -> str:
    lines = compare(display.before, display.after).lines
    return "\n".join(f"{line.number or '':>6} {line.sign} {line.text}" for line in lines)
