"""Several hundred command lines with the decision that is right for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentcli.ports.permissions import PermissionMode
from tests.permissions.conftest import make_gate, shell

CORPUS = Path(__file__).parent / "corpus"
GUARDED = {"allow": ["Bash(*)", "Bash(git:*)"], "ask": ["Bash(git push:*)"], "deny": ["Bash(rm -rf:*)", "Bash(curl:*)"]}
RULES = {
    "allow": [
        "Bash(npm run build)",
        "Bash(npm run test:*)",
        "Bash(git commit *)",
        "Bash(git * main)",
        "Bash(ls:*)",
        "Bash(./run.sh:*)",
        "Bash(sudo apt:*)",
        "Bash(find:*)",
        "Bash(watch:*)",
        "Bash(FOO=1 make *)",
        "Bash(git reset:*)",
        "Bash(bash scripts/x.sh)",
    ]
}
WIDE = {"allow": ["Bash(*)", "Bash(git:*)"]}
OUTPUTS = {"allow": ["Bash(*)"], "deny": ["Edit(f)", "Edit(/secret/**)", "Read(.env)"]}
ALL: tuple[PermissionMode, ...] = ("default", "acceptEdits", "bypassPermissions")
SETS: dict[str, tuple[tuple[PermissionMode, ...], dict[str, list[str]]]] = {
    "readonly": (("default",), {}),
    "guarded": (ALL, GUARDED),
    "rules": (("default",), RULES),
    "destructive": (ALL, WIDE),
    "outputs": (ALL, OUTPUTS),
    "edits": (("acceptEdits",), {}),
}


def lines(name: str) -> list[tuple[str, str, str]]:
    found = []
    for line in (CORPUS / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            decision, fragment, command = line.split("\t")
            found.append((decision, fragment, command.replace("\\n", "\n").replace("\\\\", "\\")))
    return found


def test_the_corpus_is_large_and_nothing_stands_twice() -> None:
    every = [(name, command) for name in SETS for _, _, command in lines(name)]
    assert len(every) == len(set(every)) >= 400


@pytest.mark.parametrize(("name", "mode"), [(name, mode) for name, (modes, _) in SETS.items() for mode in modes])
def test_every_command_line_gets_the_right_decision(name: str, mode: PermissionMode, still_site: Path) -> None:
    gate = make_gate(still_site, still_site.parent / "home", mode=mode, **SETS[name][1])
    wrong = []
    for expected, fragment, command in lines(name):
        decision = shell(gate, command)
        told = " ".join((decision.reason, decision.rule, *decision.details))
        exact = mode == SETS[name][0][0]
        if decision.behavior != expected or (exact and fragment not in told):
            wrong.append(f"{command!r}: {decision.behavior} ({told}), expected {expected} ({fragment})")
    assert not wrong, "\n".join(wrong)
