"""Some operations on stores, as `python -m faults --operations` runs them by the thousand."""

from pathlib import Path

import pytest
from long_run import LongRun, run_all

pytestmark = pytest.mark.slow


def assert_runs(home: Path, url: str) -> None:
    runs = run_all(home, {"store": url}, operations=120, seed=3, say=lambda _: None)
    assert runs["store"].operations.total() == 120
    assert runs["store"].kills.total() >= 3


def test_commands_of_every_kind_killed_at_random_lose_nothing(tmp_path: Path) -> None:
    assert_runs(tmp_path, f"sqlite:///{tmp_path}/run.db")


@pytest.mark.parametrize("engine", ["opensearch", "elasticsearch"])
def test_they_lose_nothing_in_an_engine(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address = request.getfixturevalue(f"{engine}_url").replace("http", engine)
    assert_runs(tmp_path, f"{address}/long-run")


def test_a_seed_repeats_the_commands(tmp_path: Path) -> None:
    ends = []
    for place in ("first", "second"):
        run = LongRun(tmp_path / place, f"sqlite:///{tmp_path}/{place}.db", "5")
        run.run(25)
        texts = {Path(path).name: text for path, text in run.expected.texts.items()}
        ends.append((run.operations, texts, run.expected.recipe, run.expected.threshold))
    assert ends[0] == ends[1]
