"""What it costs to draw a streamed answer: ``python -m tests.benchmarks.stream``.

An answer of ordinary prose, lists, tables and code is streamed token by token (4 characters each) through the whole
front end (splitting, Markdown, highlighting, the live part, writes to a terminal emulator's place), as fast as it
goes and, for the second table, at the pace of a real model with the tail drawn twelve times a second.
"""

from __future__ import annotations

import asyncio
import io
import sys
import time
from pathlib import Path

from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input

from agentcli.commands.registry import Registry
from agentcli.events import StepStarted, TextDelta
from agentcli.ui.terminal.app import converse
from agentcli.ui.terminal.capabilities import Capabilities
from agentcli.ui.terminal.device import FrameOutput
from agentcli.ui.terminal.output.markdown import preload
from agentcli.ui.terminal.screen import TerminalOptions, color_depth
from agentcli.ui.terminal.way import Way
from tests.ui.scripted import Pause, ScriptedSession

TOKEN = 4
CAPABILITIES = Capabilities(dumb=False, color="truecolor", links=False, reflow=False, notices=False)
PARAGRAPH = (
    "The parser reads **one line** at a time and keeps the rest in `buffer` until a newline comes; 한국어 문장도 같은 "
    "방식으로 처리됩니다. It never looks back, so that its cost is linear in the length of the text.\n\n"
)
SECTION = (
    "## Section {n}\n\n"
    + PARAGRAPH * 2
    + "- first point with some words\n- second point\n  - a child\n- third point\n\n"
    + "```python\n"
    + "".join(f"def function_{k}(value: int) -> str:\n    return f'{{value:>{k}}}'  # pad\n" for k in range(6))
    + "```\n\n"
    + "| name | value | remark |\n|------|------:|--------|\n| a | 1 | short |\n| b | 22 | longer remark |\n\n"
    + PARAGRAPH
)


def answer(tokens: int) -> str:
    text = "".join(SECTION.replace("{n}", str(n)) for n in range(tokens * TOKEN // len(SECTION) + 1))
    return text[: tokens * TOKEN]


class _Counted(io.StringIO):
    bytes = 0

    def write(self, text: str) -> int:
        self.bytes += len(text.encode())
        return len(text)


async def stream(text: str, *, tokens_per_second: float | None = None) -> tuple[float, int]:
    """CPU seconds and bytes written for one answer."""
    session = ScriptedSession([[StepStarted(1, "m"), Pause("go"), Pause("end")]], Path.cwd())
    wire = _Counted()
    size = Size(rows=40, columns=100)
    output = FrameOutput(wire, lambda: size, "xterm-256color", color_depth(CAPABILITIES))

    async def start() -> ScriptedSession:
        return session

    with create_pipe_input() as keys:
        options = TerminalOptions(root=Path("/nonexistent"))
        running = asyncio.create_task(converse(Way(start), options, CAPABILITIES, Registry(), keys, output))
        keys.send_text("go\r")
        while "go" not in session._pauses:
            await asyncio.sleep(0.01)
        begin_bytes, begin = wire.bytes, time.process_time()
        started = time.monotonic()
        for n in range(0, len(text), TOKEN):
            session.events.emit(TextDelta(text[n : n + TOKEN]))
            if tokens_per_second:
                due = started + n / TOKEN / tokens_per_second
                await asyncio.sleep(max(0.0, due - time.monotonic()))
            elif n % 400 == 0:
                await asyncio.sleep(0)
        cpu, written = time.process_time() - begin, wire.bytes - begin_bytes
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    return cpu, written


async def main() -> None:
    preload()
    write = sys.stdout.write
    write("as fast as it goes\n")
    write(f"{'tokens':>8} {'CPU s':>7} {'us/token':>9} {'bytes':>10}\n")
    for tokens in (2_500, 5_000, 10_000, 20_000, 40_000):
        cpu, written = await stream(answer(tokens))
        write(f"{tokens:>8,} {cpu:>7.2f} {cpu / tokens * 1e6:>9.0f} {written:>10,}\n")
    write("\nat 200 tokens a second, the tail live\n")
    write(f"{'tokens':>8} {'CPU s':>7} {'share':>9} {'bytes':>10}\n")
    for tokens in (1_000, 2_000):
        cpu, written = await stream(answer(tokens), tokens_per_second=200)
        write(f"{tokens:>8,} {cpu:>7.2f} {cpu / (tokens / 200):>9.0%} {written:>10,}\n")


if __name__ == "__main__":
    asyncio.run(main())
