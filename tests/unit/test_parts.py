"""Parts of documents: indexed with their document, found apart from it, deleted with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.errors import UsageError
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.grouping.delete import delete
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.jobs.index import IndexOptions, index
from indexer.jobs.reindex import reindex
from indexer.jobs.status import status
from indexer.recipe import DEFAULT
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store

INDEMNITY = (
    "The Supplier shall indemnify the Buyer against all claims of third parties that arise "
    "out of a defect of the goods, "
    "provided that the Buyer gives notice of the claim within ten days and leaves the "
    "defence to the Supplier."
)
LAW = (
    "This Agreement is governed by the law of Jersey, and the courts of Saint Helier alone "
    "decide on disputes under it."
)
PRICE = (
    "The price of each {0} is set out in the schedule and moves once a year with the index "
    "published for {0} by the {0} board."
)


def contract(goods: str, *more: str) -> str:
    """Return a contract of at least three clauses, with numbers of its own."""
    bodies = [
        f"Price. {PRICE.format(goods)}",
        *more,
        f"Indemnity. {INDEMNITY}",
        f"Law. {LAW}",
        "Notices. In writing.",
    ]
    return "\n\n".join(f"{number}. {body}" for number, body in enumerate(bodies, start=1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    contracts = tmp_path / "contracts"
    contracts.mkdir()
    for goods in ("pallets", "lamps", "ropes"):
        (contracts / f"{goods}.txt").write_text(contract(goods))
    (contracts / "pumps.txt").write_text(
        contract("pumps", "Term. It runs for three years from the day of signature, and no longer.")
    )
    return contracts


@pytest.fixture
def store(folder: Path):
    opened = open_store("sqlite://:memory:")
    index([str(folder)], opened, IndexOptions(parts="clauses"))
    yield opened
    opened.close()


def parts(store, ending: str = "") -> dict[str, object]:
    return {
        f"{Path(row.path).stem} {row.title}": row
        for row in store.parts.view("parts").scan()
        if row.path.endswith(ending)
    }


def test_every_part_has_its_place_and_the_keys_of_its_text(store):
    rows = parts(store)
    assert len(rows) == 4 * 4 + 1
    documents = {row.id: row for row in store.scan()}
    for row in rows.values():
        assert documents[row.parent].text[row.start : row.stop] == row.text
        signed = fingerprint(row.text, DEFAULT)
        assert (row.bands, row.blocks, row.exact, row.status) == (
            signed.bands,
            signed.blocks,
            signed.exact,
            signed.status,
        )
        assert row.family == row.id
    assert rows["pumps 3 Indemnity"].text == INDEMNITY
    assert rows["pumps 3 Indemnity"].exact == rows["lamps 2 Indemnity"].exact
    assert rows["lamps 4 Notices"].status == "too_short"
    assert status(store).counts.documents == 4
    assert status(store).counts.parts == 17


def test_a_part_too_short_has_its_status_and_no_keys(tmp_path):
    (tmp_path / "a.txt").write_text("1. Fees. Nil.\n2. Number. 12345\n")
    opened = open_store("sqlite://:memory:")
    index([str(tmp_path)], opened, IndexOptions(parts="clauses"))
    rows = {row.title: row for row in opened.parts.view("parts").scan()}
    assert {title: row.status for title, row in rows.items()} == {
        "1 Fees": "too_short",
        "2 Number": "numbers_only",
    }
    assert not any(row.bands or row.blocks for row in rows.values())


def test_search_finds_documents_or_parts(store):
    assert search(store, "indemnify").total == 4
    assert not any("#" in hit.id for hit in search(store, "indemnify").hits)
    results = search(store, "indemnify", SearchOptions(of="parts"))
    assert results.total == 4
    assert [len(hit.folded) for hit in results.hits] == [3]
    assert results.hits[0].title.endswith("Indemnity")
    assert search(store, "indemnify", SearchOptions(of="both")).total == 8


def test_the_same_clause_in_many_contracts_is_a_family(store):
    family_of = {row.id: row.family for row in store.scan()}
    result = group(store, GroupOptions(of="parts"))
    assert (result.documents, result.largest) == (17, 4)
    families = {row.family for row in parts(store).values() if row.title.endswith("Indemnity")}
    assert len(families) == 1
    assert all("#" in row.family for row in parts(store).values())
    assert {row.id: row.family for row in store.scan()} == family_of
    group(store)
    assert all("#" not in row.family for row in store.scan())
    assert {
        row.family for row in parts(store).values() if row.title.endswith("Indemnity")
    } == families
    folded = search(store, "indemnify", SearchOptions(of="parts", fold="family"))
    assert [len(hit.folded) for hit in folded.hits] == [3]


def test_match_pairs_parts_with_parts(store):
    pairs = list(match(store, MatchOptions(threshold=0.9, of="parts")))
    assert pairs
    assert all("#" in pair.a and "#" in pair.b for pair in pairs)
    assert not any(
        "#" in pair.a or "#" in pair.b for pair in match(store, MatchOptions(threshold=0.5))
    )


def test_similar_to_a_part_and_to_a_pasted_clause(store):
    part_id = parts(store)["pumps 3 Indemnity"].id
    result = similar(store, id=part_id)
    assert sorted(Path(match.path).stem for match in result.matches) == [
        "lamps",
        "pallets",
        "ropes",
    ]
    assert all("#" in match.id for match in result.matches)
    pasted = similar(store, f"Section 14.2 Indemnity. {INDEMNITY}", SimilarOptions(of="parts"))
    assert [match.similarity for match in pasted.matches] == [1.0] * 4


def test_an_unchanged_document_keeps_its_parts_and_a_changed_one_its_old_ones_no_more(
    store, folder
):
    group(store, GroupOptions(of="parts"))
    before = parts(store)
    assert index([str(folder)], store).unchanged == 4
    assert parts(store) == before
    (folder / "pumps.txt").write_text(f"1. Indemnity. {INDEMNITY}")
    assert index([str(folder)], store).indexed == 1
    after = parts(store, "pumps.txt")
    assert list(after) == ["pumps 1 Indemnity"]
    unchanged = {name: row for name, row in before.items() if not name.startswith("pumps")}
    assert parts(store).keys() == unchanged.keys() | after.keys()


def test_a_family_whose_principal_is_deleted_gets_another(store, folder):
    group(store, GroupOptions(of="parts"))
    head = next(
        row for row in parts(store).values() if row.title.endswith("Indemnity") and row.principal
    )
    Path(head.path).write_text("1. Nothing. There is nothing left of what was agreed upon before.")
    index([str(folder)], store)
    rows = {row.id: row for row in store.parts.view("parts").scan()}
    assert all(row.family in rows for row in rows.values())
    families = {row.family for row in rows.values() if row.title.endswith("Indemnity")}
    assert len(families) == 1
    deleted = next(rows[family].parent for family in families)
    delete(store, [deleted])
    rows = {row.id: row for row in store.parts.view("parts").scan()}
    assert all(row.family in rows and row.parent != deleted for row in rows.values())


def test_what_was_indexed_before_is_divided_from_the_stored_texts(folder):
    opened = open_store("sqlite://:memory:")
    index([str(folder)], opened)
    assert opened.parts.kind() is None
    account = index([str(folder)], opened, IndexOptions(parts="clauses"))
    assert (account.indexed, account.unchanged) == (0, 4)
    assert len(parts(opened)) == 17
    assert opened.parts.kind() == "clauses_v3"


def test_a_division_cut_short_is_begun_anew(folder, monkeypatch):
    opened = open_store("sqlite://:memory:")
    index([str(folder)], opened)
    write = opened.write
    monkeypatch.setattr(opened, "write", lambda rows: write(rows[:1]) and 1 / 0)
    with pytest.raises(ZeroDivisionError):
        index([str(folder)], opened, IndexOptions(parts="clauses"))
    monkeypatch.undo()
    index([str(folder)], opened)
    assert len(parts(opened)) == 17
    assert opened.parts.kind() == "clauses_v3"


def test_pruning_removes_the_parts(store, folder):
    (folder / "lamps.txt").unlink()
    assert index([str(folder)], store, IndexOptions(prune=True)).removed == 1
    assert not parts(store, "lamps.txt")
    assert len(parts(store)) == 13


def test_another_recipe_signs_the_parts_too(store):
    from indexer.recipe import recipe_named

    recipe = recipe_named("ws:norm:mmh3:128:fss")
    reindex(store, recipe)
    for row in store.parts.view("both").scan():
        assert row.bands == fingerprint(row.text, recipe).bands
    candidates = store.parts.view("parts").candidates(
        [(parts(store)["lamps 2 Indemnity"].bands, ())], 10
    )[0]
    assert len(candidates.found) == 4


def test_headings_that_a_format_marks(tmp_path):
    page = (
        f"<h1>Our prices</h1><p>{PRICE.format('lamp')}</p><p>In euro.</p><h2>If a lamp hurts "
        f"somebody</h2><p>{INDEMNITY}</p>"
    )
    (tmp_path / "page.html").write_text(f"<html><body>{page}</body></html>")
    opened = open_store("sqlite://:memory:")
    index([str(tmp_path)], opened, IndexOptions(parts="clauses"))
    assert [(row.title, row.text) for row in opened.parts.view("parts").scan()] == [
        ("Our prices", PRICE.format("lamp")),
        ("Our prices", "In euro."),
        ("If a lamp hurts somebody", INDEMNITY),
    ]


def test_a_store_without_parts_says_so(folder):
    opened = open_store("sqlite://:memory:")
    index([str(folder)], opened)
    with pytest.raises(UsageError, match="--parts clauses"):
        search(opened, "indemnify", SearchOptions(of="parts"))
    with pytest.raises(UsageError, match="--parts clauses"):
        group(opened, GroupOptions(of="parts"))


LEASES = (
    "1. Acme, Inc. shall pay the rent of the premises on the first day of every month.\n",
    "2. Zenith, Inc. shall pay the rent of the premises on the first day of every month.\n",
)


def test_the_name_of_a_company_is_no_heading(tmp_path):
    opened = open_store("sqlite://:memory:")
    (tmp_path / "lease.txt").write_text("".join(LEASES))
    index([str(tmp_path)], opened, IndexOptions(parts="clauses"))
    assert list(parts(opened, "lease.txt")) == ["lease 1", "lease 2"]
    assert all("Inc. shall" in row.text for row in parts(opened).values())


def test_an_index_of_the_version_before_goes_on_with_it_until_parts_are_asked_for(tmp_path):
    opened = open_store("sqlite://:memory:")
    (tmp_path / "other.txt").write_text("a note")
    index([str(tmp_path)], opened)
    opened.parts.record("clauses_v1")
    (tmp_path / "lease.txt").write_text("".join(LEASES))
    index([str(tmp_path)], opened)
    assert list(parts(opened, "lease.txt")) == ["lease 1 Acme, Inc", "lease 2 Zenith, Inc"]
    index([str(tmp_path)], opened, IndexOptions(parts="clauses"))
    assert list(parts(opened, "lease.txt")) == ["lease 1", "lease 2"]
