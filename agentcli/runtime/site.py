"""Where an agent works: in the session's directory, or in a worktree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentcli.ports.tools import Workspace
from agentcli.prompt.environment import Environment, collect_environment
from agentcli.runtime.worktree import Worktree
from agentcli.runtime.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """``extra`` are roots beside the start directory; ``tree`` is the worktree, where it is one,
    and ``own`` whether it goes with this agent: those below it work there too."""

    start: Path
    extra: Sequence[Path] = ()
    tree: Worktree | None = None
    own: bool = False

    @classmethod
    def of_session(cls, world: World) -> Site:
        return cls(start=world.workspace.start, extra=world.workspace.extra_roots)

    @classmethod
    def in_tree(cls, tree: Worktree, world: World) -> Site:
        """The worktree alone; work begins in the same directory of it as in the session's own."""
        session = world.workspace.start.resolve()
        below = session.relative_to(tree.home) if session.is_relative_to(tree.home) else Path()
        start = tree.path / below if (tree.path / below).is_dir() else tree.path
        extra = (tree.path,) if start != tree.path else ()
        return cls(start=start, extra=extra, tree=tree, own=True)

    def place(self) -> Workspace:
        """An agent's shell begins there with every call."""
        return Workspace(self.start, self.start, self.extra if isinstance(self.extra, list) else list(self.extra))

    def environment(self, world: World) -> Environment:
        return collect_environment(self.start, self.extra, env=world.env)
