"""Texts that look like secrets, and such that don't."""

from __future__ import annotations

import pytest

from agentcli.memory.secrets import Secret, find_secrets


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("-----BEGIN OPENSSH " + "PRIVATE KEY-----", "a private key"),
        ("AKIA" + "ABCDEFGHIJKLMNOP", "an AWS access key"),
        ("key sk-" + "ant-api03-abcdefghijklmnop", "an API key"),
        ("ghp_" + "a1" * 18, "a GitHub token"),
        ("glpat-" + "a1" * 12, "a GitLab token"),
        ("xoxb-" + "1234567890-abc", "a Slack token"),
        ("AIza" + "b" * 35, "a Google API key"),
        ("sk_live_" + "a" * 20, "a Stripe key"),
        ("npm_" + "a" * 36, "a package registry token"),
        ("postgres://me:hunter22@db.example/x", "a password in a URL"),
        ("Authorization: Bearer " + "a1b2" * 8, "an authorisation header"),
        ('DB_PASSWORD="correct7horse8battery"', "a secret in clear text"),
    ],
)
def test_secrets(text: str, kind: str) -> None:
    assert find_secrets(f"fine\n{text}\n") == [Secret(2, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "Keep secrets out of the repository.",
        "password: $DB_PASSWORD",
        "token = os.environ['TOKEN']",
        "postgres://user:<password>@db/x",
        "The API key is in the vault under team/deploy.",
        "sk-short",
        "a bearer of news",
        "secret: <your secret here 123>",
    ],
)
def test_no_secrets(text: str) -> None:
    assert find_secrets(text) == []
