"""Files below the working directory, and rules with ``paths``: due when a file there is read, edited or written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentcli.memory.discovery import directory_files
from agentcli.memory.loading import Loader, PathRule
from agentcli.memory.rules import match_path
from agentcli.memory.values import MemoryFile, Skipped


def due_files(loader: Loader, paths: Sequence[Path]) -> list[MemoryFile]:
    """What these real paths call for and was not loaded yet.

    First rules that were known from the start, then directory by directory, parents first; the order in which the
    files were touched makes no difference.
    """
    if not loader.places.enabled:
        return []
    files = [f for rule in list(loader.path_rules.values()) for f in _matched(loader, rule, paths)]
    directories = {d for p in paths for d in loader.places.below(p)}
    for directory in sorted(directories, key=lambda d: d.parts):
        files += _of_directory(loader, directory, paths)
    return files


def _of_directory(loader: Loader, directory: Path, paths: Sequence[Path]) -> list[MemoryFile]:
    files: list[MemoryFile] = []
    foreign = loader.places.of_package(directory)
    for found in directory_files(directory, loader.places, loader.findings, loader.may_follow):
        if foreign:
            words = "belongs to an installed package, whose instructions don't count"
            loader.findings.skip(Skipped(found.path, found.scope, words), level="note")
            continue
        loaded = loader.load(found, "nested_traversal")
        waiting = loader.path_rules.get(found.path)
        if loaded is not None:
            files.append(loaded)
        elif waiting is not None:
            files += _matched(loader, waiting, paths)
    return files


def _matched(loader: Loader, rule: PathRule, paths: Sequence[Path]) -> list[MemoryFile]:
    """The rule, loaded, if its patterns name one of the files."""
    base = rule.found.base or loader.places.root
    home = loader.places.user_home
    if not any(match_path(rule.patterns, path, base, home=home) is not None for path in paths):
        return []
    file = loader.load(rule.found, "path_glob_match", matched=True)
    return [] if file is None else [file]
