"""What the tests of the engine plugin need: the tools that build it."""

from __future__ import annotations

import pytest
from servers import choosing, with_plugin
from servers.engine import AbsentError


@pytest.fixture(scope="session", autouse=True)
def build_tools() -> None:
    """Skip where Maven or a JDK 21 is absent; in CI that is a failure."""
    try:
        with_plugin.require_tools()
    except AbsentError as absent:
        choosing.leave_out(str(absent))
