"""Key bindings of prompt_toolkit are the same for every application; building them anew for each test takes longer than
most tests."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import prompt_toolkit.application.application as application
import pytest


@pytest.fixture(scope="session", autouse=True)
def shared_default_bindings() -> Iterator[None]:
    patch = pytest.MonkeyPatch()
    patch.setattr(application, "load_key_bindings", cache(application.load_key_bindings))
    patch.setattr(application, "load_page_navigation_bindings", cache(application.load_page_navigation_bindings))
    yield
    patch.undo()
