"""The model and effort that a skill or custom command brings: for the turn it starts or is invoked in, and no other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from agentcli.agent.state import SessionState
from agentcli.errors import UserError
from agentcli.events import Emit, ModelChanged, Notice
from agentcli.model.catalog import check_effort
from agentcli.model.monitor import SwitchPrice
from agentcli.ports.model import Effort
from agentcli.ports.skills import InvokedSkill
from agentcli.runtime.models import Models

Choice = tuple[str, Effort | None]


class NamesModel(Protocol):
    """A prompt that tells the model its own name."""

    def model_switched(self) -> None: ...


@dataclass(slots=True)
class TurnModel:
    """``give`` is for ``Extensions.on_invoke``; call ``turn_begins`` with each prompt and ``turn_ended`` after it.

    ``price`` says what going on with a model costs (``CacheMonitor.switch_price`` of the conversation); it is told
    with the switch, as ``/model`` tells it.
    """

    state: SessionState
    models: Models
    prompt: NamesModel
    emit: Emit
    price: Callable[[str], SwitchPrice]
    _waiting: list[InvokedSkill] = field(default_factory=list)
    _own: Choice | None = None
    """The session's own choice, while another one holds …"""
    _borrowed: Choice | None = None
    """… and that other one."""
    _running: bool = False

    def give(self, skill: InvokedSkill) -> None:
        """A skill is about to be sent.  One that runs in a subagent takes its model along there."""
        if skill.fork or not (skill.model or skill.effort):
            return
        if self._running:
            self._take(skill)
        else:
            self._waiting.append(skill)

    def turn_begins(self) -> None:
        self._running = True
        waiting, self._waiting = self._waiting, []
        for skill in waiting:
            self._take(skill)

    def turn_ended(self) -> None:
        """The session's own model and effort hold again."""
        self._running = False
        own, borrowed, self._own, self._borrowed = self._own, self._borrowed, None, None
        if own is None or self._now != borrowed:  # whoever chose meanwhile has the last word
            return
        self._set(own, "the end of the skill's turn")
        self.emit(ModelChanged(*own, self.state.thinking))

    @property
    def _now(self) -> Choice:
        return self.state.model, self.state.effort

    def _take(self, skill: InvokedSkill) -> None:
        try:
            wanted = self._wanted(skill)
        except UserError as error:
            text = f"The front matter of {skill.name} is not followed: {error}. The turn runs on {self.state.model}."
            self.emit(Notice("warning", text, "skill_model"))
            return
        if wanted == self._now:
            return
        price = self.price(wanted[0])
        self._own = self._own or self._now
        self._set(wanted, f"the skill {skill.name}")
        self._borrowed = wanted
        self.emit(ModelChanged(*wanted, self.state.thinking, for_turn=True))
        effort = f", effort {wanted[1]}" if wanted[1] else ""
        cost = f"; that {price.line()}" if price.tokens else ""
        text = f"{skill.name} runs the rest of this turn on {wanted[0]}{effort}{cost}."
        self.emit(Notice("info", text, "skill_model"))

    def _wanted(self, skill: InvokedSkill) -> Choice:
        """``UserError`` for a model that can't be one, or an effort that it does not have."""
        model = self.models.resolve(skill.model) if skill.model else self.state.model
        info = self.models.info(model)
        if skill.effort:
            return model, check_effort(skill.effort, info)
        return model, self.state.effort if self.state.effort in info.efforts else None

    def _set(self, choice: Choice, intent: str) -> None:
        if choice[0] != self.state.model:
            self.prompt.model_switched()
        self.state.model, self.state.effort = choice
        self.state.intent = intent
