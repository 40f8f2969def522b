"""A few kills at random, as `python -m faults --kills` makes them by the hundred."""

from pathlib import Path

import pytest
from campaign import embedded_campaign


@pytest.mark.slow
def test_jobs_killed_at_random_complete_a_store(tmp_path: Path) -> None:
    tally = embedded_campaign(tmp_path, seed=3, files=120, say=lambda _: None).run(kills=5)
    assert tally.kills.total() >= 5 and tally.stores >= 1
