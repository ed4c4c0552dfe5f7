from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentcli.errors import ToolError
from agentcli.messages import TextBlock
from agentcli.ports.display import DiffDisplay
from agentcli.ports.tools import ToolResult
from agentcli.tools.edit import Edit
from tests.tools.bench import Bench


async def test_an_edit_changes_the_text_and_shows_both_faces(bench: Bench, project: Path) -> None:
    path = project / "a.py"
    path.write_text("one\ntwo\nthree\nfour\nfive\nsix\n")
    await bench.read("a.py")
    result = await bench.call("Edit", file_path="a.py", old_string="three", new_string="3\n3.5")
    assert path.read_text() == "one\ntwo\n3\n3.5\nfour\nfive\nsix\n"
    assert result == ToolResult(
        (TextBlock("Edited a.py:\n1\tone\n2\ttwo\n3\t3\n4\t3.5\n5\tfour\n6\tfive"),),
        DiffDisplay("a.py", "one\ntwo\nthree\nfour\nfive\nsix\n", "one\ntwo\n3\n3.5\nfour\nfive\nsix\n", "+2 −1"),
        touched=(path,),
        changed=(path,),
    )


async def test_the_first_line_behind_a_byte_order_mark_can_be_edited(bench: Bench, project: Path) -> None:
    path = project / "boot.js"
    path.write_bytes(b'\xef\xbb\xbfconst port = 8000\r\nconst host = "a"\r\n')
    assert (await bench.text("Read", file_path="boot.js")).startswith("1\tconst port = 8000\n2\tconst host")
    await bench.edit("boot.js", "const port = 8000", "const port = 9000")
    assert path.read_bytes() == b'\xef\xbb\xbfconst port = 9000\r\nconst host = "a"\r\n'
    said = await bench.text("Write", file_path="boot.js", content='const port = 1\nconst host = "b"\n')
    assert path.read_bytes() == b'\xef\xbb\xbfconst port = 1\r\nconst host = "b"\r\n'
    assert said == "Wrote boot.js (2 lines). Format as before: UTF-8 with BOM, CRLF line endings."
    await bench.text("Write", file_path="boot.js", content="\ufeffx\n")
    assert path.read_bytes() == b"\xef\xbb\xbfx\r\n"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "a\nx\nb", b"a\r\nx\r\nb\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n"),
        (b"a\r\nb\r\n", "a\r\n", "a\n", b"a\nb\r\n"),
        (b"a\nb\n", "a\n", "a\r\n", b"a\r\nb\n"),
        (b"a\nb\r\nc\n", "b\nc", "b\nx\nc", b"a\nb\r\nx\r\nc\n"),
        (b"a\nb\r\nc\n", "c\n", "c\nd\n", b"a\nb\r\nc\nd\n"),
        (b"a\rb\rc", "a\nb", "x\ny", b"x\ry\rc"),
        (b"10%\r20%\nend", "end", "END", b"10%\r20%\nEND"),
        (b"no newline", "newline", "end", b"no end"),
        (b"\xff\xfea\0\r\0\n\0b\0", "a\nb", "a\n\u2192", b"\xff\xfea\0\r\0\n\0\x92\x21"),
        ("é = größe — x\n".encode("cp1252"), "x", "y", "é = größe — y\n".encode("cp1252")),
        ("中文注释，这里是测试\nx\n".encode("gbk"), "x", "测", "中文注释，这里是测试\n测\n".encode("gbk")),
        ("grüße äöü\n".encode() + b"\xff x\n", "x", "ÿ", "grüße äöü\n".encode() + b"\xff \xc3\xbf\n"),
    ],
)
async def test_encoding_and_line_endings_stay(
    bench: Bench, project: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    (project / "f").write_bytes(before)
    await bench.read("f")
    await bench.edit("f", old, new)
    assert (project / "f").read_bytes() == after


async def test_an_encoding_stays_however_little_is_left_to_guess_it_from(bench: Bench, project: Path) -> None:
    (project / "f").write_bytes("한국어 텍스트입니다\n둘째 줄\n".encode("euc_kr"))
    await bench.read("f")
    for text in ("새 글\n", "plain\n", "다시\n"):
        await bench.text("Write", file_path="f", content=text)
        assert (project / "f").read_bytes() == text.encode("euc_kr")
    await bench.edit("f", "다시", "한 번")
    assert await bench.text("Read", file_path="f") == "1\t한 번\n[Format: EUC_KR. Edit and Write keep it.]"
    (project / "f").write_bytes("größe, größer\n".encode("cp1252"))
    assert "CP1252" in await bench.text("Read", file_path="f")


async def test_a_character_that_the_encoding_lacks_is_refused(bench: Bench, project: Path) -> None:
    data = "größe und länge\n".encode("cp1252")
    (project / "f").write_bytes(data)
    await bench.read("f")
    assert await bench.error("Edit", file_path="f", old_string="und", new_string="→") == (
        "f is in CP1252, which has no U+2192 rightwards arrow. Use other characters, or convert the file to UTF-8 with "
        "Bash (iconv) first. Nothing was written."
    )
    assert (project / "f").read_bytes() == data


async def test_text_is_compared_and_written_exactly(bench: Bench, project: Path) -> None:
    (project / "a.txt").write_text("msg = '%s'\n")
    prose = "She said \u201cgo\u201d and it\u2019s late \u2014 or not\n"
    (project / "prose.md").write_text(prose)
    await bench.read("a.txt", "prose.md")
    await bench.edit("a.txt", "'%s'", "\u2018%s\u2019")
    assert (project / "a.txt").read_bytes() == "msg = \u2018%s\u2019\n".encode()
    await bench.text("Write", file_path="b.json", content='{"q": "\u201c"}')
    assert (project / "b.json").read_bytes() == '{"q": "\u201c"}'.encode()
    assert await bench.error("Edit", file_path="prose.md", old_string='"go"', new_string='"stay"') == (
        "old_string is not in prose.md. Line 1 looks the same but is not: at column 10 the file has U+201C left double "
        f"quotation mark, old_string has '\"'. The file has `{prose.strip()}`. Nothing was written."
    )
    assert (project / "prose.md").read_text() == prose


@pytest.mark.parametrize("everywhere", [False, True])
async def test_the_replacement_is_literal(bench: Bench, project: Path, everywhere: bool) -> None:
    new = 'emit("cost $$5 $& $2 $\' $` \\1 \\g<0> \\n {0} %s %(x)s");'
    (project / "app.js").write_text("emit(total);\npat = OLD\n")
    await bench.read("app.js")
    await bench.edit("app.js", "emit(total);", new, replace_all=everywhere)
    await bench.edit("app.js", "OLD", "/^[a-z]+\\d$/ // \\0", replace_all=everywhere)
    assert (project / "app.js").read_text() == f"{new}\npat = /^[a-z]+\\d$/ // \\0\n"
    await bench.edit("app.js", "/^[a-z]+\\d$/", "/x/", replace_all=everywhere)
    assert (project / "app.js").read_text() == f"{new}\npat = /x/ // \\0\n"


async def test_mode_and_hard_links_survive(bench: Bench, project: Path) -> None:
    (project / "run.sh").write_text("#!/bin/sh\necho hi\n")
    (project / "run.sh").chmod(0o754)
    (project / "shared.cfg").write_text("k=1\n")
    os.link(project / "shared.cfg", project / "twin.cfg")
    (project / "shared.cfg").chmod(0o660)
    await bench.read("run.sh", "shared.cfg")
    await bench.edit("run.sh", "hi", "hello")
    await bench.text("Write", file_path="run.sh", content="#!/bin/sh\necho bye\n")
    await bench.edit("shared.cfg", "k=1", "k=2")
    modes = [(project / n).stat().st_mode & 0o7777 for n in ("run.sh", "shared.cfg")]
    assert modes == [0o754, 0o660]
    assert ((project / "twin.cfg").read_text(), (project / "shared.cfg").stat().st_nlink) == ("k=2\n", 2)


async def test_a_link_stays_and_both_names_are_one_file(bench: Bench, project: Path) -> None:
    (project / "AGENTS.md").write_text("house rules\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    await bench.read("CLAUDE.md")
    result = await bench.call("Edit", file_path="CLAUDE.md", old_string="house", new_string="home")
    assert result.changed == (project / "AGENTS.md",)
    assert (project / "CLAUDE.md").is_symlink()
    await bench.edit("AGENTS.md", "home", "team")
    assert (project / "AGENTS.md").read_text() == "team rules\n"


async def test_several_edits_of_one_file_work_in_order(bench: Bench, project: Path) -> None:
    (project / "a").write_text("1 2 3\n")
    await bench.read("a")
    for old, new in (("1", "one"), ("2", "two"), ("one two", "both")):
        await bench.edit("a", old, new)
    assert (project / "a").read_text() == "both 3\n"


async def test_an_unread_file_is_not_edited(bench: Bench, project: Path) -> None:
    (project / "a").write_text("x\n")
    assert await bench.error("Edit", file_path="a", old_string="x", new_string="y") == (
        "a has not been read yet. Read it first, then edit what is there."
    )
    await bench.read("a")
    bench.seen.forget()
    await bench.error("Edit", file_path="a", old_string="x", new_string="y")
    assert (project / "a").read_text() == "x\n"


async def test_a_foreign_change_matters_only_where_the_match_is_not_certain(bench: Bench, project: Path) -> None:
    (project / "a").write_text("x\ny\n")
    await bench.read("a")
    (project / "a").write_text("x\ny\ny\n")
    for input in ({"old_string": "y"}, {"old_string": "y", "replace_all": True}, {"old_string": "z"}):
        assert "changed by somebody else since you read it: read it again" in await bench.error(
            "Edit", file_path="a", new_string="w", **input
        )
    assert (project / "a").read_text() == "x\ny\ny\n"
    assert "changed by somebody else since you read it; old_string was still unique" in await bench.edit("a", "x", "w")
    assert (project / "a").read_text() == "w\ny\ny\n"
    assert "seen only a part" in await bench.error("Write", file_path="a", content="all")


async def test_several_matches_are_counted_with_their_lines(bench: Bench, project: Path) -> None:
    (project / "a").write_text("x\n\nx x\n" + "x\n" * 9)
    await bench.read("a")
    assert await bench.error("Edit", file_path="a", old_string="x", new_string="y") == (
        "old_string occurs 12 times in a (lines 1, 3, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more). Add surrounding lines so "
        "that it is unique, or set replace_all. Nothing was written."
    )
    assert (await bench.edit("a", "x", "y", replace_all=True)).startswith("Edited a (12 replacements):\n1\ty\n")
    assert (project / "a").read_text() == "y\n\ny y\n" + "y\n" * 9


async def test_places_that_overlap_are_not_unique(bench: Bench, project: Path) -> None:
    (project / "a").write_text("aaa\n")
    await bench.read("a")
    assert "occurs 2 times in a (lines 1, 1)" in await bench.error(
        "Edit", file_path="a", old_string="aa", new_string="b"
    )
    await bench.edit("a", "aa", "b", replace_all=True)
    assert (project / "a").read_text() == "ba\n"


@pytest.mark.parametrize(
    ("text", "old", "hint"),
    [
        ("\tif x:\n", "    if x:", "the file is indented with 1 tab, old_string with 4 spaces"),
        ("a = 1  \nb\n", "a = 1\nb", "at the end the file has 2 spaces, old_string has no blanks"),
        ("a = 1\nb\n", "a = 1 \nb", "at the end the file has no blanks, old_string has 1 space"),
        ("x\u00a0= 1\n", "x = 1", "at column 2 the file has U+00A0 no-break space, old_string has a space"),
        ("x = \u200b1\n", "x = 1", "at column 5 the file has U+200B zero width space, old_string has '1'"),
        ("cafe\u0301\n", "caf\u00e9", "accented letters differ in their Unicode form at column 4: the file has them "),
        ("a \u2013 b\n", "a - b", "at column 3 the file has U+2013 en dash, old_string has '-'"),
        ("a\n  b\nc\n", "a\n b\nc", "Line 2 looks the same but is not: the file is indented with 2 spaces"),
        ("1\tx\n2\ty\n", "1\t1\tx", "old_string holds the line numbers of Read"),
        ('say("hi")\nx\n', 'say(\\"hi\\")\\nx', "old_string is escaped once too often"),
        ("def compute_total(items):\n", "def compute_totals(item):", "is line 1: `def compute_total(items):`"),
        ("abc\n", "\nabc\n\n", "It is there without the line breaks at the start or end of old_string."),
        ("abc\n", "zzzzzzzz", "No line of the file is like it."),
        ("x\n", "   ", "No line of the file is like it."),
    ],
)
async def test_a_miss_names_the_place_and_the_characters(
    bench: Bench, project: Path, text: str, old: str, hint: str
) -> None:
    (project / "a").write_text(text)
    await bench.read("a")
    error = await bench.error("Edit", file_path="a", old_string=old, new_string="new")
    assert error.startswith("old_string is not in a. ")
    assert hint in error
    assert error.endswith("Nothing was written.")
    assert (project / "a").read_text() == text


async def test_an_empty_old_string_only_makes_a_new_file(bench: Bench, project: Path) -> None:
    assert await bench.call("Edit", file_path="d/new.txt", old_string="", new_string="x\n") == ToolResult(
        (TextBlock("Created d/new.txt (1 line)."),),
        DiffDisplay("d/new.txt", None, "x\n", "1 line"),
        touched=(project / "d/new.txt",),
        changed=(project / "d/new.txt",),
    )
    assert "exists: an empty old_string only makes a new file" in await bench.error(
        "Edit", file_path="d/new.txt", old_string="", new_string="y"
    )
    assert (project / "d/new.txt").read_text() == "x\n"


async def test_equal_strings_and_half_characters_are_refused(bench: Bench, project: Path) -> None:
    (project / "a").write_text("x\n")
    await bench.read("a")
    assert "are the same" in await bench.error("Edit", file_path="a", old_string="x", new_string="x")
    assert await bench.error("Edit", file_path="a", old_string="x", new_string="ab\ud83d") == (
        "new_string holds half of a character (a lone surrogate, U+D83D) near position 2. Send the whole character. "
        "Nothing was written."
    )
    await bench.edit("a", "x", "\ud83d\ude00")
    assert (project / "a").read_text() == "\U0001f600\n"


async def test_the_preview_is_the_diff_and_writes_nothing(bench: Bench, project: Path) -> None:
    (project / "a").write_text("x\n")
    await bench.read("a")
    tool = Edit()
    edit = {"file_path": "a", "old_string": "x", "new_string": "y"}
    assert tool.preview(edit, bench.ctx) == DiffDisplay("a", "x\n", "y\n", "+1 −1")
    with pytest.raises(ToolError, match="old_string is not in a"):
        tool.preview({**edit, "old_string": "z"}, bench.ctx)
    (project / "secret").write_text("x\n")
    assert tool.preview({**edit, "file_path": "secret", "old_string": "z"}, bench.ctx) is None
    assert tool.preview({"file_path": 3}, bench.ctx) is None
    assert tool.preview({"file_path": "n", "old_string": "", "new_string": "y"}, bench.ctx) == DiffDisplay(
        "n", None, "y"
    )
    assert (project / "a").read_text() == "x\n"
    assert (tool.title(edit), tool.effect(edit)) == ("a", "write")


async def test_a_long_change_is_shown_short(bench: Bench, project: Path) -> None:
    (project / "a").write_text("x\n")
    await bench.read("a")
    text = await bench.edit("a", "x", "\n".join(str(i) for i in range(500)))
    assert len(text.splitlines()) == 26
    assert "[… 476 lines …]" in text


async def test_what_can_not_be_written_is_told(bench: Bench, project: Path) -> None:
    (project / "f").write_text("x")
    assert await bench.error("Write", file_path="f/x", content="y") == (
        "f/x can't be written: Not a directory. A part of the path is a file, not a directory. "
        "What was there is unchanged."
    )
    (project / "d").mkdir()
    assert "d is a directory" in await bench.error("Write", file_path="d", content="y")
    (project / "bin").write_bytes(b"\0\1x")
    bench.seen.note(project / "bin", b"\0\1x", whole=True)
    assert "bin is a binary file" in await bench.error("Edit", file_path="bin", old_string="x", new_string="y")
