"""The steps of a job into a real search engine, killed and failing; run again, the result is that
of an undisturbed store.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from jobs import JobResult, JobRunner, delete_index, index_command, library
from oracle import (
    check_account,
    check_acknowledged,
    check_no_repeats,
    check_soundness,
    grouped_rows,
    read_state,
)

OPENSEARCH, ELASTICSEARCH = "opensearch", "elasticsearch"
KILLED = [
    "before_write",
    "before_send",
    "after_send",
    "after_write",
    "before_journal",
    "after_acknowledge",
]
FAILING = {"before_write": 70, "before_send": 0, "after_send": 0, "after_write": 70}


@dataclass
class EngineScene:
    """A folder, the result of an embedded store for it, and an index in an engine."""

    folder: Path
    expected: dict[str, tuple[object, ...]]
    jobs: JobRunner
    url: str
    log: Path

    def index(self, **environment: str) -> JobResult:
        return self.jobs.run(
            *index_command(self.folder, self.url),
            **environment,
            JOB_BATCH="10",
            JOB_LOG=str(self.log),
        )

    def check_recovery(self) -> None:
        before = read_state(self.url)
        check_soundness(before)
        check_acknowledged(before, self.log)
        self.log.unlink()
        job, after = self.index(), read_state(self.url)
        check_account(job, after, self.folder)
        check_soundness(after)
        check_no_repeats(before, after, self.log)
        assert grouped_rows(self.url) == self.expected, "I9"


@pytest.fixture(scope="module")
def embedded_result(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Path, dict[str, tuple[object, ...]], JobRunner]]:
    home = tmp_path_factory.mktemp("engines")
    folder, jobs, undisturbed = (
        library(home / "papers", 60, 2),
        JobRunner(home),
        f"sqlite:///{home}/whole.db",
    )
    assert jobs.run(*index_command(folder, undisturbed)).code == 0
    yield folder, grouped_rows(undisturbed), jobs
    jobs.close()


@pytest.fixture
def engine_scene(
    request: pytest.FixtureRequest,
    embedded_result: tuple[Path, dict[str, tuple[object, ...]], JobRunner],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    opensearch_url: str,
    elasticsearch_url: str,
) -> Iterator[EngineScene]:
    folder, expected, jobs = embedded_result
    monkeypatch.setenv("XDG_STATE_HOME", str(folder.parent / "state"))
    server = {"opensearch": opensearch_url, "elasticsearch": elasticsearch_url}[request.param]
    name = f"nearfold-fault-{secrets.token_hex(6)}"
    yield EngineScene(
        folder,
        expected,
        jobs,
        f"{server.replace('http', request.param)}/{name}?replicas=0",
        tmp_path / "log",
    )
    delete_index(server, name)


@pytest.mark.parametrize(
    ("engine_scene", "name"),
    [*((OPENSEARCH, name) for name in KILLED), (ELASTICSEARCH, "after_send")],
    indirect=["engine_scene"],
)
def test_killed_at_a_step_the_job_recovers(name: str, engine_scene: EngineScene) -> None:
    assert engine_scene.index(NEARFOLD_FAILPOINTS=f"{name}:3=kill").code == -9
    engine_scene.check_recovery()


@pytest.mark.parametrize(
    ("engine_scene", "name"),
    [*((OPENSEARCH, name) for name in FAILING), (ELASTICSEARCH, "after_send")],
    indirect=["engine_scene"],
)
def test_failing_at_a_step_the_job_recovers(name: str, engine_scene: EngineScene) -> None:
    """A lost request or answer is sent again; any other failure ends the job."""
    job = engine_scene.index(NEARFOLD_FAILPOINTS=f"{name}:3=error")
    assert job.code == FAILING[name], job.err
    engine_scene.check_recovery()
