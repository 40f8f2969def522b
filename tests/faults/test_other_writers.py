"""Clients write beside nearfold, as `python -m faults --clients` lets them by the thousand."""

import os
import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from mutations import MUTATIONS, take_out
from other_writers import SharedRun, stored_problems
from sample_library import edited, rows, sentence
from servers import choosing
from servers.cluster import Cluster

from indexer.fingerprinting.fingerprint import PROVISIONAL
from indexer.grouping.delete import repair_strays
from indexer.model import Assignment
from indexer.recipe import DEFAULT
from indexer.stores import open_store

SEED = os.environ.get("NEARFOLD_CLIENTS_SEED") or "7"
STEPS, STEPS_OF_CLUSTER = 200, 300
FIRST, SECOND = sentence(1), sentence(2)


def test_commands_alone_hide_nothing_in_a_file(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    record_property("faults", STEPS)
    counts = SharedRun(tmp_path / "run", f"sqlite:///{tmp_path}/run.db", SEED).run(STEPS)
    assert counts.commands.total() > STEPS / 2 and counts.kills


@pytest.mark.engines
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
def test_clients_of_three_nodes_that_are_killed_hide_nothing(kind: str, tmp_path: Path) -> None:
    seed = os.environ.get("NEARFOLD_CLIENTS_SEED") or str(random.SystemRandom().randrange(10_000))
    with choosing.running(lambda: Cluster(kind)) as cluster:
        url = f"{kind}://{cluster.hosts}/papers?shards=2&replicas=1"
        counts = SharedRun(tmp_path / "run", url, seed, cluster.nodes, print).run(STEPS_OF_CLUSTER)
    assert counts.nodes.total() >= 1


def test_the_oracle_sees_what_does_not_hold_of_stored_groups() -> None:
    near = edited(FIRST, 1)
    principal, member, other = rows({"a": FIRST, "b": near, "c": SECOND})
    principal = replace(principal, family="a", principal=True)
    member = replace(member, family="a", principal=False, similarity=0.97)
    other = replace(other, family="c", principal=True)

    def problems(*stored):
        return stored_problems(list(stored), DEFAULT, 0.9)

    assert problems(principal, member, other) == []
    (hidden,) = problems(principal, member, replace(other, family="a", principal=False))
    assert "c is in the group of a, which it does not resemble" in hidden
    assert problems(member, other) == ["no member of the group a is visible as its principal"]
    changed = replace(principal, family="x:1")
    assert "the principal of a is in the group x:1" in problems(changed, member, other)
    assert any(
        "keys of another text" in problem
        for problem in problems(principal, replace(member, text=SECOND), other)
    )


def test_changed_principals_lose_their_members_before_they_are_principals(tmp_path: Path) -> None:
    """A command that is killed between two writes leaves nothing under another text."""
    other = open_store(f"sqlite:///{tmp_path}/other.db")
    other.prepare(DEFAULT)
    changed, member, copy = rows({"a": SECOND, "b": FIRST, "c": SECOND})
    waiting = f"{PROVISIONAL}{changed.exact}"
    other.write(
        [
            replace(changed, family=waiting),
            replace(member, family="a", principal=False),
            replace(copy, family=waiting),
        ]
    )
    written: list[dict[str, str]] = []
    assign = other.families.assign

    def record(assignments: Iterable[Assignment]) -> None:
        assign(assignments)
        written.append({row.id: row.family for row in other.scan()})

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(type(other.families), "assign", lambda _, each: record(each))
        repair_strays(other, DEFAULT, ["a", waiting])
    other.close()
    assert written == [
        {"a": waiting, "b": "b", "c": waiting},
        {"a": "a", "b": "b", "c": "a"},
    ]


@pytest.mark.parametrize("number", range(len(MUTATIONS)))
def test_the_oracle_is_tried_on_checks_that_exist(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_out(number, monkeypatch.setattr)
