"""CPU of building the system prompt anew for a step, and its size: ``python -m tests.benchmarks.prompt``."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from agentcli.prompt.split import split_sys_prompt_prefix
from agentcli.prompt.static import static_region
from tests.prompt.worlds import STEP, Texts, World, world

ROUNDS, REPEATS = 500, 5
BARE: dict[str, Any] = {"scratch_directory": "/tmp/s", "tool_result_clearing": True}
LOADED: dict[str, Any] = {**BARE, "mcp_instructions_delta": False}


def made(*, memory: int = 0, options: dict[str, Any]) -> World:
    """``memory``: bytes of memory files; skills, agents and server instructions come with it."""
    if not memory:
        return world(**options)
    line = "- Keep the public interface stable and say why where you can't.\n"
    texts = Texts(line * (memory // len(line)), line * 60, line * 8, "## git\n\n" + line * 20)
    return world(texts=texts, **options)


async def rebuild(source: World, *, rounds: int) -> float:
    """CPU milliseconds of one step's prompt and blocks, memoised."""
    await source.source.effective(STEP)
    begun = time.process_time()
    for _ in range(rounds):
        prompt = await source.source.effective(STEP)
        split_sys_prompt_prefix(prompt, skip_global_cache_for_system_prompt=False)
    return (time.process_time() - begun) * 1000 / rounds


async def first(options: dict[str, Any], memory: int) -> float:
    """CPU milliseconds of a conversation's first prompt, texts of the other rooms given."""
    sources = [made(memory=memory, options=options) for _ in range(50)]
    begun = time.process_time()
    for source in sources:
        await source.source.effective(STEP)
    return (time.process_time() - begun) * 1000 / len(sources)


async def main() -> None:
    print(f"{'prompt':<28}{'bytes':>9}{'first, ms':>12}{'rebuilt, ms':>13}")
    for name, options, memory in (
        ("bare", BARE, 0),
        ("memory of 40 kB, lists", BARE, 40_000),
        ("the same, volatile section", LOADED, 40_000),
        ("memory of 400 kB", BARE, 400_000),
    ):
        source = made(memory=memory, options=options)
        best = min([await rebuild(source, rounds=ROUNDS) for _ in range(REPEATS)])
        report = await source.source.report(STEP)
        print(f"{name:<28}{report.total_bytes:>9,}{await first(options, memory):>12.3f}{best:>13.3f}")
    print()
    report = await made(options=BARE).source.report(STEP)
    for row in report.table():
        print(f"{row[0]:<28}{row[1]:<10}{row[2][:10]:<11}{row[3]:<8}{row[4]:>7}{row[5]:>8}")
    region = sum(len(p.text.encode()) + 2 for p in static_region()) - 2
    print(f"\nstatic region: {region:,} of at most 6,144 bytes")


if __name__ == "__main__":
    asyncio.run(main())
