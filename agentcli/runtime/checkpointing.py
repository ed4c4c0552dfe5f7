"""Where a session keeps what files were, and which project it looks at."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agentcli.checkpoints import CheckpointRoom
from agentcli.events import Emit
from agentcli.paths import private_directory, user_home
from agentcli.processes import ProcessManager
from agentcli.runtime.directory import SessionDirectory
from agentcli.runtime.world import World
from agentcli.sessions import OpenSession
from agentcli.settings.git import git_root

if TYPE_CHECKING:
    from agentcli.checkpoints.shadow import Shadow

FOLDER = "checkpoints"


def make_checkpoints(
    world: World, directory: SessionDirectory, processes: ProcessManager, emit: Emit
) -> CheckpointRoom:
    """The whole repository that holds the start directory is looked at; without one, that directory."""

    def shadow(folder: Path) -> Shadow:
        from agentcli.checkpoints.shadow import Shadow

        start = world.workspace.start.resolve()
        root = git_root(start) or start
        home = user_home(world.env)
        unfit = (
            "the whole home directory would have to be copied" if home and home.resolve().is_relative_to(root) else ""
        )
        hidden = [directory(), *([world.home] if world.home else [])]
        return Shadow(folder, root, processes, env=world.env, hidden=hidden, unfit=unfit)

    return CheckpointRoom(
        lambda: directory() / FOLDER,
        shadow,
        emit=emit,
        clock=world.clock,
        own=lambda: directory().resolve(),
        enabled=lambda: world.settings.flag("fileCheckpointingEnabled", True),
    )


def inherit(parent: Path, child: Path) -> None:
    """A copy of a session knows what files were, too.  Contents never change and are shared; where they can't be had
    the copy begins without."""
    source, target = parent / FOLDER, private_directory(child) / FOLDER
    try:
        if source.is_dir():
            shutil.copytree(source, target, copy_function=_shared)
    except OSError:
        shutil.rmtree(target, ignore_errors=True)


def _shared(source: str, target: str) -> str:
    """Objects as further links, everything else (the log, the index) as copies."""
    if "objects" in Path(source).parts[-3:]:
        try:
            os.link(source, target)
        except OSError:  # a file system without hard links
            shutil.copy2(source, target)
    else:
        shutil.copy2(source, target)
    return target


def folder_of(opened: OpenSession, directory: SessionDirectory) -> Callable[[], Path]:
    """Where a session that began with ``/clear`` keeps them: beside its own file, if it has one."""

    def folder() -> Path:
        try:
            beside = private_directory(opened.directory) if opened.directory else None
        except OSError:
            beside = None
        return beside / FOLDER if beside else directory() / f"{FOLDER}-{opened.id}"

    return folder
