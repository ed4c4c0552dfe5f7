"""Requests about what the session did and may do: files taken back, files that were seen, prompts taken back."""

from __future__ import annotations

from pathlib import Path

from tests.api import ApiServer, Gate, reply, tool_use
from tests.ui.headless.client import Client, Line, running

OPEN = {"allow_bypass": True, "permission_mode": "bypassPermissions"}


def write(path: str, content: str) -> Line:
    return tool_use("Write", {"file_path": path, "content": content})


async def asked(client: Client, subtype: str, **fields: object) -> Line:
    return await client.response(client.request(subtype, **fields))


async def test_files_are_taken_back_to_a_prompt(api: ApiServer, project: Path) -> None:
    kept, made = project / "kept.txt", project / "made.txt"
    kept.write_text("one\n")
    api.play(reply(tool_use("Read", {"file_path": "kept.txt"}), write("kept.txt", "two\nthree\n")), "done")
    api.play(reply(write("made.txt", "new\n")), "done", "I know")
    async with running(options=OPEN, replay=True) as client:
        client.request("initialize")
        client.say("first")
        await client.kind("result")
        client.say("second", uuid="u2")
        await client.kind("result")
        first = next(x for x in client.of("user") if x.get("isReplay"))["uuid"]

        dry = (await asked(client, "rewind_files", user_message_id=first, dry_run=True))["response"]
        changes = {"filesChanged": [str(kept), str(made)], "insertions": 1, "deletions": 3}
        assert dry == {"canRewind": True, **changes}
        assert made.exists()
        last = (await asked(client, "rewind_files", user_message_id="u2"))["response"]
        assert last == {"canRewind": True, "filesChanged": [str(made)], "insertions": 0, "deletions": 1}
        assert (kept.read_text(), made.exists()) == ("two\nthree\n", False)
        await asked(client, "rewind_files", user_message_id=first)
        assert kept.read_text() == "one\n"
        client.say("and now?")
        await client.kind("result")
        assert await client.rest() == 0
    assert "took files back" in api.requests[-1].last_text


async def test_a_file_that_was_seen_before_can_be_edited(api: ApiServer, project: Path) -> None:
    for name in ("seen", "changed"):
        (project / name).write_text("old\n")
    edits = [
        tool_use("Edit", {"file_path": name, "old_string": "old", "new_string": "new"}) for name in ("seen", "changed")
    ]
    api.play(reply(*edits), "done")
    async with running(options=OPEN) as client:
        client.request("initialize")
        for name, late in (("seen", 0), ("changed", 1000)):
            mtime = (project / name).stat().st_mtime_ns // 1_000_000 - late
            assert (await asked(client, "seed_read_state", path=name, mtime=mtime))["subtype"] == "success"
        client.say("go")
        await client.kind("result")
        assert await client.rest() == 0
    assert [r.get("is_error", False) for r in api.requests[1].tool_results] == [False, True]
    assert [(project / name).read_text() for name in ("seen", "changed")] == ["new\n", "old\n"]


async def test_a_waiting_prompt_is_taken_back(api: ApiServer, project: Path) -> None:
    gate = Gate()
    api.play(reply("fir", gate, "st"), "third")
    async with running() as client:
        client.request("initialize")
        client.say("one", uuid="u1")
        await api.arrived(1)
        client.say("two", uuid="u2")
        client.say("three", uuid="u3")
        found = [await asked(client, "cancel_async_message", message_uuid=name) for name in ("u1", "u2", "u2")]
        assert [x["response"]["cancelled"] for x in found] == [False, True, False]
        gate.open()
        assert await client.rest() == 0
    assert [x["user_message_uuid"] for x in client.of("result")] == ["u1", "u3"]
    assert [r.last_text.split("\n")[-1] for r in api.requests] == ["one", "three"]


async def test_skills_and_styles_are_read_again(api: ApiServer, project: Path) -> None:
    async with running(options={"trust": True}) as client:
        client.request("initialize")
        assert (await asked(client, "reload_output_styles"))["response"] == {
            "available_output_styles": ["default", "explanatory", "learning"]
        }
        for folder, name, words in (("commands", "late.md", "Say hello."), ("output-styles", "terse.md", "Be terse.")):
            (project / ".claude" / folder).mkdir(parents=True)
            (project / ".claude" / folder / name).write_text(f"---\ndescription: Late\n---\n{words}\n")
        skills = (await asked(client, "reload_skills"))["response"]["skills"]
        assert {"name": "late", "description": "Late", "argumentHint": ""} in skills
        assert "terse" in (await asked(client, "reload_output_styles"))["response"]["available_output_styles"]
        assert await client.rest() == 0
