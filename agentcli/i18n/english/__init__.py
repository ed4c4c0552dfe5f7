"""English: the catalogue that defines the keys, by area."""

from __future__ import annotations

from collections.abc import Mapping

from agentcli.i18n.english import commands, descriptions, questions, reports, terminal

TEXTS: Mapping[str, str] = {
    **commands.TEXTS,
    **descriptions.TEXTS,
    **questions.TEXTS,
    **reports.TEXTS,
    **terminal.TEXTS,
}
