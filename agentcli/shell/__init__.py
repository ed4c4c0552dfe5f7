"""Reading of command lines: every command that a line would run, what is known about it, and what is not."""

from agentcli.shell.destructive import destroys, removal_targets, removes
from agentcli.shell.environment import SAFE_VARIABLES, ZSH_PATHS, harmless_name
from agentcli.shell.operands import Files, files_of
from agentcli.shell.parse import LONGEST, parse
from agentcli.shell.readonly import BUILTINS, only_reads
from agentcli.shell.values import Assignment, CommandLine, Piece, Redirect, SimpleCommand, Via, Word, shown, word

__all__ = [
    "BUILTINS",
    "LONGEST",
    "SAFE_VARIABLES",
    "ZSH_PATHS",
    "Assignment",
    "CommandLine",
    "Files",
    "Piece",
    "Redirect",
    "SimpleCommand",
    "Via",
    "Word",
    "destroys",
    "files_of",
    "harmless_name",
    "only_reads",
    "parse",
    "removal_targets",
    "removes",
    "shown",
    "word",
]
