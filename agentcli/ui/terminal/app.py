"""The terminal front end's entry: draws the input line first, builds the session after it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import Input, create_input

from agentcli.commands.registry import Registry
from agentcli.errors import AgentcliError
from agentcli.i18n import choose_language
from agentcli.paths import agentcli_home, project_slug
from agentcli.ports.model import ModelClient
from agentcli.runtime.options import SessionOptions
from agentcli.ui.terminal.actions import TerminalActions
from agentcli.ui.terminal.capabilities import Capabilities, detect
from agentcli.ui.terminal.controller import Controller
from agentcli.ui.terminal.device import FrameOutput, terminal_size
from agentcli.ui.terminal.engine import engine_way
from agentcli.ui.terminal.output.markdown import preload
from agentcli.ui.terminal.plain import run_plain
from agentcli.ui.terminal.preferences import Notify, preferences
from agentcli.ui.terminal.screen import Screen, TerminalOptions, color_depth
from agentcli.ui.terminal.signals import HANG_UP, ending_signals
from agentcli.ui.terminal.theme import choose_theme
from agentcli.ui.terminal.trust import settle_trust, trust_dialog
from agentcli.ui.terminal.turns import user_input
from agentcli.ui.terminal.way import Way

if TYPE_CHECKING:
    pass


FAILED = 2
"""Exit code when there is no session."""
INTERRUPTED = 130


async def run_terminal(
    options: SessionOptions,
    *,
    first_prompt: str = "",
    client: ModelClient | None = None,
    theme: str | None = None,
    language: str | None = None,
    vi: bool = False,
    flat: bool = False,
) -> int:
    """A conversation in the terminal with a session of our engine; returns the exit code.

    ``client`` takes the place of the Messages API.  What is not given is taken from the settings and the environment
    (``AGENTCLI_LANG``, ``LANG``).
    """

    from agentcli.runtime.trusting import trust_question
    from agentcli.runtime.world import read_world

    try:
        wishes = preferences(read_world(options).settings)
        question = trust_question(options)
    except AgentcliError as error:
        sys.stderr.write(f"agentcli: {error}\n")
        return FAILED
    return await run_front_end(
        engine_way(options, client, question),
        directory=options.cwd,
        first_prompt=first_prompt,
        theme=theme or wishes.theme,
        language=language or os.environ.get("AGENTCLI_LANG") or wishes.language,
        vi=vi or wishes.vi,
        notify=wishes.notify,
        flat=flat or wishes.flat,
    )


async def run_front_end(
    way: Way,
    *,
    directory: Path,
    first_prompt: str = "",
    theme: str | None = None,
    language: str | None = None,
    vi: bool = False,
    notify: Notify = "auto",
    flat: bool = False,
) -> int:
    """Runs a conversation in the terminal and returns the exit code.

    ``way.start`` is called after the input line has been drawn, so that its heavy imports cost no waiting; what is
    typed meanwhile is kept.  A dumb terminal, and with ``flat`` any, gets a session of lines without control
    sequences.  An ``AgentcliError`` of ``way.start`` is shown and ends with exit code 2.
    """
    env = dict(os.environ)
    capabilities = detect(env, encoding=sys.stdout.encoding or "ascii")
    code = choose_language(language, env)
    registry = Registry(way.commands, way.late_command)
    if capabilities.dumb or flat:
        return await run_plain(way, registry, language=code, first_prompt=first_prompt)
    options = TerminalOptions(
        theme=choose_theme(theme, env),
        language=code,
        vi=vi,
        notify=notify,
        history=history_path(directory, env),
        root=directory,
        env=env,
    )
    output = device(sys.stdout, capabilities, env.get("TERM", ""))
    terminal = create_input(sys.stdin)
    return await converse(way, options, capabilities, registry, terminal, output, first_prompt=first_prompt)


async def converse(
    way: Way,
    options: TerminalOptions,
    capabilities: Capabilities,
    registry: Registry,
    terminal: Input,
    output: FrameOutput,
    *,
    first_prompt: str = "",
) -> int:
    """``run_front_end`` on the given input and output.  A bug in ``way.start`` is raised once the terminal is free."""
    actions = TerminalActions()
    screen = Screen(options, capabilities, actions, input=terminal, output=output)
    controller = Controller(screen, registry, way)
    actions.connect(screen, controller)
    if first_prompt.strip():
        controller.send(user_input(first_prompt))
    drawn = asyncio.Event()
    screen.app.after_render += lambda _: drawn.set()
    failure: list[Exception] = []
    tasks = [
        asyncio.create_task(_begin(way, screen, controller, drawn, failure)),
        asyncio.create_task(screen.app.tick()),
    ]
    try:
        with ending_signals(controller.exit):
            code = await screen.app.run_async(set_exception_handler=False)
    except EOFError:
        code = HANG_UP
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await controller.close()
        screen.app.flush_above()
        screen.title("")
    for error in failure:
        if not isinstance(error, AgentcliError):
            raise error
        sys.stderr.write(f"agentcli: {error}\n")
    return HANG_UP if output.gone else code


async def _begin(
    way: Way, screen: Screen, controller: Controller, drawn: asyncio.Event, failure: list[Exception]
) -> None:
    """Once the input line is drawn: trust, then the session.  What goes wrong is kept until the terminal is free."""
    await drawn.wait()
    screen.files.refresh()
    loading = asyncio.create_task(asyncio.to_thread(preload))
    try:
        told = await _ask_trust(way, screen, controller)
        controller.attach(await way.start())
        if told:
            screen.view.note(told, "warning")
    except Exception as error:
        failure.append(error)
        controller.exit(FAILED)
    finally:
        await loading


async def _ask_trust(way: Way, screen: Screen, controller: Controller) -> str:
    """Asks what has to be asked before the session is built; a line about what follows from it."""
    if way.question is None:
        return ""
    answer, told = await settle_trust(way.question, trust_dialog(screen), screen.texts)
    if answer is None:
        controller.exit(INTERRUPTED)
        await asyncio.Event().wait()  # until the program is left
    elif answer:
        way.trust()
    return told


def device(stream: TextIO, capabilities: Capabilities, term: str) -> FrameOutput:
    def size() -> Size:
        return terminal_size(stream.fileno())

    return FrameOutput(stream, size, term, color_depth(capabilities))


def history_path(directory: Path, env: dict[str, str]) -> Path | None:
    """The project's history file below agentcli's home; ``None`` where there is no home."""
    home = agentcli_home(env)
    return home / "history" / f"{project_slug(directory)}.jsonl" if home else None
