"""``agentcli prompt``: the effective prompt of this directory and these flags, explained."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from typing import Literal

from agentcli.cli.arguments import without_inert
from agentcli.cli.chat import parse
from agentcli.cli.start import Launch
from agentcli.modes.loop import LoopPlan
from agentcli.runtime.explain import explain_prompt

Form = Literal["table", "raw", "json"]


def run_prompt(arguments: list[str], *, loop: bool, form: Form) -> int:
    """Prints, in the wanted form, the prompt that a conversation with these arguments would begin with; 0.

    ``loop``: that of loop mode.  ``UserError`` for what the conversation itself would refuse.
    """
    given = parse(without_inert(arguments)[0])
    if not isinstance(given, Launch):
        return given
    options = replace(
        given.options,
        interactive=not given.headless,
        resume=None,
        persist=False,
        loop=LoopPlan(prompt=given.prompt) if loop else None,
    )
    explained = asyncio.run(explain_prompt(options))
    if form == "json":
        text = json.dumps(explained.report.to_json(), ensure_ascii=False, indent=2)
    elif form == "raw":
        text = explained.report.raw()
    else:
        text = explained.table()
    sys.stdout.write(text + "\n")
    return 0
