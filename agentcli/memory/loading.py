"""Loads memory files: each real file once, imports in their places, everything that is left out with its reason."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from agentcli.memory.approvals import Approvals
from agentcli.memory.comments import Document, read_lines
from agentcli.memory.places import Excludes, Places
from agentcli.memory.reading import LARGE, Content, Unusable, read_content, real_path
from agentcli.memory.render import defuse
from agentcli.memory.rules import RuleText, read_rule
from agentcli.memory.splice import Splicer
from agentcli.memory.values import Findings, Found, MemoryFile, Outside, Reason, Skipped
from agentcli.text import clean

NOT_ASKED = "leads out of the tree, to {target}, and nobody has approved that; agentcli asks in a terminal"
REFUSED = "leads out of the tree, to {target}, which was refused"


@dataclass(slots=True)
class PathRule:
    """A rule that waits for a file that its patterns name."""

    found: Found
    patterns: tuple[str, ...]


@dataclass(slots=True)
class Loader:
    """``claims`` says for each real path by which loaded file it came in (its own path or that of the importer)."""

    places: Places
    approvals: Approvals
    claims: dict[Path, Path] = field(default_factory=dict)
    findings: Findings = field(default_factory=Findings)
    path_rules: dict[Path, PathRule] = field(default_factory=dict)
    excludes: Excludes = field(init=False)
    _linked: dict[tuple[int, int], Path] = field(default_factory=dict)
    """Claimed files that have several names (hard links), by device and inode."""
    _directories: dict[Path, Path] | None = None
    """Real paths of directories, kept while many files are loaded at once."""

    def __post_init__(self) -> None:
        self.excludes = Excludes.of(self.places)
        for problem in self.excludes.problems:
            self.findings.warn(problem)

    def load_all(self, files: Iterable[Found], reason: Reason = "session_start") -> list[MemoryFile]:
        self._directories = {}
        loaded = [self.load(found, reason) for found in files]
        self._directories = None
        return [file for file in loaded if file is not None]

    def load(self, found: Found, reason: Reason, *, matched: bool = False) -> MemoryFile | None:
        """The file, or ``None`` where it is left out.  A rule with ``paths`` is set aside unless it has ``matched``."""
        try:
            real = self.first_name(self._real(found.path))
            if real in self.claims:
                self._already(found, real)
                return None
            if not self._wanted(found, real):
                return None
            content = read_content(real)
        except Unusable as error:
            self.findings.skip(Skipped(found.path, found.scope, str(error)))
            return None
        rule = read_rule(content.text, found.path) if found.kind == "rule" else RuleText((), content.text, 1)
        if rule.problem:
            self.findings.warn(rule.problem)
        if rule.patterns and not matched:
            self.path_rules[found.path] = PathRule(found, rule.patterns)
            return None
        self.path_rules.pop(found.path, None)
        self.claim(real, found.path)
        self.measure(found.path, content)
        return self._made(found, real, content, rule, reason)

    def may_follow(self, real: Path, link: Path, tree: Path | None) -> bool:
        """Whether a linked directory of rules may be entered (``rules.MayFollow``)."""
        why = self.allowed(real, tree, wanted_by=link)
        if why:
            self.findings.skip(Skipped(link, "project", why))
        return not why

    def first_name(self, real: Path) -> Path:
        """The name under which this very file was claimed, if it is a hard link to one; else the path itself."""
        if not self._linked or real in self.claims:
            return real
        try:
            found = real.stat()
            name = self._linked.get((found.st_dev, found.st_ino), real)
            return name if name in self.claims and os.path.samestat(found, name.stat()) else real
        except (OSError, ValueError):
            return real  # reading it says what is wrong

    def claim(self, real: Path, owner: Path) -> None:
        self.claims[real] = owner
        try:
            found = real.stat()
        except OSError:
            return  # gone since it was read
        if found.st_nlink > 1:
            self._linked[found.st_dev, found.st_ino] = real

    def release(self, path: Path) -> None:
        """Forgets a loaded file and what it imported, so that it can be loaded again."""
        for real in [r for r, owner in self.claims.items() if owner == path]:
            del self.claims[real]

    def inside(self, real: Path, tree: Path | None) -> bool:
        """Whether a file of that tree may load this one unasked."""
        if tree is None or real.is_relative_to(tree):
            return True
        user = self.places.user
        return user is not None and real.is_relative_to(user) and real.suffix.lower() == ".md"

    def allowed(self, real: Path, tree: Path | None, *, wanted_by: Path, line: int = 0) -> str:
        """Empty where the real path may be loaded, else why not; an open question is noted."""
        if self.inside(real, tree):
            return ""
        match self.approvals.decided(real):
            case True:
                return ""
            case False:
                return REFUSED.format(target=real)
            case None:
                self.findings.outside[Outside(real, wanted_by, line)] = None
                return NOT_ASKED.format(target=real)

    def _real(self, path: Path) -> Path:
        if self._directories is None or os.path.islink(path):
            return real_path(path)
        if path.parent not in self._directories:
            self._directories[path.parent] = real_path(path.parent)
        return self._directories[path.parent] / path.name

    def _already(self, found: Found, real: Path) -> None:
        owner = self.claims[real]
        if owner != found.path:
            skipped = Skipped(found.path, found.scope, f"is loaded already, by way of {owner}")
            self.findings.skip(skipped, level="note")

    def _wanted(self, found: Found, real: Path) -> bool:
        if found.scope != "managed" and (pattern := self.excludes.pattern_for(found.path, real)) is not None:
            words = f"is excluded by claudeMdExcludes ({pattern})"
            self.findings.skip(Skipped(found.path, found.scope, words), level="note")
            return False
        if why := self.allowed(real, found.tree, wanted_by=found.path):
            self.findings.skip(Skipped(found.path, found.scope, why))
            return False
        return True

    def measure(self, path: Path, content: Content) -> None:
        if content.size > LARGE:
            self.findings.warn(
                f"{path}: {content.size:,} characters, all of them sent with every request; "
                f"{LARGE:,} are much already. Move detail into files that are read when needed."
            )

    def _made(self, found: Found, real: Path, content: Content, rule: RuleText, reason: Reason) -> MemoryFile | None:
        document = read_lines(rule.body, first=rule.body_line)
        self.note_unclosed(found.path, document)
        text, imports = Splicer(self, found, owner=found.path).expand(document, real)
        if not text.strip():
            self.findings.skip(Skipped(found.path, found.scope, "has no text"), level="note")
            return None
        return MemoryFile(
            found.path, real, found.scope, found.kind, text, content.size, reason, rule.patterns, imports, content.stamp
        )

    def note_unclosed(self, path: Path, document: Document) -> None:
        if document.open_comment:
            self.findings.warn(f"{path}:{document.open_comment}: the comment is never closed; it is sent as text")
        if document.open_fence:
            self.findings.note(f"{path}: a code fence ({document.open_fence}) is never closed")


def managed_setting(places: Places) -> MemoryFile | None:
    """The managed setting ``claudeMd`` as a file of its own."""
    text = read_lines(clean(places.managed_text)).text
    if not text.strip():
        return None
    path = places.managed.with_name("managed-settings.json")
    return MemoryFile(path, path, "managed", "setting", defuse(text), len(text))
