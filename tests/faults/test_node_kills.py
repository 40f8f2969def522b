"""Random kills of the nodes of a cluster for a minute, as `python -m faults --nodes` makes them."""

import os
import random
import time
from pathlib import Path

import pytest
from node_kills import NodeKills
from servers import choosing
from servers.cluster import Cluster

MINUTES = float(os.environ.get("NEARFOLD_NODE_MINUTES") or 1)
SEED = int(os.environ.get("NEARFOLD_NODE_SEED") or random.SystemRandom().randrange(10_000))
FILES = 1_500


@pytest.mark.engines
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
def test_no_command_ends_and_nothing_is_lost_while_nodes_are_killed(
    kind: str, tmp_path: Path
) -> None:
    """The seed is printed; `NEARFOLD_NODE_SEED` repeats its choices."""
    print(f"NEARFOLD_NODE_SEED={SEED} NEARFOLD_NODE_MINUTES={MINUTES}")
    with choosing.running(lambda: Cluster(kind)) as cluster:
        until = time.monotonic() + 60 * MINUTES
        counts = NodeKills(tmp_path, cluster, FILES, SEED, until).run()
    assert counts.kills.total() >= 1
    assert set(counts.jobs) == {"index", "group", "reindex"}
    assert counts.documents > FILES
    assert counts.searches > 0
