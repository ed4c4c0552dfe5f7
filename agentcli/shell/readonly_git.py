"""The forms of git that only read."""

from __future__ import annotations

from agentcli.shell.flags import Flags, flags, refused
from agentcli.shell.values import SimpleCommand, Word, names

GLOBAL = names("--no-pager -P --no-optional-locks --literal-pathspecs --glob-pathspecs --no-replace-objects")
GLOBAL_VALUED = names("-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source")
READING = names(
    "status log diff show shortlog rev-parse rev-list ls-files ls-tree blame annotate describe name-rev merge-base "
    "for-each-ref show-ref diff-tree diff-index diff-files whatchanged cherry count-objects check-ignore check-attr "
    "grep cat-file version range-diff show-branch var"
)
REFUSED = (
    "output",
    "output-directory",
    "ext-diff",
    "no-index",
    "open-files-in-pager",
    "exec",
    "upload-pack",
    "textconv",
    "filters",
    "show-signature",
    "contents",
    "batch-command",
)
"""Options that write, run or read elsewhere.  git understands abbreviations: every prefix of one counts."""
_BRANCH = flags(
    "arvl",
    "",
    "all remotes verbose list show-current no-color color column no-column ignore-case no-abbrev abbrev contains "
    "no-contains merged no-merged points-at sort format",
    "contains no-contains points-at sort format",
)
_TAG = flags(
    "ln0123456789i",
    "",
    "list no-color color column no-column ignore-case contains no-contains merged no-merged points-at sort format",
    "contains no-contains points-at sort format",
)
_CONFIG = flags(
    "lz",
    "",
    "get get-all get-regexp get-urlmatch list null global local system worktree show-origin show-scope name-only type "
    "bool int path includes",
)

LISTS: dict[str, tuple[Flags, frozenset[str]]] = {
    "branch": (_BRANCH, names("list l")),
    "tag": (_TAG, names("list l n")),
}
SUBCOMMANDS: dict[str, frozenset[str]] = {
    "remote": names("get-url"),
    "stash": names("list show"),
    "worktree": names("list"),
    "notes": names("list show"),
    "bisect": names("log"),
    "reflog": names("show list exists"),
}


def git_split(words: tuple[Word, ...]) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """git's own options (with their values), and the subcommand with its arguments."""
    position = 0
    while position < len(words):
        text = words[position].text
        if not text.startswith("-"):
            break
        position += 2 if text in GLOBAL_VALUED else 1
    return words[:position], words[position:]


def git_reads(command: SimpleCommand) -> str:
    """Why a git command may do more than read; empty when it only reads."""
    before, after = git_split(command.arguments)
    for item in before:
        if item.literal not in GLOBAL:
            return f"git {item.text} in front of the subcommand"
    if not after:
        return ""
    name, arguments = after[0].literal, after[1:]
    if name is None:
        return "a git subcommand that is only known when it runs"
    if name in READING:
        return _reading(name, arguments)
    if name in LISTS:
        return _lists(name, arguments)
    if name == "config":
        return _config(arguments)
    if name in SUBCOMMANDS:
        return _sub(name, arguments)
    return f"git {name} is not on the list of forms that only read"


def _reading(name: str, arguments: tuple[Word, ...]) -> str:
    for item in arguments:
        if item.text == "--":
            break
        if item.literal is None and item.may_be_flag:
            return f"{item.text} may become an option"
        if item.text.startswith("--") and (bad := _abbreviates(item.text[2:].partition("=")[0])):
            return f"git {name} --{bad}"
        if name == "grep" and item.text.startswith("-") and not item.text.startswith("--") and "O" in item.text:
            return "git grep -O"
    return ""


def _abbreviates(name: str) -> str:
    return next((r for r in REFUSED if r.startswith(name) and name), "")


def _lists(name: str, arguments: tuple[Word, ...]) -> str:
    allowed, listing = LISTS[name]
    if wrong := refused(arguments, allowed):
        return f"git {name} with {wrong}"
    texts = [w.text for w in arguments]
    lists = any(t[2:] in listing if t.startswith("--") else set(t[1:2]) & listing for t in texts if t.startswith("-"))
    free = _free_operands(arguments, allowed)
    if free and not lists:
        filters = {"--merged", "--no-merged", "--contains", "--no-contains", "--points-at"} & set(texts)
        return "" if filters and len(free) == 1 else f"git {name} {free[0]} may create it"
    return ""


def _free_operands(arguments: tuple[Word, ...], allowed: Flags) -> list[str]:
    found: list[str] = []
    skip = False
    for item in arguments:
        if skip:
            skip = False
        elif item.text.startswith("--"):
            skip = item.text[2:] in allowed.long_valued
        elif not item.text.startswith("-"):
            found.append(item.text)
    return found


def _config(arguments: tuple[Word, ...]) -> str:
    if arguments and arguments[0].literal in {"get", "list"}:
        wrong = refused(arguments[1:], _CONFIG)
        return f"git config with {wrong}" if wrong else ""
    if wrong := refused(arguments, _CONFIG):
        return f"git config with {wrong}"
    reads = {"--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l"} & {w.text for w in arguments}
    return "" if reads else "git config without --get or --list may write"


def _sub(name: str, arguments: tuple[Word, ...]) -> str:
    plain = [w for w in arguments if not w.text.startswith("-")]
    risky = [w for w in arguments if w.literal is None and w.may_be_flag]
    if risky:
        return f"{risky[0].text} may become an option"
    if not plain:
        wrong = refused(arguments, flags("vn0123456789q", "", "verbose oneline all format date no-abbrev"))
        ok = name in {"remote", "reflog"} and not wrong
        return "" if ok else f"git {name} without {' or '.join(sorted(SUBCOMMANDS[name]))}"
    if plain[0].literal in SUBCOMMANDS[name] and arguments[0] is plain[0]:
        return _reading(f"{name} {plain[0].text}", arguments[1:])
    if name == "reflog" and plain[0].literal not in {"expire", "delete", "drop", "write"}:
        return _reading("reflog", arguments)
    return f"git {name} {plain[0].text} is not on the list of forms that only read"
