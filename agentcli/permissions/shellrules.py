"""Shell rules against the commands of a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentcli.permissions.rules import Rule
from agentcli.permissions.shellpatterns import (
    Form,
    command_form,
    compile_pattern,
    matches,
    may_match,
    text_form,
)
from agentcli.permissions.verdicts import Policy, Verdict, by_rule
from agentcli.shell import Piece, SimpleCommand, Word, harmless_name
from agentcli.shell.readonly_git import git_split

LONG_FLAGS: dict[str, dict[str, str]] = {
    "rm": {"recursive": "r", "force": "f", "R": "r"},
    "cp": {"recursive": "r", "force": "f", "R": "r"},
    "chmod": {"recursive": "R"},
    "chown": {"recursive": "R"},
}
SHELL_KINDS = ("bare", "shell")


def guarded(command: SimpleCommand, policy: Policy, tool: str) -> Verdict | None:
    """What deny and ask rules say about a command; ``None`` when none of them can mean it.

    They hold for the program however it is written: by path, with quotes or escapes, with git's own options in front,
    with its flags in another order.  A rule that might mean the command, depending on what is only known when it
    runs, asks.
    """
    doubtful: Rule | None = None
    asked: Rule | None = None
    forms = tuple(_guard_forms(command)) if command.words else ()
    for rule in (*policy.having("deny", tool), *policy.having("ask", tool)):
        if rule.kind not in SHELL_KINDS:
            continue
        fit = _fit(rule, command, forms)
        if fit == "yes" and rule.behavior == "deny":
            return by_rule(rule, subject=command.text)
        if fit == "yes" and asked is None:
            asked = rule
        elif fit == "maybe" and doubtful is None:
            doubtful = rule
    if asked is not None:
        return by_rule(asked, subject=command.text)
    if doubtful is not None:
        reason = f"what it runs is only known then, and the rule {doubtful.text} ({doubtful.origin}) may mean it"
        return Verdict("ask", reason, "rule", doubtful.label, subject=command.text)
    return None


def _fit(rule: Rule, command: SimpleCommand, forms: tuple[Form, ...]) -> str:
    """``yes``, ``maybe`` or ``no``."""
    if rule.kind == "bare" or not command.words:
        return "yes" if rule.kind == "bare" else "no"
    pattern = compile_pattern(rule.pattern)
    maybe = False
    for spelling in forms:
        if matches(pattern, spelling):
            return "yes"
        maybe = maybe or may_match(pattern, spelling)
    if _same_flags(rule.pattern, command):
        return "yes"
    return "maybe" if maybe else "no"


def _guard_forms(command: SimpleCommand) -> Iterator[Form]:
    """Every spelling under which a deny or ask rule may know the command."""
    yield from _forms(command.words)
    raw = " ".join(command.source.split())
    if command.via == "line" and raw != command.text:
        yield text_form(raw)
    bare = _by_basename(command.words)
    if bare is not None:
        yield from _forms(bare)
    words = bare or command.words
    if command.program == "git":
        before, after = git_split(words[1:])
        if before and after:
            yield from _forms((words[0], *after))


def _forms(words: tuple[Word, ...]) -> tuple[Form, ...]:
    whole = command_form(words)
    vanishing = command_form(words, vanishing=True)
    return (whole,) if whole == vanishing else (whole, vanishing)


def _by_basename(words: tuple[Word, ...]) -> tuple[Word, ...] | None:
    """The words with the program's path taken off; ``None`` when it has none."""
    pieces = words[0].pieces
    cut = next((i for i in reversed(range(len(pieces))) if pieces[i].kind == "text" and "/" in pieces[i].text), None)
    if cut is None:
        return None
    name = pieces[cut].text.rsplit("/", 1)[-1]
    left = (*((Piece("text", name),) if name else ()), *pieces[cut + 1 :])
    return (Word(left), *words[1:]) if left else None


def _same_flags(pattern: str, command: SimpleCommand) -> bool:
    """``rm -rf:*`` against ``rm -r -f x``: same words in front, and every flag of the rule is given somewhere."""
    if not pattern.endswith((":*", " *")):
        return False
    wanted = pattern[:-2].split()
    flags = [w for w in wanted if w.startswith("-")]
    if not wanted or not flags or any("*" in w for w in wanted):
        return False
    heads = [w for w in wanted if not w.startswith("-")]
    if wanted[: len(heads)] != heads:
        return False
    words = [w.text for w in command.words]
    words[0] = words[0].rsplit("/", 1)[-1]
    if words[0] == "git":
        words = ["git", *(w.text for w in git_split(command.words[1:])[1])]
    if words[: len(heads)] != heads:
        return False
    given = _flags(words[len(heads) :], LONG_FLAGS.get(heads[0], {}))
    return _flags(flags, LONG_FLAGS.get(heads[0], {})) <= given


def _flags(words: list[str], names: dict[str, str]) -> frozenset[str]:
    """Flags one by one: bundles apart, long names as their letter where there is one."""
    found: set[str] = set()
    for text in words:
        if text == "--":
            break
        if text.startswith("--"):
            full = text[2:].partition("=")[0]
            short = [s for long, s in names.items() if len(long) > 1 and full and long.startswith(full)]
            found.add(short[0] if short else "--" + full)
        elif text.startswith("-"):
            found |= {names.get(c, c) for c in text[1:]}
    return frozenset(found)


def allowing(command: SimpleCommand, policy: Policy, tool: str) -> Iterator[Rule]:
    """Allow rules that cover the command whatever is unknown of it.

    Variables in front are seen through where they are known to be harmless; otherwise the rule must name them.
    """
    forms = _allow_forms(command)
    for rule in policy.having("allow", tool):
        if rule.kind == "bare":
            yield rule
        elif rule.kind == "shell" and command.words:
            pattern = compile_pattern(rule.pattern)
            if any(matches(pattern, f) for f in forms):
                yield rule


def _allow_forms(command: SimpleCommand) -> tuple[Form, ...]:
    harmless = all(_safe_prefix(a.name) for a in command.assignments)
    words = command.words
    forms: list[Form] = []
    if harmless:
        forms.append(command_form(words))
    if command.via == "line" and not any(w.dynamic or w.glob for w in words):
        forms.append(text_form(re.sub(r"[ \t]+", " ", command.source)))
    return tuple(forms)


def _safe_prefix(name: str) -> bool:
    from agentcli.shell import SAFE_VARIABLES

    return name in SAFE_VARIABLES or (name == "IFS" and harmless_name(name))


def is_wide(rule: Rule) -> bool:
    """A rule that allows every command."""
    return rule.kind == "bare" or rule.pattern.strip(":* ") == ""


def is_exact(rule: Rule) -> bool:
    return rule.kind == "shell" and compile_pattern(rule.pattern).exact


def reaches(rule: Rule, text: str) -> bool:
    """Whether the rule's literal part covers ``text`` (so that its author had it in mind)."""
    return rule.kind == "shell" and compile_pattern(rule.pattern).prefix.startswith(text)
