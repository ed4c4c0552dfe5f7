from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentcli.errors import ToolError
from agentcli.tools.notebook_edit import NotebookEdit
from tests.tools.bench import Bench, said

NOTEBOOK: dict[str, Any] = {
    "cells": [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# é\n", "text"]},
        {
            "cell_type": "code",
            "execution_count": 3,
            "id": "calc",
            "metadata": {},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": ["2\n"]}],
            "source": ["print(1 + 1)"],
        },
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture(params=[{"indent": 1, "ensure_ascii": False}, {"indent": 2}, {}], ids=["usual", "indent2", "compact"])
def layout(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(request.param)


@pytest.fixture
def path(project: Path, layout: dict[str, Any]) -> Path:
    path = project / "n.ipynb"
    path.write_text(json.dumps(NOTEBOOK, **layout) + "\n", encoding="utf-8")
    return path


async def change(bench: Bench, **input: Any) -> str:
    return said((await NotebookEdit().run({"notebook_path": "n.ipynb", **input}, bench.ctx)).for_model)


async def test_a_cell_is_replaced_and_the_file_keeps_its_layout(
    bench: Bench, path: Path, layout: dict[str, Any]
) -> None:
    await bench.read("n.ipynb")
    assert (
        await change(bench, cell_id="calc", new_source="a = 1\nb = 2\n") == "Replaced the source of cell 2 in n.ipynb."
    )
    expected = json.loads(json.dumps(NOTEBOOK))
    expected["cells"][1].update(source=["a = 1\n", "b = 2\n"], outputs=[], execution_count=None)
    assert path.read_text(encoding="utf-8") == json.dumps(expected, **layout) + "\n"


async def test_cells_are_inserted_and_deleted_by_id_or_number(bench: Bench, path: Path) -> None:
    await bench.read("n.ipynb")
    assert await change(bench, edit_mode="insert", cell_type="code", new_source="x", cell_id="1") == (
        "Inserted code cell 2 in n.ipynb."
    )
    assert await change(bench, edit_mode="insert", cell_type="markdown", new_source="top") == (
        "Inserted markdown cell 1 in n.ipynb."
    )
    assert await change(bench, edit_mode="delete", cell_id="title") == "Deleted cell 2 in n.ipynb."
    cells = json.loads(path.read_text())["cells"]
    assert [(c["cell_type"], c["source"], c.get("outputs")) for c in cells] == [
        ("markdown", ["top"], None),
        ("code", ["x"], []),
        ("code", ["print(1 + 1)"], NOTEBOOK["cells"][1]["outputs"]),
    ]
    assert len({c["id"] for c in cells}) == 3


async def test_a_cell_changes_its_type(bench: Bench, path: Path) -> None:
    await bench.read("n.ipynb")
    await change(bench, cell_id="calc", cell_type="markdown", new_source="done")
    assert json.loads(path.read_text())["cells"][1] == {
        "cell_type": "markdown",
        "id": "calc",
        "metadata": {},
        "source": ["done"],
    }


async def test_errors_say_what_to_do_and_change_nothing(bench: Bench, path: Path, project: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(ToolError, match="has not been read yet"):
        await change(bench, cell_id="calc")
    await bench.read("n.ipynb")
    for input, words in (
        ({"cell_id": "none"}, r"There is no cell 'none'\. Cells: title, calc\."),
        ({"cell_id": "3"}, "There is no cell '3'"),
        ({}, "Say which cell to replace"),
        ({"edit_mode": "insert"}, "say its cell_type"),
        ({"cell_id": "calc", "new_source": "\ud800"}, "half of a character"),
    ):
        with pytest.raises(ToolError, match=words):
            await change(bench, **input)
    assert path.read_bytes() == before
    (project / "n.ipynb").write_text("{}")
    with pytest.raises(ToolError, match="changed by somebody else"):
        await change(bench, cell_id="calc")
    bench.seen.note(path, b"{}", whole=True)
    with pytest.raises(ToolError, match="not a notebook of format 4"):
        await change(bench, cell_id="calc")


async def test_the_preview_writes_nothing(bench: Bench, path: Path) -> None:
    before = path.read_bytes()
    await bench.read("n.ipynb")
    shown = NotebookEdit().preview({"notebook_path": "n.ipynb", "cell_id": "1", "new_source": "x"}, bench.ctx)
    assert shown is not None
    assert NotebookEdit().preview({"notebook_path": "n.ipynb", "cell_id": "9"}, bench.ctx) is None
    assert path.read_bytes() == before
