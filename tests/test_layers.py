"""The house's first rule: imports go down only, rooms on one storey are strangers, vendors stay in their homes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "agentcli"

STOREYS: tuple[frozenset[str], ...] = (
    frozenset({"clock", "conversation", "env", "errors", "events", "files", "globs", "hosts", "i18n", "log"})
    | frozenset({"messages", "paths", "ports", "processes", "text"}),
    frozenset({"frontmatter", "media", "settings", "shell"}),
    frozenset({"agent", "checkpoints", "extend", "mcp", "memory", "model", "permissions", "prompt", "sandbox"})
    | frozenset({"sessions", "tools"}),
    frozenset({"modes"}),
    frozenset({"runtime"}),
    frozenset({"commands"}),
    frozenset({"ui"}),
    frozenset({"api", "cli", "demo"}),
    frozenset({"__main__"}),
)
STRANGERS = frozenset({2})
"""Storeys whose rooms must not know each other; on 0 and 1 modules may, without cycles; on 7 the command line starts
the demonstration."""
VENDORS: dict[str, tuple[str, ...]] = {
    "anthropic": ("model",),
    "mcp": ("mcp",),
    "prompt_toolkit": ("ui",),
    "rich": ("ui", "cli"),
    "typer": ("cli",),
    "charset_normalizer": ("tools",),
    "markdown_it": ("ui",),
    "yaml": ("frontmatter",),
    "tree_sitter": ("shell",),
    "tree_sitter_bash": ("shell",),
    "PIL": ("media",),
    "pypdf": ("media",),
    "rignore": ("tools", "ui"),
    "jsonschema": ("ui", "mcp", "tools"),
    "referencing": ("ui", "mcp", "tools"),
}
HEAVY = frozenset({"anthropic", "mcp", "PIL", "pypdf", "rich.markdown", "pygments", "jsonschema", "referencing"})
"""Imported inside the function that needs them, never when a module of ours is loaded."""


def room(module: str) -> str:
    """The room of a dotted module name: ``agentcli.prompt.split`` -> ``prompt``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def storey(name: str) -> int:
    for number, rooms in enumerate(STOREYS):
        if name in rooms:
            return number
    raise AssertionError(f"agentcli/{name} stands on no storey: add it to STOREYS")


def modules() -> list[tuple[str, Path]]:
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found.append((".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    return found


def imports(path: Path, *, top_level: bool = False) -> list[str]:
    """Every module that the file imports; with ``top_level`` only what loading it imports (TYPE_CHECKING left out)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: list[str] = []

    def visit(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                names.extend(a.name for a in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path}:{child.lineno}: relative import"
                module = child.module or ""
                names.append(module)
                names.extend(f"{module}.{a.name}" for a in child.names)
            elif (top_level and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)) or (
                top_level and isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            ):
                continue
            else:
                visit(child)

    visit(tree)
    return names


MODULES = modules()


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[n for n, _ in MODULES])
def test_imports_go_down(name: str, path: Path) -> None:
    here = room(name)
    if here == "__init__":
        assert not [i for i in imports(path, top_level=True) if i.startswith("agentcli.")]
        return
    for imported in imports(path):
        if not imported.startswith("agentcli."):
            continue
        there = room(imported)
        if there == here or there.startswith("__version__"):
            continue
        assert storey(there) <= storey(here), f"{name} imports {imported}, which stands above it"
        if storey(there) == storey(here) in STRANGERS:
            raise AssertionError(f"{name} imports {imported}: rooms on one storey are strangers; use a port")


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[n for n, _ in MODULES])
def test_vendors_stay_at_home(name: str, path: Path) -> None:
    here = room(name)
    for imported in imports(path):
        top = imported.split(".")[0]
        if top in VENDORS and not imported.startswith("agentcli"):
            assert here in VENDORS[top], f"{name} imports {top}, whose home is {VENDORS[top]}"


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[n for n, _ in MODULES])
def test_heavy_imports_wait(name: str, path: Path) -> None:
    for imported in imports(path, top_level=True):
        heavy = [h for h in HEAVY if imported == h or imported.startswith(h + ".")]
        assert not heavy, f"{name} imports {imported} when it is loaded; do it in the function that needs it"


def test_storey_zero_is_standard_library_only() -> None:
    import sys

    for name, path in MODULES:
        if room(name) in STOREYS[0]:
            for imported in imports(path):
                top = imported.split(".")[0]
                assert top == "agentcli" or top in sys.stdlib_module_names, f"{name}: {imported}"


def test_no_import_cycles() -> None:
    known = {n for n, _ in MODULES}
    graph = {n: {i for i in imports(p, top_level=True) if i in known and i != n} for n, p in MODULES}
    state: dict[str, int] = {}

    def visit(node: str, trail: tuple[str, ...]) -> None:
        if state.get(node) == 2:
            return
        assert state.get(node) != 1, "import cycle: " + " -> ".join((*trail[trail.index(node) :], node))
        state[node] = 1
        for next_node in sorted(graph[node]):
            visit(next_node, (*trail, node))
        state[node] = 2

    for name in sorted(graph):
        visit(name, ())


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[n for n, _ in MODULES])
def test_budget(name: str, path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= 400, f"{name} has {lines} lines: split it"
