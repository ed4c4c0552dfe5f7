"""Whether a command line may run: every command and every redirection of it must be allowed, any one can be denied."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentcli.permissions.filepolicy import may_read
from agentcli.permissions.programs import shadowed, untrusted_name
from agentcli.permissions.rules import Rule
from agentcli.permissions.shellfiles import FileJudge
from agentcli.permissions.shellrules import allowing, guarded, is_exact, is_wide, reaches
from agentcli.permissions.suggest import suggestion
from agentcli.permissions.verdicts import Policy, Verdict, Weight, allow, by_rule
from agentcli.ports.permissions import PermissionUpdate
from agentcli.shell import (
    SAFE_VARIABLES,
    ZSH_PATHS,
    CommandLine,
    SimpleCommand,
    Word,
    destroys,
    files_of,
    harmless_name,
    only_reads,
    parse,
)
from agentcli.shell.readonly_git import git_split

RUNNERS = frozenset({"watch", "setsid", "ionice", "flock", "chrt", "taskset", "strace", "ltrace", "unshare", "nsenter"})
"""Never allowed by a prefix: what they run is an argument."""
SEEN_THROUGH = frozenset({"timeout", "gtimeout", "time", "nice", "nohup", "stdbuf", "command", "builtin", "noglob"})
TEXT_RUNNERS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "eval", "trap", "alias"})
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
        self._files = FileJudge(line, policy)
        self._hides = [a.name for a in line.assignments if self._unsafe_for_later(a.name)]
        self._covering: dict[int, Rule] = {}
        self._offers: dict[int, tuple[PermissionUpdate, ...]] = {}

    def verdicts(self) -> Iterator[Verdict]:
        line = self._line
        if not line.understood:
            yield self._not_understood()
        if not line.commands and line.understood:
            yield from self._bare_line()
        for index, command in enumerate(line.commands):
            yield self._command(index, command)
        for redirect in line.redirects:
            yield from self._files.redirect(redirect)

    def _bare_line(self) -> Iterator[Verdict]:
        """Only assignments, comments or redirections."""
        if self._hides:
            yield Verdict("ask", f"it sets {self._hides[0]}", subject=self._line.text)
        elif self._line.caution:
            yield Verdict("ask", self._line.caution, subject=self._line.text)
        else:
            yield allow("it runs no command", subject=self._line.text)

    def _not_understood(self) -> Verdict:
        reason = f"the command line can't be judged: {self._line.reason}"
        return Verdict("ask", reason, self._unclear(), subject=self._line.text)

    def _unclear(self) -> Weight:
        """What can't be judged may be what a deny or ask rule means, if there is one."""
        if any(r.behavior != "allow" and r.tool == self._tool for r in self._policy.rules):
            return "rule"
        return self._files.doubt("Read", "Edit")

    def _command(self, index: int, command: SimpleCommand) -> Verdict:
        found = guarded(command, self._policy, self._tool)
        if found is not None and found.behavior == "deny":
            return found
        files = self._files.guarded(command)
        if files is not None and files.behavior == "deny":
            return files
        dangerous = self._files.critical(command)
        first = found or files or dangerous
        if first is not None:
            return first
        if command.problem:
            # Whether rules may mean a name that is only known later has been looked at already.
            weight = self._unclear() if command.words and command.words[0].literal is not None else "unclear"
            return Verdict("ask", command.problem, weight, subject=command.text)
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
        if self._wraps(index, command):
            return allow("judged by what it runs", subject=command.text)
        why = self._harmless(index, command)
        if not why:
            return allow("it only reads", subject=command.text)
        edits = self._files.edits(command, hides=bool(self._hides or self._line.caution))
        if edits is not None:
            return edits
        if self._policy.mode == "plan":
            return Verdict("ask", f"plan mode only reads, and {why}", subject=command.text)
        suggestions = (
            () if self._hides or self._line.caution or destruction else self._offers.get(index, suggestion(command))
        )
        shadow = shadowed(command, self._policy) if rules else ""
        return Verdict("ask", shadow or self._why(command, rules, why), subject=command.text, suggestions=suggestions)

    def _why(self, command: SimpleCommand, rules: list[Rule], why: str) -> str:
        if rules and self._hides:
            return f"the line sets {self._hides[0]}, so that {command.name} may be another program"
        if self._line.caution:
            return self._line.caution
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
            if self._hides or self._line.caution or shadowed(command, self._policy):
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
            return self._files.git_elsewhere(command, directories)
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
                    self._offers[index] = () if command.program in {"cd", "pushd"} else verdict.suggestions
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

    def _unsafe_for_later(self, name: str) -> bool:
        environment = self._policy.environment
        if name in ZSH_PATHS and any("zsh" in environment.get(n, "") for n in ("SHELL", "CLAUDE_CODE_SHELL")):
            return True
        return not harmless_name(name) or (name in environment and name not in SAFE_VARIABLES)


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
