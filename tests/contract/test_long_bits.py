"""TopSig of 256 bits: rows keep more than 64 bits, by which every store finds and folds."""

import pytest
from sample_library import rows

from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.keys import farthest, hamming
from indexer.grouping.group import group
from indexer.grouping.match import MatchOptions, match
from indexer.jobs.corpus_statistics import with_statistics
from indexer.recipe import recipe_named
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar

REPORT = " ".join(
    f"In {place} the committee of {name} heard {count} witnesses on the repair of the harbour wall."
    for place, name, count in zip(
        ("March", "April", "June", "August", "October", "December"),
        ("Marstrand", "Kungshamn", "Lysekil", "Smögen", "Fjällbacka", "Grebbestad"),
        ("twelve", "nine", "forty", "three", "sixty", "seven"),
        strict=True,
    )
)
TEXTS = {
    "a": REPORT,
    "b": f"{REPORT}.",
    "c": REPORT.replace("nine", "ten"),
    "d": " ".join(reversed(REPORT.split())),
    "e": "The bakery on the corner sells rye bread, cinnamon buns and strong coffee from six on.",
    "empty": "",
}
NAMES = ("signature-study:weighted-topsig:256", "signature-study:topsig:1024")


@pytest.fixture(params=NAMES)
def recipe(request, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return with_statistics(recipe_named(request.param), None, TEXTS.values)


@pytest.fixture
def reports(unprepared, recipe):
    unprepared.prepare(recipe)
    documents = rows(TEXTS, recipe=recipe)
    assert unprepared.write(documents) == [None] * len(documents)
    unprepared.refresh()
    return unprepared


def distances(recipe):
    bits = {id: fingerprint(text, recipe).simhash for id, text in TEXTS.items() if text}
    return {(a, b): hamming(bits[a], bits[b]) for a in bits for b in bits if a < b}


def test_rows_keep_the_bits(reports, recipe):
    for id, row in reports.get(list(TEXTS)).items():
        bits = fingerprint(TEXTS[id], recipe).simhash
        assert row.simhash is None
        assert row.minhash == (bits and bits.to_bytes(recipe.bits // 8, "big"))
        assert len(row.blocks) == (9 if bits else 0)


def test_pairs_and_families_are_those_within_a_distance(reports, recipe):
    apart = distances(recipe)
    for distance in (3, farthest(recipe.bits)):
        options = MatchOptions(threshold=1 - distance / recipe.bits)
        pairs = match(reports, options)
        found = {tuple(sorted((pair.a, pair.b))): pair.similarity for pair in pairs}
        assert found == {
            pair: 1 - bits / recipe.bits for pair, bits in apart.items() if bits <= distance
        }
    assert {pair.measure for pair in match(reports)} <= {"hamming"}
    group(reports)
    reports.refresh()
    families = {row.id: row.family for row in reports.scan()}
    assert all(
        (families[a] == families[b]) == (apart[a, b] <= 3) for a, b in [("a", "b"), ("a", "e")]
    )


def test_look_ups_and_folding_by_hamming_distance(reports, recipe):
    apart = distances(recipe)
    least = 1 - 8 / recipe.bits
    hits = {
        hit.id: hit.similarity
        for hit in similar(reports, options=SimilarOptions(least, "hamming"), id="a").matches
    }
    assert hits == {
        b: 1 - bits / recipe.bits for (a, b), bits in apart.items() if a == "a" and bits <= 8
    }
    page = search(reports, "", SearchOptions(sort="path", threshold=least))
    assert page.measure == "hamming"
    folded = {member.id for hit in page.hits if hit.id == "a" for member in hit.folded}
    assert folded == set(hits)
