"""Recipe `clauses`: rows keep length, hash and vector, by which every store finds and folds."""

import numpy as np
import pytest
from sample_library import fill, rows

from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.keys import unpack_slots
from indexer.fingerprinting.rare_terms import term_keys, vector_overlap
from indexer.grouping.group import group
from indexer.grouping.match import match
from indexer.jobs.corpus_statistics import with_statistics
from indexer.jobs.reindex import reindex
from indexer.recipe import recipe_named
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar

LEASE = (
    "The tenant shall pay the annual rent in quarterly instalments to the landlord, without "
    "deduction, set-off or counterclaim, on the usual quarter days, and interest accrues upon "
    "arrears at four percent above the base rate of the clearing bank nominated by the landlord."
)
SUPPLY = (
    "The supplier warrants that every consignment conforms to the agreed specification, remains "
    "free from material defects for eighteen months after delivery and complies with applicable "
    "safety regulations; defective goods are repaired, replaced or refunded at its expense."
)
TEXTS = {
    "lease-1": LEASE,
    "lease-2": LEASE.replace("clearing", "retail"),
    "lease-3": f"{LEASE} {LEASE} {LEASE}",  # the same terms, but three times the length
    "supply-1": SUPPLY,
    "supply-2": SUPPLY.replace("eighteen", "twenty"),
    "note": "Too few terms here.",
}
PAIRS = {("lease-1", "lease-2"), ("supply-1", "supply-2")}


@pytest.fixture
def recipe():
    return with_statistics(recipe_named("clauses"), None, TEXTS.values)


@pytest.fixture
def clauses(unprepared, recipe):
    unprepared.prepare(recipe)
    return fill(unprepared, rows(TEXTS, recipe=recipe))


def test_rows_keep_the_triple_and_its_keys(clauses, recipe):
    for id, row in clauses.get(list(TEXTS)).items():
        signed = fingerprint(TEXTS[id], recipe)
        assert (row.status, row.blocks) == (signed.status, signed.blocks)
        if id == "note":
            assert (row.status, row.minhash) == ("too_short", None)
            continue
        vector = unpack_slots(row.minhash)
        assert np.array_equal(vector, signed.vector)
        assert row.blocks == term_keys(vector, 0.9) and len(row.blocks) == 5


def test_match_group_and_look_up(clauses):
    assert {tuple(sorted((pair.a, pair.b))) for pair in match(clauses)} == PAIRS
    for id, other in PAIRS:
        found = similar(clauses, TEXTS[id], SimilarOptions(0.9, "estimate"))
        assert {hit.id for hit in found.matches} == {id, other}
    group(clauses)
    clauses.refresh()
    families = {row.id: row.family for row in clauses.scan()}
    assert all(families[a] == families[b] for a, b in PAIRS)
    assert len(set(families.values())) == len(TEXTS) - len(PAIRS)


def test_hits_fold_by_stored_rows(clauses):
    page = search(clauses, "", SearchOptions(sort="path"))
    assert (page.measure, page.threshold) == ("estimate", 0.9)
    folded = {(hit.id, member.id) for hit in page.hits for member in hit.folded}
    assert folded == PAIRS
    [similarity] = {member.similarity for hit in page.hits for member in hit.folded}
    rows = clauses.get(["lease-1", "lease-2"])
    left, right = (unpack_slots(row.minhash) for row in rows.values())
    assert similarity == vector_overlap(left, right) >= 0.9


def test_reindex_signs_with_the_statistics_of_today(clauses, recipe):
    more = {f"more-{n}": LEASE.replace("tenant", f"tenant{n}") for n in range(9)}
    clauses.write(rows(more, recipe=recipe))
    clauses.refresh()
    reindex(clauses, recipe_named("clauses"))
    now = clauses.stored_recipe()
    assert now.name == recipe.name and now.statistics != recipe.statistics
    assert all(row.recipe == now.id for row in clauses.scan())
