"""``python -m agentcli.tools.fallback QUERY``: a search with ripgrep's output, for machines without ripgrep.

A program of its own, so that a slow pattern can be killed like any other child.  Patterns are Python's regular
expressions.  ``QUERY`` is the JSON of ``search.Query``.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from agentcli.files import decode

_VERSION_CONTROL = (".git", ".hg", ".svn", ".jj", ".bzr", ".sl")
_TYPES: Mapping[str, tuple[str, ...]] = {
    "c": ("*.[chH]", "*.[chH].in", "*.cats"),
    "cpp": ("*.[ChH]", "*.cc", "*.cpp", "*.cxx", "*.hh", "*.hpp", "*.hxx", "*.inl"),
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
    "ruby": ("*.gemspec", "*.rb", "*.rbw", ".irbrc", "Gemfile", "Rakefile", "config.ru"),
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
            require_git=False,
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
    found = decode(data)
    if found is not None and found.format.bom:
        return found.text
    return None if b"\0" in data else data.decode("utf-8", "surrogateescape")


def _report(query: Mapping[str, Any], path: str, text: str, pattern: re.Pattern[str]) -> Iterator[bytes]:
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    count, hits = _hits(lines, pattern, multiline=query["multiline"])
    if not count:
        return
    name = os.fsencode(path)
    match query["kind"]:
        case "names":
            yield name + b"\0"
        case "counts":
            yield name + b"\0" + str(count).encode() + b"\n"
        case _:
            shown = sorted({n for h in hits for n in range(h - query["before"], h + query["after"] + 1)})
            for number in (n for n in shown if 0 <= n < len(lines)):
                yield _event(
                    "match" if number in hits else "context", name, number + 1, lines[number], hits.get(number)
                )


def _hits(
    lines: list[str], pattern: re.Pattern[str], *, multiline: bool
) -> tuple[int, dict[int, tuple[int, int] | None]]:
    """How many, and the numbers (from 0) of the lines with the place of the first match in each."""
    hits: dict[int, tuple[int, int] | None] = {}
    if not multiline:
        for number, line in enumerate(lines):
            found = pattern.search(line)
            if found:
                hits[number] = found.span()
        return len(hits), hits
    text = "\n".join(lines) + ("\n" if lines else "")
    count = 0
    for found in pattern.finditer(text):
        if found.start() == len(text):
            break
        count += 1
        first = text.count("\n", 0, found.start())
        last = first + text.count("\n", found.start(), max(found.start(), found.end() - 1))
        for number in range(first, last + 1):
            hits.setdefault(number, None)
    return count, hits


def _event(kind: str, name: bytes, number: int, line: str, span: tuple[int, int] | None) -> bytes:
    places = []
    if span:
        start, end = (len(line[:place].encode("utf-8", "surrogateescape")) for place in span)
        places.append({"start": start, "end": end})
    data = {
        "path": _jsonable(name),
        "lines": _jsonable((line + "\n").encode("utf-8", "surrogateescape")),
        "line_number": number,
        "submatches": places,
    }
    return json.dumps({"type": kind, "data": data}).encode() + b"\n"


def _jsonable(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"bytes": base64.b64encode(data).decode("ascii")}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.stdout.buffer))
