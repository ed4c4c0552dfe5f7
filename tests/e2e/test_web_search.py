"""WebSearch in whole sessions: what is asked beside the conversation, what the model reads of it, what it costs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcli.events import PermissionAsked, ToolFinished, ToolOutput
from agentcli.messages import repair
from agentcli.model.report import cost_report
from agentcli.ports.frontend import UserInput
from agentcli.ports.permissions import Answer
from agentcli.runtime.session import Session
from tests.api import ApiServer, Gate, Options, Request, after, error, reply, text, tool_use
from tests.api.render import without_marks
from tests.api.script import Step, ToolUse
from tests.api.validate.web import ERRORS
from tests.api.web import cited, hit, search, search_fails
from tests.e2e.harness import NEWEST, Stage, until
from tests.e2e.program import run
from tests.tools.test_web_fetch import Site

LIMIT = "CLAUDE_CODE_MAX_WEB_SEARCHES_PER_SESSION"
NEWS = hit("What's new in 3.15", "https://docs.test/3.15", "October 1, 2026")
BLOG = hit("A blog\nabout 3.15", "https://blog.test/p?q=1")
FORUM = hit("A forum", "https://forum.test/t/9")
FOUND = reply(
    *search("python 3.15 release", NEWS, BLOG),
    text("I have looked. "),
    cited("Python 3.15 came out on October 1, 2026.", NEWS, BLOG),
    text("\n\n- "),
    cited("It is faster.\n", BLOG),
)


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.close()


def look(query: str = "python 3.15 release", **more: object) -> ToolUse:
    return tool_use("WebSearch", {"query": query, **more})


def results(request: Request) -> list[str]:
    return [r["content"][0]["text"] for r in request.tool_results]


def rendered(request: Request) -> Any:
    """What stands in front of the conversation."""
    return without_marks([[t for t in request.tools if not t.get("defer_loading")], request.json["system"]])


def sides(stage: Stage) -> list[Request]:
    """The requests that define the API's own tool."""
    return [r for r in stage.api.requests if any("type" in t for t in r.tools)]


async def searched(stage: Stage, *steps: Step, call: ToolUse | None = None) -> str:
    """What the model reads of one call that these steps answer."""
    async with stage.session() as session:
        await stage.say(session, "go", reply(call or look()), *steps, "Done.")
    return results(stage.api.requests[-1])[0]


async def test_a_search_is_made_beside_the_conversation(stage: Stage, golden: Callable[[str, str], None]) -> None:
    find = tool_use("ToolSearch", {"query": "search the web"})
    async with stage.session() as session:
        await stage.say(session, "go", reply(find), reply(look()), FOUND, "It is out.")
    first, found, side, last = stage.api.requests
    assert {"type": "tool_reference", "tool_name": "WebSearch"} in found.tool_results[0]["content"]
    assert rendered(first) == rendered(found) == rendered(last)
    assert last.cache is not None
    assert last.cache.lost == 0
    assert without_marks(side.tools) == [{"type": "web_search_20250305", "name": "web_search", "max_uses": 8}]
    assert side.model == "claude-haiku-5-5"
    golden("web_search_asked.txt", f"{side.system_text}\n---\n{side.last_text}\n")
    golden("web_search_result.txt", results(last)[0] + "\n")
    assert [e.text for e in stage.heard if isinstance(e, ToolOutput)] == ["python 3.15 release: 2 results\n"]
    (finished,) = [e for e in stage.heard if isinstance(e, ToolFinished) and e.name == "WebSearch"]
    assert finished.structured is not None
    assert [r["url"] for r in finished.structured["results"]] == [NEWS["url"], BLOG["url"]]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"allowed_domains": ["docs.test", "https://b.test/x/"]}, {"allowed_domains": ["docs.test", "b.test/x"]}),
        ({"blocked_domains": ["*.ads.test"], "allowed_domains": []}, {"blocked_domains": ["ads.test"]}),
    ],
)
async def test_domains_are_handed_on(stage: Stage, given: dict[str, Any], sent: dict[str, Any]) -> None:
    await searched(stage, FOUND, call=look(**given))
    (tool,) = sides(stage)[0].tools
    assert {k: v for k, v in tool.items() if k.endswith("domains")} == sent


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (look(allowed_domains=["a.test"], blocked_domains=["b.test"]), "allowed_domains or blocked_domains, not both"),
        (look(allowed_domains=["two words"]), "'two words' is no domain"),
        (look(" "), "The query is empty"),
        (tool_use("WebSearch", {"q": "x"}), "The parameter `query` is missing"),
    ],
)
async def test_wrong_input_asks_nobody(stage: Stage, call: ToolUse, words: str) -> None:
    assert words in await searched(stage, call=call)
    assert sides(stage) == []


@pytest.mark.parametrize("code", ERRORS)
async def test_a_failed_search_says_why_and_costs_no_search(stage: Stage, code: str) -> None:
    async with stage.session() as session:
        failing = reply(*search_fails("x", code), "I could not search.")
        await stage.say(session, "go", reply(look()), failing, "Done.")
        assert session.ledger.total.usage.web_searches == 0
    said = results(stage.api.requests[-1])[0]
    assert said.startswith("The web search failed: ")
    assert f"({code})" in said
    assert stage.api.requests[-1].tool_results[0]["is_error"]


async def test_what_failed_is_named_beside_what_was_found(stage: Stage) -> None:
    said = await searched(stage, reply(*search("a", NEWS), *search_fails("b", "max_uses_exceeded"), "One of two."))
    assert said.startswith("One of two.\n\nSources:\n1. What's new in 3.15: https://docs.test/3.15")
    assert said.endswith("[no more searches in one call (max_uses_exceeded); call again with a narrower query]")


async def test_nothing_found_is_no_failure(stage: Stage) -> None:
    assert (
        await searched(stage, reply(*search("a"), "There is nothing.")) == "There is nothing.\n\nNo source was found."
    )


async def test_a_paused_answer_is_gone_on_with(stage: Stage) -> None:
    paused = reply(*search("a", NEWS), stop_reason="pause_turn")
    said = await searched(stage, paused, reply(*search("b", BLOG), stop_reason="pause_turn"), "Both say so.")
    first, second, third = sides(stage)
    assert [r.tools[0]["max_uses"] for r in (first, second, third)] == [8, 7, 6]
    assert [m["role"] for m in third.messages] == ["user", "assistant"]
    kinds = [b["type"] for b in third.messages[1]["content"]]
    assert kinds == ["server_tool_use", "web_search_tool_result"] * 2
    assert "Both say so." in said
    assert BLOG["url"] in said


async def test_a_pause_after_the_last_search_ends_the_call(stage: Stage) -> None:
    stage.environment[LIMIT] = "1"
    said = await searched(stage, reply(*search("a", NEWS), stop_reason="pause_turn"))
    assert NEWS["url"] in said
    assert "[the searches that one call may make were used up]" in said


async def test_a_report_that_is_cut_off_says_so(stage: Stage) -> None:
    said = await searched(stage, reply(*search("a", NEWS), "It beg", stop_reason="max_tokens"))
    assert said.endswith("[the report was cut off at its limit]")


async def test_a_session_s_searches_are_bounded(stage: Stage) -> None:
    stage.environment[LIMIT] = "3"
    two = reply(*search("a", NEWS), *search_fails("b", "unavailable"), "Two.")
    async with stage.session() as session:
        await stage.say(session, "go", reply(look("a")), two, reply(look("b")), FOUND, reply(look("c")), "Done.")
    assert [r.tools[0]["max_uses"] for r in sides(stage)] == [3, 1]
    last = results(stage.api.requests[-1])[0]
    assert last.startswith("3 web searches were made or are running, and this session may make 3 (CLAUDE_CODE_MAX_")
    async with stage.session(resume=NEWEST) as session:
        await stage.say(session, "more", reply(look("d")), FOUND, "Done.")
    assert sides(stage)[-1].tools[0]["max_uses"] == 1  # a failed search is not kept, those that were paid are


async def test_calls_at_the_same_time_share_the_bound(stage: Stage) -> None:
    stage.environment[LIMIT] = "10"
    gate = Gate()
    stage.api.lane(lambda request: any("type" in t for t in request.tools), after(gate, FOUND), after(gate, FOUND))
    async with stage.session() as session:
        stage.play(reply(look("a"), look("b")), "Done.")
        turn = asyncio.create_task(session.run(UserInput("go")))
        await until(lambda: len(sides(stage)) == 2, seconds=30)
        gate.open()
        assert (await turn).outcome == "completed"
    assert sorted(r.tools[0]["max_uses"] for r in sides(stage)) == [2, 8]


async def test_what_it_costs_is_part_of_every_sum(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "go", reply(look()), FOUND, "Done.")
        paid = sum(r.cost or 0 for r in stage.requests)
        assert paid > 0.01
        assert session.state.cost == pytest.approx(paid)
        assert session.run_cost() == pytest.approx(paid)
        usage = session.model_usage()
        assert {m: u["webSearchRequests"] for m, u in usage.items()} == {"claude-sonnet-5-5": 0, "claude-haiku-5-5": 1}
        assert usage["claude-haiku-5-5"]["costUSD"] > 0.01
        assert "Web searches: 1 ($0.0100 at list price)." in cost_report(session.ledger, session.monitor)


async def test_a_money_budget_counts_searches(stage: Stage) -> None:
    many = reply(*(part for n in range(5) for part in search(f"q{n}", NEWS)), "Five.")
    async with stage.session(max_budget_usd=0.05) as session:
        stage.play(reply(look()), many, "never said")
        finished = await session.run(UserInput("go"))
        assert finished.outcome == "budget"
        whole(session)
    assert stage.api.steps_left == 1


async def test_a_page_that_is_read_is_paid_by_the_conversation_too(stage: Stage, site: Site) -> None:
    site.put("/news", "<p>Version 3 is out.</p>")
    fetch = tool_use("WebFetch", {"url": f"{site.url}/news", "prompt": "which version?"})
    async with stage.session() as session:
        await stage.say(session, "go", reply(fetch), "Version 3.", "Done.")
        assert session.state.cost == pytest.approx(sum(r.cost or 0 for r in stage.requests))
        assert set(session.state.usage) == {"claude-sonnet-5-5", "claude-haiku-5-5"}
    assert results(stage.requests[-1]) == ["Version 3."]


async def test_interrupted_it_leaves_a_result_and_its_price(stage: Stage) -> None:
    gate = Gate()
    async with stage.session() as session:
        stage.play(reply(look()), reply(*search("a", NEWS), "It is", gate, " out."))
        turn = asyncio.create_task(session.run(UserInput("go")))
        await until(lambda: any(isinstance(e, ToolOutput) for e in stage.heard), seconds=30)
        session.interrupt()
        assert (await turn).outcome == "interrupted"
        gate.open()
        whole(session)
        assert [e.interrupted for e in stage.heard if isinstance(e, ToolFinished)] == [True]
        side = session.ledger.by_category()["side"]
        assert side.usage.web_searches == 1
        assert side.cost > 0.01
        assert session.state.cost == pytest.approx(session.run_cost())
        await stage.say(session, "again", "Here.")
    assert "Interrupted" in results(stage.api.requests[-1])[0]


def whole(session: Session) -> None:
    """The conversation is valid as it stands."""
    assert repair(session.state.messages).notes == ()


@pytest.mark.parametrize("allowed", [True, False])
async def test_it_is_asked_about(stage: Stage, allowed: bool) -> None:
    asked: list[PermissionAsked] = []
    async with stage.session(permission_mode="default") as session:

        def answer(event: object) -> None:
            if isinstance(event, PermissionAsked):
                asked.append(event)
                session.answer(event.request_id, Answer(allowed=allowed))

        session.events.subscribe(answer)
        await stage.say(session, "go", reply(look()), *([FOUND] if allowed else []), "Done.")
    (question,) = asked
    assert (question.name, question.title) == ("WebSearch", "python 3.15 release")
    assert [list(u["rules"]) for u in question.suggestions] == [["WebSearch"]]
    said = results(stage.api.requests[-1])[0]
    assert ("It is faster" in said) == allowed
    assert ("The user declined this call" in said) != allowed
    assert len(sides(stage)) == int(allowed)


@pytest.mark.parametrize("behavior", ["allow", "deny"])
async def test_a_rule_answers(stage: Stage, behavior: str) -> None:
    folder = stage.project / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps({"permissions": {behavior: ["WebSearch"]}}))
    async with stage.session(permission_mode="default", interactive=False, trust=True) as session:
        await stage.say(session, "go", reply(look()), *([FOUND] if behavior == "allow" else []), "Done.")
    said = results(stage.api.requests[-1])[0]
    assert ("It is faster" in said) == (behavior == "allow")
    assert ("Denied" in said) == (behavior == "deny")


async def test_a_subagent_has_it_and_the_session_pays(stage: Stage) -> None:
    stage.api.lane("look it up", reply(look()), "It is out.")
    stage.api.lane(lambda request: any("type" in t for t in request.tools), FOUND)
    order = {"description": "a task", "prompt": "look it up", "subagent_type": "general-purpose"}
    async with stage.session() as session:
        await stage.say(session, "go", reply(tool_use("Agent", order)), "Done.")
        assert session.state.cost == pytest.approx(sum(r.cost or 0 for r in stage.requests))
        assert sum(u.web_searches for u in session.state.usage.values()) == 1
    (agent,) = [r for r in stage.api.requests if r.tool_results and "look it up" in r.opening]
    assert "It is faster" in results(agent)[0]


async def test_a_server_that_refuses_the_tool_is_asked_once(home: Path, project: Path) -> None:
    with ApiServer(options=Options(server_tools=False)) as api:
        stage = Stage(api, home, project, first_party=False)
        async with stage.session() as session:
            await stage.say(session, "go", reply(look()), reply(look("b")), "Done.")
        refused = api.refused
    assert len(refused) == 1
    for request in stage.requests[1:]:
        assert results(request)[0].startswith("The model's server has no web search for this session: ")
        assert "web_search_20250305" in results(request)[0]


async def test_an_answer_without_a_search_is_not_taken_for_one(home: Path, project: Path) -> None:
    with ApiServer(options=Options.local()) as api:
        stage = Stage(api, home, project, first_party=False)
        said = await searched(stage, "As far as I remember it is out.")
    assert said.startswith("Nothing was searched: ")
    assert "remember" not in said


async def test_a_server_that_fails_is_not_asked_for_long(stage: Stage) -> None:
    said = await searched(stage, *[error(529)] * 4)
    assert said.startswith("The web search failed: ")
    assert "tried 4 times" in said


async def test_domains_that_the_server_does_not_take_end_one_call(stage: Stage) -> None:
    refusal = error(400, "tools.0.web_search_20250305.allowed_domains: the organization does not allow a.test")
    async with stage.session() as session:
        await stage.say(session, "go", reply(look(allowed_domains=["a.test"])), refusal, reply(look()), FOUND, "Done.")
    said = [results(r)[0] for r in stage.requests if r.tool_results]
    assert "the organization does not allow a.test" in said[0]
    assert "It is faster" in said[1]


async def test_where_only_models_are_served_it_is_no_tool(stage: Stage) -> None:
    async with stage.session() as session:
        assert "WebSearch" in session.toolbox.tools
    stage.environment |= {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "eu-west-1"}
    async with stage.session() as session:
        assert "WebSearch" not in session.toolbox.tools
        assert "WebFetch" in session.toolbox.tools


async def test_searches_in_the_conversation_itself_go_back_as_they_came(stage: Stage) -> None:
    """Should the API ever search in an answer of the main conversation: nothing of it is lost or altered."""
    async with stage.session() as session:
        await stage.say(session, "go", FOUND)
        await stage.say(session, "and?", "Yes.")
    first, second = stage.requests
    assert without_marks(second.messages[1]["content"]) == first.content
    assert json.dumps(without_marks(second.messages[1]["content"])) == json.dumps(first.content)
    async with stage.session(resume=NEWEST) as session:
        await stage.say(session, "still?", "Yes.")
        assert session.state.usage["claude-sonnet-5-5"].web_searches == 1
    assert json.dumps(without_marks(stage.requests[2].messages[1]["content"])) == json.dumps(first.content)


def test_a_headless_result_counts_them(api: ApiServer, project: Path) -> None:
    api.play(reply(look()), FOUND, "It is out.")
    done = run("-p", "go", "--output-format", "json", "--allowedTools", "WebSearch", cwd=project)
    assert (done.code, done.json["result"]) == (0, "It is out.")
    usage = done.json["modelUsage"]
    assert {model: values["webSearchRequests"] for model, values in usage.items()} == {
        "claude-sonnet-5-5": 0,
        "claude-haiku-5-5": 1,
    }
    assert done.json["total_cost_usd"] == pytest.approx(sum(r.cost or 0 for r in api.requests))
    assert done.json["usage"]["server_tool_use"] == {"web_search_requests": 0, "web_fetch_requests": 0}


def test_a_rule_with_a_specifier_is_named_as_wrong(api: ApiServer, project: Path) -> None:
    api.play(reply(look()), "Nothing.")
    done = run("-p", "go", "--allowedTools", "WebSearch(domain:docs.test)", cwd=project)
    assert "WebSearch takes no specifier; write WebSearch alone" in done.err
    assert len(api.requests) == 2
