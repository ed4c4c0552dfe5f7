"""What the calls show of the work: errors that nothing has solved since, files and what became of them, the plan.

Each is a text of its own in the successor, so that the next compaction finds it again by its first words.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentcli.agent.execute import DECLINED, NOT_STARTED
from agentcli.agent.measure import title
from agentcli.agent.successor_words import cut
from agentcli.messages import INTERRUPTED, LOST, Message, TextBlock, ToolResultBlock, ToolUseBlock
from agentcli.ports.tools import Workspace
from agentcli.text import clean

ERROR = "Not solved yet, as far as the calls show: "
FILES = "Files of this session as they are now; read them again where they are needed:\n"
PLAN = "The plan that the user agreed to, word for word:\n\n"
ERRORS = 5
ERROR_CHARACTERS = 4_000
FILES_LISTED = 40
PLAN_CHARACTERS = 20_000
_CHANGED, _READ = "- changed: ", "- read: "
_CHANGING = frozenset({"Edit", "Write", "NotebookEdit"})
_NO_ERROR = (DECLINED, NOT_STARTED, INTERRUPTED, LOST, "Denied:")
"""How results begin that say only that a call did not run or was not finished."""


@dataclass(slots=True)
class WorkDone:
    """``errors``: title → text, oldest first.  ``files``: path → whether it was changed, in order of the last use."""

    errors: dict[str, str] = field(default_factory=dict)
    files: dict[str, bool] = field(default_factory=dict)
    plan: str = ""

    def texts(self, *, part: int = 1) -> list[str]:
        """For the successor.  ``part`` divides the room for each."""
        newest = [*self.errors.items()][-ERRORS:]
        texts = [ERROR + f"{name}\n\n{cut(text, ERROR_CHARACTERS // part)}" for name, text in newest]
        if self.files:
            texts.append(FILES + "\n".join(_lines(self.files)))
        return [*([PLAN + cut(self.plan, PLAN_CHARACTERS // part)] if self.plan else []), *texts]


def work_done(messages: Sequence[Message], workspace: Workspace | None) -> WorkDone:
    """Reads the calls in order: a call that succeeds takes back the error of the same call before it."""
    work = WorkDone()
    for call, result in _steps(messages, work):
        failed = result.is_error
        text = "\n".join(c.text for c in result.content if isinstance(c, TextBlock))
        if not failed:
            work.errors.pop(_name(call), None)
        elif not text.startswith(_NO_ERROR):
            work.errors.pop(_name(call), None)
            work.errors[_name(call)] = text
        if call.name == "ExitPlanMode" and not failed and isinstance(plan := call.input.get("plan"), str):
            work.plan = plan
        path = call.input.get("file_path") or call.input.get("notebook_path")
        if not failed and isinstance(path, str) and path:
            named = str(workspace.resolve(path)) if workspace else path
            changed = work.files.pop(named, False) or call.name in _CHANGING
            work.files[named] = changed
    return work


def _steps(messages: Sequence[Message], work: WorkDone) -> Iterator[tuple[ToolUseBlock, ToolResultBlock]]:
    """Calls with their results, in order; what an earlier compaction kept is put into ``work`` on the way."""
    calls: dict[str, ToolUseBlock] = {}
    for message in messages:
        calls |= {c.id: c for c in message.tool_uses()}
        for block in message.content:
            if isinstance(block, TextBlock) and block.origin == "summary":
                _carry(block.text, work)
            elif isinstance(block, ToolResultBlock) and block.tool_use_id in calls:
                yield calls[block.tool_use_id], block


def _carry(text: str, work: WorkDone) -> None:
    if text.startswith(ERROR):
        name, _, error = text.removeprefix(ERROR).partition("\n\n")
        work.errors[name] = error
    elif text.startswith(PLAN):
        work.plan = text.removeprefix(PLAN)
    elif text.startswith(FILES):
        for line in text.removeprefix(FILES).split("\n"):
            path = line.removeprefix(_CHANGED).removeprefix(_READ).rpartition(" (")[0]
            if path and line.startswith((_CHANGED, _READ)):
                work.files[path] = line.startswith(_CHANGED)


def _name(call: ToolUseBlock) -> str:
    """What makes two calls the same: an edit of a file solves the failed edit before it, whichever tool made it."""
    path = call.input.get("file_path")
    return f"Edit `{path}`" if call.name in ("Edit", "Write") and isinstance(path, str) else title(call)


def _lines(files: dict[str, bool]) -> list[str]:
    newest = [*files.items()][-FILES_LISTED:]
    lines = [f"{_CHANGED if changed else _READ}{clean(path)} ({_state(Path(path))})" for path, changed in newest]
    if len(files) > len(newest):
        lines.insert(0, f"- and {len(files) - len(newest)} more that were used before these")
    return lines


def _state(path: Path) -> str:
    try:
        return f"{path.stat().st_size:,} bytes" if os.path.isfile(path) else "no longer there"
    except OSError as error:
        return error.strerror or "can't be looked at"
