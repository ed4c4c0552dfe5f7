"""The terminal front end's entry: draws the input line first, builds the session after it."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import Input, create_input

from agentcli.commands.registry import Registry
from agentcli.errors import AgentcliError
from agentcli.i18n import choose_language
from agentcli.messages import Message
from agentcli.paths import agentcli_home, project_slug
from agentcli.ports.frontend import SessionHandle
from agentcli.ports.model import ModelClient
from agentcli.runtime.options import Resume, SessionOptions
from agentcli.ui.terminal.actions import TerminalActions
from agentcli.ui.terminal.capabilities import Capabilities, detect
from agentcli.ui.terminal.controller import Controller, user_input
from agentcli.ui.terminal.device import FrameOutput, terminal_size
from agentcli.ui.terminal.output.markdown import preload
from agentcli.ui.terminal.plain import run_plain
from agentcli.ui.terminal.screen import Screen, TerminalOptions, color_depth
from agentcli.ui.terminal.signals import HANG_UP, ending_signals
from agentcli.ui.terminal.theme import choose_theme
from agentcli.ui.terminal.way import Way

if TYPE_CHECKING:
    from agentcli.runtime.session import Session


FAILED = 2
"""Exit code when there is no session."""


async def run_terminal(
    options: SessionOptions,
    *,
    first_prompt: str = "",
    client: ModelClient | None = None,
    theme: str | None = None,
    language: str | None = None,
    vi: bool = False,
) -> int:
    """A conversation in the terminal with a session of our engine; returns the exit code.

    ``client`` takes the place of the Messages API.
    """

    async def start() -> SessionHandle:
        # Loaded beside the loop, so that what is typed meanwhile shows at once.
        await asyncio.to_thread(import_module, "agentcli.runtime.build")
        from agentcli.runtime.build import open_session

        return await open_session(options, client=client)

    async def restart(session_id: str) -> SessionHandle:
        from agentcli.runtime.build import open_session

        return await open_session(replace(options, resume=Resume(query=session_id), session_id=""), client=client)

    def past(session: SessionHandle) -> tuple[Message, ...]:
        return tuple(cast("Session", session).state.messages)

    way = Way(start, restart, past)
    return await run_front_end(
        way, directory=options.cwd, first_prompt=first_prompt, theme=theme, language=language, vi=vi
    )


async def run_front_end(
    way: Way,
    *,
    directory: Path,
    first_prompt: str = "",
    theme: str | None = None,
    language: str | None = None,
    vi: bool = False,
) -> int:
    """Runs a conversation in the terminal and returns the exit code.

    ``way.start`` is called after the input line has been drawn, so that its heavy imports cost no waiting; what is
    typed meanwhile is kept.  A dumb terminal gets a line-oriented session without control sequences.  An
    ``AgentcliError`` of ``way.start`` is shown and ends with exit code 2.
    """
    env = dict(os.environ)
    capabilities = detect(env, encoding=sys.stdout.encoding or "ascii")
    code = choose_language(language, env)
    registry = Registry(way.commands)
    if capabilities.dumb:
        return await run_plain(way, registry, language=code, first_prompt=first_prompt)
    options = TerminalOptions(
        theme=choose_theme(theme, env),
        language=code,
        vi=vi,
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

    async def build() -> None:
        await drawn.wait()
        screen.files.refresh()
        loading = asyncio.create_task(asyncio.to_thread(preload))
        try:
            controller.attach(await way.start())
        except Exception as error:
            failure.append(error)
            controller.exit(FAILED)
        finally:
            await loading

    tasks = [asyncio.create_task(build()), asyncio.create_task(screen.app.tick())]
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
    for error in failure:
        if not isinstance(error, AgentcliError):
            raise error
        sys.stderr.write(f"agentcli: {error}\n")
    return HANG_UP if output.gone else code


def device(stream: TextIO, capabilities: Capabilities, term: str) -> FrameOutput:
    def size() -> Size:
        return terminal_size(stream.fileno())

    return FrameOutput(stream, size, term, color_depth(capabilities))


def history_path(directory: Path, env: dict[str, str]) -> Path | None:
    """The project's history file below agentcli's home; ``None`` where there is no home."""
    home = agentcli_home(env)
    return home / "history" / f"{project_slug(directory)}.jsonl" if home else None
