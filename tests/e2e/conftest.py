"""A store of the example files, which are read once a process and not for each test."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command import ROOT, run


@pytest.fixture(scope="session")
def copy_examples_to(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], str]:
    """Return a function that makes a store of the indexed examples at a path, and returns its
    address.
    """
    original = tmp_path_factory.mktemp("examples") / "store"
    run("index", ROOT / "examples", store=f"sqlite:///{original}")

    def copy_to(path: Path) -> str:
        for file in original.parent.iterdir():  # the store, and the journal of its jobs
            shutil.copy(file, f"{path}{file.name.removeprefix(original.name)}")
        return f"sqlite:///{path}"

    return copy_to
