"""What fills the context window, by category: for ``/context``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agentcli.i18n import IN_ENGLISH, Texts
from agentcli.messages import Block, ImageBlock, TextBlock, ToolResultBlock, ToolUseBlock, block_to_api
from agentcli.model.figures import tokens
from agentcli.model.parts import dumps, tool_to_api
from agentcli.model.report import table
from agentcli.ports.display import GRID
from agentcli.ports.model import ModelRequest
from agentcli.text import estimate_tokens, one_line

IMAGE_TOKENS = 1_600
CELLS, ROW = 100, 20
LARGE_RESULTS = 3
_FREE, _RESERVED = "free", "reserved for the answer and compaction"
_SYMBOLS = "█▓▒░◆◇●○"


@dataclass(frozen=True, slots=True)
class WindowUse:
    """``parts`` are (category, tokens); ``measured`` says that the API counted the sum (else all is estimated),
    ``counted`` that it counted each category."""

    parts: tuple[tuple[str, int], ...]
    window: int
    reserved: int
    measured: bool
    counted: bool = False
    large_results: tuple[tuple[str, int], ...] = ()

    @property
    def used(self) -> int:
        return sum(count for _, count in self.parts)

    @property
    def free(self) -> int:
        return max(0, self.window - self.used - self.reserved)


def window_use(request: ModelRequest, *, window: int, reserved: int, counted: int | None = None) -> WindowUse:
    """Sizes by category, estimated and, where the server ``counted`` the whole, scaled to its figure."""
    sizes: dict[str, int] = {}
    results: dict[str, int] = {}
    titles: dict[str, str] = {}

    def add(category: str, count: int) -> None:
        if count:
            sizes[category] = sizes.get(category, 0) + count

    for part in request.system.parts:
        if part.kind != "boundary":
            add(section_of(part.name), estimate_tokens(part.text))
    for tool in request.tools:
        if not tool.deferred:
            add("MCP tools" if tool.mcp else "tools", estimate_tokens(dumps(tool_to_api(tool))))
    for message in request.messages:
        for block in message.content:
            count = _block_tokens(block)
            add(category_of(block), count)
            if isinstance(block, ToolUseBlock):
                titles[block.id] = f"{block.name} {one_line(dumps(block_to_api(block)['input']), 60)}"
            elif isinstance(block, ToolResultBlock):
                results[block.tool_use_id] = count
    total = sum(sizes.values())
    scale = counted / total if counted is not None and total else 1.0
    largest = sorted(results.items(), key=lambda item: (-item[1], item[0]))[:LARGE_RESULTS]
    return WindowUse(
        parts=_scaled(sizes, scale, counted),
        window=window,
        reserved=reserved,
        measured=counted is not None,
        large_results=tuple((titles.get(i, "a tool"), round(n * scale)) for i, n in largest if n >= 2_000),
    )


def context_report(use: WindowUse, *, threshold: int | None = None, clearable: int = 0, t: Texts = IN_ENGLISH) -> str:
    """A grid and a table as Markdown, and advice on what to cut.  ``threshold``: tokens from which the conversation is
    compacted by itself; ``clearable``: tokens of old tool results that could give way to notes."""
    rows = [*use.parts, (_FREE, use.free), (_RESERVED, use.reserved)]
    symbols = {name: _SYMBOLS[i % len(_SYMBOLS)] for i, (name, _) in enumerate(use.parts)}
    symbols |= {_FREE: "·", _RESERVED: "×"}
    sign = "" if use.measured else "~"
    share = use.used / use.window if use.window else 0.0
    basis = t("window.counted") if use.counted else t("window.counted_sum")
    basis = basis if use.measured else t("window.estimated")
    figures = {"used": f"{sign}{tokens(use.used)}", "window": tokens(use.window), "share": f"{share:.0%}"}
    head = t("window.head", **figures, basis=basis)
    if threshold is not None:
        head += " " + t("window.threshold", tokens=tokens(threshold))
    about = "" if use.counted else "~"
    cells = [
        (
            f"`{symbols[name]}` {t(f'window.{name}')}",
            f"{about if name != _RESERVED else ''}{_exact(count, use)}",
            _percent(count, use),
        )
        for name, count in rows
        if count
    ]
    lines = [head, "", f"```{GRID}", *_grid(rows, symbols, use.window), "```", ""]
    lines += table((t("column.what"), t("column.tokens"), t("column.share")), cells)
    advice = _advice(use, clearable, t)
    return "\n".join([*lines, *(["", *[f"- {a}" for a in advice]] if advice else [])])


def section_of(name: str) -> str:
    """The category of a section of the system prompt."""
    match name:
        case "memory":
            return "memory files"
        case "session_guidance":
            return "skills, agents and guidance"
        case "mcp_instructions":
            return "MCP instructions"
        case _:
            return "system prompt"


def category_of(block: Block) -> str:
    """The category of a block of the messages."""
    match block:
        case ToolResultBlock():
            return "tool results"
        case TextBlock(origin="reminder"):
            return "reminders"
        case TextBlock(origin="summary"):
            return "summary"
        case _:
            return "conversation"


def _block_tokens(block: Block) -> int:
    match block:
        case TextBlock():
            return estimate_tokens(block.text)
        case ImageBlock():
            return IMAGE_TOKENS
        case ToolResultBlock():
            return sum(_block_tokens(inner) for inner in block.content)
        case _:
            return estimate_tokens(dumps(block_to_api(block)))


def _scaled(sizes: dict[str, int], scale: float, counted: int | None) -> tuple[tuple[str, int], ...]:
    """The sizes times ``scale``; the largest takes up what rounding leaves, so that the sum is the API's figure."""
    parts = {name: round(count * scale) for name, count in sizes.items()}
    if counted is not None and parts:
        largest = max(parts, key=lambda name: parts[name])
        parts[largest] += counted - sum(parts.values())
    return tuple(parts.items())


def _grid(rows: Iterable[tuple[str, int]], symbols: dict[str, str], window: int) -> list[str]:
    """A hundred cells, one for each percent of the window; whatever is there at all gets at least one."""
    cells = ""
    for name, count in rows:
        if count and name != _FREE:
            cells += symbols[name] * max(1, round(count / window * CELLS)) if name != _RESERVED else ""
    reserved = "".join(symbols[n] * round(c / window * CELLS) for n, c in rows if n == _RESERVED)
    free = symbols[_FREE] * max(0, CELLS - len(cells) - len(reserved))
    whole = (cells + free + reserved)[:CELLS]
    return [" ".join(whole[i : i + ROW]) for i in range(0, CELLS, ROW)]


def _exact(count: int, use: WindowUse) -> str:
    return f"{count:,}" if use.counted else tokens(count)


def _percent(count: int, use: WindowUse) -> str:
    return f"{count / use.window:.1%}" if use.window else ""


def _advice(use: WindowUse, clearable: int, t: Texts) -> list[str]:
    parts = dict(use.parts)
    advice = []
    if parts.get("MCP tools", 0) > 0.05 * use.window:
        advice.append(t("window.advice.mcp"))
    if parts.get("memory files", 0) > 5_000:
        advice.append(t("window.advice.memory"))
    for title, count in use.large_results:
        advice.append(t("window.advice.result", title=title, tokens=tokens(count)))
    if clearable:
        advice.append(t("window.advice.clearable", tokens=tokens(clearable)))
    if use.used > 0.6 * (use.window - use.reserved):
        advice.append(t("window.advice.half"))
    return advice
