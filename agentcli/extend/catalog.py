"""All definitions of the places, by name: who wins, what was left out and why.  Read again cheaply: only files that
changed on disk are parsed anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from agentcli.extend.agents import AgentDefinition, parse_agent
from agentcli.extend.definition import DefinitionError, Document, read_document
from agentcli.extend.output_styles import OutputStyle, parse_style
from agentcli.extend.places import BUILT_IN, FoundFile, Place, markdown_files, outside, skill_files
from agentcli.extend.skills import Skill, parse_command, parse_skill

T = TypeVar("T")
Parse = Callable[[Document, FoundFile, Place], tuple[T | None, list[str]]]


@dataclass(frozen=True, slots=True)
class Catalog:
    """Definitions by name, sorted.  ``warnings`` name file and line of what was left out or ignored."""

    agents: Mapping[str, AgentDefinition] = field(default_factory=dict)
    skills: Mapping[str, Skill] = field(default_factory=dict)
    commands: Mapping[str, Skill] = field(default_factory=dict)
    styles: Mapping[str, OutputStyle] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def invocable(self, name: str) -> Skill | None:
        """What ``/name`` means: a skill before a command of the same name."""
        return self.skills.get(name) or self.commands.get(name)


@dataclass(frozen=True, slots=True)
class _Parsed(Generic[T]):
    value: T | None
    warnings: tuple[str, ...]


class CatalogReader:
    """Reads the places.  ``given`` are agents of the command line, which win over every file."""

    def __init__(self, given: Iterable[AgentDefinition] = ()) -> None:
        self._given = tuple(given)
        self._known: dict[tuple[str, Path, bool], tuple[tuple[int, int, int], _Parsed[object]]] = {}
        self._warnings: list[str] = []

    def read(self, places: Iterable[Place]) -> Catalog:
        """Everything as it is on disk now.  Never raises for what a file holds."""
        self._warnings = []
        found = tuple(places)
        users = [p for p in found if p.scope == "user"]
        projects = [p for p in found if p.scope == "project"]
        # A project that nobody has trusted takes the place of nothing that the user knows.
        nearest = [*(p for p in projects if p.trusted), *users, BUILT_IN, *(p for p in projects if not p.trusted)]
        own_first = [*users, *projects]
        agents = {a.name: a for a in self._given}
        agents = {**self._named(nearest, "agents", _agent), **agents}
        return Catalog(
            agents=_sorted(agents),
            skills=_sorted(self._named(own_first, "skills", parse_skill, skill_files)),
            commands=_sorted(self._named(own_first, "commands", parse_command)),
            styles=_sorted(self._named(nearest, "output-styles", _style)),
            warnings=tuple(dict.fromkeys(self._warnings)),
        )

    def _named(
        self,
        places: Iterable[Place],
        folder: str,
        parse: Parse[T],
        files: Callable[[Place], Iterator[FoundFile]] | None = None,
    ) -> dict[str, T]:
        """Definitions by name; of two with one name the earlier place wins."""
        named: dict[str, T] = {}
        for place in places:
            for file in files(place) if files else markdown_files(place, folder):
                value = self._parsed(file, place, folder, parse)
                name = getattr(value, "name", None)
                if value is not None and name not in named:
                    named[str(name)] = value
        return named

    def _parsed(self, file: FoundFile, place: Place, folder: str, parse: Parse[T]) -> T | None:
        key = (folder, file.path, place.trusted)
        known = self._known.get(key)
        if known is None or known[0] != file.stamp:
            known = (file.stamp, _read(file, place, parse))
            self._known[key] = known
        self._warnings += known[1].warnings
        value: T | None = known[1].value  # type: ignore[assignment]  # the key holds the folder, which holds the type
        return value


def _read(file: FoundFile, place: Place, parse: Parse[T]) -> _Parsed[object]:
    if outside(file, place):
        return _Parsed(None, (f"{file.path}: links out of a project that is not trusted; left out",))
    try:
        value, warnings = parse(read_document(file.path), file, place)
    except DefinitionError as error:
        return _Parsed(None, (f"{error} Left out." if str(error).endswith(".") else f"{error}; left out",))
    return _Parsed(value, tuple(warnings))


def _agent(document: Document, _file: FoundFile, place: Place) -> tuple[AgentDefinition | None, list[str]]:
    return parse_agent(document, place)


def _style(document: Document, _file: FoundFile, place: Place) -> tuple[OutputStyle | None, list[str]]:
    return parse_style(document, place)


def _sorted(named: dict[str, T]) -> dict[str, T]:
    return dict(sorted(named.items()))
