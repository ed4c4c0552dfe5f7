"""What ``/doctor`` finds."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    "doctor.note": "NOTE",
    "doctor.missing": "MISSING",
    "doctor.python": "{version} on Python {python} ({platform})",
    "doctor.mend": "mend the file that is named",
    "doctor.not_found": "not found; needed for {use}",
    "doctor.git": "diffs, branches and the trust of a repository",
    "doctor.git.todo": "install git",
    "doctor.bash": "the shell tool",
    "doctor.bash.todo": "install bash, or set CLAUDE_CODE_SHELL to another shell",
    "doctor.ripgrep": "not found; Grep and Glob use the slower built-in search",
    "doctor.ripgrep.todo": "install ripgrep",
    "doctor.sandbox.fatal": "no session starts without it",
    "doctor.sandbox.without": "commands run without one",
    "doctor.sandbox.tried": "{program}, tried",
    "doctor.home.none": "no home directory: sessions are not stored",
    "doctor.home.none.todo": "set HOME or AGENTCLI_HOME",
    "doctor.home.locked": "{home} can't be written: sessions are not stored",
    "doctor.home.locked.todo": "make {place} writable",
    "doctor.settings.none": "none; defaults are used",
    "doctor.settings.mend": "mend the file",
    "doctor.settings.unknown": "unknown key: {name}; kept, without effect",
    "doctor.trust": "this project is not trusted: of its settings only what restricts counts",
    "doctor.trust.todo": "start agentcli here and answer the question, or use --trust",
    "doctor.server": "{where} ({provider}), key from {source}",
    "doctor.terminal.input": "input is not a terminal",
    "doctor.terminal.output": "output is not a terminal",
    "doctor.terminal.headless": "{problems}: only headless runs (-p) work here",
    "doctor.terminal.unset": "unset",
    "doctor.terminal.dumb": "TERM={term}: plain lines without colour or keys",
    "doctor.terminal": "TERM={term}, {columns} columns",
}
