"""Programs that only read, with the options that keep it so.

``only_reads`` judges one command by its words.  Whose file the name stands for, and which paths it reads, is for the
policy to check.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agentcli.shell.environment import SAFE_VARIABLES, harmless_name
from agentcli.shell.flags import Flags, flags, refused
from agentcli.shell.readonly_git import git_reads
from agentcli.shell.values import SimpleCommand, Word, names

FREE = names(
    "ls cat echo pwd head tail grep egrep fgrep wc which diff stat du df cut tr true false : basename dirname "
    "realpath readlink cmp comm nl od hexdump strings tac rev fold expand paste join seq sleep id whoami groups uname "
    "arch nproc free uptime tty printenv md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum base64 "
    "column jq test [ type expr locale getconf dir vdir zcat cal lsblk lscpu"
)
"""Whatever options they are given, they write no file and run no program."""
BUILTINS = names(
    "echo pwd true false : test [ printf type cd pushd popd dirs read export declare local readonly typeset unset set "
    "shift exit return break continue wait command builtin umask exec jobs times"
)
"""Found in the shell itself, never by ``PATH``."""
NO_FUSS = names("shift exit return break continue wait popd dirs jobs times")
LIMITED: dict[str, Flags] = {
    "sort": flags(
        "bdfgiMhnRrVcCmsuz0",
        "kt",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort "
        "human-numeric-sort numeric-sort random-sort reverse version-sort check merge stable unique zero-terminated "
        "field-separator key sort debug",
        "field-separator key sort",
    ),
    "uniq": flags(
        "cdDiuz0",
        "fsw",
        "count repeated all-repeated ignore-case unique zero-terminated skip-fields skip-chars check-chars group",
        operands=True,
    ),
    "file": flags(
        "bhiLkNnprsSvz0E",
        "Fe",
        "brief mime mime-type mime-encoding dereference keep-going no-dereference raw special-files version extension "
        "apple print0 no-buffer no-pad preserve-date uncompress",
    ),
    "tree": flags(
        "adflxiqNQpugshDFrtcUvXJCnSA0",
        "LIPH",
        "noreport dirsfirst filesfirst gitignore prune du si inodes device version matchdirs ignore-case charset "
        "filelimit timefmt sort",
    ),
    "date": flags("uRj", "dIr", "utc universal date iso-8601 rfc-3339 rfc-email reference debug", "date reference"),
    "hostname": flags("fsdiIA", "", "fqdn long short domain ip-address all-ip-addresses all-fqdns", operands=False),
    "ps": flags("efAaxujlFHLTwNdry", "opuUCgGtsq", "forest sort no-headers headers pid ppid user format width"),
    "umask": flags("Sp", operands=False),
    "fd": flags(
        "HIuUspFglLa0q1",
        "dtecESo",
        "hidden no-ignore no-ignore-vcs unrestricted case-sensitive ignore-case glob regex fixed-strings absolute-path "
        "list-details follow full-path print0 max-depth min-depth exact-depth exclude type extension size color "
        "changed-within changed-before max-results quiet",
    ),
}
_RG_REFUSED = names("pre pre-glob hostname-bin search-zip")
_FIND = names(
    "-name -iname -path -ipath -wholename -iwholename -type -xtype -maxdepth -mindepth -newer -anewer -cnewer -size "
    "-mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -empty -not -a -o -and -or ! ( ) , -print "
    "-print0 -printf -ls -prune -regex -iregex -regextype -depth -d -xdev -mount -follow -L -H -P -executable "
    "-readable -writable -links -inum -samefile -true -false -quit -daystart -lname -ilname -fstype -nouser -nogroup "
    "-used -noleaf -ignore_readdir_race -noignore_readdir_race -warn -nowarn"
)
_FIND_OTHER = re.compile(r"-newer[aBcmt]{2}\Z|-\d+\Z")
_VERSIONED = names(
    "python python3 node npm npx pnpm yarn pip pip3 go rustc cargo rustup java javac gcc g++ clang make cmake docker "
    "ruby gem perl php tsc deno bun uv poetry ruff mypy pytest git gh rg jq bash zsh sh kubectl terraform dotnet swift"
)
_LISTING: dict[str, frozenset[str]] = {
    "npm": names("ls list ll root prefix"),
    "pnpm": names("ls list"),
    "pip": names("list show freeze"),
    "pip3": names("list show freeze"),
    "go": names("version"),
    "cargo": names("version"),
    "rustup": names("show"),
    "docker": names("ps images version info logs inspect"),
}
_SED_COMMAND = re.compile(
    r"\s*(?:(?:\d+|\$|/(?:[^/\\]|\\.)*/I?)(?:\s*,\s*(?:\d+|\$|[+~]\d+|/(?:[^/\\]|\\.)*/I?))?\s*!?\s*)?"
    r"(?:q\d+|[pdq=lNnDPhHgGx]|s([/|,#@])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI\d]*)[ \t]*"
)
_SED_LONG = names("--quiet --silent --regexp-extended --separate --null-data --posix")


def only_reads(command: SimpleCommand) -> str:
    """Why the command may do more than read; empty when it only reads (standard output apart)."""
    if not command.words:
        return ""
    name = command.program
    arguments = command.arguments
    if len(arguments) == 1 and name in _VERSIONED and _asks_version(name, arguments[0]):
        return ""
    if name in FREE or name in NO_FUSS:
        return ""
    check = CHECKS.get(name)
    if check is not None:
        return check(command)
    if name in LIMITED:
        return refused(arguments, LIMITED[name]) or _operands(name, arguments)
    if name in _LISTING:
        return _listing(name, arguments)
    return f"{name} is not on the list of programs that only read"


def _asks_version(name: str, argument: Word) -> bool:
    return argument.literal == "--version" or (name.startswith(("python", "node")) and argument.literal in {"-V", "-v"})


def _operands(name: str, arguments: tuple[Word, ...]) -> str:
    """Programs of which certain operands write."""
    if name == "uniq":
        plain = [w for w in arguments if not w.text.startswith("-") or w.text == "-"]
        return "uniq with a second file writes it" if len(plain) > 1 or any(w.dynamic or w.glob for w in plain) else ""
    if name == "ps":
        return _process_environment(arguments)
    if name == "date":
        values = {i + 1 for i, w in enumerate(arguments) if w.text in {"-d", "-r", "--date", "--reference"}}
        wrong = [w for i, w in enumerate(arguments) if i not in values and not w.text.startswith(("+", "-"))]
        return "date with an operand sets the clock" if wrong else ""
    return ""


def _process_environment(arguments: tuple[Word, ...]) -> str:
    """``ps e`` shows the environment of other programs, and the keys that stand in it."""
    before = ""
    for item in arguments:
        value = re.match(r"-[A-Za-z]*[opuUCgGtsq]\Z|--(?:sort|pid|ppid|user|format|width)\Z", before)
        shows = not value and not item.text.startswith("-") and (item.dynamic or "e" in item.text)
        if shows or "environ" in item.text:
            return f"ps {item.text} may show the environment of programs"
        before = item.text
    return ""


def _listing(name: str, arguments: tuple[Word, ...]) -> str:
    if not arguments or arguments[0].literal not in _LISTING[name]:
        return f"{name} is only read-only with {', '.join(sorted(_LISTING[name]))}"
    risky = [w for w in arguments if not w.text or w.dynamic or w.glob or w.text.startswith(("--prefix", "-C", "-g"))]
    return f"the argument {risky[0].text}" if risky else ""


def _rg(command: SimpleCommand) -> str:
    for item in command.arguments:
        if item.text == "--":
            break
        if item.literal is None and item.may_be_flag:
            return f"{item.text} may become an option"
        if item.text.startswith("--") and item.text[2:].partition("=")[0] in _RG_REFUSED:
            return f"the option {item.text}"
        if re.match(r"-[A-Za-z0-9.]*z", item.text):
            return "the option -z"
    return ""


def _find(command: SimpleCommand) -> str:
    for item in command.arguments:
        text = item.text
        if item.literal is None and item.may_be_flag:
            return f"{text} may become an option"
        if text.startswith("-") and len(text) > 1 and text not in _FIND and not _FIND_OTHER.match(text):
            return f"the option {text}"
    return ""


def _sed(command: SimpleCommand) -> str:
    scripts: list[Word] = []
    plain: list[Word] = []
    words = iter(command.arguments)
    for item in words:
        if item.literal is None and item.may_be_flag:
            return f"{item.text} may become an option"
        if item.text in {"-e", "--expression"}:
            scripts += [w for w in [next(words, None)] if w is not None]
        elif not item.text.startswith("-") or item.text == "-":
            plain.append(item)
        elif item.text not in _SED_LONG and not re.match(r"-[nErsuz]+\Z", item.text):
            return f"the option {item.text}"
    for script in scripts or plain[:1]:
        if script.literal is None or not _sed_reads(script.text):
            return f"the sed script {script.text}"
    return ""


def _sed_reads(script: str) -> bool:
    """Whether every command of the script is one that prints, deletes or replaces in the stream."""
    position = 0
    while position < len(script):
        match = _SED_COMMAND.match(script, position)
        if match is None or match.end() == position:
            return False
        position = match.end()
        if position < len(script) and script[position] not in ";\n":
            return False
        position += 1
    return True


def _env(command: SimpleCommand) -> str:
    """Alone it prints the environment; with a command it is a wrapper."""
    return "" if all(w.text in {"-0", "--null"} for w in command.arguments) else _wrapper(command)


def _printf(command: SimpleCommand) -> str:
    return "printf -v sets a variable" if any(w.text.startswith("-v") for w in command.arguments[:1]) else ""


def _read(command: SimpleCommand) -> str:
    wrong = refused(command.arguments, flags("rse", "adnNptiu"))
    plain = [w for w in command.arguments if not w.text.startswith("-")]
    bad = [w.text for w in plain if w.literal is None or (w.text.isidentifier() and not harmless_name(w.text))]
    return wrong or (f"it sets {bad[0]}" if bad else "")


def _declare(command: SimpleCommand) -> str:
    """Declarations: only of variables that change nothing for programs."""
    exported = command.name == "export" or any(re.match(r"-[a-z]*x", w.text) for w in command.arguments)
    for item in command.arguments:
        name = item.text.partition("=")[0].rstrip("+")
        if item.text.startswith(("-", "+")):
            if re.search(r"[fFn]", item.text) or item.literal is None:
                return f"the option {item.text}"
        elif not re.match(r"[A-Za-z_][A-Za-z0-9_]*\Z", name) or not harmless_name(name):
            return f"it sets {name}"
        elif exported and "=" in item.text and name not in SAFE_VARIABLES:
            return f"it sets {name} for the programs that follow"
    return ""


def _set(command: SimpleCommand) -> str:
    for item in command.arguments:
        if item.literal is None or not re.match(r"[-+][abefhmnuvxBCEHPTo]+\Z|[a-z]+\Z|--\Z", item.text):
            return f"set with {item.text}"
    return ""


def _cd(command: SimpleCommand) -> str:
    return "" if all(not w.text.startswith("+") for w in command.arguments) else "it turns the stack of directories"


def _wrapper(command: SimpleCommand) -> str:
    """Wrappers that change nothing; what they run is judged by itself."""
    risky = {"time": ("-o", "--output", "-a", "-f"), "xargs": ("--process-slot-var",), "env": ("-S", "--split-string")}
    for item in command.arguments:
        if item.text.startswith(risky.get(command.program, ("\0",))):
            return f"the option {item.text}"
        if not item.text.startswith("-"):
            break
    return ""


CHECKS: dict[str, Callable[[SimpleCommand], str]] = {
    "git": git_reads,
    "rg": _rg,
    "find": _find,
    "gfind": _find,
    "sed": _sed,
    "env": _env,
    "printf": _printf,
    "read": _read,
    "export": _declare,
    "declare": _declare,
    "typeset": _declare,
    "local": _declare,
    "readonly": _declare,
    "unset": _declare,
    "set": _set,
    "cd": _cd,
    "pushd": _cd,
    **dict.fromkeys(names("timeout gtimeout time nice nohup noglob stdbuf command builtin xargs"), _wrapper),
}
