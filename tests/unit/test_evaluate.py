"""Evaluation end to end in memory: agreement with `match`, and scores computed by hand."""

import csv
import random
from itertools import combinations
from pathlib import Path

import pytest
from sample_library import library, rows
from synthetic_library import library as random_library
from synthetic_library import store_of

from indexer.errors import UnknownMeasure, UsageError
from indexer.grouping.match import MatchOptions, match
from indexer.lab.evaluation.decider import Decider
from indexer.lab.evaluation.evaluate import EvaluateOptions, evaluate
from indexer.lab.evaluation.gold import read_gold
from indexer.lab.evaluation.judge import pairs_of_queries, write_pairs
from indexer.lab.evaluation.report import write_tables
from indexer.recipe import recipe_named

CHANCE = random.Random(5)
VOCABULARY = [
    "".join(CHANCE.choices("abcdefghijklmnoprstuvw", k=CHANCE.randint(3, 9))) for _ in range(400)
]


def text(words: int = 80) -> list[str]:
    return CHANCE.choices(VOCABULARY, k=words)


def change_words(words: list[str], edits: int) -> list[str]:
    """Replace every so many words of a text."""
    changed_words = list(words)
    for place in range(0, len(words), max(1, len(words) // edits)):
        changed_words[place] = f"other{place}"
    return changed_words


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Write ten groups of texts and their gold set.

    A group is an original, a light and a heavy edit, and an unrelated text.
    """
    with (tmp_path / "gold.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "type", "group", "kind"])
        for group in range(10):
            original = text()
            for name, words in (
                ("o", original),
                ("l", change_words(original, 2)),
                ("h", change_words(original, 12)),
                ("s", text()),
            ):
                (tmp_path / f"{group}{name}.txt").write_text(" ".join(words))
            writer.writerow(
                [f"{group}o.txt", f"{group}l.txt", "near-identical", f"q{group}", "light"]
            )
            writer.writerow([f"{group}o.txt", f"{group}h.txt", "fuzzy", f"q{group}", "heavy"])
            writer.writerow([f"{group}o.txt", f"{group}s.txt", "different", f"q{group}", ""])
    return tmp_path


def test_by_pairs_types_kinds_and_sets(corpus: Path) -> None:
    [evaluation] = evaluate(
        [str(corpus / "gold.csv")], options=EvaluateOptions(thresholds=[0.9])
    ).results
    assert (
        evaluation.pairs.right,
        evaluation.pairs.wrong,
        evaluation.pairs.missed,
        evaluation.judged,
    ) == (10, 0, 10, 30)
    assert (
        evaluation.pairs.precision.value,
        evaluation.pairs.recall.value,
        evaluation.pairs.f1,
    ) == (
        1.0,
        0.5,
        pytest.approx(2 / 3),
    )
    assert [(entry.name, entry.scores.recall.value) for entry in evaluation.by_type] == [
        ("near-identical", 1.0),
        ("fuzzy", 0.0),
    ]
    assert [(entry.name, entry.scores.recall.value) for entry in evaluation.by_kind] == [
        ("heavy", 0.0),
        ("light", 1.0),
    ]
    assert {entry.why for entry in evaluation.misses} == {"below the threshold"}
    assert (evaluation.sets.counts.captured, evaluation.sets.counts.sets) == (0, 10)
    assert evaluation.sets.precision.value == 1.0
    assert evaluation.agreement.kappa == pytest.approx(
        (20 / 30 - 0.5) / 0.5
    )  # half of all judgements, by recipe and truth, say duplicate
    low, high = evaluation.pairs.recall.bootstrap
    assert low == high == 0.5  # each group finds one of its two: nothing varies from group to group


@pytest.mark.long
def test_a_lower_threshold_finds_the_fuzzy_ones_and_captures_sets(corpus: Path) -> None:
    low, high = evaluate(
        [str(corpus / "gold.csv")], options=EvaluateOptions(thresholds=[0.4, 0.9], rule="connected")
    ).results
    assert (low.pairs.missed, low.sets.counts.captured) == (0, 10)
    assert high.pairs.missed == 10
    assert (
        evaluate([str(corpus / "gold.csv")], options=EvaluateOptions(thresholds=[0.9], rule="any"))
        .results[0]
        .sets.counts.captured
        == 10
    )


@pytest.mark.long
def test_pairs_that_are_not_listed_count_when_the_set_is_closed(corpus: Path) -> None:
    path = str(corpus / "gold.csv")
    open_set = evaluate([path], options=EvaluateOptions(thresholds=[0.4])).results[0]
    closed = evaluate([path], options=EvaluateOptions(thresholds=[0.4], closed=True)).results[0]
    assert open_set.pairs.wrong == 0
    assert (
        open_set.unjudged == closed.pairs.wrong == 10
    )  # the two edits of each original are as near to one another
    assert {(pair.a.path[-6:], pair.b.path[-6:]) for pair in closed.false_positives} >= {
        ("0h.txt", "0l.txt")
    }
    assert closed.judged == 10 * 6


def test_ids_and_paths_of_a_store(corpus: Path) -> None:
    texts = {"one": " ".join(text()), "other": "", "third": " ".join(text())}
    texts["two"] = texts["one"] + " and more"
    store = library(rows(texts))
    (corpus / "ids.jsonl").write_text(
        '{"a": "one", "b": "/library/two.txt", "type": "fuzzy"}\n'
        '{"a": "one", "b": "other", "type": "fuzzy"}\n'
    )
    evaluation = evaluate(
        [str(corpus / "ids.jsonl")], store, EvaluateOptions(thresholds=[0.8])
    ).results[0]
    assert (evaluation.pairs.right, evaluation.pairs.missed) == (1, 1)
    assert [miss.why for miss in evaluation.misses] == ["/library/other.txt is empty"]
    assert {miss.a.stored for miss in evaluation.misses} == {True}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("one,two,fuzzy", "'one', 'two': neither"),
        ("0o.txt,./0o.txt,fuzzy", "are the same document"),
    ],
)
def test_documents_that_are_nowhere_or_the_same(corpus: Path, line: str, message: str) -> None:
    (corpus / "bad.csv").write_text(f"a,b,type\n{line}\n")
    with pytest.raises(UsageError, match=message):
        evaluate([str(corpus / "bad.csv")], library(rows({"x": "some text of some words"})))


def test_invalid_evaluations_are_refused(corpus: Path) -> None:
    path = str(corpus / "gold.csv")
    for wrong in ({"rule": "some"}, {"thresholds": [0.0]}, {"thresholds": [1.5]}):
        with pytest.raises(UsageError):
            evaluate([path], options=EvaluateOptions(**wrong))
    with pytest.raises(UnknownMeasure):
        evaluate([path], options=EvaluateOptions(measure="nearness"))
    with pytest.raises(UsageError, match="sheets of assessors and nothing else"):
        evaluate([path, path])


def test_sheets_are_resolved_and_their_agreement_is_reported(corpus: Path) -> None:
    judgements = {"anna": "nnnnnfffdd", "bert": "nnnnnffdfd"}
    for name, letters in judgements.items():
        types = {"n": "near-identical", "f": "fuzzy", "d": "different"}
        lines = [
            f"{place}o.txt,{place}l.txt,{types[letter]},q{place % 2}"
            for place, letter in enumerate(letters)
        ]
        (corpus / f"{name}.csv").write_text("\n".join(["a,b,judgement,query", *lines]) + "\n")
    (corpus / "carol.csv").write_text("a,b,judgement,role\n7l.txt,7o.txt,fuzzy,arbiter\n")
    evaluation = evaluate([str(corpus / f"{name}.csv") for name in ("anna", "bert", "carol")])
    assert evaluation.assessors.assessors == ("anna", "bert")
    assert evaluation.assessors.duplicate.pooled.kappa == pytest.approx(
        (0.8 - 0.68) / 0.32
    )  # 16 of 20 say duplicate, 8 of 10 agree
    assert evaluation.assessors.duplicate.by_group.tables == 2
    assert [(pair.judgements["anna"], pair.type) for pair in evaluation.disagreements] == [
        ("fuzzy", "fuzzy"),
        ("different", None),
    ]
    assert sum(evaluation.types.values()) == 9


@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_decided_pairs_are_those_that_match_finds(threshold: float) -> None:
    # Of a text that was cut the rest counts too, which no pair of texts states.
    records = [record for record in random_library(3, 160) if not record.truncated]
    store = store_of(records, "sqlite://:memory:")
    expected = {
        (item.a, item.b): item.similarity
        for item in match(store, MatchOptions(threshold=threshold, exact=True))
    }
    store.close()
    decider = Decider([item.text for item in records], recipe_named("default"))
    similarities = decider.decide(threshold).found
    decided = {
        tuple(sorted((records[a].id, records[b].id))): value
        for (a, b), value in similarities.items()
    }
    assert len(expected) > 50
    assert decided == pytest.approx(expected)


@pytest.mark.parametrize(
    "name",
    [
        "simhash-doc",
        "signature-study:topsig:256",
        "signature-study:weighted-topsig:256",
        "clauses:30",
        "::mmh3:64:affine64",
        "baseline:winnowing",
    ],
)
def test_every_family_of_recipes_decides(name: str) -> None:
    base = " ".join(text(120))
    texts = [base, " ".join([*base.split()[:-1], "last"]), " ".join(text(120)), "", base.upper()]
    evaluation = Decider(texts, recipe_named(name)).decide(0.8)
    assert (0, 1) in evaluation.found
    assert not {pair for pair in evaluation.found if 3 in pair}
    assert evaluation.found.keys() <= evaluation.candidates <= set(combinations(range(5), 2))


@pytest.mark.long
def test_duplicate_types_are_scored_and_reported(tmp_path: Path) -> None:
    fee = (
        "The {} shall pay to the Agent within {} days after the end of each quarter "
        "a fee for the services of that quarter."
    )
    texts = {
        "a": fee.format("Acme Ltd", 30),
        "b": fee.format("Acme Ltd", 30).replace("a fee", "the fee"),
        "c": fee.format("Orion AG", 45),
        "d": fee.format("Acme Ltd", 30).replace("shall", "may"),
        "e": "4. -",
        "f": fee.format("Acme Ltd", 30) + " Amen.",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    gold = [
        "a,b,type",
        "a.txt,b.txt,identical",
        "a.txt,c.txt,fuzzy",
        "a.txt,d.txt,different",
        "b.txt,d.txt,identical",
    ]
    (tmp_path / "gold.csv").write_text(
        "\n".join([*gold, "a.txt,e.txt,fuzzy", "a.txt,f.txt,near-identical"]) + "\n"
    )
    recipe, types = evaluate(
        [str(tmp_path / "gold.csv")], options=EvaluateOptions(types=True, thresholds=[0.8])
    ).results
    assert (types.recipe, types.measure, recipe.recipe) == (
        "duplicate-types",
        "terminology",
        "default_v3",
    )
    assert (types.pairs.right, types.pairs.wrong, types.pairs.missed) == (3, 0, 2)
    assert {(entry.type, entry.assigned): entry.pairs for entry in types.assigned_types} == {
        ("identical", "identical"): 1,
        ("fuzzy", "near-identical"): 1,
        ("near-identical", "fuzzy"): 1,
        ("identical", "not found"): 1,
        ("fuzzy", "not found"): 1,
    }
    assert [entry.why.rpartition("/")[2] for entry in types.misses] == [
        "another obligation or formula, or too different in length",
        "e.txt has no substantive words",
    ]
    assert ("different", "no type") in {
        (entry.type, entry.assigned) for entry in recipe.assigned_types
    }
    assert not evaluate([str(tmp_path / "gold.csv")]).results[0].assigned_types


def test_pairs_of_queries_are_all_pairs_of_the_best_hits(tmp_path: Path) -> None:
    texts = {f"{place}": f"ferry {' '.join(text(20))} harbour" for place in range(6)}
    store = library(rows(texts | {"other": "bread"}))
    pairs = list(pairs_of_queries(store, ["ferry\n", "\n", "bread\n", "ferry\n"], hits=4))
    assert len(pairs) == 6 and {query for *_, query in pairs} == {"ferry"}
    assert len({id for a, b, _ in pairs for id in (a, b)}) == 4
    written = tmp_path / "pairs.csv"
    assert write_pairs(pairs, written) == 6
    assert [pair.group for pair in read_gold(str(written)).pairs] == ["ferry"] * 6


def test_tables_are_by_query_by_size_and_by_set(corpus: Path) -> None:
    evaluation = evaluate([str(corpus / "gold.csv")])
    write_tables(evaluation, corpus)
    queries, sizes, sets = (
        list(csv.DictReader((corpus / f"{name}.csv").read_text(encoding="utf-8").splitlines()))
        for name in ("queries", "sizes", "sets")
    )
    first = {"query": "q0", "documents": "4", "near-identical": "1", "fuzzy": "1", "sets": "1"}
    assert first.items() <= queries[0].items() and len(queries) == 10
    assert [(row["documents"], row["sets"], row["longest"]) for row in sizes] == [("3", "10", "80")]
    assert (sets[0]["query"], sets[0]["documents"], sets[0]["mean_words"]) == ("q0", "3", "80.0")


@pytest.mark.long
def test_published_signatures_are_baselines(tmp_path: Path) -> None:
    original = text()
    texts = {"a": original, "b": original[::-1], "c": change_words(original, 40), "d": text()}
    for name, words in texts.items():
        tmp_path.joinpath(f"{name}.txt").write_text(" ".join(words))
    gold = tmp_path / "gold.csv"
    gold.write_text("a,b,type\na.txt,b.txt,duplicate\na.txt,c.txt,fuzzy\na.txt,d.txt,different\n")
    evaluation = evaluate([str(gold)], options=EvaluateOptions(baselines=True))
    signatures, sums = evaluation.results[1:]
    assert (signatures.recipe, sums.recipe) == ("lexical-signatures", "hash-sums")
    for result in (signatures, sums):
        (miss,) = result.misses
        assert {miss.a.path[-5:], miss.b.path[-5:]} == {"a.txt", "c.txt"}
        assert not result.false_positives
    assert sums.misses[0].similarity == 0.0
