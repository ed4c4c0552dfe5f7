"""Which arguments of a command name files, and what happens to them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agentcli.shell.outputs import outputs
from agentcli.shell.readonly_git import git_split
from agentcli.shell.values import Piece, SimpleCommand, Word, names, word

NO_FILES = names(
    "echo printf true false : seq sleep expr id whoami groups uname arch nproc free uptime tty printenv env type which "
    "date hostname umask ps read export declare local readonly typeset unset set shift exit return break continue wait "
    "locale getconf basename dirname command builtin xargs timeout gtimeout time nice nohup noglob stdbuf eval trap "
    "alias cal lsblk lscpu kill jobs times tr popd dirs test ["
)
"""Programs whose arguments are not files that they read or write."""
PATTERN_FIRST: dict[str, tuple[str, ...]] = {
    "grep": ("-e", "-f", "--regexp", "--file"),
    "egrep": ("-e", "-f", "--regexp", "--file"),
    "fgrep": ("-e", "-f", "--regexp", "--file"),
    "rg": ("-e", "-f", "--regexp", "--file", "--files"),
    "sed": ("-e", "-f", "--expression", "--file"),
    "jq": ("-f", "--from-file"),
    "awk": ("-f", "--file"),
    "gawk": ("-f", "--file"),
    "mawk": ("-f", "--file"),
    "fd": (),
}
"""The first operand is a pattern or a script, unless one of these options gives it."""
NOT_FILES: dict[str, frozenset[str]] = {
    "cut": names("-d -f -b -c --delimiter --fields --output-delimiter"),
    "sort": names("-t -k -S --key --field-separator"),
    "paste": names("-d --delimiters"),
    "column": names("-s -o -t -N -c --separator --output-separator"),
    "head": names("-n -c --lines --bytes"),
    "tail": names("-n -c --lines --bytes -s --pid"),
    "grep": names("-e -A -B -C -m --regexp --include --exclude --exclude-dir --color --max-count --context"),
    "egrep": names("-e -A -B -C -m --regexp --include --exclude --exclude-dir"),
    "fgrep": names("-e -A -B -C -m --regexp --include --exclude --exclude-dir"),
    "rg": names("-e -A -B -C -m -g -t -T -r --regexp --glob --iglob --type --replace --max-count --context --sort"),
    "sed": names("-e -E --expression"),
    "jq": names("--arg --argjson --indent"),
    "awk": names("-F -v"),
    "gawk": names("-F -v"),
    "tree": names("-P -I -L --filelimit --timefmt"),
    "du": names("-d --max-depth --exclude -t"),
    "ls": names("-I --ignore --hide -w -T"),
    "stat": names("-c -f --format --printf"),
    "uniq": names("-f -s -w"),
    "fold": names("-w"),
    "nl": names("-b -s -w -n -v"),
    "od": names("-A -t -N -j -w"),
    "fd": names("-t -d -e -E -c -S"),
    "truncate": names("-s --size"),
    "touch": names("-d -t --date"),
    "mkdir": names("-m --mode"),
    "install": names("-m -o -g --mode --owner --group"),
    "jobs": frozenset(),
}
"""Options whose value is no file."""
REMOVES = names("rm rmdir unlink shred")
WRITES_ALL = REMOVES | names("touch mkdir mkfifo tee truncate sponge mv chmod chown chgrp setfacl mknod")
WRITES_LAST = names("cp ln install rsync scp")
IN_PLACE = names("sed gsed perl ruby")


@dataclass(frozen=True, slots=True)
class Files:
    """The words that name files.  ``known``: the program is one whose arguments we understand; of others every
    argument that could be a path is listed under ``reads``.  ``hidden``: it writes files, too, that the line doesn't
    name."""

    reads: tuple[Word, ...] = ()
    writes: tuple[Word, ...] = ()
    known: bool = True
    hidden: bool = False


def files_of(command: SimpleCommand, *, reader: bool = False) -> Files:
    """Which files a command names.  ``reader``: it is on the list of programs that only read."""
    found = _by_operands(command, reader)
    if reader or (command.program in IN_PLACE and _in_place(command)):
        return found
    written = outputs(command)
    return replace(found, writes=(*found.writes, *written.words), hidden=found.hidden or written.hidden)


def _by_operands(command: SimpleCommand, reader: bool) -> Files:
    name = command.program
    if name in {"cd", "pushd"}:
        return Files(tuple(w for w in command.arguments if not w.text.startswith(("-", "+"))))
    if name in NO_FILES:
        return Files()
    if name == "git":
        return Files(_git(command), known=reader)
    if name in {"find", "gfind"}:
        return Files(_find(command), known=reader or "-delete" not in command.argv)
    if name == "dd":
        return Files(_prefixed(command, "if="), _prefixed(command, "of="))
    plain = _operands(command)
    if name in WRITES_ALL:
        return Files((), _skip_mode(name, plain))
    if name in WRITES_LAST:
        return _copied(command, plain)
    if name in IN_PLACE and _in_place(command):
        return Files((), plain)
    return Files(plain, known=reader or name in PATTERN_FIRST)


def _operands(command: SimpleCommand) -> tuple[Word, ...]:
    name = command.program
    skipped = NOT_FILES.get(name, frozenset())
    first = name in PATTERN_FIRST and not any(_gives(w, PATTERN_FIRST[name]) for w in command.arguments)
    found: list[Word] = []
    words = iter(command.arguments)
    only_operands = False
    for item in words:
        text = item.text
        if only_operands or not text.startswith("-") or text == "-":
            if first:
                first = False
            elif text != "-":
                found.append(item)
        elif text == "--":
            only_operands = True
        elif text in skipped:
            next(words, None)
        elif (value := _attached(item, skipped)) is not None:
            found.append(value)
    return tuple(found)


def _gives(item: Word, options: tuple[str, ...]) -> bool:
    text = item.text
    short = {o[1] for o in options if len(o) == 2}
    if text.startswith("--"):
        return text.partition("=")[0] in options
    return text.startswith("-") and bool(short & set(text[1:2]) or (short & set(text[1:]) and text[1:].isalpha()))


def _attached(item: Word, skipped: frozenset[str]) -> Word | None:
    """The value that is glued to an option (``--file=x``, ``-fx``), if it looks like a path."""
    text = item.text
    name, equals, value = text.partition("=")
    if text.startswith("--"):
        cut = len(name) + 1 if equals else len(text)
    else:
        cut, name, value = 2, text[:2], text[2:]
    looks = "/" in value or value.startswith(("~", "..")) or "$" in value
    if name in skipped or not value or not looks or not item.pieces or item.pieces[0].kind != "text":
        return None
    head = item.pieces[0]
    return Word((Piece("text", head.text[cut:], head.quoted), *item.pieces[1:]))


def _skip_mode(name: str, plain: tuple[Word, ...]) -> tuple[Word, ...]:
    return plain[1:] if name in {"chmod", "chown", "chgrp"} else plain


def _copied(command: SimpleCommand, plain: tuple[Word, ...]) -> Files:
    words = command.arguments
    for index, item in enumerate(words):
        if item.text in {"-t", "--target-directory"} and index + 1 < len(words):
            target = words[index + 1]
            return Files(tuple(w for w in plain if w is not target), (target,))
        if item.text.startswith("--target-directory="):
            value = _attached(item, frozenset())
            target = value or Word((Piece("text", item.text.partition("=")[2]),))
            return Files(tuple(w for w in plain if w is not value), (target,))
    if command.program == "ln" and len(plain) == 1:
        base = plain[0].text.rstrip("/").rpartition("/")[2]
        return Files(plain, (word(base),)) if plain[0].literal else Files(plain, hidden=True)
    return Files(plain[:-1], plain[-1:])


def _in_place(command: SimpleCommand) -> bool:
    def marks(text: str) -> bool:
        return text.startswith("--in-place") or (text.startswith("-") and not text.startswith("--") and "i" in text)

    return any(marks(w.text) for w in command.arguments)


def _prefixed(command: SimpleCommand, prefix: str) -> tuple[Word, ...]:
    found: list[Word] = []
    for item in command.arguments:
        if item.text.startswith(prefix) and item.pieces[0].kind == "text":
            head = item.pieces[0]
            found.append(Word((Piece("text", head.text[len(prefix) :], head.quoted), *item.pieces[1:])))
    return tuple(found)


def _find(command: SimpleCommand) -> tuple[Word, ...]:
    """Starting points (all arguments before the first test), and files that tests look at."""
    found: list[Word] = []
    starting = True
    words = iter(command.arguments)
    for item in words:
        if starting and (item.text in {"-L", "-H", "-P"} or item.text.startswith("-O")):
            continue
        if starting and not item.text.startswith(("-", "(", "!")):
            found.append(item)
            continue
        starting = False
        if item.text.startswith("-newer") or item.text in {"-samefile", "-anewer", "-cnewer", "-files0-from"}:
            found += [w for w in [next(words, None)] if w is not None]
    return tuple(found)


def _git(command: SimpleCommand) -> tuple[Word, ...]:
    """Arguments that may be paths; of ``rev:path`` the path."""
    found: list[Word] = []
    for item in git_split(command.arguments)[1][1:]:
        if item.text.startswith("-"):
            continue
        revision, colon, path = item.text.partition(":")
        if colon and item.literal is not None and path and (revision or not path.startswith(("/", "!", "^", "("))):
            # Of ``:path`` and ``:2:path``, files of the index, too.
            found.append(Word((Piece("text", path if revision else re.sub(r"\A[0-3]:", "", path)),)))
        else:
            found.append(item)
    return tuple(found)
