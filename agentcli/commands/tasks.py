"""``/tasks``: background commands and agents; the end of one's output; ending one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.i18n import Texts
from agentcli.ports.agents import AgentTask
from agentcli.ports.frontend import Choice
from agentcli.ports.jobs import Job
from agentcli.text import one_line


async def run(context: CommandContext, arguments: str) -> CommandResult:
    t = context.texts
    word, _, rest = arguments.partition(" ")
    known = _known(context)
    if not known:
        return CommandResult(t("tasks.none"))
    match word:
        case "":
            choices = [Choice(name, *_words(task, t)) for name, task in known.items()]
            picked = await context.dialogs.choose(t("tasks.which"), choices)
            return await _shown(context, known[picked]) if picked else CommandResult(_listing(known.values(), t))
        case "list":
            return CommandResult(_listing(known.values(), t))
        case "kill":
            return CommandResult(await _end(context, _find(known, rest.strip(), t)))
        case _:
            return await _shown(context, _find(known, word, t))


Task = Job | AgentTask
_STATES = {
    "running": "tasks.running",
    "finished": "tasks.finished",
    "failed": "tasks.failed",
    "timed_out": "tasks.timed_out",
    "killed": "tasks.stopped",
    "stopped": "tasks.stopped",
}


def _known(context: CommandContext) -> dict[str, Task]:
    session = context.session
    tasks: list[Task] = [*session.toolbox.jobs.list(), *session.crew.list()]
    return {task.id: task for task in tasks}


def _find(known: Mapping[str, Task], name: str, t: Texts) -> Task:
    if name not in known:
        raise UserError(t("tasks.unknown", name=name, known=", ".join(known)))
    return known[name]


async def _shown(context: CommandContext, task: Task) -> CommandResult:
    """The end of a command's output, which stays unread for the model; then, for what runs, whether to end it."""
    t = context.texts
    text = _line(task, t)
    if isinstance(task, Job):
        output = context.session.toolbox.jobs.tail(task.id)
        fence = "```"
        while fence in output:
            fence += "`"
        text = f"{text}\n\n{fence}\n{output or t('tasks.silent')}\n{fence}"
    if task.state == "running":
        await context.dialogs.show(text)
        if not await context.dialogs.confirm(t("tasks.kill", task=task.id)):
            return CommandResult()
        text = await _end(context, task)
    return CommandResult(text)


async def _end(context: CommandContext, task: Task) -> str:
    session = context.session
    if isinstance(task, Job):
        return _line(await session.toolbox.jobs.kill(task.id), context.texts)
    return _line(await session.crew.stop(task.id), context.texts)


def _words(task: Task, t: Texts) -> tuple[str, str]:
    """How it stands, and what it does."""
    time = f"{task.seconds:.1f} s" if task.seconds < 10 else f"{task.seconds:.0f} s"
    state = t(_STATES[task.state])
    if isinstance(task, Job):
        code = t("tool.exit", code=task.exit_code) if task.state == "finished" and task.exit_code else ""
        limit = t("tasks.limit", time=f"{task.time_limit:g} s") if task.state == "running" and task.time_limit else ""
        name, what, more = task.id, task.command, [code, limit]
    else:
        name, what = f"{task.id} ({task.agent})", task.doing or task.description
        more = [t("agent.steps", count=task.steps), t("agent.tokens", count=f"{task.tokens:,}")]
    return f"{name}: " + ", ".join(filter(None, [state, time, *more])), one_line(what, 80)


def _line(task: Task, t: Texts) -> str:
    state, what = _words(task, t)
    return f"{state}: `{what}`" if what else state


def _listing(tasks: Iterable[Task], t: Texts) -> str:
    return "\n".join(f"- {_line(task, t)}" for task in tasks)


COMMAND = Command(
    "tasks",
    "Show background commands, their output, and end them",
    run,
    aliases=("jobs", "bashes"),
    argument_hint="[ID | kill ID]",
    while_running=True,
)
