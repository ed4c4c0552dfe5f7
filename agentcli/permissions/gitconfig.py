"""What a repository's own git configuration could run when git merely looks at it.

``git status`` runs ``core.fsmonitor``, ``git diff`` runs ``diff.*.command``, text converters and clean filters
(git-config(1)): harmless where the configuration is the user's own, a trap in a directory that somebody else packed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

_SECTION = re.compile(r"\s*\[\s*([A-Za-z0-9.-]+)(?:\s+\"[^\"]*\")?\s*\]")
_KEY = re.compile(r"\s*(?:\[[^\]]*\]\s*)?([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$")
_OFF = frozenset({"", "false", "0", "no", "off"})
_RUNS = frozenset(
    {
        ("core", "fsmonitor"), ("core", "hookspath"), ("core", "sshcommand"), ("core", "gitproxy"), ("core", "askpass"),
        ("core", "pager"), ("core", "editor"), ("diff", "external"), ("diff", "command"), ("diff", "textconv"),
        ("filter", "clean"), ("filter", "smudge"), ("filter", "process"), ("gpg", "program"), ("credential", "helper"),
        ("include", "path"), ("includeif", "path"), ("uploadpack", "packobjectshook"), ("remote", "uploadpack"),
    }
)  # fmt: skip
_WHOLE = frozenset({"alias", "pager", "merge", "mergetool", "difftool"})
"""Sections of which every key may name a program."""


def runs_programs(directory: Path) -> str:
    """The first setting of the repository around ``directory`` that names a program; empty where there is none.

    A configuration that can't be read counts as one that does.
    """
    for place in (directory, *directory.parents):
        marker = place / ".git"
        if os.path.isdir(marker) or os.path.isfile(marker):
            return next(filter(None, map(_in_file, _files(marker))), "")
    return ""


def _files(marker: Path) -> list[Path]:
    """The repository's configuration files; those of a linked work tree lie in the main checkout."""
    private = marker
    if os.path.isfile(marker):
        text = marker.read_text(encoding="utf-8", errors="replace").strip().removeprefix("gitdir:").strip()
        private = marker.parent / text
    common = private / "commondir"
    shared = (
        private / common.read_text(encoding="utf-8", errors="replace").strip() if os.path.isfile(common) else private
    )
    return [shared / "config", private / "config.worktree"]


def _in_file(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    except OSError:
        return f"{path} (it can't be read)"
    section = ""
    for line in text.splitlines():
        if found := _SECTION.match(line):
            section = found[1].lower().partition(".")[0]
        if (key := _KEY.match(line)) and _names_program(section, key[1].lower(), (key[2] or "true").strip()):
            return f"{section}.{key[1]}"
    return ""


def _names_program(section: str, key: str, value: str) -> bool:
    if section in _WHOLE or (section, key) in _RUNS:
        return value.strip('"').lower() not in _OFF
    return False
