from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentcli.messages import TextBlock
from agentcli.ports.display import DiffDisplay
from agentcli.ports.tools import ToolResult
from agentcli.tools.write import Write
from tests.tools.bench import Bench


async def test_a_new_file_is_made_with_its_directories(bench: Bench, project: Path) -> None:
    assert await bench.call("Write", file_path=f"{project}/out/deep/a.txt", content="x\ny") == ToolResult(
        (TextBlock("Created out/deep/a.txt (2 lines)."),),
        DiffDisplay("out/deep/a.txt", None, "x\ny", "2 lines"),
        touched=(project / "out/deep/a.txt",),
        changed=(project / "out/deep/a.txt",),
    )
    assert (project / "out/deep/a.txt").read_bytes() == b"x\ny"


@pytest.mark.parametrize(("mask", "file", "directory"), [(0o002, 0o664, 0o775), (0o027, 0o640, 0o750)])
async def test_new_files_obey_the_umask(bench: Bench, project: Path, mask: int, file: int, directory: int) -> None:
    before = os.umask(mask)
    try:
        await bench.text("Write", file_path="out/new.txt", content="x\n")
    finally:
        os.umask(before)
    modes = [(project / n).stat().st_mode & 0o7777 for n in ("out/new.txt", "out")]
    assert modes == [file, directory]


async def test_an_existing_file_must_have_been_read_whole(bench: Bench, project: Path) -> None:
    (project / "a").write_text("1\n2\n")
    assert await bench.error("Write", file_path="a", content="x") == (
        "a exists and has not been read yet. Read it first, so that nothing is lost unseen."
    )
    await bench.text("Read", file_path="a", limit=1)
    assert "You have seen only a part of a." in await bench.error("Write", file_path="a", content="x")
    await bench.text("Read", file_path="a", offset=2)
    await bench.text("Write", file_path="a", content="x")
    assert (project / "a").read_text() == "x"
    (project / "a").write_text("theirs")
    assert "a was changed by somebody else since you read it." in await bench.error("Write", file_path="a", content="y")
    assert (project / "a").read_text() == "theirs"


async def test_an_empty_file_needs_no_reading(bench: Bench, project: Path) -> None:
    (project / "a").touch()
    await bench.text("Write", file_path="a", content="x\n")
    assert (project / "a").read_text() == "x\n"


async def test_what_was_written_can_be_edited_and_written_again(bench: Bench, project: Path) -> None:
    await bench.text("Write", file_path="a", content="x\n")
    await bench.edit("a", "x", "y")
    await bench.text("Write", file_path="a", content="z\n")
    assert await bench.text("Write", file_path="a", content="z\n") == (
        "a already has exactly this content; nothing was written."
    )


async def test_mixed_line_endings_are_made_one_and_told(bench: Bench, project: Path) -> None:
    (project / "a").write_bytes(b"1\r\n2\n3\r\n")
    await bench.read("a")
    assert await bench.text("Write", file_path="a", content="1\n2\n") == (
        "Wrote a (2 lines). Format as before: CRLF line endings. Its line endings were mixed; now all lines end with "
        "CRLF."
    )
    assert (project / "a").read_bytes() == b"1\r\n2\r\n"


async def test_a_dangling_link_makes_its_target(bench: Bench, project: Path) -> None:
    (project / "dangling.txt").symlink_to("nowhere.txt")
    result = await bench.call("Write", file_path="dangling.txt", content="y\n")
    assert result.for_model == (TextBlock("Created nowhere.txt, the target of the link dangling.txt (1 line)."),)
    assert result.changed == (project / "nowhere.txt",)
    assert (project / "dangling.txt").is_symlink()


async def test_half_a_character_is_an_error(bench: Bench, project: Path) -> None:
    error = await bench.error("Write", file_path="a", content="\ud83d")
    assert error.startswith("content holds half of a character (a lone surrogate, U+D83D) near position 0.")
    assert not (project / "a").exists()


async def test_a_pipe_is_not_written_to(bench: Bench, project: Path) -> None:
    os.mkfifo(project / "pipe")
    assert "pipe is a named pipe (FIFO)" in await bench.error("Write", file_path="pipe", content="x")


async def test_the_preview_is_the_diff(bench: Bench, project: Path) -> None:
    (project / "a").write_text("x\n")
    tool = Write()
    assert tool.preview({"file_path": "n", "content": "y"}, bench.ctx) == DiffDisplay("n", None, "y")
    assert tool.preview({"file_path": "a", "content": "y"}, bench.ctx) is None
    await bench.read("a")
    assert tool.preview({"file_path": "a", "content": "y"}, bench.ctx) == DiffDisplay("a", "x\n", "y")
    assert not (project / "n").exists()
