"""Looks at a whole project with git: what is different from the last look.

The index and the objects are the session's; the work tree is the project.  The project's own repository is never
written, and read for its lists of ignored and of tracked files, and for what a changed file was (``seeding``).  No
configuration but ours counts, no attribute, filter or hook.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import stat
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentcli.checkpoints.bounds import Bounds, Failed, GaveUp, PathRefused, TooSlow
from agentcli.checkpoints.listing import entries as listed_entries
from agentcli.checkpoints.listing import paths as listed_paths
from agentcli.checkpoints.listing import state_of
from agentcli.checkpoints.objects import Objects
from agentcli.checkpoints.seeding import fetch, take, tracked
from agentcli.checkpoints.shadowstore import prepare, secure
from agentcli.checkpoints.state import KEPT, Change, FileState, big
from agentcli.errors import SetupError
from agentcli.processes import Limits, ProcessManager
from agentcli.settings.git import QUIET

_OUTPUT = Limits(memory=64 * 1024 * 1024, file=0, kill=256 * 1024 * 1024)
_SAFE = (*QUIET, "-c", "gc.auto=0", "-c", "submodule.recurse=false", "-c", "core.attributesFile=/dev/null")
_LIST = ("ls-files", "-z", "--others", "--modified", "--deleted", "--exclude-standard")
_UPDATE = 'g="$1"; shift; "$g" "$@" update-index -z --add --remove --replace --stdin && exec "$g" "$@" ls-files -s -z'
_REFUSED = re.compile(rb"Unable to process path (.+)")


@dataclass(slots=True)
class _Survey:
    """What became of the paths that git named.  ``update`` are those that the index takes as they are."""

    update: list[str] = field(default_factory=list)
    modes: dict[str, int] = field(default_factory=dict)
    big: dict[str, FileState] = field(default_factory=dict)
    size: int = 0


class Shadow:
    """One per session and process.  ``folder`` is the repository; ``hidden`` are directories that no look goes into.
    ``unfit`` says why the place is not to be looked at."""

    def __init__(
        self,
        folder: Path,
        root: Path,
        processes: ProcessManager,
        *,
        env: Mapping[str, str],
        hidden: Iterable[Path] = (),
        bounds: Bounds | None = None,
        unfit: str = "",
    ) -> None:
        self.root = root
        self.slow = False
        """The last look took so long that one per turn has to do."""
        self._folder = folder
        self._processes = processes
        self._env = env
        self._objects = Objects(folder / "objects")
        self._hidden = tuple(hidden)
        self._bounds = bounds or Bounds()
        self._unfit = unfit
        self._git = shutil.which("git", path=env.get("PATH"))
        self._known: dict[str, FileState] | None = None
        self._fresh = False
        """Nothing was known before: what the next look finds was always there."""
        self._used: int | None = None
        self._seconds = self._deadline = 0.0

    @property
    def missing(self) -> bool:
        """Whether there is no git."""
        return self._git is None or not os.path.isabs(self._git)

    async def look(self, *, patient: bool = False) -> list[Change]:
        """What is different from the last look, by content, kind and executable bit.  ``GaveUp`` where that can't be
        told; the look before stays the last one then.  ``patient``: it may take longer, nobody waits for it."""
        if self._unfit:
            raise GaveUp(self._unfit)
        began = time.monotonic()
        self._seconds = self._bounds.patience if patient else self._bounds.seconds
        self._deadline = began + self._seconds
        first = self.first
        try:
            found = await self._look()
        except (OSError, SetupError) as error:
            raise GaveUp(getattr(error, "strerror", None) or str(error)) from error
        self.slow = not first and time.monotonic() - began > self._bounds.seconds / 10
        return found

    @property
    def first(self) -> bool:
        """Whether nothing has been looked at yet."""
        return self._known is None or self._fresh

    async def _look(self) -> list[Change]:
        if self._known is None:
            await self._begin()
        secure(self._folder)
        known = self._known
        assert known is not None
        listed = dict.fromkeys(listed_paths(await self._run(*_LIST)))
        if len(listed) > self._bounds.files:
            raise GaveUp(f"it has more than {self._bounds.files:,} files that are not ignored")
        survey = await asyncio.to_thread(self._survey, list(listed), known)
        await self._check_size(survey.size)
        new = await self._updated(survey, known) if survey.update else dict(known)
        new |= survey.big
        self._known = new
        if self._fresh:
            self._fresh = False
            return []
        changes = [
            Change(self.root / name, known.get(name), new.get(name))
            for name in listed
            if known.get(name) != new.get(name)
        ]
        before = [c.before.content for c in changes if c.before is not None and c.before.kept]
        with contextlib.suppress(Failed):  # what can't be had is named where it is wanted
            await fetch(before, self._objects, self.root, self._run, self._environment())
        return changes

    async def _begin(self) -> None:
        """The repository, made or found; the index says what the last look of an earlier process saw."""
        prepare(self._folder, self.root, self._hidden, await self._ignored_everywhere())
        index = self._folder / "index"
        if not os.path.exists(index):
            self._fresh = True
            self._known = await self._seeded()
            return
        try:
            entries = listed_entries(await self._run("ls-files", "-s", "-z"))
        except GaveUp:  # damaged: what it knew is lost, the contents are not
            index.unlink()
            self._known, self._fresh = {}, True
            return
        self._known = await asyncio.to_thread(self._with_modes, entries)

    async def _seeded(self) -> dict[str, FileState]:
        """What the project's own repository has need not be copied.  Where it can't be read, everything is."""
        with contextlib.suppress(Failed):
            if listed := await tracked(self.root, self._run, self._environment()):
                await take(listed, self._run)
                entries = listed_entries(await self._run("ls-files", "-s", "-z"))
                return await asyncio.to_thread(self._with_modes, entries)
        return {}

    async def _ignored_everywhere(self) -> str:
        """The user's own list of ignored files, where their configuration names one."""
        home = {k: v for k, v in self._environment().items() if k not in ("GIT_CONFIG_GLOBAL", "GIT_DIR")}
        with contextlib.suppress(GaveUp):
            named = await self._run("config", "--global", "--type=path", "--get", "core.excludesFile", env=home)
            return os.fsdecode(named.strip())
        return ""

    def _survey(self, listed: list[str], known: Mapping[str, FileState]) -> _Survey:
        survey = _Survey()
        for name in listed:
            path = self.root / name
            try:
                found = path.lstat()
            except (FileNotFoundError, NotADirectoryError):
                survey.update.append(name)
                continue
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode) and found.st_size > KEPT:
                survey.big[name] = FileState("file", big(found), stat.S_IMODE(found.st_mode))
            elif stat.S_ISLNK(found.st_mode) or (stat.S_ISREG(found.st_mode) and os.access(path, os.R_OK)):
                survey.update.append(name)
                survey.modes[name] = stat.S_IMODE(found.st_mode)
                survey.size += found.st_size
            elif name in known and not stat.S_ISREG(found.st_mode):
                survey.update.append(name)  # a directory stands there now
        return survey

    async def _check_size(self, size: int) -> None:
        if size > self._bounds.content:
            raise GaveUp(f"it holds more than {self._bounds.content // 2**20:,} MiB that is not ignored")
        if self._used is None or self._used + size > self._bounds.store:
            self._used = await asyncio.to_thread(self._objects.size)
        self._used += size
        if self._used > self._bounds.store:
            raise GaveUp(f"this session's store would be larger than {self._bounds.store // 2**20:,} MiB")

    async def _updated(self, survey: _Survey, known: Mapping[str, FileState]) -> dict[str, FileState]:
        names = dict.fromkeys(survey.update)
        for _ in range(5):
            try:
                raw = await self._run(stdin=b"".join(os.fsencode(n) + b"\0" for n in names), shell=_UPDATE)
            except PathRefused as refused:  # it vanished or was closed to us meanwhile
                names.pop(refused.name, None)
                continue
            break
        else:
            raise GaveUp("its files change faster than they can be read")
        modes = {n: s.mode for n, s in known.items()} | survey.modes
        entries = listed_entries(raw)
        new = {n: state_of(kind, blob, modes.get(n)) for n, (kind, blob) in entries.items()}
        return {n: s for n, s in known.items() if n in entries and not s.kept and n not in names} | new

    def _with_modes(self, entries: Mapping[str, tuple[str, str]]) -> dict[str, FileState]:
        found = {}
        for name, (kind, blob) in entries.items():
            mode = None
            with contextlib.suppress(OSError):
                mode = stat.S_IMODE((self.root / name).lstat().st_mode)
            found[name] = state_of(kind, blob, mode)
        return found

    def _environment(self) -> dict[str, str]:
        kept = {k: v for k, v in self._env.items() if k in ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR")}
        return kept | {
            "GIT_DIR": str(self._folder),
            "GIT_WORK_TREE": str(self.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_PAGER": "cat",
            "LC_ALL": "C",
        }

    async def _run(
        self, *words: str, stdin: bytes = b"", shell: str = "", env: Mapping[str, str] | None = None
    ) -> bytes:
        """git's output.  ``GaveUp`` when it fails or the time is over."""
        assert self._git is not None
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self._too_slow()
        git = (self._git, *_SAFE)
        finished = await self._processes.run(
            ("/bin/sh", "-c", shell, "sh", *git) if shell else (*git, *words),
            self.root,
            env=env or self._environment(),
            stdin=stdin or "null",
            stderr="collect",
            timeout=left,
            limits=_OUTPUT,
        )
        if finished.timed_out:
            self._unlock()
            raise self._too_slow()
        if finished.output.dropped:
            raise GaveUp("it has too many files")
        if finished.exit_code:
            errors = finished.errors.head + finished.errors.tail
            if named := _REFUSED.search(errors):
                raise PathRefused(os.fsdecode(named[1]))
            last = (errors.decode("utf-8", "replace").strip().splitlines() or ["no reason given"])[-1]
            raise Failed(f"git: {last}")
        return finished.output.head + finished.output.tail

    def _too_slow(self) -> TooSlow:
        return TooSlow(f"copying what is new in the project took longer than {self._seconds:g} s")

    def _unlock(self) -> None:
        for lock in self._folder.glob("*.lock"):
            lock.unlink(missing_ok=True)
