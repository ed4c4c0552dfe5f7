"""Instruction files that people write (CLAUDE.md and its kin), and the notes that the agent keeps for itself."""

from agentcli.memory.agent_notes import AgentNotes
from agentcli.memory.auto import AutoPlaces, auto_places, refuse_link, refuse_secret
from agentcli.memory.conversation import InstructionMemory
from agentcli.memory.notes import NoteTarget, add_note, note_targets
from agentcli.memory.places import Places, read_places
from agentcli.memory.room import AskOutside, MemoryRoom, Survey
from agentcli.memory.values import MemoryFile, Outside, Skipped

__all__ = [
    "AgentNotes",
    "AskOutside",
    "AutoPlaces",
    "InstructionMemory",
    "MemoryFile",
    "MemoryRoom",
    "NoteTarget",
    "Outside",
    "Places",
    "Skipped",
    "Survey",
    "add_note",
    "auto_places",
    "note_targets",
    "read_places",
    "refuse_link",
    "refuse_secret",
]
