"""The project's files by a few letters: walked in a thread, kept, searched in milliseconds."""

from __future__ import annotations

import re
import threading
import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from pathlib import Path

from agentcli.settings.git import git_root

MAX_FILES = 500_000
FRESH_SECONDS = 10.0
"""A listing older than this is made anew in the background when it is asked."""
CANDIDATES = 5_000


@dataclass(frozen=True, slots=True)
class Listing:
    """Paths relative to the root, directories with a slash at the end, and one searchable text of all of them (each
    in lower case behind a newline); ``top`` is what an empty query finds."""

    paths: tuple[str, ...]
    folded: str
    offsets: tuple[int, ...]
    top: tuple[str, ...]

    @staticmethod
    def of(paths: Sequence[str]) -> Listing:
        folded = [_fold(path) for path in paths]
        offsets: list[int] = []
        at = 0
        for text in folded:
            offsets.append(at)
            at += len(text) + 1
        top = nsmallest(50, paths, key=lambda p: (p.rstrip("/").count("/"), p))
        return Listing(tuple(paths), "".join("\n" + text for text in folded), tuple(offsets), tuple(top))

    def search(self, query: str, limit: int = 20) -> list[str]:
        """Paths that hold the query's characters in this order, best first: in the file's name before in folders, in
        one piece before scattered, short before long.  Linear in the listing's length."""
        letters = _fold(query)
        if not letters:
            return list(self.top[:limit])
        pattern = re.compile("\n" + "".join(f"[^\n{re.escape(c)}]*{re.escape(c)}" for c in letters))
        whole = re.compile(re.escape(letters))
        found: dict[int, None] = {}
        for match in islice(whole.finditer(self.folded), CANDIDATES):
            found[bisect_right(self.offsets, match.start()) - 1] = None
        if len(found) < limit:
            for match in islice(pattern.finditer(self.folded), CANDIDATES):
                found[bisect_right(self.offsets, match.start()) - 1] = None
        ranked = sorted(found, key=lambda n: _rank(self.paths[n], letters))
        return [self.paths[n] for n in ranked[:limit]]


class FileIndex:
    """Finds files below ``root`` as git sees them (ignored ones left out).  Safe to ask from any thread."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._listing = Listing.of(())
        self._made = float("-inf")
        self._walking = False
        self._ready = threading.Event()

    def refresh(self) -> None:
        """Begins a walk in the background unless one is under way or the listing is fresh."""
        with self._lock:
            if self._walking or time.monotonic() - self._made < FRESH_SECONDS:
                return
            self._walking = True
        threading.Thread(target=self._walk, name="file index", daemon=True).start()

    def search(self, query: str, limit: int = 20, *, wait: float = 1.0) -> list[str]:
        """The best matches; waits at most ``wait`` seconds for the first walk."""
        self.refresh()
        self._ready.wait(wait)
        return self._listing.search(query, limit)

    def _walk(self) -> None:
        try:
            listing = Listing.of(list(islice(walk(self._root), MAX_FILES)))
        except OSError:
            listing = self._listing
        with self._lock:
            self._listing, self._made, self._walking = listing, time.monotonic(), False
        self._ready.set()


def walk(root: Path) -> list[str]:
    """Relative paths below the root without what git ignores; hidden files are in, ``.git`` is not."""
    import rignore

    base = str(root)
    prefix = len(base.rstrip("/")) + 1
    paths = []
    inside = git_root(root) is not None  # its root bounds the ignore files above that count
    for entry in rignore.walk(root, ignore_hidden=False, require_git=inside, overrides=["!.git"]):
        text = str(entry)[prefix:]
        if text:
            paths.append(text + "/" if entry.is_dir() else text)
    return paths


def _fold(text: str) -> str:
    """Lower case of the same length."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _rank(path: str, letters: str) -> tuple[int, int, int, str]:
    folded = _fold(path)
    name = folded.rstrip("/").rsplit("/", 1)[-1]
    if name.startswith(letters):
        kind = 0
    elif letters in name:
        kind = 1
    elif letters in folded:
        kind = 2
    else:
        kind = 3 if _spread(name, letters) else 4
    return kind, len(path), path.count("/"), path


def _spread(name: str, letters: str) -> bool:
    at = 0
    for letter in letters:
        at = name.find(letter, at) + 1
        if not at:
            return False
    return True
