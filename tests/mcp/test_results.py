"""What servers answer and ask, as the model and the user see it."""

from __future__ import annotations

import asyncio
import base64
import json
import stat
from dataclasses import dataclass, field
from typing import Any

import pytest

from agentcli.errors import ToolError, UserError
from agentcli.mcp.offers import parse_arguments
from agentcli.mcp.values import PromptArgument, ServerPrompt
from agentcli.messages import ImageBlock, TextBlock
from agentcli.ports.display import TextDisplay
from agentcli.ports.elicitation import Elicitation, ElicitField, ElicitReply
from tests.mcp.world import World, states, texts, tool, until

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


async def test_three_parallel_calls_each_have_their_result(mcp: World) -> None:
    image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
    calls = {
        "parts": {"result": {"content": [text("one"), text("two"), image]}},
        "internal": {"error": {"code": -32603, "message": "it broke"}},
        "params": {"error": {"code": -32602, "message": "wrong", "data": {"field": "x"}}},
        "empty": {"result": {"content": []}},
        "odd": {"result": {"content": [text("one"), {"type": "video", "url": "x://y"}, {"type": "text"}, 7]}},
        "failed": {"result": {"content": [text("no such row")], "isError": True}},
    }
    mcp.servers.add("s", tools=[tool(n) for n in calls], calls=calls)
    async with mcp.open() as room:
        parts, internal, params = await asyncio.gather(
            *(mcp.call(room, f"mcp__s__{n}") for n in ("parts", "internal", "params")), return_exceptions=True
        )
        assert not isinstance(parts, BaseException)
        assert parts.for_model == (TextBlock("one"), TextBlock("two"), ImageBlock("image/png", PIXEL))
        assert str(internal) == "The MCP server s: error -32603: it broke."
        assert str(params) == "The MCP server s: error -32602: wrong ({'field': 'x'})."
        empty = await mcp.call(room, "mcp__s__empty")
        assert (empty.for_model, empty.is_error) == ((), False)
        odd = await mcp.call(room, "mcp__s__odd")
        assert texts(odd) == [
            "one",
            '[a part of the kind \'video\' that can\'t be read] {"type": "video", "url": "x://y"}',
            '[a part of the kind \'text\' that can\'t be read] {"type": "text"}',
            "[a part of the kind 'None' that can't be read] 7",
        ]
        failed = await mcp.call(room, "mcp__s__failed")
        assert (texts(failed), failed.is_error, failed.for_user) == (
            ["no such row"],
            True,
            TextDisplay("no such row", "no such row"),
        )
        assert states(room) == {"s": "connected"}


async def test_what_can_not_be_shown_is_saved_and_the_path_told(mcp: World) -> None:
    sound = base64.b64encode(b"RIFFxxxxWAVE").decode()
    contents = [
        {"type": "audio", "data": sound, "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "AAEC", "mimeType": "application/x-thing"}},
        {"type": "resource", "resource": {"uri": "note://b", "text": "hello"}},
        {"type": "resource_link", "uri": "note://c", "name": "c", "description": "a note"},
        {"type": "image", "data": "!!!", "mimeType": "image/png"},
        {"type": "image", "data": base64.b64encode(b"<svg/>").decode(), "mimeType": "image/svg+xml"},
    ]
    calls = {
        "all": {"result": {"content": contents}},
        "data": {"result": {"content": [], "structuredContent": {"rows": [1, 2]}}},
    }
    mcp.servers.add("s", tools=[tool("all"), tool("data")], calls=calls)
    async with mcp.open() as room:
        found = texts(await mcp.call(room, "mcp__s__all"))
        folder = mcp.cwd.parent / "session" / "mcp"
        assert found[0] == f"[audio, audio/wav, 12 bytes, saved as {folder / '0001.wav'}]"
        assert found[1] == "[resource file:///a.bin, application/x-thing]"
        assert found[2] == f"[resource, application/x-thing, 3 bytes, saved as {folder / '0002.bin'}]"
        assert found[3] == "[resource note://b]\nhello"
        assert found[4] == "[resource c at note://c: a note]"
        assert found[5] == "[an image was left out: its data is damaged]"
        assert found[6].startswith("[an image was left out. The image is no PNG")
        assert found[7] == f"[image, image/svg+xml, 6 bytes, saved as {folder / '0003.svg'}]"
        assert (folder / "0001.wav").read_bytes() == b"RIFFxxxxWAVE"
        assert stat.S_IMODE((folder / "0001.wav").stat().st_mode) == 0o600
        data = await mcp.call(room, "mcp__s__data")
        assert (json.loads(texts(data)[0]), data.structured) == ({"rows": [1, 2]}, {"rows": [1, 2]})


async def test_a_result_over_the_limit_is_kept_whole_in_a_file(mcp: World) -> None:
    whole = "\n".join(f"line {n} " + "x" * 90 for n in range(50_000))
    mcp.servers.add("s", tools=[tool("flood"), tool("ok")], calls={"flood": {"text": whole}})
    async with mcp.open() as room:
        (shown,) = texts(await mcp.call(room, "mcp__s__flood"))
        path = mcp.cwd.parent / "spilled.txt"
        assert path.read_text() == whole
        assert shown.startswith("line 0 ")
        assert shown.endswith("x" * 90)
        assert f"The whole result is in {path}" in shown
        assert "about 25,000 tokens" in shown
        assert len(shown) < 25_000
        assert texts(await mcp.call(room, "mcp__s__ok")) == ["ok {}"]


async def test_a_tool_may_ask_for_longer_results_within_a_limit(mcp: World) -> None:
    asks = {**tool("long"), "_meta": {"anthropic/maxResultSizeChars": 9_000_000}}
    mcp.env = {"MAX_MCP_OUTPUT_TOKENS": "100"}
    mcp.servers.add("s", tools=[asks, tool("short")], calls={n: {"text": "y" * 1000} for n in ("long", "short")})
    async with mcp.open() as room:
        assert texts(await mcp.call(room, "mcp__s__long")) == ["y" * 1000]
        assert "characters left out" in texts(await mcp.call(room, "mcp__s__short"))[0]


@dataclass
class Person:
    reply: ElicitReply
    asked: list[Elicitation] = field(default_factory=list)

    async def elicit(self, request: Elicitation) -> ElicitReply:
        self.asked.append(request)
        return self.reply


FORM = {
    "message": "Who \u001b[31mare you?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Name", "description": "Yours"},
            "age": {"type": "integer", "default": 3},
            "color": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
        },
        "required": ["name"],
    },
}


async def test_everything_that_a_server_asks_in_a_call_is_answered(mcp: World) -> None:
    asks = [
        ["ping", {}],
        ["roots/list", {}],
        ["sampling/createMessage", {"messages": [], "maxTokens": 1}],
        ["elicitation/create", FORM],
        ["nonsense/method", {}],
    ]
    mcp.servers.add("s", tools=[tool("ask")], calls={"ask": {"asks": asks, "progress": [1, 2], "text": "done"}})
    person = Person(ElicitReply("accept", {"name": "Ann"}))
    mcp.host_options = {"elicitor": person}
    async with mcp.open() as room:
        (answer,) = texts(await mcp.call(room, "mcp__s__ask"))
        ping, roots, sampling, form, nonsense = json.loads(answer.removeprefix("done "))
        assert ping == {}
        assert roots == {"roots": [{"name": "project", "uri": mcp.cwd.as_uri()}]}
        assert sampling["code"] in (-32601, -32600)
        assert form == {"action": "accept", "content": {"name": "Ann"}}
        assert nonsense["code"] in (-32601, -32602)
    assert person.asked == [
        Elicitation(
            "s",
            "Who are you?",
            (
                ElicitField("name", "text", "Name", "Yours", required=True),
                ElicitField("age", "integer", default=3),
                ElicitField("color", "choice", options=(("r", "Red"), ("g", "Green"))),
            ),
        )
    ]
    assert mcp.outputs == ["1 of 3: step 1\n", "2 of 3: step 2\n"]


async def test_where_nobody_can_be_asked_the_server_is_told_so(mcp: World) -> None:
    mcp.servers.add("s", tools=[tool("ask")], calls={"ask": {"asks": [["elicitation/create", FORM]], "text": "done"}})
    async with mcp.open() as room:
        assert texts(await mcp.call(room, "mcp__s__ask")) == ['done [{"action": "cancel"}]']


async def test_a_burst_of_notices_costs_one_or_two_lists_and_none_in_the_middle(mcp: World) -> None:
    notes = mcp.cwd.parent / "notes"
    calls = {"login": {"tools": [tool("login2"), tool("query")], "notices": 50}}
    mcp.servers.add("s", tools=[tool("login")], calls=calls, notes=str(notes), early_notice=True)
    async with mcp.open() as room:
        await until(lambda: notes.read_text().count("list") >= 1)
        await mcp.call(room, "mcp__s__login")
        before = notes.read_text().count("list ")
        assert list(room.tools) == ["mcp__s__login"], "nothing changes before the step is over"
        await room.between_steps()
        assert [s.name for s in room.tools.specs()] == ["mcp__s__login2", "mcp__s__query"]
        assert notes.read_text().count("list ") - before <= 2
        with pytest.raises(ToolError, match="no longer offers"):
            await mcp.call(room, "mcp__s__login")


async def test_lying_and_noisy_servers_lose_only_what_is_wrong(mcp: World) -> None:
    tools: list[Any] = [
        tool("good"),
        {"name": "noschema", "description": "x"},
        {"name": "text", "description": "x", "inputSchema": {"type": "string"}},
        {"name": "useless", "description": "x", "inputSchema": {"type": "object", "$ref": "#/$defs/No"}},
        {"description": "nameless", "inputSchema": {"type": "object"}},
        {"name": "odd", "description": 7, "inputSchema": {"type": "object"}, "annotations": [], "outputSchema": 3},
        "not a tool",
    ]
    mcp.servers.add("s", tools=tools, noise=["Starting …", "", "{}", '{"jsonrpc":"2.0"}'], stderr="careful!")
    async with mcp.open() as room:
        assert states(room) == {"s": "connected"}
        assert list(room.tools) == ["mcp__s__good", "mcp__s__noschema", "mcp__s__odd", "mcp__s__text"]
        assert texts(await mcp.call(room, "mcp__s__good")) == ["good {}"]
        await until(lambda: any("careful!" in line for line in room.log_tail("s")))
        assert any("not a message, skipped: Starting" in line for line in room.log_tail("s"))
        (status,) = room.statuses()
    log = mcp.cwd.parent / "home" / ".agentcli" / "logs" / "mcp" / "s.log"
    assert status.log == str(log)
    assert "careful!" in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    (notice,) = mcp.notices
    assert notice.startswith("MCP server s: the tool useless is left out: its input schema is the reference")


async def test_an_endless_line_ends_the_connection_with_its_reason(mcp: World) -> None:
    code = "import sys; sys.stdin.readline(); sys.stdout.write('x' * (17 * 1024 * 1024)); sys.stdout.flush(); input()"
    mcp.servers.add("s", {"command": "python3", "args": ["-c", code]})
    async with mcp.open() as room:
        assert "wrote a line that is longer than 16 MB" in room.statuses()[0].reason


async def test_long_instructions_and_descriptions_are_cut_with_a_note(mcp: World) -> None:
    mcp.servers.add("s", tools=[tool("a", "d" * 5000)], instructions="i" * 5000)
    async with mcp.open() as room:
        said = await room.instructions()
        assert said is not None
        assert len(said) == 2048 + len("## s\n\n")
        assert said.endswith("[… cut here: the server's instructions are too long]")
        assert len(room.tools["mcp__s__a"].spec.description) == 2048


async def test_resources_are_completed_and_attached(mcp: World) -> None:
    resources = {"resources": [{"uri": "note://x", "name": "x", "description": "A note"}]}
    read = {"contents": [{"uri": "note://x", "text": "the words"}]}
    mcp.servers.add(
        "s",
        tools=[],
        capabilities={"tools": {}, "resources": {}},
        answers={"resources/list": resources, "resources/read": read},
    )
    async with mcp.open() as room:
        assert [(m.text, m.description) for m in room.mentions()] == [("@s:note://x", "A note")]
        blocks = await room.attached("See @s:note://x, please; not me@s:note://x or @other:y.")
        assert blocks == (TextBlock("[resource note://x]\nthe words"),)
    mcp.servers.rewrite("s", capabilities={"tools": {}, "resources": {}}, answers={"resources/list": resources})
    mcp.processes = type(mcp.processes)()
    async with mcp.open() as room:
        with pytest.raises(UserError, match="@s:note://x: error -32601"):
            await room.attached("@s:note://x")


async def test_prompts_are_commands(mcp: World) -> None:
    listed = {"prompts": [{"name": "review it", "arguments": [{"name": "what", "required": True}, {"name": "how"}]}]}
    got = {"messages": [{"role": "user", "content": text("Please review.")}]}
    mcp.servers.add(
        "s",
        tools=[],
        capabilities={"tools": {}, "prompts": {}},
        answers={"prompts/list": listed, "prompts/get": got},
    )
    async with mcp.open() as room:
        assert [(p.name, p.hint) for p in room.prompts()] == [("mcp__s__review_it", "what [how]")]
        assert await room.prompt("mcp__s__review_it", "'a b' fast") == (TextBlock("Please review."),)
        with pytest.raises(UserError, match="needs what"):
            await room.prompt("mcp__s__review_it", "")
        with pytest.raises(UserError, match="There is no prompt /mcp__s__other"):
            await room.prompt("mcp__s__other", "")


def test_arguments_of_a_prompt_in_order_or_by_name() -> None:
    prompt = ServerPrompt("p", "", (PromptArgument("a", required=True), PromptArgument("b")))
    assert parse_arguments(prompt, "x y z") == {"a": "x", "b": "y z"}
    assert parse_arguments(prompt, "b=1 x") == {"b": "1", "a": "x"}
    assert parse_arguments(prompt, "don't") == {"a": "don't"}
    with pytest.raises(UserError, match="'y' is too much"):
        parse_arguments(prompt, "a=1 b=2 y")


async def test_a_dialog_shows_all_arguments_and_the_servers_own_word(mcp: World) -> None:
    reads = {**tool("read"), "annotations": {"readOnlyHint": True}}
    drops = {**tool("drop"), "annotations": {"destructiveHint": True}}
    mcp.servers.add("s", tools=[reads, drops])
    async with mcp.open() as room:
        read, drop = room.tools["mcp__s__read"], room.tools["mcp__s__drop"]
        assert (read.effect({}), drop.effect({})) == ("read", "write")
        assert read.preview({"a": "é\n"}, mcp.context()) == TextDisplay(
            "read of the MCP server s (the server says: only reads)", '{\n  "a": "é\\n"\n}'
        )
        assert drop.title({"a": 1, "b": "x"}) == '{"a": 1, "b": "x"}'
        assert drop.title({"a": "only\nthis"}) == "only this"
