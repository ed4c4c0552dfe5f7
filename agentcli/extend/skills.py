"""Skills (``skills/NAME/SKILL.md``) and custom commands (``commands/**/*.md``): one shape, two places.

A skill is loaded in three stages: its name and description stand in the prompt, its body is read when it is invoked,
and the files beside it when the body says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentcli.extend.agents import EFFORTS
from agentcli.extend.definition import DefinitionError, Document, Fields
from agentcli.extend.places import FoundFile, Place, Scope
from agentcli.text import one_line

Visibility = Literal["on", "name-only", "user-invocable-only", "off"]
VISIBILITIES: tuple[Visibility, ...] = ("on", "name-only", "user-invocable-only", "off")
_NAME = re.compile(r"[A-Za-z][\w.-]{0,63}")


@dataclass(frozen=True, slots=True)
class Skill:
    """``kind`` ``command`` is a custom command: it is called by ``/name`` and not listed for the model.

    ``allowed_tools`` spare questions while the skill works; those of an untrusted project are left out.
    """

    name: str
    kind: Literal["skill", "command"]
    description: str
    path: Path
    scope: Scope
    trusted: bool
    when_to_use: str = ""
    argument_hint: str = ""
    arguments: tuple[str, ...] = ()
    """Names for ``$name``, in the order of the words."""
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    by_model: bool = True
    """The model may invoke it (not ``disable-model-invocation``)."""
    by_user: bool = True
    """``/name`` invokes it (``user-invocable``)."""
    model: str | None = None
    effort: str | None = None
    fork: bool = False
    """Runs in a subagent of its own (``context: fork``)."""
    background: bool = False
    """Nobody waits for that subagent."""
    agent: str = ""
    """The kind of that subagent."""
    paths: tuple[str, ...] = ()
    """The model is told of the skill only once a file that these globs match was touched."""

    @property
    def directory(self) -> Path:
        """Where its bundled files are."""
        return self.path.parent

    @property
    def summary(self) -> str:
        """Description and when to use it, on one line."""
        return one_line(" ".join(t for t in (self.description, self.when_to_use) if t), 100_000)


def parse_skill(document: Document, file: FoundFile, place: Place) -> tuple[Skill, list[str]]:
    """A ``SKILL.md``.  ``DefinitionError`` where it can't be used."""
    fields = Fields(document)
    name = fields.text("name")
    if not _NAME.fullmatch(name):  # no name, or one for people
        name = file.relative
    if not _NAME.fullmatch(name):
        raise DefinitionError(f"{document.path}: {name!r} is no name for a skill: use letters, digits, - and _")
    return _skill(fields, name, "skill", place), fields.warnings


def parse_command(document: Document, file: FoundFile, place: Place) -> tuple[Skill, list[str]]:
    """A file below ``commands``; directories are namespaces: ``git/push.md`` is ``/git:push``."""
    parts = file.relative.removesuffix(".md").split("/")
    if not all(_NAME.fullmatch(p) for p in parts):
        words = "a command's file and directories are named with letters, digits, - and _, a letter first"
        raise DefinitionError(f"{document.path}: {words}; rename it")
    fields = Fields(document)
    return _skill(fields, ":".join(parts), "command", place), fields.warnings


def _skill(fields: Fields, name: str, kind: Literal["skill", "command"], place: Place) -> Skill:
    document, model = fields.document, fields.text("model")
    allowed = fields.names("allowed-tools", "allowed_tools") or ()
    return Skill(
        name=name,
        kind=kind,
        description=fields.text("description") or _first_words(document.body),
        path=document.path,
        scope=place.scope,
        trusted=place.trusted,
        when_to_use=fields.text("when_to_use", "when-to-use"),
        argument_hint=fields.text("argument-hint"),
        arguments=fields.names("arguments") or (),
        allowed_tools=allowed if place.trusted else (),
        disallowed_tools=fields.names("disallowed-tools", "disallowed_tools") or (),
        by_model=not fields.flag("disable-model-invocation"),
        by_user=fields.flag("user-invocable", True),
        model=None if model in ("", "inherit") else model,
        effort=fields.choice("effort", EFFORTS),
        fork=fields.choice("context", ("fork",)) == "fork",
        background=fields.flag("background"),
        agent=fields.text("agent"),
        paths=fields.names("paths") or () if kind == "skill" else (),
    )


def _first_words(body: str) -> str:
    """The first line of the text, where nothing describes the file."""
    lines = (line.strip().lstrip("#").strip() for line in body.split("\n"))
    return one_line(next((line for line in lines if line), ""), 100)
