"""Checks of nearfold that are taken out one at a time: the steps of clients must find it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from indexer.jobs.doctor import Check
from indexer.model import Row
from indexer.recipe import Recipe
from indexer.stores.engine.operation_feed import routing_of
from indexer.stores.engine.rows import fingerprinted_rows
from indexer.stores.maintenance import Layout

VARIABLE = "JOB_MUTATION"  # the number of the check that commands run without
SEEDS = 3


def _without_fresh_keys(rows: Iterable[Any], _: object) -> Iterator[tuple[Any, Any]]:
    return ((row, row) for row in rows)


def _nobody(*_: object) -> bool:
    return False


def _no_groups(_: object) -> list[str]:
    return []


def _unchanged(row: Row) -> Row:
    return row


def _good_keys(*_: object) -> Check:
    return Check("keys", "good", "not compared")


def _as_compared(_: object, entry: object) -> object:
    return entry


def _in_any_turn(pairs: Iterable[Any]) -> list[Any]:
    return list(pairs)


def _any_version(_: object, hit: Mapping[str, Any]) -> dict[str, Any]:
    return routing_of(hit)


def _one_digest(_: object) -> str:
    return "0" * 16


def _digests_of_texts(hits: Any, field: str, recipe: Recipe, as_stored: bool = False) -> list[Row]:
    return fingerprinted_rows(hits, field, recipe)


@dataclass(frozen=True)
class Mutation:
    """A check, and what replaces names in the package to take it out; `layout`: of the plugin,
    where that alone has the check.
    """

    check: str
    replacements: Mapping[str, object]
    layout: Layout | None = None


MUTATIONS = (
    Mutation(
        "a document with new keys leaves its group",
        {
            "indexer.fingerprinting.fingerprint.ungrouped": _unchanged,
            "indexer.stores.engine.rows.ungrouped": _unchanged,
            "indexer.jobs.reindex.ungrouped": _unchanged,
        },
    ),
    Mutation(
        "`group` compares keys with texts",
        {"indexer.grouping.checked_rows.is_shared": _nobody},
    ),
    Mutation(
        "`search --fold` compares the keys of hits with their texts",
        {
            "indexer.searching.stored_texts.is_shared": _nobody,
            "indexer.searching.folding.is_shared": _nobody,
        },
    ),
    Mutation(
        "`doctor` compares keys with texts",
        {
            "indexer.jobs.doctor.fresh_rows": _without_fresh_keys,
            "indexer.jobs.doctor._check_keys": _good_keys,
        },
    ),
    Mutation(
        "`doctor` and `status` look for groups without a principal",
        {"indexer.stores.engine.families.headless": _no_groups},
    ),
    Mutation(
        "`reindex` compares keys with texts",
        {"indexer.jobs.reindex.fresh_rows": _without_fresh_keys},
    ),
    Mutation(
        "a group is written to texts that were compared",
        {"indexer.stores.engine.families._Documents.decide": _as_compared},
    ),
    Mutation(
        "a group is written to the version that was read",
        {"indexer.stores.engine.index.OpenIndex.version_of": _any_version},
    ),
    Mutation(
        "`group` writes members that leave before principals, and these before who joins",
        {"indexer.grouping.group.in_turn": _in_any_turn},
    ),
    Mutation(
        "members of a changed principal leave before it is one again",
        {"indexer.grouping.delete.PROVISIONAL": "none"},
    ),
    Mutation(
        "a group in the plugin's layout is of the text whose digest it has",
        {
            "indexer.stores.engine.rows.column_digest": _one_digest,
            "indexer.stores.engine.families.column_digest": _one_digest,
        },
        "plugin",
    ),
    Mutation(
        "`doctor` sees the digest of a group in the plugin's layout",
        {"indexer.stores.engine.index.fingerprinted_rows": _digests_of_texts},
        "plugin",
    ),
)


def take_out(number: int, setattr_of: Callable[[str, object], None]) -> None:
    """Take out the check of this number, by a function that sets a dotted name."""
    for name, replacement in MUTATIONS[number].replacements.items():
        setattr_of(name, replacement)


def run_without_each(
    home: Path, url: str, steps: int, layout: Layout, say: Callable[[str], None]
) -> int:
    """Let clients write beside commands without each of the checks, at most so many steps for each
    of a few seeds; print a table of what was found, and return how many were not missed.
    """
    say("| check that is taken out | steps | what does not hold then |\n|---|---|---|")
    missed = 0
    for number, mutation in enumerate(MUTATIONS):
        if mutation.layout not in (None, layout):
            continue
        steps_taken, found = _run_without(number, home, url, steps, layout)
        missed += not found
        say(f"| {mutation.check} | {steps_taken} | {found or 'nothing was found'} |")
    return missed


def _run_without(number: int, home: Path, url: str, steps: int, layout: Layout) -> tuple[int, str]:
    """Return how many steps were taken, and what one of them found; empty for nothing."""
    from other_writers import SharedRun, run_together

    runs = [
        SharedRun(home / f"{number}-{seed}", f"{url}-{number}-{seed}", str(seed), layout=layout)
        for seed in range(SEEDS)
    ]
    with pytest.MonkeyPatch.context() as patch:
        take_out(number, patch.setattr)
        patch.setenv(VARIABLE, str(number))
        _, failed = run_together(runs, steps, SEEDS)
    return sum(run.steps for run in runs), _summary(failed[0]) if failed else ""


def _summary(message: str) -> str:
    """Return the first problem of a failed run, without the ids and texts of its documents."""
    _, _, problem = message.partition("): ")
    where, _, first = problem.partition("[")
    kind = re.sub(r"^['\"]?[\w.-]+ (is in|has keys)", r"a document \1", first.split("', '")[0])
    kind = re.sub(r"group (of )?[\w.:-]+", r"group \1another", kind).strip("'\"]")
    if where.startswith("--fold"):
        return f"`{where.strip(': ')}` hides a document under one that it does not resemble"
    return f"{where.strip()} {kind}".replace("|", " ")[:160]
