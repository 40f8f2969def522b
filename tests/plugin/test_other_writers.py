"""Clients write beside nearfold on one node that has the plugin, and hide nothing: neither in the
groups of the pipeline's fields nor where the plugin folds.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from jobs import delete_index, index_names
from other_writers import SharedRun
from servers.process import Server

pytestmark = pytest.mark.engines

SEED = os.environ.get("NEARFOLD_CLIENTS_SEED") or "7"
STEPS = 50


@pytest.mark.parametrize("engine", ["opensearch", "elasticsearch"])
def test_clients_of_an_engine_hide_nothing(
    engine: str,
    shared_node: Callable[[str], Server],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("faults", STEPS)
    server = shared_node(engine).url
    name = f"nearfold-clients-{random.SystemRandom().randrange(1_000_000)}"
    run = SharedRun(tmp_path / "run", f"{server.replace('http', engine)}/{name}", SEED)
    try:
        counts = run.run(STEPS)
    finally:
        for index in index_names(server, name):
            delete_index(server, index)
    assert run.has_field and counts.clients and counts.commands and counts.reported
