"""The ``api`` fixture: a running server, and an environment that points at it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.server import ApiServer


@pytest.fixture
def api(world: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """A server without steps yet (``api.play``); ``ANTHROPIC_BASE_URL`` and ``ANTHROPIC_API_KEY`` are set.

    Fails the test when the server refused a request, unless the test says ``api.refused_is_fine = True``.
    """
    with ApiServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", server.key)
        yield server
        if not server.refused_is_fine:
            server.assert_clean()
