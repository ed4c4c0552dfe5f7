"""An image that the API refuses is taken out once, and the turn goes on."""

from __future__ import annotations

from agentcli.agent.images import without_refused_image
from agentcli.errors import ApiError
from agentcli.events import Notice
from agentcli.messages import ImageBlock, Json, Origin, TextBlock, ThinkingBlock, ToolResultBlock, assistant, user
from agentcli.model.scripted import Answer, call, say
from agentcli.ports.display import TextDisplay
from agentcli.ports.frontend import UserInput
from agentcli.ports.tools import ToolResult
from tests.agent.world import FakeTool, make, standard_tools

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = ImageBlock("image/png", PIXEL)
OTHER = ImageBlock("image/png", "aGkh")


def refused(text: str) -> ApiError:
    return ApiError(text, kind="invalid_request", status=400)


def note(reason: str, origin: Origin = "reminder") -> TextBlock:
    return TextBlock(f"[An image stood here. The API refused it and it was removed: {reason}]", origin)


async def test_the_turn_goes_on_without_the_image_and_the_journal_knows() -> None:
    def show(input: Json) -> ToolResult:
        return ToolResult((TextBlock("wide.png"), IMAGE), TextDisplay("image"))

    reason = "messages.2.content.0.content.1.image.source: image dimensions exceed 8000 pixels"
    script = [say(call("Show", id="a")), Answer((), error=refused(reason)), "I can't see it.", "Next."]
    world = make(script, tools=standard_tools() | {"Show": FakeTool("Show", show)})
    finished = await world.turn()
    assert (finished.outcome, finished.steps) == ("completed", 2)
    assert world.state.messages[2] == user(ToolResultBlock("a", (TextBlock("wide.png"), note(reason, "user"))))
    assert [r.intent for r in world.requests] == ["", "", "image removed"]
    assert [n.code for n in world.seen(Notice)] == ["image_removed"]
    assert [e["intent"] for e in world.journal.entries if e["kind"] == "clearing"] == ["image removed"]
    assert (await world.turn("and now?")).outcome == "completed"


async def test_an_image_of_the_prompt_is_replaced_too() -> None:
    world = make([Answer((), error=refused("image exceeds 5 MB maximum")), "Too large, it seems."])
    await world.agent.run_turn(UserInput("look", (IMAGE,)))
    assert world.state.messages[0] == user(note("image exceeds 5 MB maximum"), "look")


def test_the_path_of_the_error_says_which_image() -> None:
    messages = [user(IMAGE, OTHER, "look"), assistant("ok"), user(IMAGE)]
    changed = without_refused_image(messages, refused("messages.0.content.1: image is broken"))
    assert changed == [user(IMAGE, note("messages.0.content.1: image is broken"), "look"), assistant("ok"), user(IMAGE)]


def test_thinking_behind_a_changed_message_is_dropped_and_in_front_of_it_kept() -> None:
    thought = ThinkingBlock("t", "s")
    messages = [user("a"), assistant(thought, "1"), user(IMAGE), assistant(thought, "2"), user("b")]
    changed = without_refused_image(messages, refused("messages.2.content.0: image is broken"))
    assert changed is not None
    assert changed[1] == assistant(thought, "1")
    assert changed[3] == assistant("2")


def test_other_errors_change_nothing() -> None:
    messages = [user(IMAGE)]
    assert without_refused_image(messages, ApiError("no image", kind="authentication", status=401)) is None
    assert without_refused_image(messages, refused("tools.0.name: too long")) is None
    assert without_refused_image([user("x")], refused("image is broken")) is None
