from __future__ import annotations

from pathlib import Path

import pytest

from agentcli.paths import agentcli_home, user_home


@pytest.mark.parametrize("home", ["~", "here", "./x"])
def test_a_home_that_is_no_absolute_path_is_none(home: str, project: Path) -> None:
    found = user_home({"HOME": home})
    assert found is None or (found.is_absolute() and not found.is_relative_to(project))
    assert agentcli_home({"HOME": home}) == (found / ".agentcli" if found else None)


def test_the_home_is_the_one_that_the_environment_names(home: Path) -> None:
    assert user_home({"HOME": str(home)}) == home
