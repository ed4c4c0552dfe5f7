"""WebSearch: a question to the web, answered from search results that are named with it."""

from __future__ import annotations

from dataclasses import dataclass

from agentcli.errors import ToolError, TurnError, UserError
from agentcli.ports.display import TextDisplay
from agentcli.ports.searching import WebQuery, WebSearcher
from agentcli.ports.tools import ToolContext, ToolResult, text_result
from agentcli.text import one_line, plural
from agentcli.tools.base import BuiltinTool
from agentcli.tools.schema import param
from agentcli.tools.web_results import Results, read_results


@dataclass(frozen=True, slots=True)
class WebSearchParams:
    query: str = param()
    allowed_domains: tuple[str, ...] = param(default=())
    blocked_domains: tuple[str, ...] = param(default=())


class WebSearch(BuiltinTool[WebSearchParams]):
    """The searching is done by the service ``searcher``; this is its parameters, its result and its failures."""

    name = "WebSearch"
    code = __file__
    key = "query"
    deferred = True

    def __init__(self) -> None:
        super().__init__(WebSearchParams)

    async def call(self, params: WebSearchParams, ctx: ToolContext) -> ToolResult:
        query = _checked(params)
        searcher: WebSearcher | None = ctx.services.get("searcher")
        if searcher is None:
            raise ToolError("The web can't be searched from here. Go on without it.")
        try:
            found = await searcher.search(query, ctx.output)
        except (TurnError, UserError) as error:
            raise ToolError(f"The web search failed: {error}") from error
        results = read_results(found.blocks)
        if not results.calls:
            raise ToolError(
                "Nothing was searched: the model's server answered without its web search, which it may not have. "
                "Take nothing from this call; WebFetch reads an address that you know."
            )
        if results.faults and not results.answered:
            raise ToolError(f"The web search failed: {'; '.join(results.faults)}.")
        return _result(query, results, found.note)


def _checked(params: WebSearchParams) -> WebQuery:
    query = params.query.strip()
    if not query:
        raise ToolError("The query is empty. Say what to look for.")
    if params.allowed_domains and params.blocked_domains:
        raise ToolError("Give allowed_domains or blocked_domains, not both.")
    return WebQuery(query, _domains(params.allowed_domains), _domains(params.blocked_domains))


def _domains(given: tuple[str, ...]) -> tuple[str, ...]:
    """Bare hosts, perhaps with a path, as the search takes them: a scheme and ``*.`` are left out."""
    made = []
    for text in given:
        domain = text.strip().partition("://")[2] or text.strip()
        domain = domain.removeprefix("*.").rstrip("/")
        if not domain or any(c.isspace() for c in domain) or "*" in domain.partition("/")[0]:
            raise ToolError(f"{text!r} is no domain. Give bare hosts such as example.com; subdomains count.")
        made.append(domain)
    return tuple(dict.fromkeys(made))


def _result(query: WebQuery, results: Results, note: str) -> ToolResult:
    notes = [*results.faults, *([note] if note else [])]
    parts = [
        results.text or "The results came without a report.",
        results.listing if results.sources else "No source was found.",
        *(f"[{one_line(n)}]" for n in notes),
    ]
    text = "\n\n".join(parts)
    summary = f"{plural(results.calls, 'search', 'searches')}, {plural(len(results.sources), 'source')}"
    made = text_result(text, summary=summary)
    structured = {
        "query": query.query,
        "searches": results.calls,
        "text": results.text,
        "results": [{"title": s.title, "url": s.url} for s in results.sources],
    }
    return ToolResult(made.for_model, TextDisplay(summary, text), structured=structured)
