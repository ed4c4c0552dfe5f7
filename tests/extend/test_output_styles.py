"""Output styles: built-in ones, files, and the choice."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentcli.errors import UserError
from agentcli.extend.output_styles import OutputStyle
from tests.extend.worlds import extensions, write


def style(root: Path, name: str, text: str) -> Path:
    return write(root / ".claude" / "output-styles" / f"{name}.md", text)


def test_built_in_styles(project: Path) -> None:
    found = extensions(project)
    assert list(found.styles) == ["explanatory", "learning"]
    assert found.output_style() is None
    assert found.output_style("Default") is None
    for name in ("explanatory", "learning"):
        assert found.styles[name].keep_coding_instructions
        assert len(found.styles[name].text) < 1_200
    assert found.output_style("Explanatory") == found.styles["explanatory"]


def test_files(project: Path, home: Path) -> None:
    path = style(project, "terse", "---\ndescription: Few words\nkeep-coding-instructions: true\n---\n\nSay less.\n")
    style(home, "terse", "of the user")
    style(home, "pirate", "Arr.")
    style(home, "empty", "---\ndescription: d\n---\n")
    found = extensions(project, outputStyle="terse")
    expected = OutputStyle("terse", "Few words", "Say less.", True, "project", path)
    assert found.output_style() == expected
    assert found.output_style("pirate") == OutputStyle(
        "pirate", "", "Arr.", False, "user", home / ".claude" / "output-styles" / "pirate.md"
    )
    assert [w.rpartition("/")[2] for w in found.warnings] == [
        "empty.md: the output style has no text; write it below the front matter; left out"
    ]
    assert extensions(project, trusted=False).output_style("terse").text == "of the user"  # type: ignore[union-attr]  # there


def test_an_unknown_style_says_what_there_is(project: Path) -> None:
    with pytest.raises(UserError, match=r"there is no output style 'x'. There are: explanatory, learning"):
        extensions(project, outputStyle="x").output_style()
