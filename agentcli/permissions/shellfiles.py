"""The files that the commands of a line name: rules about them, removals that would take everything, edits."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from agentcli.permissions.filepolicy import guard, may_edit, may_read
from agentcli.permissions.gitconfig import runs_programs
from agentcli.permissions.places import Place, place
from agentcli.permissions.places import critical as is_critical
from agentcli.permissions.programs import untrusted_name
from agentcli.permissions.recursive import guarded_below, searches
from agentcli.permissions.verdicts import Policy, Verdict, Weight, allow, by_rule
from agentcli.ports.permissions import Behavior
from agentcli.shell import (
    SAFE_VARIABLES,
    CommandLine,
    Files,
    Redirect,
    SimpleCommand,
    Word,
    files_of,
    only_reads,
    removal_targets,
    word,
)
from agentcli.shell.readonly_git import git_split

EDIT_COMMANDS = frozenset({"mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"})
"""What ``acceptEdits`` lets run inside the working directories."""
TO_DIRECTORY = frozenset({"cp", "mv", "install", "ln", "rsync"})
GUARDS: tuple[Behavior, ...] = ("deny", "ask")


class FileJudge:
    """The files of one line under one policy."""

    def __init__(self, line: CommandLine, policy: Policy) -> None:
        self._line = line
        self._policy = policy

    def guarded(self, command: SimpleCommand) -> Verdict | None:
        """Read and Edit rules that deny or ask hold for the files that a command names."""
        ground = self._policy.ground
        if not any(r.kind == "path" and r.behavior != "allow" for r in self._policy.rules):
            return None
        reader = not only_reads(command)
        files = files_of(command, reader=reader)
        directories = ground.directories(command.directories)
        asked: Verdict | None = None
        for words, tools in ((files.reads, ("Read",)), (files.writes, ("Edit", "Read"))):
            # Of a program that is not known everything counts as read, so what is written is known.
            known = files.known or words is files.writes
            for item in words:
                found = self._places(item, command, files, directories)
                if found is None:
                    asked = asked or self._doubtful(f"which file {item.text} is", command, known, tools)
                    continue
                for where in found:
                    verdict = self._file_rule(where, command, known, tools)
                    if verdict is not None and verdict.behavior == "deny":
                        return verdict
                    asked = asked or verdict
        if files.hidden:
            asked = asked or self._doubtful("which files it writes", command, True, ("Edit",))
        return asked or self._searched(command, files, directories)

    def _searched(self, command: SimpleCommand, files: Files, directories: tuple[Path, ...] | None) -> Verdict | None:
        if not searches(command):
            return None
        words = files.reads or (word("."),)
        places = [p for w in words for p in self._policy.ground.places(w, directories) or ()]
        for where in places:
            rule, path = guarded_below(where.lexical, command, self._policy)
            if rule is not None:
                what = f"it reads {path} too" if path else f"{where.lexical} holds too many files to look at"
                reason = (
                    f"{what}, about which there is the rule {rule.text} ({rule.origin})"
                    if path
                    else (f"{what}, and there is the rule {rule.text} ({rule.origin})")
                )
                return Verdict("ask", reason, "rule", rule.label, subject=command.text, path=path)
        return None

    def _places(
        self, item: Word, command: SimpleCommand, files: Files, directories: tuple[Path, ...] | None
    ) -> tuple[Place, ...] | None:
        """The files that a word names; for the target of a copy or move that is a directory, those made in it."""
        found = self._policy.ground.places(item, directories)
        if found is None or not _to_directory(command) or not files.writes or item is not files.writes[-1]:
            return found
        sources = [w for w in (*files.reads, *files.writes) if w is not item]
        made: list[Place] = []
        for target in (f for f in found if os.path.isdir(f.real)):
            for source in sources:
                name = source.text.rstrip("/").rpartition("/")[2]
                inside = command.program == "rsync" and source.text.endswith("/")
                if source.dynamic or source.glob or inside or name in {"", ".", ".."}:
                    return None
                made.append(place(target.lexical / name))
        return (*found, *made)

    def _doubtful(self, what: str, command: SimpleCommand, known: bool, tools: tuple[str, ...]) -> Verdict | None:
        rules = [r for b in GUARDS for r in self._policy.having(b, *tools) if r.kind == "path"]
        if not rules or not known:
            return None
        reason = f"{what} is only known when it runs, and {rules[0].text} may mean it"
        return Verdict("ask", reason, self.doubt(*tools), subject=command.text)

    def doubt(self, *tools: str) -> Weight:
        """How much it weighs that a file is not known: no mode waives a rule that may mean it.  What a deny rule means
        a sandbox keeps out of reach by itself."""
        behaviors = {r.behavior for r in self._policy.rules if r.kind == "path" and r.tool in tools}
        if "ask" in behaviors:
            return "rule"
        return "doubtful" if "deny" in behaviors else "unclear"

    def _file_rule(self, where: Place, command: SimpleCommand, known: bool, tools: tuple[str, ...]) -> Verdict | None:
        rule = guard(where, self._policy, "deny", *tools)
        if rule is not None and known:
            return by_rule(rule, subject=command.text, path=str(where.lexical))
        rule = rule or guard(where, self._policy, "ask", *tools)
        if rule is None:
            return None
        reason = f"it names {where.lexical}, about which there is the rule {rule.text} ({rule.origin})"
        return Verdict("ask", reason, "rule", rule.label, subject=command.text, path=str(where.lexical))

    def critical(self, command: SimpleCommand) -> Verdict | None:
        """Removals of places that hold everything."""
        targets = removal_targets(command)
        name_unknown = bool(command.words) and command.words[0].literal is None
        if name_unknown and any(w.text.startswith("-") and set("rRf") & set(w.text) for w in command.arguments):
            targets = tuple(w for w in command.arguments if not w.text.startswith("-"))
        directories = self._policy.ground.directories(command.directories)
        for item in targets:
            if why := self._critical_target(item, directories):
                return Verdict("ask", why, "critical", subject=command.text)
        return None

    def _critical_target(self, item: Word, directories: tuple[Path, ...] | None) -> str:
        ground = self._policy.ground
        found = ground.places(item, directories, head=_whole_directory(item.text))
        if found is None and item.dynamic:
            return self._empty_variable(item, directories)
        follow = item.text.endswith(("/", "/."))
        return next((why for where in found or () if (why := is_critical(where, ground, follow=follow))), "")

    def _empty_variable(self, item: Word, directories: tuple[Path, ...] | None) -> str:
        """``"$D"/*`` is everything where ``D`` is empty, and so is ``/$D``."""
        if ":?" in item.text:
            return ""
        rest = tuple(p for p in item.pieces if p.kind in {"text", "glob"} and p.text)
        text = "".join(p.text for p in rest)
        starts_unknown = item.pieces[0].kind in {"hole", "variable"} or (
            not item.pieces[0].text and len(item.pieces) > 1
        )
        if not text or (starts_unknown and text not in {"/", "/*", "/.", "/.*", "/**", "/./"}):
            return ""
        found = self._policy.ground.places(Word(rest, item.tilde), directories, head=True)
        for where in found or ():
            if why := is_critical(where, self._policy.ground):
                return f"where the variable in {item.text} is empty, {why}"
        return ""

    def redirect(self, redirect: Redirect) -> Iterator[Verdict]:
        if redirect.kind not in {"read", "write"} or redirect.target is None:
            return
        subject = f"{redirect.operator} {redirect.target.text}"
        found = self._policy.ground.places(redirect.target, self._policy.ground.directories(redirect.directories))
        if found is None or redirect.target.text.startswith(("/dev/tcp/", "/dev/udp/")):
            weight = self.doubt("Read", *(("Edit",) if redirect.kind == "write" else ()))
            yield Verdict("ask", "the file of a redirection is only known when it runs", weight, subject=subject)
            return
        for where in found:
            verdict = may_read(where, self._policy) if redirect.kind == "read" else may_edit(where, self._policy)
            yield Verdict(
                verdict.behavior,
                verdict.reason,
                verdict.weight,
                verdict.rule,
                verdict.suggestions,
                verdict.path,
                subject,
            )

    def git_elsewhere(self, command: SimpleCommand, directories: tuple[Path, ...] | None) -> str:
        """git obeys the repository that it runs in; only the session's own is trusted."""
        if directories is None:
            return "the repository where git runs is only known then"
        start = self._policy.ground.workspace.start.resolve()
        if not self._policy.ground.trusted and (setting := runs_programs(start)):
            return f"the project is not trusted, and {setting} in its git configuration may run a program"
        for directory in directories:
            here = directory.resolve()
            if here != start and not here.is_relative_to(start):
                return f"git runs in {directory}, outside of where the session began"
            while here != start:
                if os.path.exists(here / ".git") or os.path.exists(here / "HEAD"):
                    return f"git runs in {here}, a repository of its own"
                here = here.parent
        for item in files_of(command, reader=True).reads:
            text = item.text
            if text.startswith(("/", "~")) or ".." in text.split("/"):
                found = self._policy.ground.places(item, directories)
                if found is None or any(may_read(w, self._policy).behavior != "allow" for w in found):
                    return f"{text} lies outside of the working directories"
        return ""

    def edits(self, command: SimpleCommand, *, hides: bool) -> Verdict | None:
        """In ``acceptEdits``: the commands that change files, if every file may be changed."""
        if self._policy.mode != "acceptEdits" or command.program not in EDIT_COMMANDS or hides:
            return None
        if command.via not in {"line", "transparent", "function", "script"} or command.name in self._line.functions:
            return None
        if any(a.name not in SAFE_VARIABLES for a in command.assignments) or untrusted_name(command, self._policy):
            return None
        if command.program == "sed" and not _plain_sed(command):
            return None
        files = files_of(command)
        directories = self._policy.ground.directories(command.directories)
        for words, check in ((files.writes, may_edit), (files.reads, may_read)):
            for item in words:
                found = self._places(item, command, files, directories)
                if found is None or (item.dynamic and item.may_be_flag):
                    return None
                if item.may_be_flag and any(w.lexical.name.startswith("-") for w in found):
                    return None
                for where in found:
                    verdict = check(where, self._policy)
                    if verdict.behavior != "allow":
                        return Verdict("ask", f"{where.lexical}: {verdict.reason}", "protected", subject=command.text)
        return allow("the mode acceptEdits allows it in the working directories", subject=command.text)


def _to_directory(command: SimpleCommand) -> bool:
    """Whether the last file may be a directory that the others go to, under their names."""
    if command.program == "git":
        return [w.text for w in git_split(command.arguments)[1][:1]] == ["mv"]
    return command.program in TO_DIRECTORY


def _plain_sed(command: SimpleCommand) -> bool:
    """``sed -i`` with a script that only replaces and deletes lines."""
    without = tuple(w for w in command.words if not re.match(r"-i|--in-place", w.text))
    return len(without) < len(command.words) and not only_reads(
        SimpleCommand(without, command.source, directories=command.directories)
    )


def _whole_directory(text: str) -> bool:
    """A pattern for everything in a directory (``*``, ``/*``, ``~/.*``)."""
    return text.rpartition("/")[2] in {"*", ".*", "**", "?*"}
