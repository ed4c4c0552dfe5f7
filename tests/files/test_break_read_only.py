"""A file that its owner made read-only stays as it is, though its directory would allow a replacement."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentcli.files.replace import replace_file

SOMEBODY = 65534


@contextmanager
def somebody() -> Iterator[None]:
    """Root may write everything, so root steps back while it lasts."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(SOMEBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_read_only_file_is_not_replaced() -> None:
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "f"
        file.write_text("old")
        file.chmod(0o444)
        if os.geteuid() == 0:
            os.chown(name, SOMEBODY, -1)
            os.chown(file, SOMEBODY, -1)
        with somebody(), pytest.raises(PermissionError, match="read-only"):
            replace_file(file, b"new")
        assert (file.read_text(), os.listdir(name)) == ("old", ["f"])
