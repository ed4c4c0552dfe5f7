"""Prompt texts from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentcli.errors import UsageError, UserError
from agentcli.prompt.options import text_option

FLAG = "--system-prompt"


def test_text_or_file_or_neither(project: Path) -> None:
    file = project / "p.md"
    file.write_bytes(b"\xef\xbb\xbf  Be brief.\r\n\r\n")
    assert text_option(FLAG, "T", None) == "T"
    assert text_option(FLAG, None, file) == "  Be brief.\r\n\r\n"
    assert text_option(FLAG, None, None) is None
    assert text_option(FLAG, "", None) == ""


def test_a_file_in_the_home_directory(home: Path) -> None:
    (home / "p.md").write_text("X")
    assert text_option(FLAG, None, Path("~/p.md")) == "X"


def test_both_at_once_is_a_usage_error(project: Path) -> None:
    with pytest.raises(UsageError, match="--system-prompt and --system-prompt-file can't be used together"):
        text_option(FLAG, "T", project / "p.md")


def test_a_file_that_is_missing_or_no_text_is_named(project: Path) -> None:
    with pytest.raises(UserError, match=r"--system-prompt-file: can't read .*none\.md: No such file"):
        text_option(FLAG, None, project / "none.md")
    (project / "b.bin").write_bytes(b"ok\xff")
    with pytest.raises(UserError, match=r"b\.bin is not UTF-8 text \(byte 2\)"):
        text_option(FLAG, None, project / "b.bin")
