"""English: the catalogue that defines the keys, by area."""

from __future__ import annotations

from collections.abc import Mapping

from agentcli.i18n.english import commands, descriptions, doctor, extensions, questions, reports, terminal

TEXTS: Mapping[str, str] = {
    **commands.TEXTS,
    **descriptions.TEXTS,
    **doctor.TEXTS,
    **doctor.TEXTS,
    **extensions.TEXTS,
    **questions.TEXTS,
    **reports.TEXTS,
    **terminal.TEXTS,
}
