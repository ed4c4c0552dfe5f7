"""A first look without copying what the project's own repository has already.

Its list of tracked files becomes ours, but nothing of it is believed: git compares every file with its blob (our
attributes hold, so byte for byte), and what differs counts as new.  The blobs stay where they are until a file changes;
then the content from before is copied, as long as the repository still has it.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from agentcli.checkpoints.objects import Objects
from agentcli.checkpoints.shadowstore import git_directory
from agentcli.checkpoints.state import KEPT

Run: TypeAlias = Callable[..., Awaitable[bytes]]
"""``Shadow._run``."""
BATCH = 32 * 1024 * 1024
"""Bytes of content that are read at once."""
_TAKE = 'g="$1"; shift; "$g" "$@" update-index -z --index-info && { "$g" "$@" update-index -q --refresh >&2 || :; }'
_ID = 40
"""Letters of a name; a repository with longer ones has other names for the same contents."""


async def tracked(root: Path, run: Run, env: Mapping[str, str]) -> bytes:
    """The tracked files of the repository whose work tree ``root`` is, as ``update-index --index-info`` takes them.
    Empty where there is none; submodules and unmerged files are left out."""
    if not os.path.exists(root / ".git"):
        return b""
    raw = await run("ls-files", "-s", "-z", env={**env, "GIT_DIR": str(root / ".git")})
    return b"".join(entry + b"\0" for entry in raw.split(b"\0") if _plain(entry))


async def take(listed: bytes, run: Run) -> None:
    """Makes them the index, with what the work tree says of them."""
    await run(stdin=listed, shell=_TAKE)


async def fetch(names: Iterable[str], objects: Objects, root: Path, run: Run, env: Mapping[str, str]) -> None:
    """Copies contents from the project's repository; what it has no longer, or is too large, is left out."""
    store = git_directory(root) / "objects"
    missing = [name for name in dict.fromkeys(names) if not objects.has(name)]
    if not missing or not os.path.isdir(store):
        return
    # By our own configuration: theirs may name a server that has what is missing.
    env = {**env, "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(store)}
    sizes = await run(
        "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", stdin=_lines(missing), env=env
    )
    for group in _groups(sizes.decode().splitlines()):
        for data in _contents(await run("cat-file", "--batch", stdin=_lines(group), env=env)):
            objects.write(data)


def _plain(entry: bytes) -> bool:
    facts, tab, _ = entry.partition(b"\t")
    words = facts.split(b" ")
    if not tab or len(words) != 3:
        return False
    kind, name, stage = words
    return kind in (b"100644", b"100755", b"120000") and len(name) == _ID and stage == b"0"


def _lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()


def _groups(facts: Iterable[str]) -> Iterator[list[str]]:
    """The names of those that may be copied, so many at once as are read at once."""
    group: list[str] = []
    size = 0
    for line in facts:
        name, kind, *rest = line.split(" ")
        if kind != "blob" or not rest or int(rest[0]) > KEPT:
            continue
        if group and size + int(rest[0]) > BATCH:
            yield group
            group, size = [], 0
        group.append(name)
        size += int(rest[0])
    if group:
        yield group


def _contents(raw: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(raw):
        end = raw.index(b"\n", position)
        size = int(os.fsdecode(raw[position:end]).rsplit(" ", 1)[1])
        yield raw[end + 1 : end + 1 + size]
        position = end + 1 + size + 1
