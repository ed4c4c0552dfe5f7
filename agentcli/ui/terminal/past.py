"""The last part of a conversation that is gone on with, drawn as it was when it happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentcli.events import ToolFinished
from agentcli.messages import INTERRUPTED, Json, Message, TextBlock, ToolResultBlock, ToolUseBlock
from agentcli.ports.display import TextDisplay
from agentcli.text import one_line
from agentcli.ui.terminal.output.pen import safe
from agentcli.ui.terminal.view import View

SHOWN = 12
"""Messages that are shown again."""
Title = Callable[[str, Json], str]
"""``(tool, input)`` → the call's telling argument."""


def draw_past(view: View, messages: Sequence[Message], title: Title) -> None:
    if len(messages) > SHOWN:
        view.note(view.texts("resume.earlier", count=len(messages) - SHOWN), "dim")
    results = {r.tool_use_id: r for m in messages for r in m.tool_results()}
    for message in messages[-SHOWN:]:
        for block in message.content:
            match block:
                case TextBlock(text, "user"):
                    view.echo(text)
                case TextBlock(text, "model"):
                    view.markdown(text)
                case TextBlock(text, "summary" | "command"):
                    view.note(one_line(safe(text), 200), "dim")
                case ToolUseBlock():
                    view.sheet.put(view.painter.finished(_finished(block, results, title))[0], "tool", spaced=False)
                case _:
                    pass


def _finished(call: ToolUseBlock, results: Mapping[str, ToolResultBlock], title: Title) -> ToolFinished:
    """The call's end as far as its result tells it."""
    from agentcli.agent.execute import DECLINED, NOT_STARTED

    result = results.get(call.id)
    texts = [c.text for c in result.content if isinstance(c, TextBlock)] if result else [INTERRUPTED]
    words = "\n".join(texts).strip()
    failed = result is None or result.is_error
    return ToolFinished(
        call.id,
        call.name,
        title(call.name, call.input),
        TextDisplay(one_line(words.split("\n", 1)[0], 80) if failed else ""),
        failed,
        0.0,
        denied=failed and words.startswith(DECLINED),
        interrupted=failed and words.startswith((INTERRUPTED, NOT_STARTED)),
    )
