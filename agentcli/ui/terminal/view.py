"""Draws the event stream: what is over goes on the sheet, what goes on is kept for the live part."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import assert_never

from rich.console import Group
from rich.text import Text

from agentcli import events as e
from agentcli.i18n import Texts
from agentcli.messages import TextBlock
from agentcli.model.figures import money
from agentcli.ports.rest import REPORTED
from agentcli.text import collapse_progress, one_line
from agentcli.ui.terminal.output.activity import Activity, SubagentLine, draw
from agentcli.ui.terminal.output.answer import AnswerStream
from agentcli.ui.terminal.output.glyphs import Glyphs
from agentcli.ui.terminal.output.markdown import whole
from agentcli.ui.terminal.output.pen import Fragments, safe
from agentcli.ui.terminal.output.sheet import Sheet
from agentcli.ui.terminal.output.tools import CallPainter, seconds
from agentcli.ui.terminal.output.turnlog import TurnLog

ECHO_LINES = 12
SHELL = "phase.shell"
LONG_TURN = 20.0
"""Seconds after which the end of a turn is announced."""


class View:
    """One listener of the stream.  ``changed`` is called when the live part should be drawn anew, ``alert`` when the
    person may be looking elsewhere and something waits for them."""

    def __init__(
        self,
        sheet: Sheet,
        texts: Texts,
        glyphs: Glyphs,
        *,
        changed: Callable[[], None] = lambda: None,
        alert: Callable[[str], None] = lambda text: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.sheet = sheet
        self.texts = texts
        self.glyphs = glyphs
        self.painter = CallPainter(glyphs, texts)
        self.activity = Activity(now)
        self.asking: Callable[[], bool] = lambda: False
        """Whether a question that came by itself waits for its answer."""
        self.log = TurnLog()
        self._answer = AnswerStream(sheet)
        self._shell_partial = ""
        self._changed = changed
        self._alert = alert

    def handle(self, event: e.Event) -> None:
        self.log.note(event)
        self._draw(event)
        self._changed()

    def _draw(self, event: e.Event) -> None:
        match event:
            case e.ModelStream() | e.ToolResultsAppended() | e.CacheObserved(alert=False):
                pass
            case e.TextDelta(text):
                self.activity.wait_for("phase.writing")
                self._answer.feed(text)
            case e.ThinkingDelta():
                self.activity.wait_for("phase.thinking")
            case e.ToolCallStarted():
                self._answer.flush()
                self.activity.wait_for("phase.call")
            case e.ToolOutput(id, text):
                if id in self.activity.calls:
                    self.activity.call_output(event)
                elif self.activity.phase == SHELL:
                    self._shell_output(text)
            case e.FromSubagent():
                self._subagent(event)
            case e.ToolStarted() | e.ToolFinished() | e.TodosChanged() | e.JobChanged():
                self._work(event)
            case (
                e.TurnStarted()
                | e.PromptAccepted()
                | e.StepStarted()
                | e.AttemptDiscarded()
                | e.RetryScheduled()
                | e.FallbackUsed()
                | e.AssistantMessage()
                | e.CacheObserved()
                | e.TurnFinished()
            ):
                self._turn(event)
            case (
                e.PermissionAsked()
                | e.PermissionResolved()
                | e.QueueChanged()
                | e.Compacted()
                | e.ConversationCleared()
                | e.ModeChanged()
                | e.ModelChanged()
                | e.Notice()
            ):
                self._session(event)
            case _:
                assert_never(event)

    def _turn(
        self,
        event: e.TurnStarted
        | e.PromptAccepted
        | e.StepStarted
        | e.AttemptDiscarded
        | e.RetryScheduled
        | e.FallbackUsed
        | e.AssistantMessage
        | e.CacheObserved
        | e.TurnFinished,
    ) -> None:
        match event:
            case e.TurnStarted(prompt=prompt):
                self._answer.flush()
                self.activity.start()
                self.echo(prompt)
            case e.PromptAccepted(message, steering):
                if steering:
                    own = [b.text for b in message.content if isinstance(b, TextBlock) and b.origin == "user"]
                    self.echo("\n".join(own))
            case e.StepStarted():
                self._answer.begin()
                self.activity.wait_for("phase.model")
            case e.AttemptDiscarded(reason):
                if self._answer.discard():
                    self.note(self.texts("stream.discarded", reason=one_line(safe(reason))), "warning")
                self.activity.wait_for("phase.model")
            case e.RetryScheduled():
                self.activity.retry_scheduled(event)
            case e.FallbackUsed(model, previous, count, cost):
                words = self.texts("fallback", model=model, previous=previous)
                price = self.texts("fallback.price", tokens=f"{count:,}", price=money(cost)) if count else ""
                self.note(words + price, "warning")
            case e.AssistantMessage(message, usage=usage):
                self._answer.complete(message.text())
                self.activity.output_tokens += usage.output
                self.activity.wait_for("phase.tools" if message.tool_uses() else "phase.model")
            case e.CacheObserved(cause=cause, readable=readable, read=read):
                self.note(self.texts("cache.break", cause=cause, tokens=f"{readable - read:,}"), "warning")
            case e.TurnFinished():
                self._finish(event)
            case _:
                assert_never(event)

    def _finish(self, event: e.TurnFinished) -> None:
        self._answer.flush()
        self.activity.stop()
        if event.outcome == "interrupted":
            self.note(self.texts("turn.interrupted"), "warning")
        elif event.outcome != "completed":
            words = self.texts(f"outcome.{event.outcome}")
            why = one_line(safe(event.error), 2_000)
            self.note(f"{words}: {why}" if why else words, "error")
        if event.duration >= LONG_TURN:
            self._alert(self.texts("alert.done", time=seconds(event.duration)))

    def _work(self, event: e.ToolStarted | e.ToolFinished | e.TodosChanged | e.JobChanged) -> None:
        match event:
            case e.ToolStarted():
                self._answer.flush()
                self.activity.call_started(event)
            case e.ToolFinished():
                self._answer.flush()
                self.activity.call_finished(event)
                lines = self.painter.finished(event)
                self.sheet.put(lines[0], "tool", spaced=False)
                if lines[1:]:
                    self.sheet.put(Group(*lines[1:]), "tool", spaced=False, wrap=False)
            case e.TodosChanged(todos):
                self.activity.todos = todos
            case e.JobChanged(job_id, command, state, code):
                if state != "running":
                    what = one_line(safe(command), 80)
                    self.note(self.texts(_ending(event), job=job_id, command=what, code=code or 0), "dim")
            case _:
                assert_never(event)

    def _session(
        self,
        event: e.PermissionAsked
        | e.PermissionResolved
        | e.QueueChanged
        | e.Compacted
        | e.ConversationCleared
        | e.ModeChanged
        | e.ModelChanged
        | e.Notice,
    ) -> None:
        match event:
            case e.PermissionAsked(name=name, title=title):
                self._answer.flush()
                self.activity.wait_for("phase.permission")
                self._alert(self.texts("alert.permission", tool=name, title=one_line(safe(title), 80)))
            case e.PermissionResolved():
                self.activity.wait_for("phase.tools")
            case e.ModeChanged() | e.ModelChanged(for_turn=True):
                pass  # the status line shows the mode; a notice says what model the turn has, and what that costs
            case e.QueueChanged(queued):
                self.activity.queued = queued
            case e.Compacted(before_tokens=before, after_tokens=after):
                self.note(self.texts("compacted", before=f"{before:,}", after=f"{after:,}"), "dim")
            case e.ConversationCleared():
                self.activity.todos = ()
                self.note(self.texts("cleared"), "dim")
            case e.ModelChanged(model, effort):
                words = self.texts("model.now", model=model)
                self.note(f"{words} {self.glyphs.dot} {effort}" if effort else words, "dim")
            case e.Notice(severity, text):
                self.note(safe(text), {"info": "dim"}.get(severity, severity))
            case _:
                assert_never(event)

    def _subagent(self, event: e.FromSubagent) -> None:
        line = self.activity.subagents.setdefault(event.tool_use_id, SubagentLine(event.agent))
        match event.event:
            case e.ToolStarted(name=name, title=title):
                line.doing = f"{name} {one_line(safe(title), 80)}"
                line.calls += 1
            case e.PermissionAsked() | e.Notice():
                self._session(event.event)
            case _:
                pass

    def echo(self, text: str) -> None:
        """A message of the person, as it was taken on; a turn that began by itself says why."""
        text = self.texts("agent.reported") if text == REPORTED else text
        lines = safe(text).rstrip("\n").split("\n")
        shown = lines if len(lines) <= ECHO_LINES + 1 else lines[:ECHO_LINES]
        rows = [Text(f"{self.glyphs.prompt if n == 0 else ' '} {line}", style="user") for n, line in enumerate(shown)]
        if len(shown) < len(lines):
            rows.append(Text("  " + self.texts("tool.more", count=len(lines) - len(shown)), style="dim"))
        self.sheet.put(Group(*rows), "user")

    def _shell_output(self, text: str) -> None:
        lines = (self._shell_partial + text).split("\n")
        self._shell_partial = lines.pop()
        if lines:
            shown = safe(collapse_progress("\n".join(lines)))
            self.sheet.put(Group(*(Text(line) for line in shown.split("\n"))), "tool", spaced=False, wrap=False)

    def shell_started(self, command: str) -> None:
        """The person runs a command of their own: its output goes to the sheet line by line."""
        self.echo(f"!{command}")
        self.activity.start()
        self.activity.wait_for(SHELL)

    def shell_ended(self) -> None:
        if self._shell_partial:
            self._shell_output("\n")
        self.activity.stop()

    def note(self, text: str, look: str = "") -> None:
        """A line of agentcli itself."""
        self.sheet.put(Text(text, style=look), "note", spaced=False)

    def markdown(self, text: str) -> None:
        """What a command says, as Markdown."""
        for piece, renderable in whole(text, self.sheet.pen.theme, links=self.sheet.pen.links):
            self.sheet.put(renderable, "text", spaced=piece.spaced, wrap=piece.kind != "code")

    def live(self, width: int, height: int) -> list[Fragments]:
        """The live lines, at most ``height``: a blank one where a gap will be, the unfinished block, what goes on."""
        doing = draw(self.activity, self.painter, self.glyphs, self.texts, asking=self.asking())
        below = self.sheet.pen.fragments(Group(*doing), width) if doing else []
        below = below[-max(height, 0) :] if height > 0 else []
        tail = self._answer.tail(width, height - len(below) - 2)
        above: list[Fragments] = [[]] if not tail or self._answer.tail_spaced else []
        return [*above, *tail, *([[]] if tail and below else []), *below][: max(height, 0)]


def _ending(event: e.JobChanged) -> str:
    """Key of the words for the end of what ran in the background: an agent has no exit code."""
    if not event.agent:
        return f"job.{event.state}"
    if event.state == "finished":
        return "agent.failed" if event.exit_code else "agent.finished"
    return "agent.stopped"
