"""``agentcli prompt``: the effective prompt of this directory and these flags, explained."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentcli.runtime.explain import explain_prompt
from agentcli.runtime.options import SessionOptions

Form = Literal["table", "raw", "json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptQuestion:
    model: str | None = None
    system_prompt: str = ""
    append_system_prompt: str = ""
    agent: str = ""
    interactive: bool = True


def run_prompt(question: PromptQuestion, *, form: Form) -> int:
    """Prints the prompt in the wanted form; 0.  ``UserError`` for a wrong agent or settings file."""
    options = SessionOptions(
        cwd=Path.cwd(),
        interactive=question.interactive,
        model=question.model,
        system_prompt=question.system_prompt,
        append_system_prompt=question.append_system_prompt,
        agent=question.agent,
        persist=False,
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
