"""``python -m agentcli.tools.fallback QUERY``: a search with ripgrep's output, for machines without ripgrep.

A program of its own, so that a slow pattern can be killed like any other child.  Patterns are Python's regular
expressions.  ``QUERY`` is the JSON of ``search.Query``.
"""

from __future__ import annotations

import base64
import codecs
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from agentcli.settings.git import git_root

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_VERSION_CONTROL = (".git", ".hg", ".svn", ".jj", ".bzr", ".sl")
_TYPES: Mapping[str, tuple[str, ...]] = {
    "c": ("*.[chH]", "*.[chH].in", "*.cats"),
    "cpp": (
        "*.[ChH]",
        "*.[ChH].in",
        "*.[ch]pp",
        "*.[ch]pp.in",
        "*.[ch]xx",
        "*.[ch]xx.in",
        "*.cc",
        "*.cc.in",
        "*.hh",
        "*.hh.in",
        "*.inl",
    ),
    "cs": ("*.cs",),
    "css": ("*.css", "*.scss"),
    "go": ("*.go",),
    "html": ("*.htm", "*.html", "*.ejs"),
    "java": ("*.java", "*.jsp", "*.jspx", "*.properties"),
    "js": ("*.js", "*.jsx", "*.vue", "*.cjs", "*.mjs"),
    "json": ("*.json", "composer.lock", "*.sarif"),
    "kotlin": ("*.kt", "*.kts"),
    "lua": ("*.lua",),
    "md": ("*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"),
    "php": ("*.php", "*.php3", "*.php4", "*.php5", "*.php7", "*.php8", "*.pht", "*.phtml"),
    "py": ("*.py", "*.pyi"),
    "ruby": ("*.gemspec", "*.rake", "*.rb", "*.rbw", ".irbrc", "Gemfile", "Rakefile", "config.ru"),
    "rust": ("*.rs",),
    "sql": ("*.psql", "*.sql"),
    "swift": ("*.swift",),
    "toml": ("*.toml", "Cargo.lock"),
    "ts": ("*.ts", "*.tsx", "*.cts", "*.mts"),
    "txt": ("*.txt",),
    "yaml": ("*.yaml", "*.yml"),
}
"""The commonest of ripgrep's types."""


class SearchError(Exception):
    """What the caller shows: a wrong pattern or type."""


def main(text: str, out: BinaryIO) -> int:
    """0: something was found, 1: nothing, 2: an error, on standard error."""
    query: dict[str, Any] = json.loads(text)
    try:
        found = 0
        for piece in _list(query) if query["kind"] == "files" else _matches(query):
            out.write(piece)
            found += 1
    except SearchError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0 if found else 1


def _list(query: Mapping[str, Any]) -> Iterator[bytes]:
    for path in _walk(query):
        yield os.fsencode(path) + b"\0"


def _walk(query: Mapping[str, Any]) -> Iterator[str]:
    wanted = _type_filter(query["type"])
    if query["target"] != ".":
        yield query["target"]
        return
    for path in _visible_files():
        if wanted(path):
            yield path


def _visible_files() -> Iterator[str]:
    """Files below the current directory that no ignore file names."""
    import rignore

    directories: list[str] = ["."]
    odd = False
    walker = iter(
        rignore.walk(
            Path(),
            ignore_hidden=False,
            require_git=git_root(Path()) is not None,
            additional_ignores=[".rgignore"],
            overrides=[f"!{name}" for name in _VERSION_CONTROL],
        )
    )
    while True:
        try:
            path = os.fspath(next(walker))
        except StopIteration:
            break
        except ValueError:  # a name that is not valid Unicode
            odd = True
            continue
        if os.path.isdir(path) and not os.path.islink(path):
            directories.append(path)
        elif os.path.isfile(path) and not os.path.islink(path):
            yield path
    if odd:
        yield from _odd_files(sorted(set(directories)))


def _odd_files(directories: list[str]) -> Iterator[str]:
    """Files whose names the walker could not give us, and all files in directories with such names."""
    for directory in directories:
        for name in os.listdir(directory):
            path = os.path.normpath(os.path.join(directory, name))
            if name.isascii() or not _is_odd(name) or os.path.islink(path):
                continue
            if os.path.isdir(path):
                yield from (os.path.join(top, n) for top, _, names in os.walk(path) for n in names)
            elif os.path.isfile(path):
                yield path


def _is_odd(name: str) -> bool:
    return any("\ud800" <= c <= "\udfff" for c in name)


def _type_filter(name: str) -> Any:
    if not name:
        return lambda path: True
    if name not in _TYPES:
        raise SearchError(f"unrecognized file type: {name}. Known are: {', '.join(_TYPES)}")
    from agentcli.globs import compile_glob

    matchers = [compile_glob(f"**/{glob}") for glob in _TYPES[name]]
    return lambda path: any(m(path) for m in matchers)


def _matches(query: Mapping[str, Any]) -> Iterator[bytes]:
    flags = re.MULTILINE | (re.IGNORECASE if query["ignore_case"] else 0) | (re.DOTALL if query["multiline"] else 0)
    try:
        pattern = re.compile(query["pattern"], flags)
    except re.error as error:
        raise SearchError(f"regex parse error: {error}") from error
    if not query["multiline"] and "\n" in query["pattern"]:
        raise SearchError("the pattern holds a line break, which needs multiline")
    for path in _walk(query):
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            sys.stderr.write(f"{path}: {error.strerror} (os error {error.errno})\n")
            continue
        text = _text(data)
        if text is not None:
            yield from _report(query, path, text, pattern)


def _text(data: bytes) -> str | None:
    """``None`` for a binary file."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    return None if b"\0" in data else data.decode("utf-8", "surrogateescape")


@dataclass(slots=True)
class _Block:
    """Neighbouring lines (numbers from 0, ``last`` included) and the places of the matches in the text they make."""

    first: int
    last: int
    spans: list[tuple[int, int]]


def _report(query: Mapping[str, Any], path: str, text: str, pattern: re.Pattern[str]) -> Iterator[bytes]:
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    blocks = _blocks(lines, pattern) if query["multiline"] else _single_lines(lines, pattern)
    if not blocks:
        return
    name = os.fsencode(path)
    match query["kind"]:
        case "names":
            yield name + b"\0"
        case "counts":
            yield name + b"\0" + str(sum(len(b.spans) for b in blocks)).encode() + b"\n"
        case _:
            yield from _with_context(query, name, lines, blocks)


def _single_lines(lines: list[str], pattern: re.Pattern[str]) -> list[_Block]:
    found = ((number, pattern.search(line)) for number, line in enumerate(lines))
    return [_Block(number, number, [match.span()]) for number, match in found if match]


def _blocks(lines: list[str], pattern: re.Pattern[str]) -> list[_Block]:
    """Matches may span lines; those whose lines touch are one block."""
    text = "\n".join(lines) + ("\n" if lines else "")
    blocks: list[_Block] = []
    starts: list[int] = []
    for match in pattern.finditer(text):
        start, end = match.span()
        if start == len(text):
            break
        first = text.count("\n", 0, start)
        last = first + text.count("\n", start, max(start, end - 1))
        if blocks and first <= blocks[-1].last + 1:
            blocks[-1].last = max(last, blocks[-1].last)
        else:
            blocks.append(_Block(first, last, []))
            starts.append(text.rfind("\n", 0, start) + 1)
        blocks[-1].spans.append((start - starts[-1], end - starts[-1]))
    return blocks


def _with_context(query: Mapping[str, Any], name: bytes, lines: list[str], blocks: list[_Block]) -> Iterator[bytes]:
    following = 0
    for number, block in enumerate(blocks):
        before = range(max(following, block.first - query["before"]), block.first)
        yield from (_event("context", name, n, lines[n], []) for n in before)
        yield _event("match", name, block.first, "\n".join(lines[block.first : block.last + 1]), block.spans)
        end = blocks[number + 1].first if number + 1 < len(blocks) else len(lines)
        following = min(block.last + 1 + query["after"], end)
        yield from (_event("context", name, n, lines[n], []) for n in range(block.last + 1, following))


def _event(kind: str, name: bytes, number: int, text: str, spans: list[tuple[int, int]]) -> bytes:
    places = [[len(text[:place].encode("utf-8", "surrogateescape")) for place in span] for span in spans]
    data = {
        "path": _jsonable(name),
        "lines": _jsonable((text + "\n").encode("utf-8", "surrogateescape")),
        "line_number": number + 1,
        "submatches": [{"start": start, "end": end} for start, end in places],
    }
    return json.dumps({"type": kind, "data": data}).encode() + b"\n"


def _jsonable(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"bytes": base64.b64encode(data).decode("ascii")}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.stdout.buffer))
