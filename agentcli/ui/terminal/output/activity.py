"""What the agent is doing right now: calls that run, what it waits for, retries, todos, queued messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rich.text import Text

from agentcli.events import RetryScheduled, ToolFinished, ToolOutput, ToolStarted
from agentcli.i18n import Texts
from agentcli.ports.agents import AgentTask
from agentcli.ports.display import Todo
from agentcli.ports.jobs import Job
from agentcli.text import one_line
from agentcli.ui.terminal.output.glyphs import Glyphs
from agentcli.ui.terminal.output.pen import safe
from agentcli.ui.terminal.output.tools import CallPainter, RunningCall, seconds, todo_lines
from agentcli.ui.terminal.theme import AGENT_COLORS

FRAMES_PER_SECOND = 8
QUEUE_SHOWN = 3
AGENTS_SHOWN = 5
JOBS_SHOWN = 3


_KINDS = {
    "connection": "retry.connection",
    "overloaded": "retry.overloaded",
    "overloaded_error": "retry.overloaded",
    "rate_limit": "retry.rate_limit",
    "rate_limit_error": "retry.rate_limit",
    "server_error": "retry.server_error",
    "api_error": "retry.server_error",
    "timeout": "retry.timeout",
    "timeout_error": "retry.timeout",
}
"""Our words for what the API or the model room calls an error."""


def _no_agents() -> Sequence[AgentTask]:
    return ()


def _no_jobs() -> Sequence[Job]:
    return ()


@dataclass(slots=True)
class SubagentLine:
    """One line for a subagent: what it does now, and how many calls it has made."""

    agent: str
    doing: str = ""
    calls: int = 0


@dataclass(slots=True)
class Activity:
    """Pure state; the view writes it, ``lines`` draws it.  Times are those of ``now`` (monotonic seconds)."""

    now: Callable[[], float]
    phase: str = ""
    """Key of the text that says what is waited for; empty when nothing is going on."""
    since: float = 0.0
    output_tokens: int = 0
    retry: RetryScheduled | None = None
    retry_at: float = 0.0
    calls: dict[str, RunningCall] = field(default_factory=dict)
    subagents: dict[str, SubagentLine] = field(default_factory=dict)
    todos: tuple[Todo, ...] = ()
    show_todos: bool = False
    queued: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    """Messages that were sent before the session was ready."""
    agents: Callable[[], Sequence[AgentTask]] = _no_agents
    """The session's subagents as they are now."""
    jobs: Callable[[], Sequence[Job]] = _no_jobs
    """Its background commands."""
    next_at: Callable[[], datetime | None] = lambda: None
    """When a turn is due that begins by itself."""

    @property
    def busy(self) -> bool:
        return bool(self.phase)

    @property
    def moving(self) -> bool:
        """Whether there are lines that change by themselves."""
        return self.busy or any(_aside(task) for task in self.agents())

    def start(self) -> None:
        self.since = self.now()
        self.output_tokens = 0
        self.phase = "phase.model"

    def stop(self) -> None:
        self.phase = ""
        self.retry = None
        self.calls.clear()
        self.subagents.clear()

    def wait_for(self, phase: str) -> None:
        self.phase = phase
        self.retry = None

    def retry_scheduled(self, event: RetryScheduled) -> None:
        self.retry, self.retry_at = event, self.now() + event.delay

    def call_started(self, event: ToolStarted) -> None:
        self.calls[event.tool_use_id] = RunningCall(event.tool_use_id, event.name, event.title, self.now())
        self.wait_for("phase.tools")

    def call_output(self, event: ToolOutput) -> None:
        call = self.calls.get(event.tool_use_id)
        if call:
            call.output(event.text)

    def call_finished(self, event: ToolFinished) -> None:
        self.calls.pop(event.tool_use_id, None)
        self.subagents.pop(event.tool_use_id, None)


def draw(activity: Activity, painter: CallPainter, glyphs: Glyphs, texts: Texts, *, asking: bool = False) -> list[Text]:
    """The activity as lines, the most lasting things last (next to the input).  ``asking``: a question waits."""
    now = activity.now()
    frame = int(now * FRAMES_PER_SECOND)
    lines: list[Text] = []
    tasks = activity.agents()
    for call in activity.calls.values():
        lines.append(painter.running(call, now, frame))
        agent = activity.subagents.get(call.tool_use_id)
        if agent:
            task = next((t for t in tasks if t.call_id == call.tool_use_id), None)
            counted = [texts("agent.calls", count=agent.calls), *(_figures(task, texts) if task else ())]
            lines.append(_agent(agent.agent, task.color if task else "", agent.doing, counted, glyphs))
    if activity.busy:
        phase = "phase.permission" if asking else activity.phase
        lines.append(_spinner(activity, phase, frame, glyphs, texts))
    lines += _background(tasks, glyphs, texts)
    due = None if activity.busy else activity.next_at()
    if due is not None:
        lines.append(_line(f"  {glyphs.queued} {texts('loop.next', time=due.astimezone().strftime('%H:%M:%S'))}"))
    lines += _commands(activity.jobs(), glyphs, texts)
    if activity.todos and activity.show_todos:
        lines += todo_lines(activity.todos, glyphs)
    elif activity.busy:
        current = next((t for t in activity.todos if t.status == "in_progress"), None)
        if current:
            done = sum(t.status == "completed" for t in activity.todos)
            words = one_line(safe(current.active_form or current.content), 200)
            lines.append(_line(f"{glyphs.active} {words} {glyphs.dot} {done}/{len(activity.todos)}"))
    queue = (*activity.queued, *activity.waiting)
    for text in queue[:QUEUE_SHOWN]:
        lines.append(_line(f"{glyphs.queued} {texts('queue.message', text=one_line(safe(text), 200))}"))
    if len(queue) > QUEUE_SHOWN:
        lines.append(_line(f"  {texts('queue.more', count=len(queue) - QUEUE_SHOWN)}"))
    return lines


def _spinner(activity: Activity, phase: str, frame: int, glyphs: Glyphs, texts: Texts) -> Text:
    now = activity.now()
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(glyphs.spinner[frame % len(glyphs.spinner)] + " ", style="accent")
    retry = activity.retry
    if retry:
        left = max(0.0, activity.retry_at - now)
        text.append(retry_words(retry, texts, seconds(left)), style="warning")
    else:
        text.append(texts(phase, count=len(activity.calls)))
    parts = [seconds(now - activity.since)]
    if activity.output_tokens:
        parts.append(texts("tokens.out", count=f"{activity.output_tokens:,}"))
    parts.append(texts("hint.interrupt"))
    text.append(f" {glyphs.dot} " + f" {glyphs.dot} ".join(parts), style="dim")
    return text


def retry_words(retry: RetryScheduled, texts: Texts, left: str) -> str:
    """Why a request is sent again (in the reader's words where there are some for it), and when."""
    kind = _KINDS.get(retry.error, "")
    why = texts(kind) if kind else one_line(safe(retry.error))
    why = f"{why} ({retry.status})" if retry.status else why
    return texts("retry", why=why, attempt=retry.attempt, most=retry.max_attempts, left=left)


def _background(tasks: Sequence[AgentTask], glyphs: Glyphs, texts: Texts) -> list[Text]:
    """A line for each agent that works beside the conversation."""
    aside = [task for task in tasks if _aside(task)]
    lines = []
    for task in aside[:AGENTS_SHOWN]:
        doing = one_line(safe(task.doing or task.description), 80)
        counted = [*_figures(task, texts), seconds(task.seconds)]
        lines.append(_agent(f"{task.agent} ({task.id})", task.color, doing, counted, glyphs))
    if len(aside) > AGENTS_SHOWN:
        lines.append(_line(f"  {texts('agent.more', count=len(aside) - AGENTS_SHOWN)}"))
    return lines


def _commands(jobs: Sequence[Job], glyphs: Glyphs, texts: Texts) -> list[Text]:
    """A line for each command in the background; no seconds, so that a server that runs for hours draws nothing."""
    running = [job for job in jobs if job.state == "running"]
    lines = [_line(f"  {glyphs.queued} {job.id}: {one_line(safe(job.command), 200)}") for job in running[:JOBS_SHOWN]]
    if len(running) > JOBS_SHOWN:
        lines.append(_line(f"  {texts('job.more', count=len(running) - JOBS_SHOWN)}"))
    return lines


def _aside(task: AgentTask) -> bool:
    return task.background and task.state == "running"


def _figures(task: AgentTask, texts: Texts) -> list[str]:
    return [texts("agent.steps", count=task.steps), texts("agent.tokens", count=f"{task.tokens:,}")]


def _agent(name: str, color: str, doing: str, counted: Sequence[str], glyphs: Glyphs) -> Text:
    text = _line(f"  {glyphs.queued} ")
    text.append(safe(name), style=f"agent_{color}" if color in AGENT_COLORS else "")
    dot = f" {glyphs.dot} "
    return text.append((f": {doing}" if doing else "") + dot + dot.join(counted))


def _line(text: str) -> Text:
    return Text(text, style="dim", no_wrap=True, overflow="ellipsis")
