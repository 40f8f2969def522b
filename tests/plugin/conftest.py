"""What the tests of the engine plugin need: the tools that build it."""

from __future__ import annotations

import shutil

import pytest
from servers import choosing, java
from servers.engine import AbsentError


@pytest.fixture(scope="session", autouse=True)
def build_tools() -> None:
    """Skip where Maven or a JDK 21 is absent; in CI that is a failure."""
    try:
        java.home(21)
        if shutil.which("mvn") is None:
            raise AbsentError("the plugin is built by Maven and `mvn` is not on the path")
    except AbsentError as absent:
        if choosing.required():
            raise
        pytest.skip(str(absent))
