"""A few kills at random, as `python -m faults --kills` makes them by the hundred."""

from pathlib import Path

import pytest
from killing import embedded


@pytest.mark.slow
def test_jobs_killed_at_random_fill_a_store_in_the_end(tmp_path: Path) -> None:
    toll = embedded(tmp_path, seed=3, files=120, say=lambda _: None).run(kills=5)
    assert toll.kills.total() >= 5 and toll.stores >= 1
