"""The small repository that the demonstration works on: a module, its tests, and one bug."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MODULE = '''"""Durations as people write them: ``90s``, ``5m``, ``1h30m``."""

import re

_PART = re.compile(r"(\\d+)([hms])")
_SECONDS = {"h": 3600, "m": 60, "s": 1}


def parse(text):
    """Seconds of a duration such as ``1h30m``; ``ValueError`` if it is none."""
    total = 0
    position = 0
    for part in _PART.finditer(text):
        if part.start() != position:
            break
        total = int(part[1]) * _SECONDS[part[2]]
        position = part.end()
    if position != len(text) or not text:
        raise ValueError(f"not a duration: {text!r}")
    return total
'''
TESTS = """import unittest

from duration import parse


class ParseTest(unittest.TestCase):
    def test_one_unit(self):
        self.assertEqual(parse("90s"), 90)

    def test_several_units(self):
        self.assertEqual(parse("1h30m"), 5400)

    def test_nonsense(self):
        with self.assertRaises(ValueError):
            parse("soon")


if __name__ == "__main__":
    unittest.main()
"""
TEST_COMMAND = "python3 -m unittest -q"


def create(directory: Path) -> None:
    """Writes the repository into an empty directory.  With git there, it is a git repository with one commit."""
    (directory / "duration.py").write_text(MODULE, encoding="utf-8")
    (directory / "test_duration.py").write_text(TESTS, encoding="utf-8")
    identity = ["-c", "user.name=agentcli demo", "-c", "user.email=demo@example.invalid"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "Durations"]):
        try:
            subprocess.run(["git", *command], cwd=directory, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return  # the demonstration does not need git


def tests_pass(directory: Path) -> bool:
    """Whether the repository's own tests pass now."""
    done = subprocess.run(
        [sys.executable, "-m", "unittest", "-q"], cwd=directory, capture_output=True, timeout=60, check=False
    )
    return done.returncode == 0
