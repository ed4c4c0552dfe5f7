from __future__ import annotations

import json
import os
import re
import socket
import time
import unicodedata
from pathlib import Path

import pytest

from agentcli.messages import TextBlock
from agentcli.ports.display import TextDisplay
from agentcli.ports.tools import ToolResult
from tests.tools.bench import Bench


async def test_lines_are_numbered(bench: Bench, project: Path) -> None:
    (project / "a.py").write_text("x = 1\n\n\ty = 2\n")
    assert await bench.call("Read", file_path="a.py") == ToolResult(
        (TextBlock("1\tx = 1\n2\t\n3\t\ty = 2"),), TextDisplay("3 lines"), touched=(project / "a.py",)
    )


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "[The file is empty.]"),
        (b"a", "1\ta\n[No newline at the end of the file.]"),
        (
            b"\xef\xbb\xbfa\r\nb\r\n",
            "1\ta\n2\tb\n[Format: UTF-8 with BOM, CRLF line endings. Edit and Write keep it.]",
        ),
        (b"\xff\xfeh\0i\0\n\0", "1\thi\n[Format: UTF-16-LE with BOM. Edit and Write keep it.]"),
        (b"a\rb\r", "1\ta\n2\tb\n[Format: CR line endings. Edit and Write keep it.]"),
        (b"caf\xe9 cr\xe8me\n", "1\tcafé crème\n[Format: CP1252. Edit and Write keep it.]"),
        (
            "中文注释，这里是测试\n".encode("gbk"),
            "1\t中文注释，这里是测试\n[Format: GB18030. Edit and Write keep it.]",
        ),
        ("# Привет, мир\n".encode("cp1251"), "1\t# Привет, мир\n[Format: CP1251. Edit and Write keep it.]"),
        ("x\u2028y\x0cz\n".encode(), "1\tx\u2028y\x0cz"),
    ],
)
async def test_encodings_and_odd_ends_are_told(bench: Bench, project: Path, data: bytes, text: str) -> None:
    (project / "a.txt").write_bytes(data)
    assert await bench.text("Read", file_path="a.txt") == text


async def test_broken_bytes_are_shown_as_such(bench: Bench, project: Path) -> None:
    (project / "log").write_bytes("grüße, äöü\n".encode() + b"bro\xffken\n")
    text = await bench.text("Read", file_path="log")
    assert text == ("1\tgrüße, äöü\n2\tbro\ufffdken\n[Format: some invalid UTF-8 bytes. Edit and Write keep it.]")


async def test_a_page_says_where_to_go_on(bench: Bench, project: Path) -> None:
    (project / "a").write_text("".join(f"{i}\n" for i in range(1, 11)))
    assert await bench.text("Read", file_path="a", offset=4, limit=2) == (
        "4\t4\n5\t5\n[Lines 4-5 of 10. Go on with offset=6.]"
    )
    assert await bench.text("Read", file_path="a", offset="9") == "9\t9\n10\t10"
    assert await bench.text("Read", file_path="a", offset=11) == "[Offset 11 is past the end: there are only 10 lines.]"


async def test_a_big_file_comes_in_pages_that_fit(bench: Bench, project: Path) -> None:
    (project / "a").write_text("".join(f"line {i} " + "x" * 90 + "\n" for i in range(1, 1501)))
    text = await bench.text("Read", file_path="a")
    assert len(text) < 25_000 * 3.5
    note = re.fullmatch(r"\[Lines 1-(\d+) of 1500, as many as fit\. Go on with offset=(\d+)\.\]", text.splitlines()[-1])
    assert note is not None
    following = int(note[2])
    assert int(note[1]) == following - 1 > 500
    assert (await bench.text("Read", file_path="a", offset=following)).startswith(f"{following}\tline {following} ")


async def test_long_lines_are_cut_between_characters_and_told(bench: Bench, project: Path) -> None:
    (project / "emoji.txt").write_text("\U0001f600" * 40_000)
    text = await bench.text("Read", file_path="emoji.txt")
    assert text.splitlines() == [
        "1\t" + "\U0001f600" * 2000 + "… [38,000 more characters]",
        "[1 long line cut. For the rest use Bash (cut -c) or Grep.]",
        "[No newline at the end of the file.]",
    ]
    assert "You have seen only a part" in await bench.error("Write", file_path="emoji.txt", content="x")


async def test_what_is_no_file_is_refused_at_once(bench: Bench, project: Path) -> None:
    os.mkfifo(project / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
        (project / "dir").mkdir()
        (project / "dir" / "inner.txt").touch()
        (project / "bin").write_bytes(b"\x7fELF\0\0\0")
        errors = [
            await bench.error("Read", file_path=f) for f in ("pipe", "sock", "dir", "bin", "/dev/zero", "/proc/kmsg")
        ]
    assert errors == [
        "pipe is a named pipe (FIFO), not a file on disk. If you need its content, use Bash.",
        "sock is a socket, not a file on disk. If you need its content, use Bash.",
        "dir is a directory. List it with Glob, or name a file in it. It holds: inner.txt.",
        (
            "bin is a binary file of 7 bytes (it holds NUL bytes), not text. Use Bash with a tool that understands it "
            "(file, xxd, strings)."
        ),
        "/dev/zero is a device, not a file on disk. If you need its content, use Bash.",
        "/proc/kmsg is a file of the kernel, not a file on disk. If you need its content, use Bash.",
    ]


async def test_a_link_into_the_kernel_is_refused(bench: Bench, project: Path) -> None:
    (project / "env").symlink_to("/proc/self/environ")
    assert "a file of the kernel" in await bench.error("Read", file_path="env")


async def test_a_huge_file_is_refused_with_a_way_out(bench: Bench, project: Path) -> None:
    with (project / "huge").open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    started = time.monotonic()
    assert "209,715,200 bytes" in await bench.error("Read", file_path="huge")
    assert time.monotonic() - started < 5


async def test_the_exact_name_always_wins(bench: Bench, project: Path) -> None:
    odd, plain = "memo 7.15\u202fa.m. draft.txt", "memo 7.15 a.m. draft.txt"
    (project / odd).write_text("narrow\n")
    (project / plain).write_text("plain\n")
    (project / " lead and trail .txt").write_text("edges\n")
    (project / "~tilde.txt").write_text("tilde\n")
    names = (odd, plain, f"{project}/ lead and trail .txt", f"{project}/~tilde.txt", "~tilde.txt")
    texts = [await bench.text("Read", file_path=name) for name in names]
    assert texts == ["1\tnarrow", "1\tplain", "1\tedges", "1\ttilde", "1\ttilde"]
    listed = (await bench.text("Glob", pattern="*.txt")).splitlines()
    assert sorted(listed) == sorted([odd, plain, " lead and trail .txt", "./~tilde.txt"])
    for name in listed:
        await bench.text("Read", file_path=name)


async def test_a_missing_file_names_what_was_probably_meant(bench: Bench, project: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "café.txt")
    (project / decomposed).write_text("nfd\n")
    (project / "shot\u202f1.txt").write_text("x")
    (project / "src").mkdir()
    (project / "src" / "main.py").touch()
    assert await bench.error("Read", file_path="café.txt") == (
        f"café.txt does not exist. Did you mean '{decomposed}' (with U+0301 combining acute accent)?"
    )
    assert await bench.error("Read", file_path="shot 1.txt") == (
        "shot 1.txt does not exist. Did you mean 'shot\\u202f1.txt' (with U+202F narrow no-break space)?"
    )
    assert "Did you mean 'src/main.py'?" in await bench.error("Read", file_path="src/mian.py")
    assert "Did you mean 'src/main.py'?" in await bench.error("Read", file_path="/src/main.py")
    assert f"The working directory is {project}." in await bench.error("Read", file_path="nothing.like.it")


async def test_a_dangling_link_is_named_as_such(bench: Bench, project: Path) -> None:
    (project / "l").symlink_to("nowhere")
    assert await bench.error("Read", file_path="l") == "l is a link to nowhere, which does not exist."


async def test_a_name_that_is_not_unicode_can_be_read_as_it_is_listed(bench: Bench, project: Path) -> None:
    (Path(os.fsencode(project).decode()) / os.fsdecode(b"f\xff\xed\xa0\xbd.txt")).write_text("odd\n")
    (listed,) = (await bench.text("Glob", pattern="*.txt")).splitlines()
    listed.encode("utf-8")
    assert await bench.text("Read", file_path=listed) == "1\todd"


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "The path is empty."), ("a\0b", "The path holds a NUL character."), ("x" * 300, "too long")],
)
async def test_impossible_paths_are_errors(bench: Bench, name: str, message: str) -> None:
    assert message in await bench.error("Read", file_path=name)


async def test_circular_links_are_an_error(bench: Bench, project: Path) -> None:
    (project / "a").symlink_to("b")
    (project / "b").symlink_to("a")
    assert "Too many levels of symbolic links" in await bench.error("Read", file_path="a")


async def test_the_home_directory_is_only_meant_by_a_leading_tilde_and_slash(bench: Bench, home: Path) -> None:
    (home / "n.txt").write_text("home\n")
    assert await bench.text("Read", file_path="~/n.txt") == "1\thome"


async def test_a_notebook_is_shown_as_cells(bench: Bench, project: Path) -> None:
    cells = [
        {"cell_type": "markdown", "id": "m1", "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "source": "1/0",
            "outputs": [
                {"output_type": "stream", "text": ["out\n"]},
                {
                    "output_type": "error",
                    "ename": "ZeroDivisionError",
                    "traceback": ["\x1b[31mZeroDivisionError\x1b[0m"],
                },
            ],
        },
    ]
    (project / "n.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))
    assert await bench.text("Read", file_path="n.ipynb") == (
        '<cell number="1" type="markdown" id="m1">\n# Title\ntext\n</cell>\n'
        '<cell number="2" type="code">\n1/0\n<output>\nout\n</output>\n<output>\nZeroDivisionError\n</output>\n</cell>'
    )
    assert (await bench.text("Read", file_path="n.ipynb", offset=1, limit=1)).endswith(
        "[Cells 1-1 of 2. Go on with offset=2.]"
    )
    (project / "bad.ipynb").write_text("{}")
    assert "is not a notebook of format 4" in await bench.error("Read", file_path="bad.ipynb")


async def test_unreadable_files_are_told(bench: Bench, project: Path) -> None:
    (project / "f").write_text("x")
    assert await bench.error("Read", file_path="f/x") == "f/x can't be read: Not a directory."
