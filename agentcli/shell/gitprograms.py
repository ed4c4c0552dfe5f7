"""Programs that git is told to run: in its settings, given in the line, and in variables in front of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentcli.shell.inner import Inner
from agentcli.shell.values import Word, names

GIT_VARIABLES = names(
    "GIT_PAGER PAGER GIT_EDITOR EDITOR VISUAL GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF "
    "GIT_ASKPASS SSH_ASKPASS GIT_PROXY_COMMAND"
)
_SETTING = re.compile(
    r"core\.(?:pager|editor|sshcommand|askpass|fsmonitor|gitproxy|alternaterefscommand)|sequence\.editor|pager\..+"
    r"|diff\.external|diff\..+\.(?:command|textconv)|(?:difftool|mergetool|browser|man)\..+\.cmd|merge\..+\.driver"
    r"|filter\..+\.(?:clean|smudge|process)|gpg\.(?:.+\.)?program|interactive\.difffilter|trailer\..+\.(?:command|cmd)"
    r"|remote\..+\.(?:uploadpack|receivepack)|uploadpack\.packobjectshook"
)
_MARKED = re.compile(r"alias\..+|credential(?:\..+)?\.helper")
"""Here only a value that begins with ``!`` is a command of the shell."""
_HARMLESS = names("true false : yes no on off 0 1 cat less more vi vim nano emacs")


def git_setting(item: Word) -> Iterator[Inner]:
    """What ``-c key=value`` makes git run."""
    key, _, text = item.text.partition("=")
    if _MARKED.fullmatch(key.lower()):
        if item.literal is None:
            yield Inner(problem=f"a git {key.lower().partition('.')[0]} that is only known when it runs")
        elif text.startswith("!"):
            yield Inner("script", script=text[1:])
    elif _SETTING.fullmatch(key.lower()):
        yield git_program(text)


def git_program(text: str) -> Inner:
    """A command that git gives to a shell; nothing for the usual pagers and editors."""
    return Inner("argument", script="" if text in _HARMLESS else text)
