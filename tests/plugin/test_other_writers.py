"""Clients write beside nearfold on one node that has the plugin, with the layout of the pipeline
and with its own, and hide nothing: neither in stored groups nor where the plugin folds.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from jobs import delete_index, index_names
from other_writers import SharedRun

from indexer.jobs.install import uninstall
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.maintenance import Layout

pytestmark = pytest.mark.engines

SEED = os.environ.get("NEARFOLD_CLIENTS_SEED") or "7"
STEPS = 25


@pytest.mark.parametrize(
    ("engine", "layout"),
    [
        ("opensearch", "plugin"),
        ("elasticsearch", "pipeline"),
        pytest.param("opensearch", "pipeline", marks=pytest.mark.slow),
        pytest.param("elasticsearch", "plugin", marks=pytest.mark.slow),
    ],
)
def test_clients_of_an_engine_hide_nothing(
    engine: str,
    layout: Layout,
    url_with_plugin: Callable[[str], str],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("faults", STEPS)
    server = url_with_plugin(engine)
    name = f"nearfold-clients-{random.SystemRandom().randrange(1_000_000)}"
    url = f"{server.replace('http', engine)}/{name}"
    run = SharedRun(tmp_path / "run", url, SEED, layout=layout)
    try:
        counts = run.run(STEPS)
    finally:
        for index in index_names(server, name):
            delete_index(server, index)
        with closing(open_store(url)) as store:
            uninstall(store, DEFAULT)
    assert run.has_field and counts.clients and counts.commands and counts.reported
