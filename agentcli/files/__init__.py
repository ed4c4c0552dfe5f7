"""Files without loss: private state of ours, and other people's files with everything about them that must stay."""

from agentcli.files.private import open_private_append, write_private
from agentcli.files.replace import FileChanged, Stamp, create_file, read_stamped, replace_file, target_of
from agentcli.files.seen import FilesSeen
from agentcli.files.textual import (
    Decoded,
    TextFormat,
    decode,
    decode_as,
    dominant_newline,
    encode,
    looks_binary,
    to_newlines,
)

__all__ = [
    "Decoded",
    "FileChanged",
    "FilesSeen",
    "Stamp",
    "TextFormat",
    "create_file",
    "decode",
    "decode_as",
    "dominant_newline",
    "encode",
    "looks_binary",
    "open_private_append",
    "read_stamped",
    "replace_file",
    "target_of",
    "to_newlines",
    "write_private",
]
