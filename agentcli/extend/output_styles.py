"""Output styles: how the agent talks.  ``output-styles/*.md``, and three of our own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agentcli.extend.definition import DefinitionError, Document, Fields
from agentcli.extend.places import Place, Scope

DEFAULT = "default"
"""The style that adds nothing to the prompt."""


@dataclass(frozen=True, slots=True)
class OutputStyle:
    """``keep_coding_instructions`` false leaves the coding part of the static region out."""

    name: str
    description: str
    text: str
    keep_coding_instructions: bool
    scope: Scope
    path: Path


def parse_style(document: Document, place: Place) -> tuple[OutputStyle, list[str]]:
    """``DefinitionError`` for a file without a text."""
    fields = Fields(document)
    name = fields.text("name") or document.path.stem
    text = document.body.strip()
    if not text:
        raise DefinitionError(f"{document.path}: the output style has no text; write it below the front matter")
    keep = fields.flag("keep-coding-instructions")
    style = OutputStyle(name, fields.text("description"), text, keep, place.scope, document.path)
    return style, fields.warnings
