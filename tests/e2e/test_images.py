"""Images that the API would refuse never poison a session."""

from __future__ import annotations

import base64
import io
import random
from pathlib import Path
from typing import Any

import PIL.Image
import pytest

from agentcli.events import Notice
from agentcli.messages import ImageBlock, Message
from agentcli.runtime.session import Session
from tests.api import ApiServer, Request, error, reply, tool_use
from tests.api.images import dimensions
from tests.e2e.harness import NEWEST, PIXEL, Stage


def png(wide: int, high: int) -> bytes:
    target = io.BytesIO()
    PIL.Image.new("RGB", (wide, high)).save(target, "PNG")
    return target.getvalue()


def noise(wide: int, high: int) -> bytes:
    """What can't be packed."""
    target = io.BytesIO()
    pixels = random.Random(1).randbytes(wide * high * 3)
    PIL.Image.frombytes("RGB", (wide, high), pixels).save(target, "PNG", compress_level=0)
    return target.getvalue()


@pytest.fixture
def stage(api: ApiServer, home: Path, project: Path) -> Stage:
    (project / "wide.png").write_bytes(png(9_000, 20))
    (project / "mid.png").write_bytes(png(2_100, 100))
    (project / "fat.png").write_bytes(noise(1_200, 1_200))
    (project / "ok.png").write_bytes(png(10, 10))
    (project / "fake.png").write_bytes(b"not an image")
    (project / "jpeg.png").write_bytes(b"\xff\xd8\xff\xe0" + b"\0" * 50)
    return Stage(api, home, project)


def read(stage: Stage, name: str) -> Any:
    return reply(tool_use("Read", {"file_path": str(stage.project / name)}))


def images(request: Request) -> list[tuple[int, int] | None]:
    """Sizes of all images of a request."""
    inner = [c for b in request.blocks() for c in (b.get("content") if isinstance(b.get("content"), list) else [b])]
    return [dimensions(c["source"]["data"]) for c in inner if c["type"] == "image"]


async def test_each_is_scaled_or_refused_before_it_is_sent(stage: Stage) -> None:
    names = ["wide.png", "mid.png", "ok.png", "fake.png", "jpeg.png", "fat.png"]
    async with stage.session() as session:
        await stage.say(session, "Look.", *(read(stage, n) for n in names), "Seen.")
    last = stage.requests[-1]
    assert images(last) == [(2_000, 4), (2_000, 95), (10, 10), (1_200, 1_200)]
    failed = [b for b in last.blocks() if b.get("is_error")]
    assert len(failed) == 2
    stage.api.assert_clean()


async def test_many_small_ones_and_a_larger_one(stage: Stage) -> None:
    async with stage.session() as session:
        for _ in range(5):
            await stage.say(session, "Look.", *([read(stage, "ok.png")] * 5), "Seen.")
        await stage.say(session, "And this.", read(stage, "mid.png"), "Seen.")
        await stage.say(session, "Done?", "Yes.")
    assert len(images(stage.requests[-1])) == 26
    assert max(max(size) for size in images(stage.requests[-1]) if size) == 2_000
    stage.api.assert_clean()


async def test_attachments_of_clients_are_scaled_too(stage: Stage) -> None:
    data = base64.b64encode(png(9_000, 20)).decode()
    async with stage.session() as session:
        await stage.say(session, "Look.", "Seen.", attach=[ImageBlock("image/png", data)])
    assert images(stage.requests[-1]) == [(2_000, 4)]
    stage.api.assert_clean()


async def old_session(stage: Stage, session: Session) -> None:
    """A conversation of an older version: images as large as the API takes them where there are few."""
    await stage.say(session, "Begin.", "Begun.")
    large = ImageBlock("image/png", base64.b64encode(png(2_100, 100)).decode())
    small = ImageBlock("image/png", PIXEL)
    first = session.state.messages[0]
    session.state.messages[0] = Message("user", (*([small] * 24), large, *first.content))


async def test_those_of_an_older_session_are_made_smaller_in_one_step(stage: Stage) -> None:
    stage.api.refused_is_fine = True
    async with stage.session() as session:
        await old_session(stage, session)
        await stage.say(session, "And now?", "Fine.")
        await stage.say(session, "Again?", "Fine.")
        kept = list(session.state.messages)
    assert len(stage.api.refused) == 1
    assert max(max(size) for size in images(stage.requests[-1]) if size) == 2_000
    assert [n.code for n in stage.heard if isinstance(n, Notice)] == ["images_scaled"]
    async with stage.session(resume=NEWEST) as session:
        assert session.state.messages == kept
        await stage.say(session, "Still?", "Yes.")


async def test_a_refused_one_is_taken_out_and_the_session_goes_on(stage: Stage) -> None:
    refusal = error(
        400,
        "messages.2.content.0.content.0.image.source: image dimensions exceed max allowed size: 8000 pixels",
    )
    async with stage.session() as session:
        await stage.say(session, "Look.", read(stage, "ok.png"), refusal, "I can't see it.")
        await stage.say(session, "and now?", "Fine.")
    assert images(stage.requests[-1]) == []
    assert "The API refused it and it was removed" in str(stage.requests[-1].messages)
    async with stage.session(resume=NEWEST) as session:
        stage.play("The summary.")
        await session.compact()
        await stage.say(session, "Back.", "Here.")
