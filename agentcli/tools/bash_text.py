"""A command's output as the model reads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agentcli.processes import Output
from agentcli.text import clean, collapse_progress, head_tail, strip_ansi

_CONTROL = {code: None for code in (*range(32), 127) if chr(code) not in "\n\t"}


def readable(data: bytes) -> str:
    """The bytes as valid text: invalid UTF-8 becomes U+FFFD, terminal control is taken out, and of a line that was
    overwritten with carriage returns its last state stays."""
    text = strip_ansi(data.decode("utf-8", "replace"))
    return collapse_progress(text).translate(_CONTROL)


def present(output: Output, limit: int, spill: Callable[[str, str], Path]) -> str:
    """At most ``limit`` characters of output, head and tail; a line between them says where the whole is."""
    if output.dropped:
        return _present_huge(output, limit)
    text = readable(output.head + output.tail).rstrip("\n")
    cut = head_tail(text, limit)
    if not cut.dropped:
        return text
    try:
        where = f"The whole output ({len(text):,} characters) is in {clean(str(spill(text, '.txt')))}"
    except OSError as error:
        where = _not_kept(error.strerror or str(error))
    return _joined(cut.head, f"{cut.dropped:,} characters", where, cut.tail)


def _present_huge(output: Output, limit: int) -> str:
    """For output of which memory holds only the ends."""
    head = readable(output.head)[: limit * 2 // 3]
    tail = readable(output.tail).rstrip("\n")[-(limit - len(head)) :]
    if output.file is None:
        where = _not_kept(output.file_error)
    elif output.file_bytes == output.total:
        where = f"The whole output ({output.total:,} bytes) is in {clean(str(output.file))}"
    else:
        where = f"Of {output.total:,} bytes the first {output.file_bytes:,} are in {clean(str(output.file))}"
    return _joined(head, "much output", where, tail)


def _not_kept(reason: str) -> str:
    return f"The rest could not be kept ({reason}); run it again with less output"


def _joined(head: str, what: str, where: str, tail: str) -> str:
    how = ": page through it with Read (offset, limit) or search it with Grep" if " is in " in where else ""
    how = how or (" (Read or Grep them)" if " are in " in where else "")
    return f"{head.rstrip()}\n\n[… {what} left out here. {where}{how} …]\n\n{tail}"
