from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.bench import Bench


@pytest.fixture
def bench(project: Path) -> Bench:
    return Bench(project)
