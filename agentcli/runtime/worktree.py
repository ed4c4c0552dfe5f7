"""Temporary git worktrees: a checkout of its own for an agent that must not touch the user's.

``.claude/worktrees/NAME`` of the main checkout on the branch ``worktree-NAME``.  One that is unchanged goes with its
agent; any other stays, whatever ended the agent: nothing here ever forces git to throw work away.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentcli.agent.closing import to_the_end
from agentcli.errors import SetupError, ToolError
from agentcli.permissions.gitconfig import runs_programs
from agentcli.ports.permissions import HookEvent, Hooks
from agentcli.processes import ProcessManager, without_keys
from agentcli.runtime.world import World
from agentcli.settings.git import QUIET, git_root, main_checkout
from agentcli.text import one_line

FOLDER = Path(".claude") / "worktrees"
INCLUDE = ".worktreeinclude"
SECONDS = 300.0
"""A checkout of a large repository takes its time; a git that hangs must end all the same."""
FRESH = ("origin/HEAD", "origin/main", "origin/master", "refs/heads/main", "refs/heads/master", "HEAD")
"""Where the default branch is looked for; nothing is fetched."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """``base`` is the commit that it was made from, ``home`` the checkout that the session works in; ``base`` and
    ``branch`` are empty where a hook made it and it is not git's."""

    path: Path
    branch: str
    base: str
    home: Path
    by_hook: bool = False

    @property
    def words(self) -> str:
        """What an agent that works in it has to know, for its first message."""
        on = f" on the branch {self.branch}" if self.branch else ""
        return (
            f"You work in a worktree of your own, {self.path}{on}. Paths of the task below {self.home} mean the same "
            "files here; what is not committed there is missing. Your changes stay here for whoever gets your report."
        )


class Worktrees:
    """Makes and ends the worktrees of one session, one at a time.  ``hooks`` gives the session's present hooks."""

    def __init__(self, world: World, processes: ProcessManager, hooks: Callable[[], Hooks]) -> None:
        self._world = world
        self._processes = processes
        self._hooks = hooks
        self._one = asyncio.Lock()

    async def make(self, kind: str) -> Worktree:
        """A new one for an agent of that kind.  ``ToolError`` says why there can be none; cancelled, it leaves none."""
        name = f"{re.sub(r'[^A-Za-z0-9]+', '-', kind).strip('-') or 'agent'}-{secrets.token_hex(3)}"
        made = await self._by_hook(name)
        return made or await self._by_git(name)

    async def again(self, tree: Worktree) -> None:
        """Call before an agent goes on: what was removed at its end is there again.  ``ToolError`` if it can't be."""
        if tree.path.is_dir():
            return
        if tree.by_hook:
            raise ToolError(f"The worktree {tree.path} is gone. Start a new agent.")
        async with self._one:
            await self._add(tree, main_checkout(tree.home))

    async def leave(self, tree: Worktree) -> str:
        """Call when the agent has ended: removes an unchanged one.  What is said of one that stays; else empty."""
        why = await self._removed(tree) if tree.path.is_dir() else ""
        return f"{why} the worktree {tree.path}{f' (branch {tree.branch})' if tree.branch else ''}." if why else ""

    # --- by git -----------------------------------------------------------------------------------------------------

    async def _by_git(self, name: str) -> Worktree:
        start = self._world.workspace.start
        home = git_root(start)
        if home is None:
            raise ToolError(
                f"{start} is not in a git repository, so there is no worktree (isolation). Start the agent without it."
            )
        main = main_checkout(home)
        self._refuse_traps(home, main)
        async with self._one:
            tree = Worktree(main / FOLDER / name, f"worktree-{name}", await self._base(home), home)
            try:
                await self._add(tree, main)
            except BaseException:
                await to_the_end(self._undo(tree, main))
                raise
        return tree

    def _refuse_traps(self, home: Path, main: Path) -> None:
        """``ToolError`` where a checkout would run or write what a repository that nobody trusts wants."""
        if not self._world.settings.trusted and (setting := runs_programs(home)):
            raise ToolError(
                f"A checkout would run what {home} has configured ({setting}), and the project is not trusted. Start "
                "the agent without isolation."
            )
        if not (main / FOLDER).resolve().is_relative_to(main.resolve()):
            raise ToolError(f"{main / FOLDER} leads out of {main} by way of a link, so no worktree is made there.")

    async def _base(self, home: Path) -> str:
        chosen = self._world.settings.get("worktree")
        head = isinstance(chosen, dict) and chosen.get("baseRef") == "head"
        for name in ("HEAD",) if head else FRESH:
            code, found = await self._asked(home, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
            if code == 0 and found.strip():
                return found.strip()
        raise ToolError(f"{home} has no commit that a worktree could be made from. Start the agent without isolation.")

    async def _add(self, tree: Worktree, main: Path) -> None:
        try:
            tree.path.parent.mkdir(parents=True, exist_ok=True)
            unlisted = tree.path.parent / ".gitignore"
            if not unlisted.exists():  # neither git nor a search from above looks into them
                unlisted.write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise ToolError(f"{tree.path.parent} can't be made: {error.strerror or error}.") from error
        missing, _ = await self._asked(main, "show-ref", "--verify", "--quiet", f"refs/heads/{tree.branch}")
        there = ("--no-track", "-b", tree.branch, str(tree.path), tree.base)
        await self._git(main, "worktree", "add", "--quiet", *(there if missing else (str(tree.path), tree.branch)))
        await self._include(tree)

    async def _include(self, tree: Worktree) -> None:
        """Copies the ignored files that ``.worktreeinclude`` names."""
        if not (tree.home / INCLUDE).is_file():
            return
        listing = ("ls-files", "--others", "--ignored", "-z", f"--exclude-from={tree.home / INCLUDE}")
        named = (await self._git(tree.home, *listing)).encode()
        _, ignored = await self._asked(tree.home, "check-ignore", "-z", "--stdin", stdin=named)
        try:
            await asyncio.to_thread(_copy, [n for n in ignored.split("\0") if n], tree.home, tree.path)
        except OSError as error:
            raise ToolError(f"{INCLUDE}: {error.filename}: {error.strerror or error}.") from error

    async def _undo(self, tree: Worktree, main: Path) -> None:
        """Takes back one that no agent has worked in."""
        await self._asked(main, "worktree", "remove", "--force", "--force", str(tree.path))
        await self._asked(main, "update-ref", "-d", f"refs/heads/{tree.branch}", tree.base)

    async def _removed(self, tree: Worktree) -> str:
        """Removes it; where it stays, why."""
        try:
            if not tree.base:
                return "Everything is kept in"
            if await self._changed(tree):
                return "Its changes are kept in"
            if tree.by_hook:
                await self._hooks().fire(HookEvent("WorktreeRemove", "", {"worktree_path": str(tree.path)}))
                return ""
            main = main_checkout(tree.home)
            # Without force: if something was written this very moment, git refuses too.
            await self._git(main, "worktree", "remove", str(tree.path))
            await self._asked(main, "update-ref", "-d", f"refs/heads/{tree.branch}", tree.base)
        except ToolError as error:
            return f"{error} So nothing is removed from"
        return ""

    async def _changed(self, tree: Worktree) -> bool:
        """Whether there is a commit, a changed file or a new one that git does not ignore."""
        if (await self._git(tree.path, "rev-parse", "HEAD")).strip() != tree.base:
            return True
        status = ("status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none")
        return bool((await self._git(tree.path, *status)).strip())

    # --- by a hook --------------------------------------------------------------------------------------------------

    async def _by_hook(self, name: str) -> Worktree | None:
        """What WorktreeCreate hooks made, where there are any: they take the place of git."""
        verdict = await self._hooks().fire(HookEvent("WorktreeCreate", "", {"name": name}))
        if verdict.behavior == "deny":
            raise ToolError(f"The WorktreeCreate hook made no worktree: {verdict.reason or 'it failed'}")
        told = (verdict.extra or {}).get("worktreePath") or next(iter(verdict.context), "")
        if not told:
            return None
        path = Path(str(told).strip().splitlines()[-1])
        if not path.is_absolute() or not path.is_dir():
            raise ToolError(f"The WorktreeCreate hook answered {one_line(str(told))!r}, which is no directory.")
        start = self._world.workspace.start
        code, base = await self._asked(path, "rev-parse", "--verify", "--quiet", "HEAD")
        _, branch = await self._asked(path, "branch", "--show-current")
        known = code == 0 and git_root(path) == path.resolve()
        return Worktree(
            path, branch.strip() if known else "", base.strip() if known else "", git_root(start) or start, by_hook=True
        )

    # --- git --------------------------------------------------------------------------------------------------------

    async def _git(self, directory: Path, *words: str) -> str:
        """What git printed.  ``ToolError`` with its own words where it fails."""
        code, text = await self._asked(directory, *words)
        if code:
            raise ToolError(f"git {words[0]} failed: {one_line(text, 500) or f'exit code {code}'}.")
        return text

    async def _asked(self, directory: Path, *words: str, stdin: bytes = b"") -> tuple[int, str]:
        """Exit code, and standard output or (of a failure) what it complained."""
        kept = {k: v for k, v in without_keys(self._world.env).items() if not k.startswith("GIT_")}
        env = {**kept, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        try:
            done = await self._processes.run(
                ["git", *QUIET, *words], directory, env=env, stdin=stdin, stderr="collect", timeout=SECONDS
            )
        except (OSError, SetupError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise ToolError(f"git could not be run: {reason or error}.") from error
        for output in (done.output, done.errors):
            if output.file is not None:
                output.file.unlink(missing_ok=True)
        if done.timed_out or done.output.dropped:
            limit = f"git {words[0]} took longer than {SECONDS:g} s" if done.timed_out else "git printed too much"
            raise ToolError(f"{limit} and was ended.")
        return done.exit_code, done.output.text if done.exit_code == 0 else done.errors.text or done.output.text


def _copy(names: list[str], source: Path, target: Path) -> None:
    """Files and links as they are; nothing that is there is replaced, and no link leads the way."""
    root = target.resolve()
    for name in names:
        old, new = source / name, target / name
        new.parent.mkdir(parents=True, exist_ok=True)
        if new.parent.resolve().is_relative_to(root) and not os.path.lexists(new) and old.exists():
            shutil.copy2(old, new, follow_symlinks=False)
