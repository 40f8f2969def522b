"""Settings of the property tests, and fixtures that several files use."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("steady", max_examples=50, deadline=None)  # a busy machine is no failure
settings.load_profile("steady")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users may enter, under its real path."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name).resolve()


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """The test runs as a user whom permissions concern."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
