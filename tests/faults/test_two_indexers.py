"""Two jobs at once: on one store of one machine the second is refused; on one cluster both write,
with the same result.
"""

import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import JobRunner, delete_index, index_command, library
from oracle import check_soundness, count_events, grouped_rows, read_state
from scene import BATCH, Scene


@pytest.fixture
def other_machine(tmp_path: Path) -> Iterator[JobRunner]:
    """Yield the jobs of another machine: a state folder of its own."""
    jobs = JobRunner(tmp_path)
    assert jobs.run("--version").code == 0
    yield jobs
    jobs.close()


def test_the_second_job_on_an_embedded_store_is_refused(
    scene: Scene, other_machine: JobRunner
) -> None:
    store = scene.new_store()
    log = scene.home / f"{store.stem}.log"
    slow = "after_commit:2=delay:5"
    first = scene.jobs.start(
        *scene.command(store), **BATCH, NEARFOLD_FAILPOINTS=slow, JOB_LOG=str(log)
    )
    deadline = time.monotonic() + 60
    while not count_events(log, "paused"):
        assert time.monotonic() < deadline, "the job does not reach its failpoint"
        time.sleep(0.01)
    second = other_machine.run(*scene.command(store))
    assert second.code == 3 and "in use by another nearfold process" in second.err
    assert scene.jobs.wait(first).code == 1
    assert read_state(f"sqlite:///{store}").rows.keys() == scene.after.rows.keys()
    scene.check_recovery(store)


def test_two_machines_fill_one_cluster(
    opensearch_url: str, tmp_path: Path, other_machine: JobRunner
) -> None:
    """Neither knows the other's journal; one of them is killed on the way."""
    folder = library(tmp_path / "papers", 100, 5)
    index_name = f"nearfold-two-{secrets.token_hex(6)}"
    url = f"{opensearch_url.replace('http', 'opensearch')}/{index_name}"
    whole_url = f"sqlite:///{tmp_path}/whole.db"
    command = index_command(folder, url)
    (tmp_path / "here").mkdir()
    this_machine = JobRunner(tmp_path / "here")
    try:
        assert other_machine.run(*index_command(folder, whole_url)).code == 0
        killed = {"JOB_BATCH": "10", "NEARFOLD_FAILPOINTS": "after_send:6=kill"}
        this_job = this_machine.start(*command, **killed)
        other_job = other_machine.start(*command, JOB_BATCH="15")
        this_result = this_machine.wait(this_job)
        other_result = other_machine.wait(other_job)
        assert other_result.code == 0, other_result
        assert this_result.code in (-9, 0), this_result
        assert this_machine.run(*command).code == 0
        state = read_state(url)
        check_soundness(state)
        assert len(state.rows) == 100
        assert grouped_rows(url) == grouped_rows(whole_url)
    finally:
        this_machine.close()
        delete_index(opensearch_url, index_name)
