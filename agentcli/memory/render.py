"""What the model reads: each file in an element that says where it stands and what it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from agentcli.memory.values import MemoryFile, Scope
from agentcli.text import clean

INTRODUCTION = """\
# Instructions

Files in which people tell you how to work here. Follow them. They stand from the widest to the nearest: where two \
disagree, the later one holds; what the user says in the conversation goes before both."""
NESTED = "Instructions for the files that you have just used, the nearest last. Follow them for work on such files."
WHAT: dict[Scope, str] = {
    "managed": "set by the organisation",
    "user": "the user's own, for all projects",
    "project": "the project's, shared by its team",
    "local": "the user's own, for this project",
}
_TAG = re.compile(r"<(?=\s*/?\s*(?:instructions|import|memory)\b)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
_ELEMENT = re.compile(r'^<instructions path="([^"\n]*)"[^\n]*>\n(.*?)\n</instructions>$', re.M | re.S)


def defuse(text: str) -> str:
    """The text so that it can't end its element or pose as another file."""
    return _TAG.sub("&lt;", text)


def render_section(files: Iterable[MemoryFile]) -> str | None:
    """The instruction files of the prompt's memory section; ``None`` without any."""
    elements = [render_file(f) for f in files]
    return "\n\n".join([INTRODUCTION, *elements]) if elements else None


def render_nested(files: Iterable[MemoryFile]) -> str:
    return "\n\n".join([NESTED, *(render_file(f) for f in files)])


def render_file(file: MemoryFile) -> str:
    rule = f' applies-to="{attribute(", ".join(file.patterns))}"' if file.patterns else ""
    head = f'<instructions path="{attribute(file.path)}" what="{WHAT[file.scope]}"{rule}>'
    return f"{head}\n{file.text}\n</instructions>"


def render_import(path: Path, text: str) -> str:
    return f'<import path="{attribute(path)}">\n{text}\n</import>'


def attribute(value: object) -> str:
    """The value so that it can't leave its line or its quotes; ``path_of`` is the way back."""
    text = _CONTROL.sub("\ufffd", clean(str(value)))
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def path_of(attribute: str) -> Path:
    return Path(attribute.replace("&lt;", "<").replace("&quot;", '"').replace("&amp;", "&"))


def told_elements(text: str) -> dict[str, str]:
    """The elements of a text that was sent: ``path`` attribute → whole element.  Contents can't forge one."""
    return {m[1]: m[0] for m in _ELEMENT.finditer(text)}
