"""``/diff`` as people read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentcli.errors import UserError
from agentcli.model.scripted import call, say
from tests.checkpoints.test_rewind import FREE, bash
from tests.commands.test_commands import desk

Golden = Callable[[str, str], None]


async def test_what_the_session_changed(repo: Path, golden: Golden) -> None:
    (repo / "gone.txt").write_text("a\nb\n")
    (repo / "image.png").write_bytes(b"\x89PNG\0\1")
    (repo / "run.sh").write_text("#!/bin/sh\n")
    (repo / "both.txt").write_text("mine\n")
    (repo / "list.txt").write_text("".join(f"{n}\n" for n in range(40)))
    steps = (
        bash("for f in gone.txt; do rm $f; done; printf '\\211PNG\\0\\2' > image.png; chmod +x run.sh"),
        say(call("Write", file_path="new/fence.md", content="# New\n\n````\nx\n````\nno newline")),
        say(
            call("Read", file_path="list.txt"),
            call("Edit", file_path="list.txt", old_string="20\n", new_string="x\ny\n"),
        ),
        bash("echo theirs > both.txt; seq 5000 > long.txt; ln -s long.txt link"),
        "done",
    )
    async with desk(repo, *steps, **FREE) as show:
        await show.say()
        (repo / "both.txt").write_text("mine again\n")
        golden("diff.md", (await show("diff")).text + "\n")


async def test_the_last_turn_alone_and_nothing(project: Path) -> None:
    async with desk(project, bash("echo 1 > a"), "1", bash("echo 2 > b"), "2", "3", **FREE) as show:
        assert (await show("diff")).text == (await show("diff turn")).text == "Nothing is different."
        await show.say()
        await show.say()
        last = "**Files: 1 +1 −0**\n\n`b`: new +1 −0\n\n```diff\n@@ -0,0 +1 @@\n+2\n```"
        assert (await show("diff turn")).text == last
        assert (await show("diff")).text.count("```diff") == 2
        await show.say()
        assert (await show("diff turn")).text == "Nothing is different."
        with pytest.raises(UserError, match="does not know 'x'"):
            await show("diff x")
