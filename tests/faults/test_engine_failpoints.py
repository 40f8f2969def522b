"""The steps of a job into a real search engine, killed and failing; run again, the result is that
of an undisturbed store.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from drill import Ended, Jobs, index_words, library, removed
from oracle import conserved, economical, grouped, kept, sound, standing

OPENSEARCH, OTHER = "opensearch", "elasticsearch"
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
class Place:
    """A folder, the result of an embedded store for it, and an index in an engine."""

    folder: Path
    expected: dict[str, tuple[object, ...]]
    jobs: Jobs
    url: str
    log: Path

    def index(self, **environment: str) -> Ended:
        return self.jobs.run(
            *index_words(self.folder, self.url),
            **environment,
            DRILL_BATCH="10",
            DRILL_LOG=str(self.log),
        )

    def mended(self) -> None:
        before = standing(self.url)
        sound(before)
        kept(before, self.log)
        self.log.unlink()
        job, after = self.index(), standing(self.url)
        conserved(job, after, self.folder)
        sound(after)
        economical(before, after, self.log)
        assert grouped(self.url) == self.expected, "I9"


@pytest.fixture(scope="module")
def filled(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Path, dict[str, tuple[object, ...]], Jobs]]:
    home = tmp_path_factory.mktemp("engines")
    folder, jobs, whole = library(home / "papers", 60, 2), Jobs(home), f"sqlite:///{home}/whole.db"
    assert jobs.run(*index_words(folder, whole)).code == 0
    yield folder, grouped(whole), jobs
    jobs.close()


@pytest.fixture
def place(
    request: pytest.FixtureRequest,
    filled: tuple[Path, dict[str, tuple[object, ...]], Jobs],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    opensearch_url: str,
    elasticsearch_url: str,
) -> Iterator[Place]:
    folder, expected, jobs = filled
    monkeypatch.setenv("XDG_STATE_HOME", str(folder.parent / "state"))
    server = {"opensearch": opensearch_url, "elasticsearch": elasticsearch_url}[request.param]
    name = f"nearfold-drill-{secrets.token_hex(6)}"
    yield Place(
        folder,
        expected,
        jobs,
        f"{server.replace('http', request.param)}/{name}?replicas=0",
        tmp_path / "log",
    )
    removed(server, name)


@pytest.mark.parametrize(
    ("place", "name"),
    [*((OPENSEARCH, name) for name in KILLED), (OTHER, "after_send")],
    indirect=["place"],
)
def test_killed(name: str, place: Place) -> None:
    assert place.index(NEARFOLD_FAILPOINTS=f"{name}:3=kill").code == -9
    place.mended()


@pytest.mark.parametrize(
    ("place", "name"),
    [*((OPENSEARCH, name) for name in FAILING), (OTHER, "after_send")],
    indirect=["place"],
)
def test_failing(name: str, place: Place) -> None:
    """A lost request or answer is sent again; any other failure ends the job."""
    job = place.index(NEARFOLD_FAILPOINTS=f"{name}:3=error")
    assert job.code == FAILING[name], job.err
    place.mended()
