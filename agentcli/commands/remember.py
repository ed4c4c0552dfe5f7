"""``/remember TEXT`` (``#TEXT`` in the terminal): adds a line to a memory file that the user chooses."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.ports.frontend import Choice, UserInput

MESSAGE = "message"


def is_note(prompt: UserInput) -> bool:
    """Whether a message is ``#`` and a line of text.  Headings of Markdown texts are none."""
    text = prompt.text
    return text.startswith("#") and text[1:2] != "#" and "\n" not in text and bool(text[1:].strip())


async def run(context: CommandContext, arguments: str) -> CommandResult:
    from agentcli.memory import add_note, note_targets

    room, t = context.session.memory, context.texts
    if not arguments:
        raise UserError(t("remember.usage"))
    if room is None:
        raise UserError(t("remember.off"))
    targets = note_targets(room.places, t)
    choices = [Choice(str(n), str(target.path), target.label) for n, target in enumerate(targets)]
    choices.append(Choice(MESSAGE, t("remember.message")))
    picked = await context.dialogs.choose(t("remember.where"), choices)
    if picked is None:
        return CommandResult(t("remember.nothing"))
    if picked == MESSAGE:
        return CommandResult(prompt=UserInput(f"#{arguments}"))
    target = targets[int(picked)]
    path = add_note(target.path, arguments, tree=target.tree, t=t)
    return CommandResult(t("remember.added", path=path))


COMMAND = Command(
    "remember", "Add a line to a memory file (# at the start of a line)", run, argument_hint="TEXT", while_running=True
)
