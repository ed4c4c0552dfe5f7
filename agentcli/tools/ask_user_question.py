"""AskUserQuestion: a choice that only the user can make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from agentcli.errors import ToolError
from agentcli.messages import Json
from agentcli.ports.tools import Effect, Question, Questioner, ToolContext, ToolResult, text_result
from agentcli.text import clean, one_line
from agentcli.tools.base import BuiltinTool
from agentcli.tools.schema import param

MOST_QUESTIONS = 4
OPTIONS = range(2, 5)
NOBODY = "Nobody can answer in this session. Decide by yourself, and say in your answer what you assumed."


@dataclass(frozen=True, slots=True)
class OptionParams:
    label: str = param()
    description: str = param(default="")


@dataclass(frozen=True, slots=True)
class QuestionParams:
    question: str = param()
    header: str = param("A word or two")
    options: tuple[OptionParams, ...] = param()
    multiple: bool = param(default=False, name="multiSelect")


@dataclass(frozen=True, slots=True)
class AskParams:
    questions: tuple[QuestionParams, ...] = param()


class AskUserQuestion(BuiltinTool[AskParams]):
    """Asks through ``ctx.services["questioner"]`` (``ports.tools.Questioner``)."""

    name = "AskUserQuestion"
    code = __file__
    key = "questions"
    deferred = True
    kind: ClassVar[Effect] = "write"  # one dialog at a time

    def __init__(self) -> None:
        super().__init__(AskParams)

    def title(self, input: Json) -> str:
        questions = input.get("questions") if hasattr(input, "get") else None
        first = questions[0] if isinstance(questions, list | tuple) and questions else None
        text = first.get("question") if isinstance(first, Mapping) else None
        return one_line(clean(text)) if isinstance(text, str) else ""

    async def call(self, params: AskParams, ctx: ToolContext) -> ToolResult:
        _check(params)
        questioner: Questioner | None = ctx.services.get("questioner")
        questions = [
            Question(q.question, q.header, tuple((o.label, o.description) for o in q.options), q.multiple)
            for q in params.questions
        ]
        replies = await questioner.ask(questions) if questioner is not None else None
        if replies is None:
            raise ToolError(NOBODY)
        lines = [f"{q.question}\n→ {_said(replies.get(q.question))}" for q in questions]
        return text_result("\n\n".join(lines), summary=one_line("; ".join(_said(v) for v in replies.values())))


def _check(params: AskParams) -> None:
    if not 1 <= len(params.questions) <= MOST_QUESTIONS:
        raise ToolError(f"Ask 1 to {MOST_QUESTIONS} questions at once, not {len(params.questions)}.")
    texts = [q.question for q in params.questions]
    if len(set(texts)) < len(texts):
        raise ToolError("Two of the questions are the same. Ask each once.")
    for question in params.questions:
        if len(question.options) not in OPTIONS:
            raise ToolError(f"{question.question!r} has {len(question.options)} options; give 2 to 4.")


def _said(reply: Any) -> str:
    if not reply:
        return "(no answer)"
    return ", ".join(str(r) for r in reply) if isinstance(reply, list | tuple) else str(reply)
