"""Whether a command line may run: every command and every redirection of it must be allowed, any one can be denied."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from agentcli.permissions.filepolicy import guard, may_edit, may_read
from agentcli.permissions.places import Place, critical
from agentcli.permissions.programs import shadowed, untrusted_name
from agentcli.permissions.rules import Rule
from agentcli.permissions.shellrules import allowing, guarded, is_exact, is_wide, reaches
from agentcli.permissions.suggest import suggestion
from agentcli.permissions.verdicts import Policy, Verdict, allow, by_rule
from agentcli.ports.permissions import Behavior
from agentcli.shell import (
    SAFE_VARIABLES,
    CommandLine,
    Redirect,
    SimpleCommand,
    Word,
    destroys,
    files_of,
    harmless_name,
    only_reads,
    parse,
    removal_targets,
)
from agentcli.shell.readonly_git import git_split

EDIT_COMMANDS = frozenset({"mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"})
"""What ``acceptEdits`` lets run inside the working directories."""
RUNNERS = frozenset({"watch", "setsid", "ionice", "flock", "chrt", "taskset", "strace", "ltrace", "unshare", "nsenter"})
"""Never allowed by a prefix: what they run is an argument."""
SEEN_THROUGH = frozenset({"timeout", "gtimeout", "time", "nice", "nohup", "stdbuf", "command", "builtin", "noglob"})
TEXT_RUNNERS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "eval", "trap", "alias"})
GUARDS: tuple[Behavior, ...] = ("deny", "ask")
LISTERS = frozenset({"find", "fd", "rg", "grep", "ls", "git"})


def judge_line(text: str, policy: Policy, tool: str = "Bash") -> tuple[CommandLine, list[Verdict]]:
    """The line as it was read, and a verdict for every part of it (and for the line itself where it has doubts)."""
    line = parse(text)
    judge = LineJudge(line, policy, tool)
    return line, list(judge.verdicts())


class LineJudge:
    """One line under one policy."""

    def __init__(self, line: CommandLine, policy: Policy, tool: str = "Bash") -> None:
        self._line = line
        self._policy = policy
        self._tool = tool
        self._hides = [a.name for a in line.assignments if self._unsafe_for_later(a.name)]
        self._covering: dict[int, Rule] = {}

    def verdicts(self) -> Iterator[Verdict]:
        line = self._line
        if not line.understood:
            yield self._not_understood()
        if not line.commands and line.understood:
            yield from self._bare_line()
        for index, command in enumerate(line.commands):
            yield self._command(index, command)
        for redirect in line.redirects:
            yield from self._redirect(redirect)

    def _bare_line(self) -> Iterator[Verdict]:
        """Only assignments, comments or redirections."""
        if self._hides:
            yield Verdict("ask", f"it sets {self._hides[0]}", subject=self._line.text)
        else:
            yield allow("it runs no command", subject=self._line.text)

    def _not_understood(self) -> Verdict:
        reason = f"the command line can't be judged: {self._line.reason}"
        guards = [r for r in self._policy.rules if r.behavior != "allow" and r.tool == self._tool]
        return Verdict("ask", reason, "rule" if guards else "unclear", subject=self._line.text)

    def _command(self, index: int, command: SimpleCommand) -> Verdict:
        found = guarded(command, self._policy, self._tool)
        if found is not None and found.behavior == "deny":
            return found
        files = self._guarded_files(command)
        if files is not None and files.behavior == "deny":
            return files
        dangerous = self._critical(command)
        first = found or files or dangerous
        if first is not None:
            return first
        if command.problem:
            return Verdict("ask", command.problem, "unclear", subject=command.text)
        return self._allowed(index, command)

    def _allowed(self, index: int, command: SimpleCommand) -> Verdict:
        rules = list(allowing(command, self._policy, self._tool))
        covering = self._rule_for(command, rules)
        destruction = destroys(command)
        if destruction and not any(_explicit(r, command) for r in rules):
            return Verdict("ask", destruction, "destructive", subject=command.text)
        if covering is not None and self._policy.mode != "plan":
            self._covering[index] = covering
            return by_rule(covering, subject=command.text)
        parent = self._covered_by_parent(command)
        if parent is not None and self._policy.mode != "plan":
            self._covering[index] = parent
            return by_rule(parent, subject=command.text)
        why = self._harmless(index, command)
        if not why:
            return allow("it only reads", subject=command.text)
        if self._wraps(index, command):
            return allow("judged by what it runs", subject=command.text)
        edits = self._file_command(command)
        if edits is not None:
            return edits
        if self._policy.mode == "plan":
            return Verdict("ask", f"plan mode only reads, and {why}", subject=command.text)
        suggestions = () if self._hides or destruction else suggestion(command)
        shadow = shadowed(command, self._policy) if rules else ""
        return Verdict("ask", shadow or self._why(command, rules, why), subject=command.text, suggestions=suggestions)

    def _why(self, command: SimpleCommand, rules: list[Rule], why: str) -> str:
        if rules and self._hides:
            return f"the line sets {self._hides[0]}, so that {command.name} may be another program"
        if rules and _only_exact(command):
            return f"{command.program} runs its arguments; only a rule for the exact command allows that"
        unsafe = [a.name for a in command.assignments if a.name not in SAFE_VARIABLES]
        if unsafe:
            return f"{unsafe[0]} is set for it, which may change what it does"
        return f"no rule allows it, and {why}"

    def _rule_for(self, command: SimpleCommand, rules: list[Rule]) -> Rule | None:
        for rule in rules:
            if is_wide(rule):
                return rule
            if self._hides or shadowed(command, self._policy):
                continue
            if _only_exact(command) and not is_exact(rule):
                continue
            return rule
        return None

    def _covered_by_parent(self, command: SimpleCommand) -> Rule | None:
        """A rule for a wrapper covers what it runs if it names it: ``sudo apt:*`` covers ``apt update`` behind sudo,
        ``sudo:*`` does not."""
        if command.parent is None or self._hides:
            return None
        rule = self._covering.get(command.parent)
        if rule is None or is_wide(rule):
            return rule
        if is_exact(rule) or command.via == "remote":
            return rule
        outer = self._line.commands[command.parent].words
        count = len(outer) - len(command.words)
        if count <= 0 or not command.words or command.via == "script":
            return None
        head = " ".join(w.text for w in outer[: count + 1])
        return rule if outer[count] == command.words[0] and reaches(rule, head) else None

    def _wraps(self, index: int, command: SimpleCommand) -> bool:
        """A wrapper that is judged by what it runs alone."""
        if not any(c.parent == index for c in self._line.commands):
            return False
        if any(a.name not in SAFE_VARIABLES for a in command.assignments) or command.name in self._line.functions:
            return False
        if untrusted_name(command, self._policy):
            return False
        if command.program in {"xargs", "env"} or command.program in SEEN_THROUGH:
            return not only_reads(command)
        if command.program in TEXT_RUNNERS:
            return all(re.match(r"-[ceux]+\Z|-[eux]*o\Z|pipefail\Z|--\Z", w.text) for w in _options(command))
        return False

    def _harmless(self, index: int, command: SimpleCommand) -> str:
        """Why the command is more than a harmless look; empty when it is one."""
        if not command.words:
            names = [a.name for a in command.assignments if not harmless_name(a.name)]
            return f"it sets {names[0]}" if names else ""
        if command.via in {"privileged", "remote", "argument"}:
            return "it does not run here as you"
        unsafe = [a.name for a in command.assignments if a.name not in SAFE_VARIABLES and a.name != "IFS"]
        if unsafe or self._hides:
            return f"{(unsafe or self._hides)[0]} is set for it, which may change what it does"
        if self._line.caution:
            return self._line.caution
        if command.name in self._line.functions:
            return f"{command.name} means something else in this line"
        if why := only_reads(command):
            return why
        if why := untrusted_name(command, self._policy):
            return why
        return self._reads_elsewhere(index, command)

    def _reads_elsewhere(self, index: int, command: SimpleCommand) -> str:
        directories = self._policy.ground.directories(command.directories)
        if command.program == "git":
            return self._git_elsewhere(command, directories)
        if command.program == "docker" and any(n.startswith("DOCKER_") for n in self._policy.environment):
            return "docker may talk to another daemon"
        words = files_of(command, reader=True).reads
        if not words and directories is None and command.program in LISTERS:
            return "the directory where it runs is only known then"
        for item in words:
            if item.text == "…" and self._listed(index, command):
                continue
            found = self._policy.ground.places(item, directories)
            if found is None:
                return f"the file {item.text} is only known when it runs"
            for where in found:
                verdict = may_read(where, self._policy)
                if verdict.behavior != "allow":
                    return f"{where.lexical}: {verdict.reason}"
        return ""

    def _listed(self, index: int, command: SimpleCommand) -> bool:
        """``find … | xargs grep x``: names of files below the working directory, by a program that lists them."""
        before = (command.parent or 0) - 1
        if command.parent is None or before < 0 or not self._line.commands[command.parent].piped:
            return False
        lister = self._line.commands[before]
        texts = set(lister.argv)
        lists = {
            "find": "-printf" not in texts,
            "fd": True,
            "ls": True,
            "rg": bool(texts & {"-l", "--files", "--files-with-matches"}),
            "grep": any(re.match(r"-[a-zA-Z]*[lL]\Z", t) for t in texts),
            "git": "ls-files" in texts and not any(t.startswith("--format") for t in texts),
        }
        return lists.get(lister.program, False) and not self._harmless(before, lister)

    def _git_elsewhere(self, command: SimpleCommand, directories: tuple[Path, ...] | None) -> str:
        """git obeys the repository that it runs in; only the session's own is trusted."""
        if directories is None:
            return "the repository where git runs is only known then"
        start = self._policy.ground.workspace.start.resolve()
        for directory in directories:
            here = directory.resolve()
            if here != start and not here.is_relative_to(start):
                return f"git runs in {directory}, outside of where the session began"
            while here != start:
                if (here / ".git").exists() or (here / "HEAD").exists():
                    return f"git runs in {here}, a repository of its own"
                here = here.parent
        for item in files_of(command, reader=True).reads:
            text = item.text
            if text.startswith(("/", "~")) or ".." in text.split("/"):
                found = self._policy.ground.places(item, directories)
                if found is None or any(may_read(w, self._policy).behavior != "allow" for w in found):
                    return f"{text} lies outside of the working directories"
        return ""

    def _file_command(self, command: SimpleCommand) -> Verdict | None:
        """In ``acceptEdits``: the commands that change files, if every file may be changed."""
        if self._policy.mode != "acceptEdits" or command.program not in EDIT_COMMANDS or self._hides:
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
                found = self._policy.ground.places(item, directories)
                if found is None or (item.may_be_flag and item.literal is None):
                    return None
                for where in found:
                    verdict = check(where, self._policy)
                    if verdict.behavior != "allow":
                        return Verdict("ask", f"{where.lexical}: {verdict.reason}", "protected", subject=command.text)
        return allow("the mode acceptEdits allows it in the working directories", subject=command.text)

    def _guarded_files(self, command: SimpleCommand) -> Verdict | None:
        """Read and Edit rules that deny or ask hold for the files that a command names."""
        ground = self._policy.ground
        if not any(r.kind == "path" and r.behavior != "allow" for r in self._policy.rules):
            return None
        reader = not only_reads(command)
        files = files_of(command, reader=reader)
        directories = ground.directories(command.directories)
        asked: Verdict | None = None
        for words, tools in ((files.reads, ("Read",)), (files.writes, ("Edit", "Read"))):
            for item in words:
                found = ground.places(item, directories)
                if found is None:
                    asked = asked or self._doubtful(item, command, files.known, tools)
                    continue
                for where in found:
                    verdict = self._file_rule(where, command, files.known, tools)
                    if verdict is not None and verdict.behavior == "deny":
                        return verdict
                    asked = asked or verdict
        return asked

    def _doubtful(self, item: Word, command: SimpleCommand, known: bool, tools: tuple[str, ...]) -> Verdict | None:
        rules = [r for b in GUARDS for r in self._policy.having(b, *tools) if r.kind == "path"]
        if not rules or not known:
            return None
        reason = f"which file {item.text} is is only known when it runs, and {rules[0].text} may mean it"
        return Verdict("ask", reason, "unclear", subject=command.text)

    def _file_rule(self, where: Place, command: SimpleCommand, known: bool, tools: tuple[str, ...]) -> Verdict | None:
        rule = guard(where, self._policy, "deny", *tools)
        if rule is not None and known:
            return by_rule(rule, subject=command.text, path=str(where.lexical))
        rule = rule or guard(where, self._policy, "ask", *tools)
        if rule is None:
            return None
        reason = f"it names {where.lexical}, about which there is the rule {rule.text} ({rule.origin})"
        return Verdict("ask", reason, "rule", rule.label, subject=command.text, path=str(where.lexical))

    def _critical(self, command: SimpleCommand) -> Verdict | None:
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
        return next((why for where in found or () if (why := critical(where, ground))), "")

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
            if why := critical(where, self._policy.ground):
                return f"where the variable in {item.text} is empty, {why}"
        return ""

    def _redirect(self, redirect: Redirect) -> Iterator[Verdict]:
        if redirect.kind not in {"read", "write"} or redirect.target is None:
            return
        subject = f"{redirect.operator} {redirect.target.text}"
        found = self._policy.ground.places(redirect.target, self._policy.ground.directories(redirect.directories))
        if found is None or redirect.target.text.startswith(("/dev/tcp/", "/dev/udp/")):
            yield Verdict("ask", "the file of a redirection is only known when it runs", "unclear", subject=subject)
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

    def _unsafe_for_later(self, name: str) -> bool:
        return not harmless_name(name) or (name in self._policy.environment and name not in SAFE_VARIABLES)


def _options(command: SimpleCommand) -> list[Word]:
    """Words of a shell in front of its text; nothing for ``eval``, ``trap`` and ``alias``."""
    if command.program in {"eval", "trap", "alias"}:
        return []
    words: list[Word] = []
    for item in command.arguments:
        if not item.text.startswith("-") and item.text != "pipefail":
            break
        words.append(item)
    return words


def _only_exact(command: SimpleCommand) -> bool:
    """Commands that run what they are given: no prefix of theirs can be allowed."""
    if command.program in RUNNERS:
        return True
    if command.program in {"find", "gfind"}:
        return any(w.text in {"-exec", "-execdir", "-ok", "-okdir", "-delete"} for w in command.arguments)
    if command.program == "git":
        before = git_split(command.arguments)[0]
        return any(w.text.startswith(("-c", "--config-env", "--exec-path")) for w in before)
    return False


def _explicit(rule: Rule, command: SimpleCommand) -> bool:
    """A rule that names the destructive form: ``git reset:*``, not ``git:*``."""
    if is_exact(rule):
        return True
    if _only_exact(command):
        return False
    words = [w.text for w in command.words if not w.text.startswith("-")]
    family = command.program in {"git", "kubectl", "oc", "docker", "podman", "terraform", "tofu", "pulumi", "cdk"}
    return reaches(rule, " ".join(words[:2] if family else words[:1]))


def _plain_sed(command: SimpleCommand) -> bool:
    """``sed -i`` with a script that only replaces and deletes lines."""
    without = tuple(w for w in command.words if not re.match(r"-i|--in-place", w.text))
    return len(without) < len(command.words) and not only_reads(
        SimpleCommand(without, command.source, directories=command.directories)
    )


def _whole_directory(text: str) -> bool:
    """A pattern for everything in a directory (``*``, ``/*``, ``~/.*``)."""
    return text.rpartition("/")[2] in {"*", ".*", "**", "?*"}
