"""Texts that look like secrets: never to be committed with a project's notes."""

from __future__ import annotations

import re
from dataclasses import dataclass

_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----")),
    ("an AWS access key", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    ("an API key", re.compile(r"\bsk-[A-Za-z0-9_-]{20,}")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})")),
    ("a GitLab token", re.compile(r"\bglpat-[A-Za-z0-9_-]{20,}")),
    ("a Slack token", re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}")),
    ("a Slack webhook", re.compile(r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}")),
    ("a Google API key", re.compile(r"\bAIza[A-Za-z0-9_-]{35}")),
    ("a Stripe key", re.compile(r"\b[rs]k_live_[A-Za-z0-9]{16,}")),
    ("a package registry token", re.compile(r"\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,})")),
    ("a signed token", re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")),
    ("a password in a URL", re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:(?![<$*{])[^\s/:@]{4,100}@")),
    ("an authorisation header", re.compile(r"\b[Bb]earer +[A-Za-z0-9._~+/-]{24,}")),
    (
        "a secret in clear text",
        re.compile(
            r"(?i)\b[\w-]{0,40}(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)\"?'? {0,3}[:=] {0,3}"
            r"[\"']?(?![<$*{])(?=[^\s\"']*\d)(?=[^\s\"']*[a-z])[^\s\"'<>(){}]{12,}"
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Secret:
    line: int
    kind: str


def find_secrets(text: str) -> list[Secret]:
    """At most one for each line, in order.  Judged by form alone: a made-up key looks like a real one."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        kind = next((kind for kind, pattern in _KINDS if pattern.search(line)), None)
        if kind is not None:
            found.append(Secret(number, kind))
    return found
