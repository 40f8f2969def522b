"""The scene of the fault-injection tests, created once a session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from scene import Scene


@pytest.fixture(scope="session")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Return a folder that was indexed, revised since then, and can be indexed again."""
    result = Scene(tmp_path_factory.mktemp("scene"))
    yield result
    result.jobs.close()
