"""한국어."""

from __future__ import annotations

from collections.abc import Mapping

from agentcli.i18n.korean import commands, descriptions, questions, reports, terminal

TEXTS: Mapping[str, str] = {
    **commands.TEXTS,
    **descriptions.TEXTS,
    **questions.TEXTS,
    **reports.TEXTS,
    **terminal.TEXTS,
}
