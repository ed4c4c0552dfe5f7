"""Slash commands against a real session whose model plays a script."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agentcli.commands.base import CommandContext, CommandResult
from agentcli.commands.registry import Registry
from agentcli.errors import UserError
from agentcli.events import Event
from agentcli.i18n import Texts
from agentcli.model.scripted import ScriptedClient, call, say
from agentcli.ports.frontend import Choice, UserInput
from agentcli.runtime.build import open_session
from agentcli.runtime.options import Resume, SessionOptions
from agentcli.runtime.session import Session
from tests.api import ApiServer
from tests.e2e.harness import until

CODE = "Here:\n\n```python\nx = 1\n```\n\nand\n\n~~~\nsecond\n~~~\n"


@dataclass
class Asked:
    """Dialogs that answer what they were told to, and remember what was asked."""

    answers: list[str | None] = field(default_factory=list)
    confirmed: bool = False
    seen: list[tuple[str, Sequence[Choice], str | None]] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    async def choose(self, title: str, choices: Sequence[Choice], *, current: str | None = None) -> str | None:
        self.seen.append((title, choices, current))
        return self.answers.pop(0)

    async def confirm(self, question: str, *, detail: str = "") -> bool:
        self.questions.append(question)
        return self.confirmed

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        return None

    async def show(self, text: str) -> None:
        self.shown.append(text)


class Desk:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.dialogs = Asked()
        self.texts = Texts()
        self.events: list[Event] = []
        self._registry = Registry()
        session.events.subscribe(self.events.append)
        session.start()

    async def __call__(self, line: str) -> CommandResult:
        name, _, arguments = line.partition(" ")
        command = self._registry.find(name)
        assert command is not None
        context = CommandContext(self.session, self.dialogs, self._registry.all(), texts=self.texts)
        return await command.run(context, arguments.strip())

    async def say(self, text: str = "hello") -> None:
        await self.session.run(UserInput(text))


@asynccontextmanager
async def desk(project: Path, *script: object, **options: object) -> AsyncIterator[Desk]:
    client = ScriptedClient(list(script), otherwise=say("Fine."))  # type: ignore[arg-type]
    session = await open_session(SessionOptions(cwd=project, **options), client=client)  # type: ignore[arg-type]
    try:
        yield Desk(session)
    finally:
        await session.close()


async def test_help_lists_commands_and_keys(project: Path) -> None:
    async with desk(project) as run:
        text = (await run("help")).text
        assert "- `/exit`, `/quit`: Leave; the session can be resumed" in text
        assert "Shift+Tab: next permission mode" in text
        assert (await run("help /compact")).text == (
            "**Commands**\n\n- `/compact [focus | --preview | --undo]`: Replace the conversation by a summary of it"
        )


async def test_exit(project: Path) -> None:
    async with desk(project) as run:
        assert await run("exit") == CommandResult(exit=True)


async def test_clear_begins_anew(project: Path) -> None:
    async with desk(project) as run:
        await run.say()
        before = run.session.id
        assert await run("clear") == CommandResult()
        assert run.session.id != before
        assert run.session.state.messages == []


async def test_compact_without_a_conversation_says_so(project: Path) -> None:
    async with desk(project) as run:
        assert (await run("compact")).text == "There is nothing to summarise yet."


async def test_model_and_effort_show_the_price_of_a_switch_first(project: Path) -> None:
    async with ApiServer("An answer.") as api:
        own = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": api.key}
        session = await open_session(SessionOptions(cwd=project, environment=own))
        try:
            run = Desk(session)
            await run.say()
            current = session.status().model
            run.dialogs.answers = ["claude-opus-5-5", "low"]
            result = await run("model")
            effort = await run("effort")
        finally:
            await session.close()
    (title, choices, marked), (_, levels, _) = run.dialogs.seen
    prices = {c.value: c.description for c in choices}
    assert (title, marked) == ("Model", current)
    assert prices[current] == "as now"
    assert prices["claude-opus-5-5"].startswith("re-reads ")
    assert "about $" in prices["claude-opus-5-5"]
    assert result == CommandResult(f"The next request {prices['claude-opus-5-5']}.")
    assert session.status().model == "claude-opus-5-5"
    assert {c.value: c.description for c in levels}["medium"] == "as now"
    assert effort.text.startswith("The next request re-reads ")
    assert session.status().effort == "low"


async def test_a_switch_by_name_is_made_after_its_price_was_seen(project: Path) -> None:
    async with ApiServer("An answer.") as api:
        own = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": api.key}
        session = await open_session(SessionOptions(cwd=project, environment=own))
        try:
            run = Desk(session)
            await run.say()
            assert (await run("model opus")).text.startswith("The model stays Claude Sonnet")
            assert (await run("effort low")).text == "The effort stays high."
            run.dialogs.confirmed = True
            assert (await run("model opus")).text.startswith("The next request re-reads ")
            await run("effort low")
        finally:
            await session.close()
    assert (session.status().model, session.status().effort) == ("claude-opus-5-5", "low")
    questions = [q.split(": ")[0] for q in run.dialogs.questions]
    assert questions == ["opus", "low", "opus", "low"]
    assert all("re-reads " in q and "about $" in q for q in run.dialogs.questions)


async def test_the_server_s_word_on_a_model_s_window_holds(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.api.models.info", lambda model: {"id": model.id, "max_input_tokens": 123_456})
    async with ApiServer() as api:
        own = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": api.key}
        session = await open_session(SessionOptions(cwd=project, environment=own))
        session.start()
        try:
            assert session.status().window == 1_000_000
            await until(lambda: session.status().window == 123_456, seconds=30)
            await session.set_model("haiku")
            await until(lambda: session.status().window == 123_456, seconds=30)
            assert [r.path for r in api.all_requests] == [
                "/v1/models/claude-sonnet-5-5",
                "/v1/models/claude-haiku-5-5",
            ]
        finally:
            await session.close()


async def test_model_by_name_and_without_a_choice(project: Path) -> None:
    async with desk(project) as run:
        assert await run("model haiku") == CommandResult()
        assert run.session.status().model == "claude-haiku-5-5"
        run.dialogs.answers = [None]
        assert (await run("model")).text == "The model stays Claude Haiku 5.5 (`claude-haiku-5-5`)."
        with pytest.raises(UserError):
            await run("model two words")


async def test_effort(project: Path) -> None:
    async with desk(project, model="sonnet") as run:
        assert await run("effort low") == CommandResult()
        assert run.session.status().effort == "low"
        assert (await run("effort low")).text == "The effort stays low."
        with pytest.raises(UserError, match="has no effort 'huge'"):
            await run("effort huge")
        await run("model claude-haiku-4-5")
        assert (await run("effort")).text == "Claude Haiku 4.5 has no effort setting."


async def test_mode(project: Path) -> None:
    async with desk(project) as run:
        assert (await run("mode plan")).text == "Mode: plan (plans only)"
        assert run.session.status().mode == "plan"
        run.dialogs.answers = ["acceptEdits", None]
        assert (await run("mode")).text == "Mode: acceptEdits (edits freely)"
        assert (await run("mode")).text == "Mode: acceptEdits (edits freely)"
        with pytest.raises(UserError, match="There is no mode 'wild'"):
            await run("mode wild")
        with pytest.raises(UserError, match="bypassPermissions"):
            await run("mode bypassPermissions")


async def test_status(project: Path) -> None:
    async with desk(project, name="my work") as run:
        await run.say()
        text = (await run("status")).text
        assert f"- **Session:** `{run.session.id}` “my work”" in text
        assert f"- **Directory:** `{project}`" in text
        assert "- **Mode:** default (asks)" in text
        assert "of the last request was read from the cache" in text


async def test_todos(project: Path) -> None:
    todos = [{"content": "Look", "status": "completed"}, {"content": "Do", "status": "pending"}]
    async with desk(project, say(call("TodoWrite", todos=todos)), "Done.") as run:
        assert (await run("todos")).text == "There is no todo list yet."
        await run.say()
        assert (await run("todos")).text == "- [x] Look\n- [ ] Do"


async def test_rename(project: Path) -> None:
    async with desk(project) as run:
        assert (await run("rename The parser")).text == "This session is now “The parser”."
        assert run.session.status().title == "The parser"
        with pytest.raises(UserError, match="Give the title"):
            await run("rename")


async def test_export(project: Path) -> None:
    async with desk(project, "An answer.") as run:
        await run.say("A question?")
        path = project / "talk.md"
        assert (await run("export talk.md")).text == f"Written to `{path}`."
        assert "A question?" in path.read_text()
        assert "An answer." in path.read_text()
        path.write_text("precious")
        assert (await run("export talk.md")).text == "Nothing was written."
        assert run.dialogs.questions == [f"{path} exists. Overwrite it?"]
        assert path.read_text() == "precious"
        with pytest.raises(UserError, match="can't be written"):
            await run("export nowhere/talk.json")


async def test_export_of_a_session_that_is_not_stored(project: Path) -> None:
    async with desk(project, persist=False) as run:
        await run.say()
        with pytest.raises(UserError, match="not stored"):
            await run("export")


async def test_copy(project: Path) -> None:
    async with desk(project, CODE) as run:
        with pytest.raises(UserError, match="no answer to copy"):
            await run("copy")
        await run.say()
        assert await run("copy") == CommandResult(copy=CODE.strip())
        assert await run("copy 1") == CommandResult(copy="x = 1\n")
        assert await run("copy 2") == CommandResult(copy="second\n")
        with pytest.raises(UserError, match="has 2 code blocks"):
            await run("copy 3")


async def test_add_dir(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with desk(project) as run:
        assert (await run(f"add-dir {other}")).text == f"The agent may work in `{other}` for the rest of this session."
        assert run.session.workspace.extra_roots == [other]
        assert "already" in (await run(f"add-dir {other}")).text
        assert f"- `{other}`" in (await run("add-dir")).text
        with pytest.raises(UserError, match="not a directory"):
            await run("add-dir nowhere")


async def test_permissions(project: Path) -> None:
    async with desk(project, allowed_tools=("Bash(make *)",), disallowed_tools=("Read(secret/**)",)) as run:
        text = (await run("permissions")).text
        assert text.index("**deny**") < text.index("`Read(secret/**)`") < text.index("**allow**")
        assert "`Bash(make *)`" in text
        assert (await run("permissions test Bash(make all)")).text.startswith("```\nallow (mode default)")
        with pytest.raises(UserError):
            await run("permissions nonsense")


async def test_resume_offers_earlier_sessions(project: Path) -> None:
    async with desk(project, "First answer.") as run:
        with pytest.raises(UserError, match="no earlier session"):
            await run("resume")
        await run.say("Fix the parser")
        first = run.session.id
    async with desk(project) as run:
        assert await run("resume parser") == CommandResult(resume=first)
        run.dialogs.answers = [first, None]
        assert await run("resume") == CommandResult(resume=first)
        assert await run("resume") == CommandResult()
        [offered] = run.dialogs.seen[0][1]
        assert offered.label == "Fix the parser"
        assert offered.preview is not None
        assert list(offered.preview()) == ["❯ Fix the parser", "· First answer."]
        with pytest.raises(UserError, match="No session matches 'nothing like it'"):
            await run("resume nothing like it")
    client = ScriptedClient([])
    session = await open_session(SessionOptions(cwd=project, resume=Resume(query=first)), client=client)
    assert session.id == first
    await session.close()


KOREAN = (
    "compact --undo",
    "copy 7",
    "rename",
    "rename 새 제목",
    "add-dir",
    "add-dir nowhere",
    "mode",
    "mode plan",
    "mode other",
    "mode bypassPermissions",
    "export talk.md",
    "resume nothing like it",
    "output-style",
    "theme pink",
    "loop",
    "proactive",
    "btw",
    "todos",
    "config nothing",
    "permissions",
    "permissions other",
    "hooks",
    "agents nobody",
    "memory other",
    "memory edit 9",
    "mcp",
    "context other",
)


async def test_commands_answer_in_korean(project: Path, golden) -> None:
    told = []
    async with desk(project) as run:
        run.texts = Texts("ko")
        told.append((await run("compact")).text)
        await run.say()
        for line in KOREAN:
            run.dialogs.answers[:] = [None]
            try:
                answer = (await run(line)).text
            except UserError as error:
                answer = str(error)
            told.append(
                "\n\n".join(
                    filter(
                        None, [f"# {line}", *(title for title, *_ in run.dialogs.seen), *run.dialogs.questions, answer]
                    )
                )
            )
            run.dialogs.questions.clear()
            run.dialogs.seen.clear()
        preview = (await run("compact --preview")).text  # its figures depend on the directory
        assert "| 요약과 함께 남는 것 | 토큰 |" in preview
        assert preview.endswith("`/compact --undo`로 되돌립니다.")
    golden("commands.ko.md", "\n\n".join(told).replace(str(project), "/p") + "\n")
