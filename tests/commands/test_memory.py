"""``/memory`` and ``/init``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentcli.commands.init import init_prompt
from agentcli.commands.memory import because, edit, listing
from agentcli.errors import UserError
from agentcli.i18n import Texts
from agentcli.memory.why import explain
from tests.memory.worlds import Desk, settings, write


class Editor:
    """A person with an editor who puts ``text`` into every file; ``None`` closes it without a change."""

    def __init__(self, text: str | None, meanwhile: Path | None = None) -> None:
        self.text = text
        self.meanwhile = meanwhile
        self.seen: list[str] = []

    async def choose(self, *_: object, **__: object) -> None: ...

    async def confirm(self, *_: object, **__: object) -> bool:
        return False

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        self.seen.append(text)
        if self.meanwhile is not None:
            self.meanwhile.write_text("by somebody else\n")
        return self.text

    async def show(self, *_: object) -> None: ...


async def test_the_list_in_order_with_what_is_left_out(project: Path, home: Path, golden) -> None:
    write(home / ".claude" / "CLAUDE.md", "USER")
    write(project / "CLAUDE.md", "PROJECT @docs/a.md\n@My Notes/b.md\n")
    write(project / "docs" / "a.md", "A")
    write(project / "My Notes" / "b.md", "B")
    write(project / ".claude" / "rules" / "py.md", '---\npaths: ["*.py", "*.pyi"]\n---\nPY')
    write(project / ".claude" / "rules" / "ts.md", '---\npaths: "*.ts"\n---\nTS')
    write(project / "old.md", "x")
    write(project / "CLAUDE.local.md", "LOCAL")
    write(project / "sub" / "CLAUDE.md", "SUB")
    desk = Desk(project, settings(claudeMdExcludes=["**/*.local.md"]), auto=True)
    await desk.section()
    await desk.touch(project / "sub" / "x.py")
    [notes] = desk.room.writable_directories()
    write(notes / "MEMORY.md", "- a\n")
    text = listing(desk.room.survey()).replace(str(notes), "/notes")
    text = re.sub(r"about \d+ tokens", "about N tokens", text)  # the figure counts the path's length too
    korean = re.sub(r"약 \d+토큰", "약 N토큰", listing(desk.room.survey(), Texts("ko")).replace(str(notes), "/notes"))
    golden("memory.ko.md", korean.replace(str(project), "/p").replace(str(home), "/h") + "\n")
    golden("memory.md", text.replace(str(project), "/p").replace(str(home), "/h") + "\n")


async def test_nothing_to_list(project: Path) -> None:
    assert listing(Desk(project).room.survey()) == "There are no memory files here. /init writes a CLAUDE.md."


async def test_editing(project: Path) -> None:
    path = project / "CLAUDE.md"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    desk = Desk(project)
    editor = Editor("one\n2\n")
    said = await edit(desk.room.survey(), "1", editor)
    assert said == f"`{path}` is written. A running conversation is told with its next request."
    assert (editor.seen, path.read_bytes()) == (["one\ntwo\n"], b"\xef\xbb\xbfone\r\n2\r\n")
    assert await edit(desk.room.survey(), "1", Editor(None)) == f"`{path}` is unchanged."


async def test_an_edit_does_not_overwrite_somebody_elses(project: Path) -> None:
    path = write(project / "CLAUDE.md", "one\n")
    with pytest.raises(UserError, match="changed by somebody else meanwhile; nothing was written"):
        await edit(Desk(project).room.survey(), "1", Editor("mine\n", meanwhile=path))
    assert path.read_text() == "by somebody else\n"


@pytest.mark.parametrize("number", ["", "0", "2", "x", "-1"])
async def test_numbers_that_are_not_there(project: Path, number: str) -> None:
    write(project / "CLAUDE.md", "one\n")
    with pytest.raises(UserError, match="give a number from 1 to 1"):
        await edit(Desk(project).room.survey(), number, Editor("x"))


def test_init_improves_what_is_there(project: Path) -> None:
    fresh = init_prompt(project)
    assert "There is one" not in fresh
    path = write(project / ".claude" / "CLAUDE.md", "x")
    prompt = init_prompt(project, "mention the release steps")
    assert prompt == (
        f"{fresh}\n\nThere is one: {path}. Read it first and edit it.\n\n"
        "The user asks in particular: mention the release steps"
    )


async def test_why_a_file_counts(project: Path) -> None:
    write(project / "sub" / "CLAUDE.md", "SUB")
    room = Desk(project).room
    told = because(explain(project / "sub" / "x.py", room.places, room.approvals))
    assert str(project / "sub" / "CLAUDE.md") in told
    assert "token" in told
    korean = Texts("ko")
    assert because(explain(project / "sub" / "x.py", room.places, room.approvals, korean), korean).endswith(
        "팀과 공유하는 프로젝트 파일; 파일로 가는 경로의 디렉터리에 있음"
    )
    assert because(explain(project / "x.py", room.places, room.approvals)) == "There are no memory files here."
