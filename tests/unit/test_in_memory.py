"""Texts in memory: the forms in which they come, and the same results as the commands."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from indexer.comparing.criteria import Criteria, for_folding
from indexer.comparing.measures import ComparedText
from indexer.comparing.reasons import explain
from indexer.errors import SourceNotFound, UnknownMeasure, UsageError
from indexer.grouping.families import families
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.jobs.check import check
from indexer.jobs.dedup import DedupOptions, dedup
from indexer.jobs.in_memory import Index, dedupe, groups, pairs, similarity
from indexer.recipe import DEFAULT
from indexer.searching.similar import similar
from indexer.stores import open_store

FERRY = "The ferry leaves the harbour at eight and takes the mail to both islands every day."
EDITED = FERRY.replace("every day", "each day")
SHOUTED = FERRY.upper()
OTHER = "Interest on late rent is four per cent above the base rate, from the day it falls due."
TEXTS = [FERRY, OTHER, SHOUTED, EDITED]


def corpus(count: int = 120, seed: int = 7) -> list[str]:
    """Return texts of which half are edits of an earlier one, of 3 to 60 words."""
    rng = random.Random(seed)
    texts: list[list[str]] = []
    for _ in range(count):
        if texts and rng.random() < 0.5:
            words = list(rng.choice(texts))
            for _ in range(rng.randrange(4)):
                words[rng.randrange(len(words))] = f"new{rng.randrange(1000)}"
        else:
            words = [f"word{rng.randrange(400)}" for _ in range(rng.randrange(3, 60))]
        texts.append(words)
    return [" ".join(words) for words in texts]


def store_with(texts: list[str]) -> Any:
    """Return an open store with these texts, whose ids ascend with their positions."""
    store = open_store("sqlite://:memory:")
    for position, text in enumerate(texts):
        check(store, text, id=f"{position:06}", store_it=True)
    return closing(store)


class Dataset:
    """A table as `datasets` has it: columns by name, rows as dicts."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns_by_name = columns
        self.column_names = list(columns)

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns_by_name[name]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for values in zip(*self.columns_by_name.values(), strict=True):
            yield dict(zip(self.column_names, values, strict=True))


class Stream:
    """An iterable dataset: rows alone, and names of columns that are not known."""

    column_names = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        yield from ({"text": text, "id": id} for id, text in zip("abcd", TEXTS, strict=True))


IDS = list("abcd")
FORMS: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "list": (lambda: TEXTS, [0, 1, 2, 3]),
    "generator": (lambda: iter(TEXTS), [0, 1, 2, 3]),
    "pairs": (lambda: zip(IDS, TEXTS, strict=True), IDS),
    "dicts": (lambda: [{"text": text, "x": 1} for text in TEXTS], [0, 1, 2, 3]),
    "dicts with ids": (Stream, IDS),
    "Series": (lambda: pd.Series(TEXTS), [0, 1, 2, 3]),
    "Series of a filtered frame": (lambda: pd.Series(TEXTS, index=[3, 5, 8, 9]), [3, 5, 8, 9]),
    "DataFrame": (lambda: pd.DataFrame({"text": TEXTS}, index=[3, 5, 8, 9]), [3, 5, 8, 9]),
    "DataFrame with ids": (lambda: pd.DataFrame({"id": IDS, "text": TEXTS}), IDS),
    "Arrow array": (lambda: pa.array(TEXTS), [0, 1, 2, 3]),
    "Arrow chunks": (lambda: pa.chunked_array([TEXTS[:1], TEXTS[1:]]), [0, 1, 2, 3]),
    "Arrow table": (lambda: pa.table({"text": TEXTS, "id": IDS}), IDS),
    "Dataset": (lambda: Dataset({"text": TEXTS}), [0, 1, 2, 3]),
    "Dataset with ids": (lambda: Dataset({"id": IDS, "text": TEXTS}), IDS),
}


@pytest.mark.parametrize("form", FORMS)
def test_texts_come_in_many_forms(form: str) -> None:
    make, ids = FORMS[form]
    result = dedupe(make())
    assert result.kept == ids[:2]
    assert result.texts == [FERRY, OTHER]
    removed = [(text.id, text.kept, text.outcome) for text in result.removed]
    assert removed == [(ids[2], ids[0], "exact"), (ids[3], ids[0], "near")]
    assert [set(found.ids) for found in groups(make())] == [{ids[0], ids[2], ids[3]}]
    assert {(pair.a, pair.b) for pair in pairs(make())} == {
        (ids[0], ids[2]),
        (ids[0], ids[3]),
        (ids[2], ids[3]),
    }


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_missing_texts_are_kept_and_compared_with_nothing(missing: Any) -> None:
    texts = [missing, FERRY, missing, FERRY, "", ""]
    result = dedupe(texts)
    assert result.kept == [0, 1, 2, 4, 5]
    assert result.texts == [None, FERRY, None, "", ""]
    assert [(text.id, text.kept) for text in result.removed] == [(3, 1)]
    assert [found.ids for found in groups(texts)] == [[1, 3], [4, 5]]
    assert [(pair.a, pair.b) for pair in pairs(texts)] == [(1, 3), (4, 5)]


def test_nothing_gives_nothing() -> None:
    result = dedupe([])
    assert (result.kept, result.texts, result.removed) == ([], [], [])
    assert groups([]) == [] == pairs([])
    assert Index().query(FERRY) == []


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        ("one text", "a list of texts is needed, not str"),
        (b"bytes", "not bytes"),
        ({"a": FERRY}, "items"),
        (7, "not int"),
        ([FERRY, 7], "text 1 is int"),
        ([b"bytes"], "text 0 is bytes"),
        ([("a", FERRY), ("a", OTHER)], "'a' comes twice"),
        ([("a", FERRY, 1)], "3 values"),
        ([{"body": FERRY}], "no 'text'"),
        (pd.DataFrame({"body": [FERRY]}), "no column 'text'"),
    ],
)
def test_anything_else_is_refused(texts: Any, problem: str) -> None:
    for function in (dedupe, groups, pairs, Index().update):
        with pytest.raises(UsageError, match=problem):
            function(texts)


def test_a_text_column_of_another_name() -> None:
    rows = [{"body": FERRY}, {"body": FERRY}]
    assert dedupe(rows, options=DedupOptions(text_field="body")).kept == [0]


@pytest.mark.parametrize("settings", [{}, {"keep": "first"}, {"threshold": 0.6}])
def test_dedupe_equals_dedup(tmp_path: Path, settings: dict[str, Any]) -> None:
    texts = corpus()
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    options = DedupOptions(**settings)
    done = dedup(str(rows), tmp_path / "out.jsonl", options)
    report = [json.loads(line) for line in Path(done.report).read_text().splitlines()]
    expected = [
        (line["row"] - 1, line["kept_row"] - 1, line["similarity"], line["outcome"])
        for line in report
    ]
    result = dedupe(texts, options=options)
    found = [(text.id, text.kept, text.similarity, text.outcome) for text in result.removed]
    assert found == expected
    assert len(result.kept) == done.kept > len(texts) // 3


@pytest.mark.long
@pytest.mark.parametrize("settings", [{}, {"measure": "jaccard"}, {"all_pairs": True}])
def test_pairs_equal_match(settings: dict[str, Any]) -> None:
    texts = corpus()
    options = MatchOptions(**settings)
    with store_with(texts) as store:
        ranks = {
            (*sorted((int(pair.a), int(pair.b))), pair.similarity, pair.measure): pair.rank
            for pair in match(store, options)
        }
    found = [
        (pair.a, pair.b, pair.similarity, pair.measure) for pair in pairs(texts, options=options)
    ]
    assert set(found) == ranks.keys()
    assert found == sorted(found, key=lambda pair: (-ranks[pair], pair))
    assert len(found) > 20


@pytest.mark.long
@pytest.mark.parametrize("settings", [{}, {"threshold": 0.7}, {"principal": "longest"}])
def test_groups_equal_group(settings: dict[str, Any]) -> None:
    texts = corpus()
    options = GroupOptions(**settings)
    with store_with(texts) as store:
        group(store, options)
        stored = {
            int(family.principal): {int(m.id): m.similarity for m in family.members}
            for family in families(store)
        }
    found = groups(texts, options=options)
    sizes = [len(item.members) for item in found]
    assert sizes == sorted(sizes, reverse=True)
    assert {item.principal: set(item.ids) for item in found} == {
        principal: {principal, *members} for principal, members in stored.items()
    }
    for item in found:
        assert all(stored[item.principal][id] == value for id, value in item.members)
    assert len(found) > 10


def test_a_threshold_stands_for_that_of_the_options() -> None:
    texts = [FERRY, FERRY.replace("eight", "nine").replace("mail", "post")]
    assert pairs(texts, 0.99) == []
    assert [pair.similarity for pair in pairs(texts, 0.5)] == [pytest.approx(14 / 16)]
    with pytest.raises(UsageError, match="threshold"):
        pairs(texts, 0)


def test_progress_is_reported() -> None:
    for function in (dedupe, groups, pairs):
        steps: list[tuple[str, int, int]] = []
        function(TEXTS, progress=lambda *step, into=steps: into.append(step))
        assert all(isinstance(name, str) and done <= total for name, done, total in steps)
        assert len({name for name, _, _ in steps}) > 1


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (groups, GroupOptions(of="parts")),
        (groups, GroupOptions(within="labels")),
        (pairs, MatchOptions(of="parts")),
        (pairs, MatchOptions(new=True)),
        (pairs, MatchOptions(against="x")),
    ],
)
def test_options_on_what_texts_do_not_have_are_refused(
    function: Callable[..., object], options: object
) -> None:
    with pytest.raises(UsageError, match="texts alone"):
        function(TEXTS, options=options)


def test_similarity_names_what_differs() -> None:
    result = similarity("Pay 42,000 euros in May.", "Pay 45,500 euros in May.")
    assert float(result) == result.similarity == 4 / 6
    assert [(item.kind, item.a, item.b) for item in result.differences] == [
        ("amount", "42,000", "45,500")
    ]
    assert (result.only_a, result.only_b) == (("42", "000"), ("45", "500"))
    assert "45,500" in str(result)
    assert similarity("A b", "a  B").ignored == ("case", "blanks")
    assert similarity("", "").similarity == 1
    assert similarity("", "---").similarity == 0
    assert 0 < similarity(FERRY, EDITED, measure="estimate").similarity < 1
    with pytest.raises(UnknownMeasure):
        similarity("a", "b", measure="none")
    with pytest.raises(UsageError, match="b is int"):
        similarity("a", 7)  # type: ignore[arg-type]


@pytest.mark.long
def test_an_index_finds_what_similar_finds() -> None:
    texts = corpus(60)
    index = Index()
    index.update([(f"{place:06}", text) for place, text in enumerate(texts)])
    assert len(index) == len(texts)
    with store_with(texts) as store:
        for text in texts[::7]:
            assert index.query(text) == list(similar(store, text).matches)


def test_an_index_changes() -> None:
    index = Index()
    index.add("a", FERRY)
    index.add("a", OTHER)
    assert (len(index), "a" in index, "b" in index, 7 in index) == (1, True, False, False)
    assert index.query(FERRY) == []
    assert [match.id for match in index.query(OTHER)] == ["a"]
    assert index.query(OTHER.upper(), 1.0)[0].similarity == 1
    index.delete("a")
    with pytest.raises(KeyError):
        index.delete("a")
    for id in ("", 7):
        with pytest.raises(UsageError, match="an id is a non-empty string"):
            index.add(id, FERRY)  # type: ignore[arg-type]


def test_an_index_is_saved_and_loaded(tmp_path: Path) -> None:
    file = tmp_path / "an index.db"
    index = Index()
    index.update(zip(IDS, TEXTS, strict=True))
    index.save(file)
    with closing(open_store(f"sqlite:///{file}")) as store:
        assert len(similar(store, FERRY).matches) == 3
    loaded = Index.load(file)
    assert loaded.query(FERRY) == index.query(FERRY)
    loaded.delete("a")
    assert len(Index.load(file)) == 4
    loaded.save(file)
    assert len(Index.load(file)) == 3


def test_a_file_of_others_is_neither_loaded_nor_replaced(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(UsageError, match="exists"):
        Index().save(file)
    assert file.read_text() == "mine"
    with pytest.raises(SourceNotFound):
        Index.load(tmp_path / "none.db")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (
            "Die Fähre fährt täglich außer montags über die schöne Förde und hält für Gäste.",
            "Die Fahre fahrt taglich außer montags uber die schone Forde und halt fur Gaste.",
        ),
        (
            "Người thuê phải trả tiền nhà trước ngày mồng năm và không được cho thuê lại.",
            "Nguoi thue phai tra tien nha truoc ngay mong nam va khong duoc cho thue lai.",
        ),
        (
            "Nájemce platí nájemné vždy předem, nejpozději pátý den měsíce, a neručí za škody.",
            "Najemce plati najemne vzdy predem, nejpozdeji paty den mesice, a neruci za skody.",
        ),
        (
            "Najemca płaci czynsz z góry, najpóźniej piątego dnia miesiąca, i nie może podnająć.",
            "Najemca placi czynsz z gory, najpozniej piatego dnia miesiaca, i nie moze podnajac.",
        ),
    ],
)
def test_a_copy_without_accents_is_near_and_strict_does_not_fold_it(text: str, plain: str) -> None:
    (pair,) = pairs([text, OTHER, plain], options=MatchOptions(all_pairs=True))
    assert (pair.a, pair.b) == (0, 2) and 0.9 <= pair.similarity < 1
    assert similarity(text, plain).similarity == pair.similarity
    strict, standard = (Criteria(policy=policy) for policy in ("strict", "standard"))
    operands = [ComparedText(side, DEFAULT) for side in (text, plain)]
    found = explain(*operands)
    assert ([mark.kind for mark in found.marks], found.facts) == (["accents"], ())
    assert for_folding(standard, "lcs").accepts(*operands)
    assert not for_folding(strict, "lcs").accepts(*operands)
