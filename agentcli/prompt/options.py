"""Prompt texts that a person gives on the command line, as text or as a file."""

from __future__ import annotations

from pathlib import Path

from agentcli.errors import UsageError, UserError


def text_option(flag: str, text: str | None, file: Path | None) -> str | None:
    """The text of ``FLAG`` or the content of ``FLAG-file``, exactly (a byte order mark aside); ``None`` without both.

    ``UsageError`` when both are given, ``UserError`` when the file can't be read or is not UTF-8.
    """
    if text is not None and file is not None:
        raise UsageError(f"{flag} and {flag}-file can't be used together: give the prompt once")
    if file is None:
        return text
    try:
        return file.expanduser().read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"{flag}-file: can't read {file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{flag}-file: {file} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error
