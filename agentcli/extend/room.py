"""Everything that ``.claude`` directories bring to a session: the room's door."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from agentcli.errors import UserError
from agentcli.extend.agents import AgentDefinition, agents_from_json
from agentcli.extend.catalog import CatalogReader
from agentcli.extend.expand import Surroundings
from agentcli.extend.invoke import Invoker
from agentcli.extend.listing import DESCRIPTION, Item, budget, listing
from agentcli.extend.output_styles import DEFAULT, OutputStyle
from agentcli.extend.places import Place, find_places, nested_places, project_root
from agentcli.extend.skills import VISIBILITIES, Skill, Visibility
from agentcli.extend.told import AGENTS, SKILLS, Told
from agentcli.globs import compile_glob
from agentcli.messages import Message, TextBlock
from agentcli.ports.permissions import Hooks, NoHooks
from agentcli.ports.prompt import Moment, Remaining, Reminder
from agentcli.ports.skills import InvokedSkill
from agentcli.settings.merged import Settings


class Extensions:
    """Agents, skills, custom commands, output styles and hooks of one session.

    It is the session's ``ports.skills.Skills`` and a ``ports.prompt.ReminderSource``: what changes while the session
    runs is told, what was sent stays.  Texts of a project that is not trusted are read like its memory files; whatever
    of it would run something, grant something or take the place of the user's own does not count.
    """

    def __init__(
        self, reader: CatalogReader, places: tuple[Place, ...], settings: Settings, *, root: Path | None, trusted: bool
    ) -> None:
        self._reader = reader
        self._places = places
        self._settings = settings
        self._root = root
        self._trusted = trusted
        self.catalog = reader.read(places)
        self.hooks: Hooks = NoHooks()
        """Set by the runtime to a ``HookRoom`` once there is somebody to run it."""
        self.window: Callable[[], int | None] = lambda: None
        """The model's window in tokens, for the budget of the list of skills."""
        self.surroundings: Callable[[], Surroundings] = lambda: Surroundings(cwd=root or Path.cwd(), project=root)
        """Where and with what skills are expanded now.  Set by the runtime."""
        self.on_invoke: Callable[[InvokedSkill], None] = lambda skill: None
        """Hears of every skill whose text is about to be sent: its rules hold until the user's next message."""
        self._skills_told = Told(SKILLS)
        self._agents_told = Told(AGENTS)
        self._fitting: dict[str, Skill] = {}
        """Skills with ``paths`` of which a file was touched."""
        self._resumed = False
        self._invoker = Invoker(self._skill, self._surroundings_now, self._shell_allowed)

    @classmethod
    def load(
        cls,
        cwd: Path,
        settings: Settings,
        *,
        user_dir: Path | None,
        trusted: bool,
        project: bool = True,
        agents: str = "",
    ) -> Extensions:
        """Reads everything there is.  ``user_dir`` is ``~/.claude`` (``None``: not read), ``project`` whether the
        project's directories count at all, ``agents`` the JSON of ``--agents`` (``UsageError`` where it is wrong).
        Broken files are left out and named in ``warnings``."""
        given = agents_from_json(agents) if agents.strip() else ()
        places = find_places(cwd, user=user_dir, project=project, trusted=trusted)
        root = project_root(cwd) if project else None
        return cls(CatalogReader(given), places, settings, root=root, trusted=trusted)

    # --- what there is ----------------------------------------------------------------------------------------------

    @property
    def skills(self) -> Mapping[str, Skill]:
        """By name, those that the settings switch off left out."""
        return {n: s for n, s in self.catalog.skills.items() if self.visibility(n) != "off"}

    @property
    def commands(self) -> Mapping[str, Skill]:
        """Custom commands by name, without those that a skill of the same name hides."""
        return {n: c for n, c in self.catalog.commands.items() if n not in self.skills}

    @property
    def agents(self) -> Mapping[str, AgentDefinition]:
        return self.catalog.agents

    @property
    def styles(self) -> Mapping[str, OutputStyle]:
        return self.catalog.styles

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or ignored, with file and line."""
        return self.catalog.warnings

    def agent(self, name: str) -> AgentDefinition:
        """By exact name, else without regard to case.  ``UserError`` names those there are."""
        found: AgentDefinition = _named("agent", self.agents, name)
        return found

    def output_style(self, name: str | None = None) -> OutputStyle | None:
        """The style of that name, by default of the setting ``outputStyle``; ``None`` for the default style.
        ``UserError`` for a name that there is not."""
        wanted = name or self._settings.text("outputStyle") or DEFAULT
        found: OutputStyle | None = None if wanted.lower() == DEFAULT else _named("output style", self.styles, wanted)
        return found

    def style_name(self) -> str:
        """The name of the style that the settings choose; the default where there is none of that name."""
        try:
            style = self.output_style()
        except UserError:  # a warning has said so
            style = None
        return style.name if style else DEFAULT

    def visibility(self, name: str) -> Visibility:
        """What ``skillOverrides`` says of a skill."""
        word = (self._settings.get("skillOverrides") or {}).get(name, "on")
        return next((v for v in VISIBILITIES if v == word), "on")

    # --- the prompt -------------------------------------------------------------------------------------------------

    async def skills_section(self) -> str | None:
        """``PromptSources.skills``: the list of skills that the model may invoke."""
        self.refresh()
        self._fitting.clear()
        items = self._skill_items()
        self._skills_told.tell(items)
        return self.skills_listing()

    async def agents_section(self) -> str | None:
        """``PromptSources.agents``: the list of agents that can be started."""
        self.refresh()
        self._agents_told.tell(self._agent_items())
        return self.agents_listing()

    def skills_listing(self) -> str | None:
        """The text of the list within its budget; ``None`` without skills.  Tells nothing."""
        longest = self._settings.get("skillListingMaxDescChars")
        characters = budget(self.window(), self._settings.get("skillListingBudgetFraction"))
        usable = isinstance(longest, int) and not isinstance(longest, bool) and longest > 0
        text = listing(self._skill_items(), characters=characters, longest=longest if usable else DESCRIPTION)
        return f"{SKILLS}\n\n{text}" if text else None

    def agents_listing(self) -> str | None:
        text = listing(self._agent_items())
        return f"{AGENTS}\n\n{text}" if text else None

    # --- skills and commands ----------------------------------------------------------------------------------------

    async def invoke(
        self, name: str, arguments: str = "", *, by: Literal["model", "user"] = "model", subagent: bool = False
    ) -> InvokedSkill:
        """Reads and expands a skill or command.  ``UserError`` if it can't be used.  ``subagent``: it is one that
        reads the text; the model of the main conversation is left alone, and what the skill says is in the answer."""
        found = await self._invoker.invoke(name, arguments, by=by)
        self.on_invoke(replace(found, model=None, effort=None) if subagent else found)
        return found

    async def typed(self, line: str) -> InvokedSkill | None:
        """What a message that begins with ``/NAME`` means; ``None`` where that is no skill or command of ours."""
        if not line.startswith("/"):
            return None
        name, _, arguments = line[1:].strip().replace("\n", " \n", 1).partition(" ")
        if self._skill(name) is None:
            return None
        return await self.invoke(name, arguments.strip(), by="user")

    async def preloaded(self, agent: AgentDefinition) -> list[InvokedSkill]:
        """The texts that an agent begins with.  ``UserError`` for a skill that there is not."""
        return [await self._invoker.invoke(name, "", by="user", hidden=True) for name in agent.skills]

    # --- while the session runs -------------------------------------------------------------------------------------

    def refresh(self) -> bool:
        """Reads what changed on disk; whether anything did."""
        before, self.catalog = self.catalog, self._reader.read(self._places)
        return before != self.catalog

    def use(self, settings: Settings, *, trusted: bool) -> None:
        """The settings were read again, or the project was trusted meanwhile."""
        self._settings, self._trusted = settings, trusted
        changed = [p if p.scope == "user" else Place(p.directory, p.scope, trusted, p.root) for p in self._places]
        self._places = tuple(changed)
        self.refresh()

    def resume(
        self, sections: Mapping[str, str | None], messages: Iterable[Message], *, skill_tool: bool = True
    ) -> None:
        """Call when a session is resumed, with the restored section values and messages: what was told then is not
        told again.  ``skill_tool``: the session has the Skill tool, so it is told of new skills."""
        reminders = [b.text for m in messages for b in m.content if isinstance(b, TextBlock) and b.origin == "reminder"]
        text = "\n".join([*(t for t in sections.values() if t), *reminders])
        self._skills_told.believe([text], asked=skill_tool and bool(sections))
        self._agents_told.believe([text])
        self._resumed = True

    def rewound(self, remaining: Remaining) -> None:
        """``ports.prompt.Rewindable``."""
        asked = self._skills_told.items is not None
        self.resume(remaining.sections, remaining.messages, skill_tool=asked)

    def clear(self) -> None:
        """Call with ``/clear``: no skill is in use any more."""
        self._fitting.clear()
        self._invoker.forget()

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        """New, changed and vanished skills and agents; skills that fit files which were touched; after a compaction
        the skills that are in use."""
        match moment:
            case "file_touched":
                return self._touched(paths)
            case "after_compaction":
                text = self._invoker.in_use()
                return [Reminder("skills-in-use", text)] if text else []
            case "first_message" | "before_step":
                resumed, self._resumed = self._resumed, False
                return self._news() if self.refresh() or resumed else []

    def _news(self) -> list[Reminder]:
        texts = {
            "skills": self._skills_told.news(self._skill_items()),
            "agents": self._agents_told.news(self._agent_items()),
        }
        return [Reminder(key, text) for key, text in texts.items() if text]

    def _touched(self, paths: Sequence[Path]) -> list[Reminder]:
        real = tuple(p.resolve() for p in paths)
        if self._root is not None:
            known = frozenset(p.directory for p in self._places)
            nested = nested_places(real, self._root, known, trusted=self._trusted)
            if nested:
                self._places = (*nested, *self._places)
                self.refresh()
        for skill in self.skills.values():
            if skill.paths and skill.name not in self._fitting and any(self._fits(skill, p) for p in real):
                self._fitting[skill.name] = skill
        return self._news()

    def _fits(self, skill: Skill, path: Path) -> bool:
        if self._root is None or not path.is_relative_to(self._root):
            return False
        relative = path.relative_to(self._root).as_posix()
        return any(_matches(pattern, relative) for pattern in skill.paths)

    # --- parts ------------------------------------------------------------------------------------------------------

    def _skill(self, name: str) -> Skill | None:
        return self.skills.get(name) or self.commands.get(name)

    def _surroundings_now(self) -> Surroundings:
        return self.surroundings()

    def _shell_allowed(self) -> bool:
        return not self._settings.flag("disableSkillShellExecution")

    def _skill_items(self) -> list[Item]:
        seen = {n: self.visibility(n) for n in self.skills}
        return [
            Item(skill.name, skill.summary if seen[skill.name] == "on" else "")
            for skill in self.skills.values()
            if skill.by_model
            and seen[skill.name] in ("on", "name-only")
            and (not skill.paths or skill.name in self._fitting)
        ]

    def _agent_items(self) -> list[Item]:
        return [Item(agent.name, " ".join(agent.description.split())) for agent in self.agents.values()]


def _matches(pattern: str, relative: str) -> bool:
    try:
        return compile_glob(pattern.removeprefix("/"))(relative)
    except ValueError:  # braces for too many alternatives
        return False


def _named(kind: str, known: Mapping[str, Any], name: str) -> Any:
    found = known.get(name) or next((v for n, v in known.items() if n.lower() == name.lower()), None)
    if found is None:
        raise UserError(f"there is no {kind} {name!r}. There are: {', '.join(known) or 'none'}")
    return found
