"""Folding by duplicate type on every store: of parts and of documents, page after page, with where
parts lie.
"""

from __future__ import annotations

import pytest

from indexer.jobs.index import IndexOptions, index
from indexer.searching.fold_hits import fold_hits
from indexer.searching.search import SearchOptions, search

PAYMENT = (
    "The {} shall pay to the Agent, within {} days after the end of each quarter, a fee of {} "
    "for the services of that quarter."
)
LAW = (
    "This Agreement is governed by the law of {}, and its courts alone decide on disputes under "
    "it or about it."
)
FIRST, SECOND = (
    PAYMENT.format("Acme Foods Ltd", 30, "$4,000"),
    PAYMENT.format("Orion Bank AG", 45, "$9,500"),
)


@pytest.fixture
def contracts(unprepared, tmp_path):
    """Three contracts: payment clauses near identical and another one, the law identical and near
    identical.
    """
    folder = tmp_path / "contracts"
    folder.mkdir()
    third = FIRST.replace("shall pay", "may pay")
    for name, payment, law in (
        ("a", FIRST, "Jersey"),
        ("b", SECOND, "Jersey"),
        ("c", third, "the State of New York"),
    ):
        (folder / f"{name}.txt").write_text(f"1. Fees. {payment}\n\n2. Law. {LAW.format(law)}\n")
    index([str(folder)], unprepared, IndexOptions(parts="clauses"))
    return unprepared


def paths(page):
    """Return path and number of each hit, with the hits folded under it and their types."""
    return [
        (_at(hit), [(_at(folded_hit), folded_hit.type) for folded_hit in hit.folded])
        for hit in page.hits
    ]


def _at(hit):
    return hit.path[-5] + hit.id.partition("#")[2]


def test_parts_fold_by_type_and_say_where_they_lie(contracts):
    page = search(contracts, "quarter", SearchOptions(fold="types", of="parts", sort="path"))
    assert page.measure == "terminology"
    assert paths(page) == [("a1", [("b1", "near_identical")]), ("c1", [])]
    assert (page.total, page.families, page.relation) == (3, 2, "eq")
    hit = page.hits[0]
    document = contracts.get([hit.part.parent])[hit.part.parent]
    assert hit.part.heading == hit.title == "1 Fees"
    assert document.text[hit.part.start : hit.part.stop] == FIRST
    assert hit.folded[0].part.parent == hit.folded[0].id.partition("#")[0]
    law = search(contracts, "courts", SearchOptions(fold="types", of="parts", sort="path"))
    assert paths(law) == [("a2", [("b2", "identical"), ("c2", "near_identical")])]


def test_documents_and_both_fold_by_type(contracts):
    page = search(contracts, "quarter", SearchOptions(fold="types", sort="path"))
    assert [hit.part for hit in page.hits] == [None] * len(page.hits)
    assert ("a", [("b", "near_identical")]) in paths(page)
    both = search(contracts, "quarter", SearchOptions(fold="types", of="both", sort="path"))
    assert both.total == 6
    all_paths = []
    for head, folded in paths(both):
        all_paths += [head, *(path for path, _ in folded)]
    assert sorted(all_paths) == ["a", "a1", "b", "b1", "c", "c1"]


def test_pages_by_token_do_not_show_again_what_folds(contracts):
    first = search(
        contracts, "quarter", SearchOptions(fold="types", of="parts", sort="path", limit=1)
    )
    second = search(
        contracts,
        "quarter",
        SearchOptions(fold="types", of="parts", sort="path", limit=1, after=first.next),
    )
    assert [*paths(first), *paths(second)] == [("a1", [("b1", "near_identical")]), ("c1", [])]
    assert second.next is None


def test_only_the_best_are_compared_and_others_are_shown(contracts):
    page = search(contracts, "quarter", SearchOptions(fold="types", of="parts", sort="path", top=1))
    assert paths(page) == [("a1", []), ("b1", []), ("c1", [])]
    assert "compares only the best 1 hit" in page.notes[0]


def test_hits_of_another_query_fold_by_type(contracts):
    ids = [
        row.id
        for row in sorted(
            contracts.parts.view("parts").scan(), key=lambda row: (row.path, row.id), reverse=True
        )
    ]
    hits = fold_hits(contracts, ids, fold="types")
    assert [_at(hit) for hit in hits] == ["c2", "c1", "b1"]
    assert [[(_at(folded_hit), folded_hit.type) for folded_hit in hit.folded] for hit in hits] == [
        [("b2", "near_identical"), ("a2", "near_identical")],
        [],
        [("a1", "near_identical")],
    ]


def test_only_so_much_text_is_compared(contracts):
    """Clauses are compared in rank order; those that do not fit are shown."""
    how = {"fold": "types", "of": "parts", "sort": "path"}
    whole = search(contracts, "", SearchOptions(**how))
    lengths = {
        hit.id: len(contracts.parts.view("parts").get([hit.id])[hit.id].text)
        for hit in search(contracts, "", SearchOptions(fold="none", of="parts")).hits
    }
    assert whole.passed_over == 0
    everything = search(contracts, "", SearchOptions(**how, most_chars=sum(lengths.values())))
    assert paths(everything) == paths(whole)
    assert everything.notes == whole.notes
    none = search(contracts, "", SearchOptions(**how, most_chars=1))
    assert none.passed_over == len(lengths) == len(none.hits)
    [note] = [note for note in none.notes if "did not fit" in note]
    assert note.endswith(f"; {len(lengths)} hits did not fit and are not folded")
    first = [hit.id for hit in none.hits][:3]
    some = search(contracts, "", SearchOptions(**how, most_chars=sum(lengths[id] for id in first)))
    assert some.passed_over == len(lengths) - 3
    shown = [folded.id for hit in some.hits for folded in hit.folded]
    assert set(shown) < set(first)


def test_clauses_that_exchange_parties_are_shown_and_named(unprepared, tmp_path):
    text = "The {} shall pay the costs of the repair to the {} within {} days after the invoice."
    for name, parties in (("a", ("Tenant", "Landlord")), ("b", ("Landlord", "Tenant"))):
        (tmp_path / f"{name}.txt").write_text(text.format(*parties, 30))
    index([str(tmp_path)], unprepared, IndexOptions())
    page = search(unprepared, "repair", SearchOptions(fold="types", sort="path"))
    assert [hit.path[-5:] for hit in page.hits] == ["a.txt", "b.txt"]
    assert any("exchange parties, and are not folded" in note for note in page.notes)
