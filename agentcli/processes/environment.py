"""The environment of children: without our keys, and telling them that nobody is at the keyboard."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

KEYS = frozenset({"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"})
"""What agentcli itself signs in with; no child needs it."""
_NO_EDITOR = Path(__file__).with_name("no_editor.sh")


def without_keys(base: Mapping[str, str] | None = None, *, drop: Iterable[str] = ()) -> dict[str, str]:
    """``base`` (by default this process's environment) without ``KEYS`` and the names in ``drop``."""
    hidden = KEYS | frozenset(drop)
    return {name: value for name, value in (os.environ if base is None else base).items() if name not in hidden}


def environment(
    base: Mapping[str, str] | None = None,
    *,
    drop: Iterable[str] = (),
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """What commands of the model run with: ``without_keys``, nothing that waits for a person, then ``extra``.

    Pagers are ``cat``; editors fail at once and say how to do without one; git and ssh never ask for a name or a
    password (an empty ``GIT_ASKPASS`` hides ``core.askPass`` and ``SSH_ASKPASS``, gitcredentials(7)); ``AGENTCLI=1``
    lets scripts know.  git's variables win over ``core.pager`` and ``core.editor`` (git-var(1)).
    """
    editor = f"sh {shlex.quote(str(_NO_EDITOR))}"
    return {
        **without_keys(base, drop=drop),
        "AGENTCLI": "1",
        "EDITOR": editor,
        "GIT_ASKPASS": "",
        "GIT_EDITOR": editor,
        "GIT_PAGER": "cat",
        "GIT_SEQUENCE_EDITOR": editor,
        "GIT_TERMINAL_PROMPT": "0",
        "MANPAGER": "cat",
        "PAGER": "cat",
        "SSH_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
        "TERM": "dumb",
        "VISUAL": editor,
        **(extra or {}),
    }
