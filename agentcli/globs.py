"""Glob and gitignore patterns over POSIX relative paths, matched in linear memory and polynomial time.

No pattern becomes a backtracking regular expression, so that a hostile pattern in a settings file costs nothing.

Syntax: ``?`` and ``*`` stay inside one path segment; ``**`` as a whole segment spans any number of segments (at the
end at least one); ``[a-z]``, ``[!a]``, ``[^a]`` are classes; ``{a,b}`` are alternatives and may be nested; ``\\`` takes
the next character literally.  A dot at the start of a name is an ordinary character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from operator import eq
from typing import TypeAlias

MAX_ALTERNATIVES = 1000
"""A pattern whose braces stand for more patterns than this is refused."""

Match: TypeAlias = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class _Class:
    """``[...]``: ranges of characters, perhaps negated.  Never matches ``/``, which segments don't contain."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def __call__(self, character: str) -> bool:
        return any(low <= character <= high for low, high in self.ranges) != self.negated


_ANY = _Class((), negated=True)
_STAR = None
_Character: TypeAlias = str | _Class
"""One character of a segment; a ``*`` among them is ``None``."""


def compile_glob(pattern: str) -> Match:
    """The matcher of a glob over whole relative paths such as ``src/a.py``: ``*.py`` means the top level only.

    ``ValueError`` if the braces stand for too many alternatives.  An unclosed brace or bracket is taken literally.
    """
    alternatives = [_path_matcher(p.removeprefix("./")) for p in expand_braces(pattern)]
    if len(alternatives) == 1:
        return alternatives[0]
    return lambda path: any(match(path) for match in alternatives)


def gitignore_match(pattern: str, relative_path: str, *, is_dir: bool = False) -> bool:
    """Whether one line of a gitignore file names this path itself, or a directory above it.

    A pattern without a slash (but for one at the end) matches a name at any depth; with a slash it is anchored.  A
    slash at the end means directories only.  A leading ``!`` is dropped here: the caller keeps the sign, or uses
    ``ignore_list``.
    """
    matches = _gitignore(pattern.removeprefix("!"))
    parts = relative_path.strip("/").split("/")
    above = ("/".join(parts[:n]) for n in range(1, len(parts)))
    return matches(relative_path.strip("/"), is_dir) or any(matches(directory, True) for directory in above)


def ignore_list(patterns: Iterable[str]) -> Callable[[str, bool], bool]:
    """``ignored(path, is_dir)`` for the lines of one gitignore file.

    The last line that matches decides; ``!`` takes back; blank lines and ``#`` comments are skipped.  What lies in an
    ignored directory is ignored whatever follows, as git has it.
    """
    lines = [p for p in patterns if p.strip() and not p.startswith("#")]
    rules = [(_gitignore(p.removeprefix("!")), p.startswith("!")) for p in lines]

    def single(path: str, is_dir: bool) -> bool:
        for matches, negated in reversed(rules):
            if matches(path, is_dir):
                return not negated
        return False

    def ignored(path: str, is_dir: bool) -> bool:
        parts = path.strip("/").split("/")
        above = ("/".join(parts[:n]) for n in range(1, len(parts)))
        return any(single(directory, True) for directory in above) or single("/".join(parts), is_dir)

    return ignored


def has_magic(text: str) -> bool:
    """Whether the text is more than a literal path."""
    return any(c in text for c in "*?[{")


def expand_braces(pattern: str) -> list[str]:
    """The patterns that the braces stand for, in order: ``a.{b,c}`` is ``a.b`` and ``a.c``."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            raise ValueError(f"the braces of {pattern!r} stand for more than {MAX_ALTERNATIVES} patterns")
        current = waiting.pop()
        group = _first_group(current)
        if group is None:
            done.append(current)
            continue
        start, end, commas = group
        edges = [start, *commas, end]
        options = [current[a + 1 : b] for a, b in pairwise(edges)]
        waiting.extend(current[:start] + option + current[end + 1 :] for option in reversed(options))
    return done


def _first_group(pattern: str) -> tuple[int, int, list[int]] | None:
    """(open, close, commas) of the first brace group that is closed and holds a comma."""
    opened: list[tuple[int, list[int]]] = []
    found: tuple[int, int, list[int]] | None = None
    i = 0
    while i < len(pattern):
        match pattern[i]:
            case "\\":
                i += 1
            case "[":
                i = _class_end(pattern, i) or i
            case "{":
                opened.append((i, []))
            case "," if opened:
                opened[-1][1].append(i)
            case "}" if opened:
                start, commas = opened.pop()
                if commas and (found is None or start < found[0]):
                    found = (start, i, commas)
        i += 1
    return found


def _class_end(pattern: str, start: int) -> int | None:
    """Index of the ``]`` that closes the class at ``start``, or ``None``."""
    i = start + 1
    if i < len(pattern) and pattern[i] in "!^":
        i += 1
    if i < len(pattern) and pattern[i] == "]":
        i += 1
    while i < len(pattern) and pattern[i] != "]":
        if pattern[i] == "/":
            return None
        i += 2 if pattern[i] == "\\" else 1
    return i if i < len(pattern) else None


@lru_cache(maxsize=2048)
def _gitignore(pattern: str) -> Callable[[str, bool], bool]:
    text = _strip_blanks(pattern)
    directories_only = text.endswith("/") and not text.endswith("\\/")
    text = text.rstrip("/") if directories_only else text
    anchored = "/" in text
    text = text.removeprefix("/")
    if not text:
        return lambda path, is_dir: False
    match = compile_glob(text if anchored else f"**/{text}")
    if directories_only:
        return lambda path, is_dir: is_dir and match(path)
    return lambda path, is_dir: match(path)


def _strip_blanks(pattern: str) -> str:
    stripped = pattern.rstrip(" \t\r\n")
    return stripped + " " if stripped.endswith("\\") and len(stripped) < len(pattern) else stripped


def _path_matcher(pattern: str) -> Match:
    """Matches whole paths: a sequence of segments in which ``**`` is what ``*`` is inside a segment."""
    segments: list[Match | None] = []
    texts = pattern.split("/")
    for position, text in enumerate(texts):
        if text == "**":
            if position == len(texts) - 1:
                segments.append(lambda segment: True)
            if not segments or segments[-1] is not None or position == len(texts) - 1:
                segments.append(None)
        else:
            segments.append(_segment_matcher(text))
    if None not in segments:
        wanted = [s for s in segments if s is not None]
        return lambda path: _all_match(wanted, path.split("/"))
    return lambda path: _wildcard(segments, path.split("/"))


def _all_match(matchers: Sequence[Match], segments: Sequence[str]) -> bool:
    return len(matchers) == len(segments) and all(m(s) for m, s in zip(matchers, segments, strict=True))


def _segment_matcher(text: str) -> Match:
    tokens = _tokens(text)
    if all(isinstance(t, str) for t in tokens):
        literal = "".join(t for t in tokens if isinstance(t, str))
        return lambda segment: segment == literal
    if tokens == [_STAR]:
        return lambda segment: True
    rest = tokens[1:]
    if tokens[0] is _STAR and all(isinstance(t, str) for t in rest):
        ending = "".join(t for t in rest if isinstance(t, str))
        return lambda segment: segment.endswith(ending)
    characters = [t if not isinstance(t, str) else partial(eq, t) for t in tokens]
    return lambda segment: _wildcard(characters, segment)


def _tokens(text: str) -> list[_Character | None]:
    tokens: list[_Character | None] = []
    i = 0
    while i < len(text):
        character = text[i]
        end = _class_end(text, i) if character == "[" else None
        if end is not None:
            tokens.append(_parse_class(text[i + 1 : end]))
            i = end
        elif character == "\\" and i + 1 < len(text):
            tokens.append(text[i + 1])
            i += 1
        elif character == "*":
            if not tokens or tokens[-1] is not _STAR:
                tokens.append(_STAR)
        else:
            tokens.append(_ANY if character == "?" else character)
        i += 1
    return tokens


def _parse_class(body: str) -> _Class:
    negated = body[:1] in ("!", "^")
    characters: list[tuple[str, bool]] = []
    i = 1 if negated else 0
    while i < len(body):
        escaped = body[i] == "\\" and i + 1 < len(body)
        i += 1 if escaped else 0
        characters.append((body[i], escaped))
        i += 1
    ranges: list[tuple[str, str]] = []
    i = 0
    while i < len(characters):
        low = characters[i][0]
        if i + 2 < len(characters) and characters[i + 1] == ("-", False):
            ranges.append((low, characters[i + 2][0]))
            i += 3
        else:
            ranges.append((low, low))
            i += 1
    return _Class(tuple(ranges), negated)


def _wildcard(tokens: Sequence[Match | None], items: Sequence[str]) -> bool:
    """Wildcard matching (``None`` is the star) that only ever goes back to the last star.

    That suffices because an earlier star never needs a longer run than the shortest that fits.  At most
    ``len(tokens) * len(items)`` steps.
    """
    token = item = 0
    star = retry = -1
    while item < len(items):
        current = tokens[token] if token < len(tokens) else None
        if token < len(tokens) and current is None:
            star, retry = token, item
            token += 1
        elif current is not None and current(items[item]):
            token += 1
            item += 1
        elif star >= 0:
            retry += 1
            token, item = star + 1, retry
        else:
            return False
    return all(t is None for t in tokens[token:])
