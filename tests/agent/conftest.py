from __future__ import annotations

from tests.api.fixtures import api  # noqa: F401  (a fixture)
