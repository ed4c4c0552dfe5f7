"""What starting costs: nothing heavy is loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.ui.pty import Program

HEAVY = ("anthropic", "mcp", "pydantic", "rich", "typer", "prompt_toolkit", "yaml", "tree_sitter", "httpx2")
BLOCKER = '''
import os, sys, time

class Blocker:
    """Holds back the heavy libraries until the test says so."""

    def find_spec(self, name, path=None, target=None):
        if name in ("anthropic", "mcp"):
            deadline = time.monotonic() + 60
            while not os.path.exists(os.environ["RELEASE"]) and time.monotonic() < deadline:
                time.sleep(0.01)
        return None

sys.meta_path.insert(0, Blocker())
'''


def loaded(arguments: list[str], tmp_path: Path) -> set[str]:
    """Top-level modules that a run of the program loads."""
    code = (
        "import sys, json, atexit\n"
        f"sys.argv = ['agentcli', *{arguments!r}]\n"
        f"atexit.register(lambda: open({str(tmp_path / 'loaded')!r}, 'w').write('\\n'.join(sys.modules)))\n"
        "from agentcli.__main__ import main\n"
        "sys.exit(main())\n"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=60)
    return {line.split(".")[0] for line in (tmp_path / "loaded").read_text().splitlines()}


def test_version_loads_only_the_standard_library(tmp_path: Path) -> None:
    found = loaded(["--version"], tmp_path)
    assert (
        not {m for m in found if m not in sys.stdlib_module_names} - {"agentcli", "__main__", "__mp_main__"} - _site()
    )


@pytest.mark.parametrize("arguments", [["--help"], ["config", "list"], ["no such thing --bogus", "--bogus"]])
def test_small_runs_load_no_client_libraries(arguments: list[str], tmp_path: Path) -> None:
    assert not loaded(arguments, tmp_path) & {"anthropic", "mcp", "prompt_toolkit"}


def test_the_input_line_is_drawn_before_the_client_libraries(world: Path, project: Path) -> None:
    hooks = world / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(BLOCKER)
    release = world / "release"
    env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "PYTHONPATH": str(hooks)}
    with Program([sys.executable, "-m", "agentcli"], cwd=project, env={**env, "RELEASE": str(release)}) as program:
        program.wait_for("❯")
        program.send("typed meanwhile")
        program.wait_for("typed meanwhile")
        release.touch()


def _site() -> set[str]:
    """What the interpreter itself loads in this environment (path files of editable installs and the like)."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in done.stdout.split()}
