"""Commands that destroy work for which there may be no other copy, and removals of places that hold everything."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from agentcli.shell.flags import options_of
from agentcli.shell.operands import REMOVES, files_of
from agentcli.shell.readonly_git import git_split
from agentcli.shell.values import SimpleCommand, Word, names

DISKS = names("mkfs mkswap fdisk sfdisk parted wipefs blkdiscard shred fstrim cryptsetup lvremove vgremove pvremove")
POWER = names("shutdown reboot halt poweroff init telinit")


def destroys(command: SimpleCommand) -> str:
    """What the command may destroy, in words; empty for an ordinary one.  Removals of files are not meant: they are
    ``removes``."""
    if not command.words:
        return ""
    name = command.program
    if name.partition(".")[0] in DISKS and not _asks_help(command):
        return f"{name} overwrites a disk or a file for good"
    if name in POWER:
        return f"{name} ends the machine"
    check = CHECKS.get(name)
    return check(command) if check else ""


def removes(command: SimpleCommand) -> bool:
    """Whether the command deletes files: a checkpoint is worth taking before."""
    name = command.program
    if name in REMOVES:
        return True
    return name in {"find", "gfind"} and any(w.text in {"-delete"} for w in command.arguments)


def _asks_help(command: SimpleCommand) -> bool:
    return any(w.text in {"--help", "--version", "-V"} for w in command.arguments)


def _git(command: SimpleCommand) -> str:
    words = git_split(command.arguments)[1]
    if not words:
        return ""
    name = words[0].text
    check = GIT.get(name)
    return check(words[1:]) if check else ""


def _has(words: tuple[Word, ...], short: str, *long: str) -> bool:
    found = set(options_of(words))
    return bool(found & set(short)) or any(o and any(full.startswith(o) for full in long) for o in found if len(o) > 2)


def _reset(words: tuple[Word, ...]) -> str:
    return "git reset --hard throws uncommitted work away" if _has(words, "", "hard", "merge", "keep") else ""


def _clean(words: tuple[Word, ...]) -> str:
    if _has(words, "n", "dry-run"):
        return ""
    return "git clean deletes files that git does not know" if _has(words, "f", "force") else ""


def _checkout(words: tuple[Word, ...]) -> str:
    plain = [w.text for w in words if not w.text.startswith("-")]
    if _has(words, "f", "force") or "--" in [w.text for w in words] or any(p in {".", "./", ":/", "*"} for p in plain):
        return "git checkout of files throws uncommitted work away"
    return ""


def _restore(words: tuple[Word, ...]) -> str:
    found = set(options_of(words))
    staged_only = ("staged" in found or "S" in found) and not ("worktree" in found or "W" in found)
    return "" if staged_only or not words else "git restore throws uncommitted work away"


def _switch(words: tuple[Word, ...]) -> str:
    return "git switch throws uncommitted work away" if _has(words, "fC", "force", "discard-changes") else ""


def _push(words: tuple[Word, ...]) -> str:
    texts = [w.text for w in words]
    found = set(options_of(words))
    if "f" in found or any(o.startswith(("force", "mirror", "delete", "prune")) for o in found) or "d" in found:
        return "git push that rewrites or deletes what others may have"
    if any(t.startswith("+") or re.match(r":[^/]", t) for t in texts):
        return "git push that rewrites or deletes what others may have"
    return ""


def _branch(words: tuple[Word, ...]) -> str:
    found = set(options_of(words))
    forced = "D" in found or ({"d", "delete"} & found and {"f", "force"} & found)
    return "git branch -D deletes commits that may be nowhere else" if forced else ""


def _stash(words: tuple[Word, ...]) -> str:
    return "it deletes stashed work" if words and words[0].text in {"drop", "clear"} else ""


def _reflog(words: tuple[Word, ...]) -> str:
    return "it deletes the way back to earlier states" if words and words[0].text in {"expire", "delete"} else ""


def _gc(words: tuple[Word, ...]) -> str:
    return "git gc --prune=now deletes what nothing points to" if any("prune=" in w.text for w in words) else ""


def _always(what: str) -> Callable[[tuple[Word, ...]], str]:
    return lambda words: what


def _worktree(words: tuple[Word, ...]) -> str:
    forced = words and words[0].text == "remove" and _has(words, "f", "force")
    return "it deletes a work tree with its uncommitted work" if forced else ""


GIT: dict[str, Callable[[tuple[Word, ...]], str]] = {
    "reset": _reset,
    "clean": _clean,
    "checkout": _checkout,
    "restore": _restore,
    "switch": _switch,
    "push": _push,
    "branch": _branch,
    "stash": _stash,
    "reflog": _reflog,
    "gc": _gc,
    "worktree": _worktree,
    "filter-branch": _always("it rewrites history"),
    "filter-repo": _always("it rewrites history"),
}


def _dd(command: SimpleCommand) -> str:
    return (
        "dd onto a device"
        if any(w.text.startswith("of=/dev/") and w.text != "of=/dev/null" for w in command.arguments)
        else ""
    )


def _find(command: SimpleCommand) -> str:
    return "find -delete removes what it finds" if any(w.text == "-delete" for w in command.arguments) else ""


def _kill(command: SimpleCommand) -> str:
    operands = [w.text for w in command.arguments if not re.match(r"-[A-Z0-9]+[a-z]*\Z", w.text) or w.text == "-1"]
    return "it ends every process" if operands and operands[-1] in {"-1", "1"} else ""


def _chmod(command: SimpleCommand) -> str:
    recursive = _has(command.arguments, "R", "recursive")
    wide = any(w.text in {"/", "~", "/*", "$HOME", "/usr", "/etc", "/home", "/var"} for w in command.arguments)
    return f"{command.program} -R on everything" if recursive and wide else ""


def _infrastructure(command: SimpleCommand) -> str:
    words = [w.text for w in command.arguments if not w.text.startswith("-")]
    first = words[0] if words else ""
    if command.program in {"terraform", "tofu", "pulumi", "cdk"} and first == "destroy":
        return f"{command.program} destroy takes infrastructure down"
    if command.program in {"kubectl", "oc"} and first == "delete":
        return f"{command.program} delete removes running things"
    if command.program in {"docker", "podman"} and words[:2] in (
        ["system", "prune"],
        ["volume", "prune"],
        ["volume", "rm"],
    ):
        return f"{command.program} {' '.join(words[:2])} deletes data"
    return ""


def _sql(command: SimpleCommand) -> str:
    return f"{command.program} drops a database" if command.arguments else ""


CHECKS: dict[str, Callable[[SimpleCommand], str]] = {
    "git": _git,
    "dd": _dd,
    "find": _find,
    "gfind": _find,
    "kill": _kill,
    "chmod": _chmod,
    "chown": _chmod,
    "terraform": _infrastructure,
    "tofu": _infrastructure,
    "pulumi": _infrastructure,
    "cdk": _infrastructure,
    "kubectl": _infrastructure,
    "oc": _infrastructure,
    "docker": _infrastructure,
    "podman": _infrastructure,
    "dropdb": _sql,
}


def removal_targets(command: SimpleCommand) -> tuple[Word, ...]:
    """What a removal removes; for ``find -delete`` (or ``-exec rm``) that takes
    everything, its starting points."""
    if command.program in {"rm", "rmdir", "unlink", "shred"}:
        return files_of(command).writes
    if command.program in {"find", "gfind"}:
        texts = command.argv
        deletes = "-delete" in texts or any(
            t in {"-exec", "-execdir"} and n.rsplit("/", 1)[-1] in {"rm", "rmdir", "shred", "unlink"}
            for t, n in pairwise(texts)
        )
        chooses = any(re.match(r"-(?:i?name|i?path|i?regex|newer|[acm](?:time|min)|size|empty|user)", t) for t in texts)
        return files_of(command).reads if deletes and not chooses else ()
    return ()
