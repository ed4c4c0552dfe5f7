"""Images and documents are made to fit before they are part of the conversation, and when there are too many."""

from __future__ import annotations

import base64
import io

import PIL.Image
import pytest

from agentcli.agent import images_fit
from agentcli.agent.images_fit import all_fitted, fitted, within_limits
from agentcli.errors import ApiError
from agentcli.events import Notice
from agentcli.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant,
    user,
)
from agentcli.model.scripted import Answer
from agentcli.ports.frontend import UserInput
from tests.agent.test_images import PIXEL
from tests.agent.world import make

SMALL = ImageBlock("image/png", PIXEL)
PDF = base64.b64encode(b"%PDF-1.7\na word").decode()


def encoded(wide: int, high: int, kind: str = "PNG") -> str:
    target = io.BytesIO()
    PIL.Image.new("RGB", (wide, high), "red").save(target, kind)
    return base64.b64encode(target.getvalue()).decode()


def size(block: Block) -> tuple[int, int]:
    assert isinstance(block, ImageBlock)
    return PIL.Image.open(io.BytesIO(base64.b64decode(block.data))).size


async def test_what_fits_stays_the_same() -> None:
    blocks = (TextBlock("x"), SMALL, DocumentBlock("application/pdf", PDF), DocumentBlock("text/plain", "words"))
    assert await fitted(blocks) == blocks


async def test_a_wide_image_is_scaled_and_a_wrong_type_corrected() -> None:
    wide, wrong = await fitted(
        (ImageBlock("image/png", encoded(9_000, 20)), ImageBlock("image/png", encoded(9, 9, "JPEG")))
    )
    assert size(wide) == (2_000, 4)
    assert isinstance(wrong, ImageBlock)
    assert wrong.media_type == "image/jpeg"


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (ImageBlock("image/png", "not base64!"), "no valid base64"),
        (ImageBlock("image/png", base64.b64encode(b"not an image").decode()), "no PNG, JPEG, GIF or WebP"),
        (ImageBlock("image/jpeg", base64.b64encode(b"\xff\xd8\xff\xe0" + b"\0" * 50).decode()), "damaged or cut off"),
        (DocumentBlock("application/pdf", base64.b64encode(b"PK\x03\x04").decode()), "no PDF"),
        (DocumentBlock("application/pdf", PDF + "A" * (15 * 1024 * 1024)), "bytes; take parts of it"),
        (DocumentBlock("text/plain", " "), "it is empty"),
    ],
)
async def test_what_can_not_be_sent_is_named(block: Block, words: str) -> None:
    (note,) = await fitted((block,))
    assert isinstance(note, TextBlock)
    assert words in note.text
    assert note.origin == "reminder"


async def test_a_prompts_attachments_fit_before_they_are_sent() -> None:
    world = make(["Red."])
    broken = ImageBlock("image/png", base64.b64encode(b"nothing").decode())
    await world.agent.run_turn(UserInput("look", (ImageBlock("image/png", encoded(2_100, 100)), broken)))
    image, note, words = world.state.messages[0].content
    assert size(image) == (2_000, 95)
    assert isinstance(note, TextBlock)
    assert words == TextBlock("look")


async def test_a_refusal_shrinks_every_image_of_an_older_session_at_once() -> None:
    large = ImageBlock("image/png", encoded(2_100, 10))
    world = make(
        [Answer((), error=ApiError("image dimensions exceed 2000 pixels", kind="invalid_request", status=400)), "Fine."]
    )
    for number in range(3):
        world.state.append(user(large, f"look {number}"))
        world.state.append(assistant(ThinkingBlock("t", "s"), "ok"))
    await world.turn("and now?")
    assert [size(m.content[0]) for m in world.state.messages[::2][:3]] == [(2_000, 10)] * 3
    thoughts = [isinstance(m.content[0], ThinkingBlock) for m in world.state.messages if m.role == "assistant"]
    assert thoughts == [False] * 4
    assert [n.code for n in world.seen(Notice)] == ["images_scaled"]
    assert [e["intent"] for e in world.journal.entries if e["kind"] == "clearing"] == ["images scaled"]


async def test_nothing_to_scale_is_no_change() -> None:
    assert await all_fitted([user(SMALL, "x"), user(ToolResultBlock("a", (SMALL,)))]) is None


def shown(count: int) -> list[Message]:
    return [
        m
        for n in range(count)
        for m in (
            assistant(ToolUseBlock(f"i{n}", "Read", {})),
            user(ToolResultBlock(f"i{n}", (TextBlock("one"), SMALL))),
        )
    ]


def images(messages: list[Message]) -> list[bool]:
    return [any(isinstance(c, ImageBlock) for c in r.content) for m in messages for r in m.tool_results()]


def test_too_many_images_lose_the_older_half_in_one_step() -> None:
    assert within_limits([user("go"), *shown(100)]) is None
    fewer = within_limits([user("go"), *shown(101)])
    assert fewer is not None
    assert images(fewer) == [False] * 51 + [True] * 50
    assert within_limits(fewer) is None


def test_too_much_data_too_and_the_newest_stays_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images_fit, "MOST_ENCODED", 3 * len(PIXEL))
    assert within_limits([user("go"), *shown(3)]) is None
    fewer = within_limits([user("go"), *shown(4)])
    assert fewer is not None
    assert images(fewer) == [False] * 3 + [True]
    monkeypatch.setattr(images_fit, "MOST_ENCODED", 10)
    fewer = within_limits([user("go"), *shown(4)])
    assert fewer is not None
    assert images(fewer) == [False] * 3 + [True]


async def test_the_guard_stands_in_front_of_every_request() -> None:
    world = make(["Fine.", "Fine."])
    world.state.messages[:] = [user("go"), *shown(101), assistant("seen")]
    await world.turn("and now?")
    assert images(world.state.messages) == [False] * 51 + [True] * 50
    assert [n.code for n in world.seen(Notice)] == ["images_removed"]
    await world.turn("again")
    assert [e["intent"] for e in world.journal.entries if e["kind"] == "clearing"] == ["old images removed"]
