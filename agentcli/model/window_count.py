"""What fills the window, counted by the API: one small count request for each category that is there.

A count costs nothing, and what was counted once is remembered by its content, so that looking again asks only for what
is new.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, replace

from agentcli.conversation import PromptPart, SystemPrompt
from agentcli.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    TextBlock,
    ToolResultBlock,
    canonical,
    message_to_api,
    user,
)
from agentcli.model.parts import tool_to_api
from agentcli.model.window import WindowUse, category_of, section_of, window_use
from agentcli.ports.model import ModelRequest, ToolSpec

PARALLEL = 4
BASE = (user("."),)
"""What a request without a conversation says: a message there has to be."""
Count = Callable[[ModelRequest], Awaitable[int | None]]


@dataclass(slots=True)
class WindowCounter:
    """``count`` asks the API; ``known`` holds earlier counts by content and may live as long as the session."""

    count: Count
    known: MutableMapping[str, int]

    async def use(self, request: ModelRequest, *, window: int, reserved: int) -> WindowUse:
        """Sizes by category.  Estimated where the server does not count."""
        estimated = window_use(request, window=window, reserved=reserved)
        probes = _probes(request)
        found = await self._all(list(probes.values()))
        if found is None:
            return estimated
        sizes = dict(zip(probes, found, strict=True))
        base = sizes.pop("")
        parts = _parts(request, {name: max(0, size - base) for name, size in sizes.items()}, base)
        total = sum(count for _, count in parts)
        scale = total / estimated.used if estimated.used else 1.0
        results = tuple((name, round(size * scale)) for name, size in estimated.large_results)
        return WindowUse(parts, window, reserved, measured=True, counted=True, large_results=results)

    async def _all(self, probes: Sequence[ModelRequest]) -> list[int] | None:
        slots = asyncio.Semaphore(PARALLEL)
        failed = False

        async def one(probe: ModelRequest) -> int:
            nonlocal failed
            key = _key(probe)
            if key not in self.known:
                async with slots:
                    found = None if failed else await self.count(probe)
                if found is None:
                    failed = True
                    return 0
                self.known[key] = found
            return self.known[key]

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(probe)) for probe in probes]
        return None if failed else [task.result() for task in tasks]


def _probes(request: ModelRequest) -> dict[str, ModelRequest]:
    """What is counted, by name: ``""`` is the bare message, ``*`` everything, ``system`` and ``tools`` the whole of
    them, the rest the categories within those and the messages."""
    shown = tuple(t for t in request.tools if not t.deferred)
    own = tuple(t for t in shown if not t.mcp)
    nothing = replace(request.system, parts=())
    probes = {"": _probe(request)}
    messages = request.messages
    if messages:
        ready = messages if messages[-1].role == "user" else (*messages, *BASE)
        probes["*"] = replace(request, messages=ready)
    if request.system.parts:
        probes["system"] = _probe(request, system=request.system)
    for name, parts in _by_section(request.system.parts).items():
        probes[f"system/{name}"] = _probe(request, system=replace(nothing, parts=tuple(parts)))
    if shown:
        probes["tools"] = _probe(request, tools=shown)
    if own and len(own) < len(shown):
        probes["tools/own"] = _probe(request, tools=own)
    for name, blocks in _by_category(messages).items():
        probes[f"messages/{name}"] = _probe(request, messages=(Message("user", (*BASE[0].content, *blocks)),))
    return probes


def _probe(
    request: ModelRequest,
    *,
    system: SystemPrompt | None = None,
    tools: tuple[ToolSpec, ...] = (),
    messages: tuple[Message, ...] = BASE,
) -> ModelRequest:
    bare = system or replace(request.system, parts=())
    return replace(request, system=bare, tools=tools, messages=messages, output_schema=None)


def _parts(request: ModelRequest, sizes: dict[str, int], base: int) -> tuple[tuple[str, int], ...]:
    """The categories in the order of the window.  What stands between the categories of the system prompt (a blank
    line) goes to the largest; what is in no other category of the messages is conversation."""
    system = {n.removeprefix("system/"): size for n, size in sizes.items() if n.startswith("system/")}
    if system:
        largest = max(system, key=lambda name: system[name])
        system[largest] += sizes.get("system", 0) - sum(system.values())
    tools = sizes.get("tools", 0)
    own = sizes.get("tools/own", tools if any(not t.mcp for t in request.tools) else 0)
    said = {n.removeprefix("messages/"): size for n, size in sizes.items() if n.startswith("messages/")}
    front = sizes.get("system", 0) + tools
    rest = {}
    if request.messages:
        # The bare message was taken off every count; the whole has it only where it was appended.
        whole = sizes["*"] - front + (base if request.messages[-1].role == "user" else 0)
        rest["conversation"] = max(0, whole - sum(said.values()))
    found = {**system, "tools": own, "MCP tools": tools - own, **said, **rest}
    return tuple((name, size) for name, size in found.items() if size)


def _by_section(parts: Iterable[PromptPart]) -> dict[str, list[PromptPart]]:
    found: dict[str, list[PromptPart]] = {}
    for part in parts:
        if part.kind != "boundary":
            found.setdefault(section_of(part.name), []).append(part)
    return found


def _by_category(messages: Sequence[Message]) -> dict[str, list[Block]]:
    """The blocks of every category but the conversation itself, results by their contents."""
    found: dict[str, list[Block]] = {}
    for message in messages:
        for block in message.content:
            name = category_of(block)
            inner: tuple[Block, ...] = block.content if isinstance(block, ToolResultBlock) else (block,)
            if name != "conversation":
                found.setdefault(name, []).extend(
                    b for b in inner if isinstance(b, TextBlock | ImageBlock | DocumentBlock)
                )
    return {name: blocks for name, blocks in found.items() if blocks}


def _key(request: ModelRequest) -> str:
    """Names everything that is counted."""
    system = [(p.kind, p.text) for p in request.system.parts]
    tools = [tool_to_api(t) for t in request.tools if not t.deferred]
    body = [request.model, system, tools, [message_to_api(m) for m in request.messages]]
    return hashlib.sha256(canonical(body).encode("utf-8", "replace")).hexdigest()
