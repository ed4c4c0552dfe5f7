"""Which of the two mechanisms this machine has, tried once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agentcli.sandbox import bubblewrap, seatbelt
from agentcli.sandbox.confines import Confines

_TRIAL_SECONDS = 5.0


class Language(Protocol):
    PROGRAM: str
    HINT: str
    ENDS_ALL: bool

    def command(self, confines: Confines, argv: Sequence[str], *, program: str = ...) -> list[str]: ...

    def trial(self, program: str) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A sandbox that works here."""

    program: str
    language: Language

    def command(self, confines: Confines, argv: Sequence[str]) -> list[str]:
        return self.language.command(confines, argv, program=self.program)


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is none, and what to do."""

    reason: str
    todo: str


def find_mechanism(env: Mapping[str, str], *, wish: str = "", platform: str = sys.platform) -> Mechanism | Missing:
    """``wish`` is the setting ``sandbox.bwrapPath``.  Runs the program once: user namespaces may be switched off."""
    language: Language
    match platform:
        case "linux":
            language = bubblewrap
        case "darwin":
            language = seatbelt
        case _:
            return Missing(f"there is no sandbox for {platform}", "switch sandbox.enabled off, or use WSL 2")
    program = shutil.which(wish or language.PROGRAM, path=env.get("PATH"))
    if program is None:
        return Missing(f"{wish or language.PROGRAM} is not installed", language.HINT)
    try:
        tried = subprocess.run(
            language.trial(program), capture_output=True, timeout=_TRIAL_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Missing(f"{program} can't be run: {error}", language.HINT)
    if tried.returncode != 0:
        said = tried.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = f"{program} makes no sandbox here: {said[-1] if said else f'exit code {tried.returncode}'}"
        return Missing(reason, "unprivileged user namespaces may be switched off on this system")
    return Mechanism(program, language)
