"""What "don't ask again" offers: the smallest general rule for a command, or none."""

from __future__ import annotations

import re

from agentcli.permissions.shellpatterns import rule_text_of
from agentcli.ports.permissions import PermissionUpdate
from agentcli.shell import SimpleCommand, destroys

LONGEST = 200
"""Characters of a rule for one exact command."""
SUBCOMMANDS = frozenset(
    {
        "git",
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "cargo",
        "go",
        "docker",
        "podman",
        "kubectl",
        "gh",
        "glab",
        "pip",
        "pip3",
        "uv",
    }
    | {
        "poetry",
        "pdm",
        "hatch",
        "rye",
        "make",
        "just",
        "task",
        "terraform",
        "tofu",
        "helm",
        "aws",
        "gcloud",
        "az",
        "brew",
    }
    | {
        "apt",
        "apt-get",
        "dotnet",
        "mvn",
        "gradle",
        "rails",
        "bundle",
        "mix",
        "composer",
        "deno",
        "conda",
        "swift",
        "nx",
    }
    | {"nx", "turbo", "lerna", "systemctl", "flutter", "ng", "npx"}
)
SCRIPTS = frozenset({"npm run", "pnpm run", "yarn run", "bun run", "uv run", "poetry run", "docker compose", "go tool"})
"""Where the third word says what is run."""
NEVER = frozenset(
    {"rm", "rmdir", "shred", "unlink", "dd", "sudo", "doas", "su", "ssh", "eval", "exec", "source", ".", "xargs", "env"}
    | {"bash", "sh", "zsh", "dash", "ksh", "fish", "watch", "setsid", "flock", "ionice", "parallel", "trap", "alias"}
    | {"chmod", "chown", "kill", "pkill", "killall", "curl", "wget", "nc", "ncat", "socat", "crontab", "at", "find"}
    | {"timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin", "mkfs", "mount", "umount", "export", "unset"}
    | {"if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "in"}
    | {"function", "coproc"}
)
"""No rule is offered: what they do depends on every word; words of the shell's grammar stand in a broken script."""
EXACT_ONLY = frozenset(
    {
        "python",
        "python2",
        "python3",
        "node",
        "deno",
        "ruby",
        "perl",
        "php",
        "lua",
        "Rscript",
        "osascript",
        "awk",
        "gawk",
    }
    | {
        "sed",
        "tsx",
        "ts-node",
        "pwsh",
        "npx",
        "bunx",
        "uvx",
        "pipx",
        "tee",
        "mv",
        "cp",
        "ln",
        "docker",
        "podman",
        "make",
    }
)
"""A rule for all arguments would allow anything: only the exact command is offered."""
_NAME = re.compile(r"(?:\./)?[A-Za-z0-9_][A-Za-z0-9_.+/-]*\Z")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_:.@/-]*\Z")


def suggestion(command: SimpleCommand) -> tuple[PermissionUpdate, ...]:
    """The update that would have allowed the command; nothing where no safe one is short enough."""
    text = rule_for(command)
    if text is None:
        return ()
    return (PermissionUpdate("addRules", (f"Bash({text})",), destination="localSettings"),)


def rule_for(command: SimpleCommand) -> str | None:
    """The specifier of the smallest general rule; ``None`` if none should be offered."""
    name = command.name
    if not command.words or command.words[0].literal is None or command.assignments or command.problem:
        return None
    if command.via not in {"line", "substitution", "function", "transparent", "script"} or destroys(command):
        return None
    if command.program in NEVER or not _NAME.match(name) or "/../" in f"/{name}/":
        return None
    words = [w.text if w.literal is not None else "" for w in command.words]
    general = _general(words)
    if general is not None:
        return general + ":*"
    if any(w.literal is None for w in command.words):
        return None
    exact = rule_text_of(command)
    short = len(exact) <= LONGEST and "\n" not in exact and exact.isprintable()
    return exact if short and not exact.endswith(":*") else None


def _general(words: list[str]) -> str | None:
    name = words[0]
    program = name.rsplit("/", 1)[-1]
    if program in SUBCOMMANDS and len(words) > 1:
        pair = f"{name} {words[1]}"
        if not _WORD.match(words[1]):
            return None
        if f"{program} {words[1]}" in SCRIPTS:
            named = len(words) > 2 and _WORD.match(words[2])
            return f"{pair} {words[2]}" if named and words[2] not in EXACT_ONLY | NEVER else None
        return pair if program not in {"npx"} else None
    if program in EXACT_ONLY or program in SUBCOMMANDS:
        return None
    return name
