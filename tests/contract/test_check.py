"""`check` in every store: its verdicts, what it stores, and that one of those that race is new."""

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sample_library import edited, rows, sentence

from indexer import CheckOptions, SearchOptions, check, group, open_store, search
from indexer.comparing.criteria import Criteria
from indexer.errors import StoreError, UnreadableFile, UsageError
from indexer.grouping.group_options import GroupOptions
from indexer.jobs import check as claims
from indexer.jobs.check import ClaimedCheck
from indexer.jobs.document_rows import document_at
from indexer.recipe import DEFAULT
from indexer.stores.abilities import Claiming

TEXT = sentence(1)
NEAR = edited(TEXT, 1, "other")
BETWEEN = edited(TEXT, 6, "between")
OTHER = sentence(2)
BENCHMARK = Path(__file__).parent.parent.parent / "benchmarks" / "check.py"


@pytest.fixture
def store(store, kind: str):
    if kind.endswith("reopened"):
        pytest.skip("one connection checks and stores")
    return store


def put(store, id: str, text: str, **options):
    return check(store, text, id=id, store_it=True, **options)


def row_of(id: str, text: str):
    return rows({id: text})[0]


def test_verdicts(store) -> None:
    assert put(store, "a", TEXT).verdict == "new"
    copy = put(store, "b", TEXT.upper())
    assert (copy.verdict, copy.of, copy.similarity) == ("duplicate", "a", 1.0)
    assert copy.reasons == ("the same words; ignored: case",)
    near = put(store, "c", NEAR)
    assert (near.verdict, near.similarity) == ("duplicate", 39 / 40) and near.of in "ab"
    between = put(store, "d", BETWEEN)
    assert (between.verdict, between.similarity) == ("review", 34 / 40)
    assert "85.0% by lcs lies between 80% for review and 90%" in between.reasons[0]
    other = put(store, "e", OTHER)
    assert (other.verdict, other.of) == ("new", None)
    assert other.reasons == ("no stored document reaches 80% by lcs",)
    store.refresh()
    assert {row.id for row in store.scan()} == set("abcde")


def test_texts_of_which_near_duplicates_may_be_missed_are_for_review(store) -> None:
    for id, text, reason in (("a", "two words", "fewer than four words"), ("b", "", "no text")):
        first = put(store, id, text)
        assert (first.verdict, first.of) == ("review", None) and reason in first.reasons[0]
        again = put(store, f"{id}2", text)
        assert (again.verdict, again.of) == ("duplicate", id)


def test_cut_text_is_for_review(store) -> None:
    [cut] = rows({"cut": TEXT}, cut=frozenset({"cut"}))
    store.write([cut])
    store.refresh()
    result = check(store, NEAR)
    assert (result.verdict, result.of) == ("review", "cut")
    assert result.reasons[0] == "a text was cut: they are similar as far as read"


def test_facts_that_differ_can_be_for_review(store) -> None:
    put(store, "a", f"{TEXT} 100 euros")
    options = CheckOptions(review_differences=True)
    assert check(store, f"{TEXT} 200 euros").verdict == "duplicate"
    result = check(store, f"{TEXT} 200 euros", options)
    assert (result.verdict, result.of, result.reasons[0]) == ("review", "a", "facts differ")
    assert check(store, f"{TEXT} 100 euro", options).verdict == "duplicate"


def test_forms_filled_in_for_another_subject_are_for_review(store) -> None:
    page = f"{{0}} {TEXT} {{0}} {OTHER} {{0}} {sentence(3)} {{0}} {sentence(4)}"
    put(store, "a", page.format("alpha"))
    result = put(store, "b", page.format("beta"), drop_duplicates=True)
    assert (result.verdict, result.of, result.stored) == ("review", "a", True)
    assert '"beta" stands for "alpha" 4 times' in result.reasons[0]
    copy = put(store, "c", page.format("beta"), drop_duplicates=True)
    assert (copy.verdict, copy.of, copy.stored) == ("duplicate", "b", False)


def test_pages_that_were_hardly_translated_are_for_review_and_shown_both(store) -> None:
    page = f"{{}} {TEXT} {OTHER} {sentence(3)} {sentence(4)} {sentence(5)} {sentence(6)} {{}}"
    put(store, "de", page.format("Das ist nicht für die Datei.", "Wenn die Option fehlt."))
    swedish = page.format("Det är inte för en fil.", "Om inte valet ges till den.")
    result = put(store, "sv", swedish, drop_duplicates=True)
    assert (result.verdict, result.of, result.stored) == ("review", "de", True)
    assert "words of sv stand for words of de" in result.reasons[0]
    store.refresh()
    hits = {
        policy: search(store, "", SearchOptions(criteria=Criteria(policy=policy))).hits
        for policy in ("standard", "loose")
    }
    assert [len(hits["standard"]), len(hits["loose"])] == [2, 1]


def test_tables_of_numbers_are_duplicates_if_they_are_equal(store) -> None:
    ledger = " ".join(str(number * 7919) for number in range(1, 60))
    put(store, "a", ledger)
    result = put(store, "b", ledger.replace(" 15838 ", " 15839 "), drop_duplicates=True)
    assert (result.verdict, result.stored) == ("review", True)
    assert result.reasons[0] == "texts of numbers alone are duplicates where they are equal"
    assert put(store, "c", ledger, drop_duplicates=True).verdict == "duplicate"


def test_conditions_of_the_last_group_hold(store, kind) -> None:
    if kind == "memory":
        pytest.skip("a store in memory keeps no journal")
    put(store, "a", f"{TEXT} 100 euros")
    assert check(store, f"{TEXT} 200 euros").verdict == "duplicate"
    store.refresh()
    group(store, GroupOptions(criteria=Criteria(numbers="distinguish")))
    result = check(store, f"{TEXT} 200 euros")
    assert (result.verdict, result.reasons[0]) == (
        "review",
        "the conditions of the last group keep them apart",
    )


@pytest.mark.parametrize("labels", [["a;b"], [" "], ["x" * 40_000]])
def test_labels_are_those_that_label_takes(store, labels) -> None:
    with pytest.raises(UsageError):
        put(store, "a", TEXT, labels=labels)


def test_what_is_not_stored_has_no_label_and_no_empty_id(store) -> None:
    put(store, "a", TEXT)
    with pytest.raises(UsageError, match="--label"):
        check(store, TEXT, labels=["kept"])
    with pytest.raises(UsageError, match="id"):
        put(store, "", TEXT)


def test_the_id_is_the_stored_one(store) -> None:
    result = put(store, "sur\ud800", TEXT)
    assert result.id == "sur\ufffd"
    assert store.get([result.id])


def test_nothing_is_stored_unless_asked(store) -> None:
    put(store, "a", TEXT)
    assert check(store, OTHER).verdict == "new"
    assert check(store, NEAR).stored is False
    store.refresh()
    assert [row.id for row in store.scan()] == ["a"]


def test_duplicates_are_dropped_if_asked(store) -> None:
    assert put(store, "a", TEXT, drop_duplicates=True).stored
    assert not put(store, "b", NEAR, drop_duplicates=True).stored
    assert put(store, "c", BETWEEN, drop_duplicates=True).stored
    store.refresh()
    assert [row.id for row in store.scan()] == ["a", "c"]
    with pytest.raises(UsageError, match="--store-it"):
        check(store, NEAR, drop_duplicates=True)


def test_document_that_is_stored_is_a_duplicate_of_itself(store) -> None:
    put(store, "a", TEXT, labels=["kept"])
    for store_it in (False, True):
        again = check(store, TEXT, id="a", store_it=store_it)
        assert (again.verdict, again.of, again.stored) == ("duplicate", "a", False)
        assert again.reasons == ("it is stored already, with this text",)


def test_other_text_of_an_id_replaces_it_and_keeps_its_labels(store) -> None:
    put(store, "a", TEXT, labels=["kept"])
    put(store, "b", NEAR)
    group(store)
    assert put(store, "a", OTHER, labels=["more"]).verdict == "new"
    stored = store.get(["a", "b"])
    assert (stored["a"].text, stored["a"].labels) == (OTHER, ("kept", "more"))
    assert stored["b"].family == "b"
    store.refresh()
    assert check(store, NEAR).of == "b"


def test_row_is_that_of_indexing(store, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(TEXT)
    result = check(store, path=str(path), store_it=True)
    account = index_one(store, path)
    assert (result.verdict, account.unchanged, account.indexed) == ("new", 1, 0)
    row = store.get([result.id])[result.id]
    assert row.path == str(path) and row.bands == row_of("x", TEXT).bands
    assert (row.family, row.provisional) == (row.id, True)


def test_file_that_changes_while_it_is_read_is_not_stored(store, tmp_path, monkeypatch) -> None:
    path = tmp_path / "a.txt"
    path.write_text(TEXT)

    def read_and_change(where: str):
        result = document_at(where)
        path.write_text(OTHER + " and more")
        return result

    monkeypatch.setattr("indexer.jobs.check.document_at", read_and_change)
    with pytest.raises(UnreadableFile, match="changed while it was read"):
        check(store, path=str(path), store_it=True)
    store.refresh()
    assert list(store.scan()) == []


def index_one(store, path: Path):
    from indexer import index

    return index([str(path)], store)


def test_refused_document_is_an_error(store) -> None:
    with pytest.raises(StoreError, match="512 bytes"):
        put(store, "x" * 600, TEXT)


def test_parts_are_stored_with_the_document(store, tmp_path: Path) -> None:
    from indexer import IndexOptions, index

    (tmp_path / "a.txt").write_text(f"1. One\n\n{TEXT}\n\n2. Two\n\n{OTHER}\n")
    index([str(tmp_path)], store, IndexOptions(parts="clauses"))
    put(store, "b", f"1. One\n\n{sentence(4)}\n\n2. Two\n\n{sentence(5)}\n")
    store.refresh()
    parts = store.parts.view("parts")
    assert {row.id for row in parts.scan()} >= {"b#1", "b#2"}


@pytest.mark.parametrize("drop", [False, True])
def test_of_two_claims_one_is_new(store, drop: bool) -> None:
    """Either was stored before it was decided, as when both processes are stopped there."""
    if not isinstance(store, Claiming):
        pytest.skip("its writers take turns")
    checks = [
        ClaimedCheck(store, store.claims, DEFAULT, row_of(id, text), CheckOptions(), drop)
        for id, text in (("a", TEXT), ("b", NEAR), ("c", OTHER))
    ]
    for item in checks:
        assert store.claims.create(item.row, item._note())
    verdicts = {item.row.id: item.run() for item in reversed(checks)}
    found = {id: (judgement.verdict, stored) for id, (judgement, stored) in verdicts.items()}
    assert found == {"a": ("new", True), "b": ("duplicate", not drop), "c": ("new", True)}
    assert verdicts["b"][0].of == "a"
    store.refresh()
    assert {row.id for row in store.scan()} == {"a", "c"} | (set() if drop else {"b"})


def test_claim_that_was_seen_by_another_is_decided_anew(store) -> None:
    if not isinstance(store, Claiming):
        pytest.skip("its writers take turns")
    own = ClaimedCheck(store, store.claims, DEFAULT, row_of("b", TEXT), CheckOptions(), False)
    assert store.claims.create(own.row, own._note())
    seen = store.claims.get("b")
    assert store.claims.touch(seen)
    assert not store.claims.decide(seen, "new")
    assert not store.claims.remove(seen)
    assert not store.claims.touch(seen)
    assert store.claims.get("b").outcome == ""
    assert not store.claims.create(own.row, own._note())
    assert own.run()[0].verdict == "new"
    assert [claim.id for claim in store.claims.undecided()] == []


def test_claim_of_a_process_that_ended_is_decided_by_the_next(store, monkeypatch) -> None:
    if not isinstance(store, Claiming):
        pytest.skip("its writers take turns")
    ended = ClaimedCheck(store, store.claims, DEFAULT, row_of("z", OTHER), CheckOptions(), False)
    store.claims.create(ended.row, ended._note())
    put(store, "a", TEXT)
    assert [claim.id for claim in store.claims.undecided()] == ["z"]
    monkeypatch.setattr(claims, "ABANDONED_SECONDS", -1.0)
    put(store, "b", sentence(7))
    assert store.claims.undecided() == []
    assert store.claims.get("z").outcome.startswith("new ")


@pytest.mark.parametrize("drop", [False, True])
def test_claim_that_comes_between_look_and_verdict_does_not_count(
    store, monkeypatch, drop: bool
) -> None:
    """Else either document would be a duplicate of the other, and none new."""
    if not isinstance(store, Claiming):
        pytest.skip("its writers take turns")
    first, second = (
        ClaimedCheck(store, store.claims, DEFAULT, row_of(id, TEXT), CheckOptions(), drop)
        for id in "ab"
    )
    look = store.claims.undecided

    def look_before_the_other_is_stored():
        seen = look()
        store.claims.create(second.row, second._note())
        store.refresh()
        return seen

    monkeypatch.setattr(store.claims, "undecided", look_before_the_other_is_stored)
    judgement, stored = first.run()
    assert (judgement.verdict, stored) == ("new", True)
    monkeypatch.undo()
    judgement, stored = second.run()
    assert (judgement.verdict, judgement.of, stored) == ("duplicate", "a", not drop)


@pytest.mark.parametrize("drop", [False, True])
def test_row_that_is_gone_before_the_verdict_is_nobodys_original(
    store, monkeypatch, drop: bool
) -> None:
    """Else a document would be dropped for one that is not stored."""
    if not isinstance(store, Claiming):
        pytest.skip("its writers take turns")
    put(store, "a", TEXT)
    store.refresh()
    looked = claims.judge

    def judge_before_it_is_removed(*arguments):
        judgement = looked(*arguments)
        store.delete(["a"])
        return judgement

    monkeypatch.setattr(claims, "judge", judge_before_it_is_removed)
    result = put(store, "b", NEAR, drop_duplicates=drop)
    assert (result.verdict, result.stored) == ("new", True)


def test_a_check_that_stores_waits_for_one_refresh(store, monkeypatch) -> None:
    if not isinstance(store, Claiming):
        pytest.skip("its writers take turns")
    looks = []
    look = store.claims.undecided

    def counted():
        looks.append(1)
        return look()

    monkeypatch.setattr(store.claims, "undecided", counted)
    assert put(store, "a", TEXT).verdict == "new"
    assert len(looks) == 1
    store.refresh()
    assert put(store, "b", NEAR, drop_duplicates=True).verdict == "duplicate"
    assert len(looks) == 1


def test_same_document_twice_at_once(store) -> None:
    """By two processes: the second one decides on the claim of the first."""
    if not isinstance(store, Claiming):
        pytest.skip("its writers take turns")
    first, second = (
        ClaimedCheck(store, store.claims, DEFAULT, row_of("a", TEXT), CheckOptions(), False)
        for _ in range(2)
    )
    store.claims.create(first.row, first._note())
    assert second.run() == (None, False)
    judgement, stored = first.run()
    assert (judgement.verdict, stored) == ("new", True)


@pytest.mark.long
@pytest.mark.one_engine
def test_of_pairs_that_race_one_is_new(url: str, kind: str) -> None:
    assert_one_of_each_pair_is_new(url, kind, "python", pairs=8, processes=2)


@pytest.mark.long
def test_of_pairs_that_race_on_two_sites_one_is_new(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    assert_one_of_each_pair_is_new(url, "sqlite", "serve", pairs=8, processes=2)


@pytest.mark.slow
@pytest.mark.parametrize(("through", "pairs"), [("python", 200), ("serve", 200), ("command", 50)])
def test_of_pairs_that_race_from_8_processes_one_is_new(
    url: str, kind: str, through: str, pairs: int
) -> None:
    assert_one_of_each_pair_is_new(url, kind, through, pairs=pairs, processes=8)


def assert_one_of_each_pair_is_new(
    url: str, kind: str, through: str, *, pairs: int, processes: int
) -> None:
    if kind == "memory" or kind.endswith("reopened"):
        pytest.skip("processes share a file or an engine")
    numbers = ["--race", str(pairs), "--processes", str(processes), "--through", through]
    command = [sys.executable, str(BENCHMARK), *numbers, "--json", "--store", url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    assert json.loads(done.stdout) == {"duplicate and new": pairs}, done.stderr
    with closing(open_store(url)) as store:
        store.refresh()
        assert store.counts().documents == 2 * pairs
