"""A command loads only the libraries that it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from indexer.jobs.index import index
from indexer.stores import open_store

_SCRIPT = """
import atexit, sys
from indexer.cli.main import main
atexit.register(lambda: print("rich" in sys.modules))
main()
"""


@pytest.mark.long
def test_a_look_up_in_json_does_not_load_rich(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("a text of a few words that is looked up")
    url = f"sqlite:///{tmp_path}/store.db"
    store = open_store(url)
    index(text, store)
    store.close()
    look_up = [sys.executable, "-c", _SCRIPT, "similar", str(text), "--store", url, "--json"]
    result = subprocess.run(look_up, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "False"
