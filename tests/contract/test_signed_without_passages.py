"""Stores whose texts are signed and compared without approved passages, the same in every store."""

from dataclasses import replace

import pytest

from indexer import check, compare, index, open_store, search, similar
from indexer.errors import RecipeMismatch, UsageError
from indexer.grouping.group import group
from indexer.grouping.match import MatchOptions, match
from indexer.jobs.doctor import doctor
from indexer.jobs.index import IndexOptions
from indexer.jobs.reindex import reindex
from indexer.recipe import DEFAULT
from indexer.searching.search import SearchOptions
from indexer.searching.similar import SimilarOptions
from indexer.spark.match import check_sketches
from indexer.stores.engine.ingest_pipeline import unsupported_settings
from indexer.system import recipe_inputs
from indexer.system.approved_passages import ApprovedPassages
from indexer.system.recipe_inputs import with_key

NOTICE = " ".join(f"n{place * 37 % 101}" for place in range(60))
APPROVED = ApprovedPassages((NOTICE,), (r"^Page \d+ of \d+$",))
WHOLE = IndexOptions(extractor="plain")


def body(number: int, words: int = 40) -> str:
    return " ".join(f"w{(number * 7919 + place * 104729) % 999983}" for place in range(words))


TEXTS = {
    "a": f"{body(1)}\n\n{NOTICE}",
    "b": f"{body(1)}\nPage 3 of 9\n",
    "c": f"{NOTICE}\n\n{body(2)}",
    "d": f"{NOTICE}\n\n{body(3)}",
    "e": f"ferry {body(4)} {body(5, 4)}",
    "f": f"ferry {body(4)}\n{NOTICE}\n{body(6, 4)}",
    "g": NOTICE,
    "h": f"Page 1 of 2\n{NOTICE}",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "texts").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "texts" / f"{name}.txt").write_text(text)
    return tmp_path / "texts"


@pytest.fixture
def filled(unprepared, folder):
    options = replace(WHOLE, leave_out=APPROVED, family_threshold=None)
    account = index(str(folder), unprepared, options, workers=1)
    assert account.indexed == len(TEXTS)
    unprepared.refresh()
    return unprepared


def names(store) -> dict[str, str]:
    return {row.id: row.path.rpartition("/")[2][0] for row in store.scan()}


def pairs(store, **options) -> dict:
    named = names(store)
    result = match(store, MatchOptions(0.55, **options))
    return {
        tuple(sorted((named[pair.a], named[pair.b]))): round(pair.similarity, 3) for pair in result
    }


def test_texts_are_stored_whole_and_the_recipe_names_the_list(filled) -> None:
    named = names(filled)
    assert {named[row.id]: row.text for row in filled.scan()} == TEXTS
    recipe = filled.stored_recipe()
    assert recipe.left_out == APPROVED.id and recipe.id != DEFAULT.id
    assert {row.recipe for row in filled.scan()} == {recipe.id}


def test_pairs_need_no_list_and_say_what_was_left_out(filled) -> None:
    expected = {("a", "b"): 1.0, ("e", "f"): 0.911}
    assert pairs(filled) == pairs(filled, all_pairs=True) == expected
    result = match(filled, MatchOptions(0.55))
    assert sorted(pair.left_out.words for pair in result) == [60, 64]
    assert f"by list {APPROVED.id}" in list(result.notes())[-1]


def test_documents_of_passages_alone_are_empty_and_no_copies(filled) -> None:
    named = names(filled)
    alone = {row.status for row in filled.scan() if named[row.id] in "gh"}
    assert alone == {"empty"}
    assert ("g", "h") not in pairs(filled)


def test_another_list_is_refused(filled, folder) -> None:
    other = ApprovedPassages(("All rights reserved.",))
    with pytest.raises(UsageError, match=APPROVED.id):
        match(filled, leave_out=other)
    with pytest.raises(RecipeMismatch, match=r"left_out.*leave --leave-out out"):
        index(str(folder), filled, replace(WHOLE, leave_out=other), workers=1)
    assert pairs(filled).keys() == {("a", "b"), ("e", "f")}


def test_index_without_a_list_keeps_to_that_of_the_store(filled, folder) -> None:
    (folder / "i.txt").write_text(f"{body(3)} {NOTICE}")
    for recipe in (None, DEFAULT):
        index(str(folder), filled, replace(WHOLE, recipe=recipe), workers=1)
    filled.refresh()
    assert pairs(filled)[("d", "i")] == 1.0


def test_look_ups_compare_what_is_left(filled) -> None:
    named = names(filled)
    result = similar(filled, f"{NOTICE} {body(2)}", SimilarOptions(0.5))
    assert [(named[match.id], match.similarity) for match in result.matches] == [("c", 1.0)]
    note = f"1 approved passage (120 words) left out of 2 documents, by list {APPROVED.id}"
    assert note in result.notes
    assert similar(filled, f"{NOTICE} {body(9)}", SimilarOptions(0.5)).matches == ()


def test_a_copy_but_for_the_passages_is_said_to_have_the_same_words(filled) -> None:
    [match] = similar(filled, f"{body(2)}\n\n{NOTICE.upper()}", SimilarOptions(0.5)).matches
    assert (match.similarity, match.same.kind, match.same.ignored) == (1.0, "words", ("blanks",))


def test_check_judges_what_is_left(filled) -> None:
    assert check(filled, f"{NOTICE} {body(9)}").verdict == "new"
    copy = check(filled, f"{body(3)} {NOTICE}")
    assert copy.verdict == "duplicate" and names(filled)[copy.of] == "d"


def test_folding_compares_what_is_left(filled) -> None:
    named = names(filled)
    words = " ".join(text.split()[0] for text in (body(1), body(2), body(3), f"ferry {NOTICE}"))
    page = search(filled, f"{words} n0", SearchOptions(fold="live", threshold=0.8))
    groups = [{named[hit.id], *(named[member.id] for member in hit.folded)} for hit in page.hits]
    assert sorted(map(sorted, groups)) == [["a", "b"], ["c"], ["d"], ["e", "f"], ["g"], ["h"]]
    assert any(APPROVED.id in note for note in page.notes)


def test_families_are_those_of_what_is_left(filled) -> None:
    result = group(filled)
    assert (result.families, result.largest) == (2, 2)
    assert result.left_out.id == APPROVED.id


def test_families_on_arrival_are_those_of_what_is_left(unprepared, folder) -> None:
    index(str(folder), unprepared, replace(WHOLE, leave_out=APPROVED), workers=1)
    unprepared.refresh()
    named = names(unprepared)
    families = {named[row.id]: named[row.family] for row in unprepared.scan()}
    together = {frozenset((a, b)) for a, b in families.items() if a != b}
    assert together == {frozenset("ab"), frozenset("ef")}


def test_reindex_takes_a_list_and_gives_it_up(unprepared, folder) -> None:
    index(str(folder), unprepared, replace(WHOLE, family_threshold=None), workers=1)
    unprepared.refresh()
    whole = pairs(unprepared)
    assert ("c", "d") in whole
    reindex(unprepared, DEFAULT, leave_out=APPROVED)
    unprepared.refresh()
    assert pairs(unprepared).keys() == {("a", "b"), ("e", "f")}
    reindex(unprepared, DEFAULT)
    unprepared.refresh()
    assert pairs(unprepared) == whole
    assert unprepared.stored_recipe() == DEFAULT


def test_comparisons_side_by_side_are_of_whole_texts(filled) -> None:
    whole = compare(TEXTS["c"], TEXTS["d"], filled.stored_recipe())
    assert whole.measures == compare(TEXTS["c"], TEXTS["d"], DEFAULT).measures


def test_a_pipeline_spark_and_weights_refuse_a_list() -> None:
    recipe = recipe_inputs.keep_passages(DEFAULT, APPROVED)
    with pytest.raises(UsageError, match="Spark compares whole texts"):
        check_sketches(recipe)
    assert "approved passages" in unsupported_settings(recipe)
    with pytest.raises(UsageError, match="corpus weights"):
        recipe_inputs.keep_passages(replace(DEFAULT, statistics="0a"), APPROVED)


def test_doctor_has_one_verdict_on_a_store_whose_list_is_not_here(
    folder, tmp_path, monkeypatch
) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    store = open_store(url)
    index(str(folder), store, replace(WHOLE, leave_out=APPROVED), workers=1)
    store.close()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "there"))
    recipe_inputs._passages.cache_clear()
    [verdict] = [item for item in doctor(url) if item.name == "store"]
    assert verdict.verdict == "bad"
    assert "is not on this machine: name its file by NEARFOLD_PASSAGES" in verdict.detail


def test_a_list_may_come_from_another_machine(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "here"))
    settings = recipe_inputs.keep_passages(DEFAULT, APPROVED).settings
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "there"))
    recipe_inputs._passages.cache_clear()
    recipe = with_key(replace(DEFAULT, left_out=settings["left_out"]))
    with pytest.raises(UsageError, match="is not on this machine: name its file by NEARFOLD_PASSA"):
        recipe.compared("A text.")
    (tmp_path / "list.jsonl").write_text(APPROVED.lines())
    monkeypatch.setenv("NEARFOLD_PASSAGES", str(tmp_path / "list.jsonl"))
    assert recipe.compared(f"a {NOTICE} b").split() == ["a", "b"]
