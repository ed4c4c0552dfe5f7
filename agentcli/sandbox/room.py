"""The session's sandbox: puts the confines around shell commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from agentcli.paths import private_directory
from agentcli.ports.sandbox import Wrap
from agentcli.ports.tools import Workspace
from agentcli.sandbox.confines import Guarded, Wishes, confines
from agentcli.sandbox.mechanism import Mechanism

GuardedFiles: TypeAlias = Callable[[Workspace], Guarded]


def read_wishes(settings: Mapping[str, Any], *, base: Path, home: Path | None) -> tuple[Wishes, tuple[str, ...]]:
    """``sandbox.filesystem`` and ``sandbox.network``, and what of them can't be met, in words.

    Paths are absolute, below ``~/``, or relative to ``base``.
    """
    files = settings.get("filesystem")
    files = files if isinstance(files, dict) else {}
    network = settings.get("network")
    domains = network.get("allowedDomains") if isinstance(network, dict) else None
    named = [d for d in domains if isinstance(d, str)] if isinstance(domains, list) else []
    warnings = []
    if named and "*" not in named:
        warnings.append(
            f"sandbox.network.allowedDomains ({', '.join(named)}): single domains can't be let through, so that "
            'confined commands have no network; ["*"] opens it wholly'
        )

    def paths(key: str) -> tuple[Path, ...]:
        given = files.get(key)
        return tuple(_path(p, base, home) for p in given if isinstance(p, str)) if isinstance(given, list) else ()

    wishes = Wishes(paths("allowWrite"), paths("denyWrite"), paths("denyRead"), paths("allowRead"), "*" in named)
    return wishes, tuple(warnings)


def _path(text: str, base: Path, home: Path | None) -> Path:
    text = text.removesuffix("/**")
    if home is not None and (text == "~" or text.startswith("~/")):
        return home / text[2:]
    return base / ("/" + text.lstrip("/") if text.startswith("/") else text)


class Sandbox:
    """Works in every workspace of a session (subagents may have others).

    ``guarded`` names the files that deny rules mean now; ``temporary`` is made when the first command needs it, and is
    the ``TMPDIR`` of confined commands; ``own`` may be written too.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        wishes: Wishes,
        guarded: GuardedFiles,
        *,
        temporary: Path,
        own: Iterable[Path] = (),
        home: Path | None = None,
        env: Mapping[str, str],
    ) -> None:
        self._mechanism = mechanism
        self._wishes = wishes
        self._guarded = guarded
        self._temporary = temporary
        self._own = tuple(own)
        self._home = home
        self._env = env
        self._mount_points: set[Path] = set()

    @property
    def program(self) -> str:
        return self._mechanism.program

    @property
    def ends_all(self) -> bool:
        """Only a PID namespace takes everything with it."""
        return self._mechanism.language.ENDS_ALL

    @property
    def network(self) -> bool:
        return self._wishes.network

    @property
    def environment(self) -> dict[str, str]:
        """Added to the environment of confined commands."""
        return {"TMPDIR": str(self._temporary)}

    def wrap(self, workspace: Workspace) -> Wrap:
        """What puts a command of this workspace into the sandbox.  ``OSError`` where its directories can't be made."""
        own = [private_directory(path) for path in (self._temporary, *self._own)]
        guarded = self._guarded(workspace)
        bounds = confines(workspace, self._wishes, guarded, home=self._home, own=own, env=self._env)
        self._mount_points.update(path for path, access in bounds.paths if access == "absent")
        return partial(self._mechanism.command, bounds)

    def close(self) -> None:
        """Removes the empty directories that mounts needed; under a running command they keep others from being put
        there."""
        for path in self._mount_points:
            with suppress(OSError):  # it is not empty, so it is not ours; or it never came to be
                path.rmdir()
        self._mount_points.clear()
