"""Two jobs at once: on one store of one machine the second is refused; on one cluster both write,
with the same result.
"""

import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from drill import Jobs, index_words, library, removed
from oracle import grouped, sound, standing, told
from scene import BATCH, Scene


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Jobs]:
    """Return the environment of another machine: a state folder of its own."""
    jobs = Jobs(tmp_path)
    assert jobs.run("--version").code == 0
    yield jobs
    jobs.close()


def test_the_second_job_on_an_embedded_store_is_refused(scene: Scene, other: Jobs) -> None:
    store = scene.begun()
    log = scene.home / f"{store.stem}.log"
    slow = "after_commit:2=delay:3"
    first = scene.jobs.begin(
        *scene.words(store), **BATCH, NEARFOLD_FAILPOINTS=slow, DRILL_LOG=str(log)
    )
    deadline = time.monotonic() + 60
    while not told(log, "extracted"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    second = other.run(*scene.words(store))
    assert second.code == 3 and "in use by another nearfold job" in second.err
    assert scene.jobs.ended(first).code == 1
    assert standing(f"sqlite:///{store}").rows.keys() == scene.after.rows.keys()
    scene.mended(store)


def test_two_machines_fill_one_cluster(opensearch_url: str, tmp_path: Path, other: Jobs) -> None:
    """Neither knows the other's journal; one of them is killed on the way."""
    folder, name = library(tmp_path / "papers", 150, 5), f"nearfold-two-{secrets.token_hex(6)}"
    url, whole = (
        f"{opensearch_url.replace('http', 'opensearch')}/{name}",
        f"sqlite:///{tmp_path}/whole.db",
    )
    (tmp_path / "here").mkdir()
    here = Jobs(tmp_path / "here")
    try:
        assert other.run(*index_words(folder, whole)).code == 0
        jobs = [
            (
                here,
                here.begin(
                    *index_words(folder, url),
                    DRILL_BATCH="10",
                    NEARFOLD_FAILPOINTS="after_send:6=kill",
                ),
            ),
            (other, other.begin(*index_words(folder, url), DRILL_BATCH="15")),
        ]
        ended = [machine.ended(job) for machine, job in jobs]
        assert ended[1].code == 0 and ended[0].code in (-9, 0), ended
        assert here.run(*index_words(folder, url)).code == 0
        now = standing(url)
        sound(now)
        assert len(now.rows) == 150
        assert grouped(url) == grouped(whole)
    finally:
        here.close()
        removed(opensearch_url, name)
