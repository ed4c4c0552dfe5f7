"""What MCP servers offer besides tools, in the terminal: resources are completed and attached, prompts are commands."""

from __future__ import annotations

from pathlib import Path

from agentcli.model.scripted import ScriptedClient
from agentcli.runtime.options import SessionOptions
from agentcli.ui.terminal.engine import engine_way
from tests.mcp.world import Servers
from tests.ui.scripted import ScriptedSession
from tests.ui.theatre import theatre


async def test_resources_are_completed_and_prompts_are_commands(project: Path, tmp_path: Path) -> None:
    servers = Servers(tmp_path)
    listed = {"name": "review", "description": "Looks it over", "arguments": [{"name": "what", "required": True}]}
    servers.add(
        "docs",
        tools=[],
        capabilities={"tools": {}, "resources": {}, "prompts": {}},
        answers={
            "resources/list": {"resources": [{"uri": "note://x", "name": "x", "description": "A note"}]},
            "resources/templates/list": {
                "resourceTemplates": [{"uriTemplate": "page://{number}", "name": "p", "description": "Any page"}]
            },
            "resources/read": {"contents": [{"uri": "note://x", "text": "the words"}]},
            "prompts/list": {"prompts": [listed]},
            "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "Please review."}}]},
        },
    )
    client = ScriptedClient(["First.", "Second."])
    options = SessionOptions(cwd=project, mcp_config=(servers.json,))
    async with theatre(ScriptedSession(), way=engine_way(options, client, None), root=project) as show:
        show.keys("hello docs\r")
        await show.see("First.")
        await show.gone("Esc stops")
        show.keys("/mcp__docs")
        await show.see("/mcp__docs__review what  Looks it over")
        show.keys("\t")
        await show.until(lambda: show.caret_text == "❯ /mcp__docs__review ")
        show.keys("it \x15see @docs:n")
        await show.see("docs:note://x  A note")
        show.keys("\t")
        await show.until(lambda: show.caret_text == "❯ see @docs:note://x ")
        show.keys("and @docs:p")
        await show.see("docs:page://{number}  Any page")
        show.keys("\t")
        await show.until(lambda: show.caret_text == "❯ see @docs:note://x and @docs:page://")
        show.keys("\x15/mcp__docs__review it\r")
        await show.see("Second.")
    assert "Please review." in str(client.requests[1].messages[-1])


async def test_a_prompt_of_a_server_that_is_still_connecting_waits_for_it(project: Path, tmp_path: Path) -> None:
    """One of a server that can't be connected says why; a name that no server has is an unknown command."""
    servers = Servers(tmp_path)
    go = tmp_path / "go"
    servers.add(
        "docs",
        tools=[],
        wait_for=str(go),
        capabilities={"tools": {}, "prompts": {}},
        answers={
            "prompts/list": {"prompts": [{"name": "review"}]},
            "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "Please review."}}]},
        },
    )
    servers.add("broken", {"command": "/nothing/here"})
    client = ScriptedClient(["First."])
    options = SessionOptions(cwd=project, mcp_config=(servers.json,))
    async with theatre(ScriptedSession(), way=engine_way(options, client, None), root=project) as show:
        show.keys("/mcp__docs__review\r")
        await show.see("docs is still connecting")
        go.touch()
        await show.see("First.")
        await show.see("% cached")
        show.keys("/mcp__broken__review\r")
        await show.see("the MCP server broken is not connected (failed")
        show.keys("/mcp__other__review\r")
        await show.see("There is no command /mcp__other__review")
    assert "Please review." in str(client.requests[0].messages[-1])
