"""Files that a program writes because an option, its form or its input says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agentcli.shell.readonly import only_reads
from agentcli.shell.readonly_git import git_split
from agentcli.shell.values import Piece, SimpleCommand, Word, names, word


@dataclass(frozen=True, slots=True)
class Outputs:
    """``words`` name files that are written.  ``hidden``: there are more, whose names the line doesn't say (the
    members of an archive, the files of a patch)."""

    words: tuple[Word, ...] = ()
    hidden: bool = False


def outputs(command: SimpleCommand) -> Outputs:
    """What a command writes beyond what its operands say."""
    program = command.program
    found = _FORMS[program](command) if program in _FORMS else Outputs()
    named = tuple(_values(command, *_OPTIONS[program])) if program in _OPTIONS else ()
    # A dash is the standard output.
    return Outputs(tuple(w for w in (*named, *found.words) if w.text != "-"), found.hidden)


_OPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "sort": ("o", ("output",)),
    "tree": ("o", ()),
    "curl": ("oDc", ("output", "dump-header", "cookie-jar", "trace", "trace-ascii", "stderr", "libcurl", "etag-save")),
    "wget": ("Ooa", ("output-document", "output-file", "append-output", "save-cookies", "warc-file")),
    "patch": ("or", ("output", "reject-file")),
    "gcc": ("o", ()),
    "cc": ("o", ()),
    "clang": ("o", ()),
    "pandoc": ("o", ("output",)),
    "openssl": ("", ("out",)),
    "gpg": ("o", ("output",)),
    "base64": ("o", ("output",)),
}
"""Options whose value is a file that is written: letters, long names."""
_NO_VALUE: dict[str, str] = {"curl": "sSLfIiOJkvgGNnaq046jlpR#Z", "wget": "qvcNSxHpkKELrnd", "sort": "bdfghinrRVcCmsuz"}
"""Letters without a value, which may stand in front of one in a bundle."""


def _values(command: SimpleCommand, letters: str, long: tuple[str, ...]) -> Iterator[Word]:
    """The values of options, in the next word or glued on."""
    before = re.escape(_NO_VALUE.get(command.program, ""))
    short = re.compile(rf"-[{before}]*[{letters}]" if before else rf"-[{letters}]") if letters else None
    words = command.arguments
    for index, item in enumerate(words):
        text = item.text
        if text == "--":
            return
        name, equals, _ = text.partition("=")
        following = words[index + 1 : index + 2]
        if name.startswith("-") and name.lstrip("-") in long:
            yield from (_from(item, len(name) + 1),) if equals else following
        elif short is not None and not text.startswith("--") and (match := short.match(text)):
            yield from following if match.end() == len(text) else (_from(item, match.end()),)


def _from(item: Word, cut: int) -> Word:
    """The word without its first characters, which are literal."""
    head = item.pieces[0]
    return Word((Piece(head.kind, head.text[cut:], head.quoted), *item.pieces[1:]))


def _plain(command: SimpleCommand) -> tuple[Word, ...]:
    return tuple(w for w in command.arguments if not w.text.startswith("-"))


def _tar(command: SimpleCommand) -> Outputs:
    texts = [w.text for w in command.arguments]
    first = texts[0] if texts and not texts[0].startswith("-") else ""
    letters = first + "".join(t[1:] for t in texts if re.match(r"-[A-Za-z]", t))
    extracts = "x" in letters or any(re.match(r"--(?:extract|get)\b", t) for t in texts)
    if extracts:
        return Outputs(hidden="O" not in letters and "--to-stdout" not in texts)
    if not set("cruA") & set(letters) and not any(re.match(r"--(?:create|append|update|con)", t) for t in texts):
        return Outputs()
    rest = command.arguments[1:] if first else ()
    return Outputs((*(rest[:1] if "f" in first else ()), *_values(command, "f", ("file",)), *_bundled(command)))


def _bundled(command: SimpleCommand) -> Iterator[Word]:
    """``-czf x``: the word behind a bundle that ends in ``f``."""
    words = command.arguments
    for index, item in enumerate(words):
        if re.fullmatch(r"-[A-Za-z]+f", item.text):
            yield from words[index + 1 : index + 2]


def _unzip(command: SimpleCommand) -> Outputs:
    return Outputs(hidden=not any(re.match(r"-[A-Za-z]*[lptvzZc]", w.text) for w in command.arguments))


def _compressed(command: SimpleCommand) -> Outputs:
    """``gzip f`` takes the file away and makes another one beside it."""
    texts = [w.text for w in command.arguments]
    if any(re.match(r"-[A-Za-z0-9]*[ctl]|--(?:stdout|to-stdout|test|list)\b", t) for t in texts):
        return Outputs()
    made: list[Word] = []
    for item in _plain(command):
        shorter = re.sub(r"\.(?:gz|bz2|xz|zst|lz4|lzma|Z)\Z", "", item.text)
        if item.literal is not None and shorter != item.text:
            made.append(Word((Piece("text", shorter),), item.tilde))
        elif item.literal is not None:
            made.append(Word((Piece("text", item.text + _SUFFIX.get(command.program, ".gz")),), item.tilde))
    deep = any(re.match(r"-[A-Za-z0-9]*r|--recursive\b", t) for t in texts)
    return Outputs((*_plain(command), *made), hidden=deep)


_SUFFIX = {"bzip2": ".bz2", "xz": ".xz", "zstd": ".zst", "lz4": ".lz4", "lzma": ".lzma", "compress": ".Z"}


def _wget(command: SimpleCommand) -> Outputs:
    """Without ``-O`` the address, or the server, names the file."""
    texts = [w.text for w in command.arguments]
    told = any(re.match(r"-[A-Za-z]*O|--output-document|--spider", t) for t in texts)
    return Outputs(hidden=not told)


def _curl(command: SimpleCommand) -> Outputs:
    texts = [w.text for w in command.arguments]
    return Outputs(hidden=any(re.match(r"-[sSLfIikvgJRZ#]*O|--remote-(?:name|header)|--output-dir", t) for t in texts))


def _patch(command: SimpleCommand) -> Outputs:
    texts = [w.text for w in command.arguments]
    return Outputs(_plain(command)[:1], hidden="--dry-run" not in texts)


def _archive(command: SimpleCommand) -> Outputs:
    """``7z x``, ``7z e``, ``7z a ARCHIVE``; ``ar x``."""
    plain = _plain(command)
    act = plain[0].text[:1] if plain else ""
    return Outputs(plain[1:2] if act in {"a", "u", "d", "r", "q"} else (), hidden=act in {"x", "e"})


def _zip(command: SimpleCommand) -> Outputs:
    return Outputs(_plain(command)[:1])


def _cpio(command: SimpleCommand) -> Outputs:
    texts = [w.text for w in command.arguments]
    return Outputs(hidden=any(re.match(r"-[A-Za-z]*[ip]|--(?:extract|pass-through)", t) for t in texts))


def _split(command: SimpleCommand) -> Outputs:
    return Outputs(hidden=True)


def _script(command: SimpleCommand) -> Outputs:
    """A script of ``sed`` that does more than read may name a file to write."""
    if not only_reads(command):
        return Outputs()
    found: list[Word] = []
    for item in command.arguments:
        for match in re.finditer(r"(?:\A|[\d$/};,g!\s])w\s+([^\n;}]+)(?=\n|\Z)", item.literal or ""):
            found.append(word(match[1].strip()))
    return Outputs(tuple(found), hidden=not found)


def _awk(command: SimpleCommand) -> Outputs:
    """A script of ``awk`` that redirects or runs something, or that stands in a file."""
    return Outputs(
        hidden=any(re.search(r"[>|]|system|\A-[fi]|\A--(?:file|include)", w.text) for w in command.arguments)
    )


def _git(command: SimpleCommand) -> Outputs:
    """Files of the work tree that git is told to replace.  Moving between commits is git's own business."""
    rest = git_split(command.arguments)[1]
    act = rest[0].text if rest else ""
    words = rest[1:]
    texts = [w.text for w in words]
    if act in {"mv", "rm"}:
        return Outputs(tuple(w for w in words if not w.text.startswith("-")))
    if act in {"apply", "am"}:
        return Outputs(hidden=not {"--check", "--stat", "--numstat", "--summary"} & set(texts))
    if act in {"checkout", "restore"}:
        named = words[texts.index("--") + 1 :] if "--" in texts else words
        paths = tuple(w for w in named if not w.text.startswith("-"))
        everything = any(w.text in {".", "./", ":/", "*"} or w.glob for w in paths)
        return Outputs(paths, hidden=everything or any(t.startswith("--pathspec-from-file") for t in texts))
    if act == "archive":
        return Outputs(tuple(_values(command, "o", ("output",))))
    return Outputs()


_FORMS: dict[str, Callable[[SimpleCommand], Outputs]] = {
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    **dict.fromkeys(
        names("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 lzma unlzma compress uncompress"), _compressed
    ),
    **dict.fromkeys(("sed", "gsed"), _script),
    **dict.fromkeys(("awk", "gawk", "mawk"), _awk),
    **dict.fromkeys(("7z", "7za", "7zz", "ar"), _archive),
    **dict.fromkeys(("split", "csplit"), _split),
    "unzip": _unzip,
    "zip": _zip,
    "cpio": _cpio,
    "wget": _wget,
    "curl": _curl,
    "patch": _patch,
    "git": _git,
}
