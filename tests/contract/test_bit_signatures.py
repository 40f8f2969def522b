"""Signatures of 16 to 1,024 bits, by which every store finds and folds."""

import pytest
from sample_library import fill, rows

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
NAMES = (
    "signature-study:topsig:16",
    "signature-study:weighted-topsig:32",
    "signature-study:minhash:32",
    "signature-study:weighted-topsig:256",
    "signature-study:topsig:1024",
)
TABLES = {16: 4, 32: 6, 256: 9, 1024: 9}
USUAL = {"topsig:16": 1, "weighted-topsig:32": 2, "minhash:32": 0}


@pytest.fixture(params=NAMES)
def recipe(request):
    return with_statistics(recipe_named(request.param), None, TEXTS.values)


@pytest.fixture
def reports(unprepared, recipe):
    unprepared.prepare(recipe)
    return fill(unprepared, rows(TEXTS, recipe=recipe))


def distances(recipe):
    bits = {id: fingerprint(text, recipe).simhash for id, text in TEXTS.items() if text}
    return {(a, b): hamming(bits[a], bits[b]) for a in bits for b in bits if a < b}


def usual_of(recipe):
    return USUAL.get(recipe.name.removeprefix("signature-study:"), 3)


def test_rows_keep_the_bits(reports, recipe):
    for id, row in reports.get(list(TEXTS)).items():
        bits = fingerprint(TEXTS[id], recipe).simhash
        if recipe.has_long_bits:
            assert row.simhash is None
            assert row.minhash == (bits and bits.to_bytes(recipe.bits // 8, "big"))
        else:
            assert (row.simhash, row.minhash) == (bits, None)
        assert len(row.blocks) == (TABLES[recipe.bits] if TEXTS[id] else 0)


@pytest.mark.long
def test_pairs_and_families_are_those_within_a_distance(reports, recipe):
    apart = distances(recipe)
    usual = usual_of(recipe)
    for distance in (usual, farthest(recipe.bits)):
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
        (families[a] == families[b]) == (apart[a, b] <= usual) for a, b in [("a", "b"), ("a", "e")]
    )


@pytest.mark.long
def test_look_ups_and_folding_by_hamming_distance(reports, recipe):
    apart = distances(recipe)
    distance = 8 if recipe.has_long_bits else usual_of(recipe)
    least = 1 - distance / recipe.bits
    hits = {
        hit.id: hit.similarity
        for hit in similar(reports, options=SimilarOptions(least, "hamming"), id="a").matches
    }
    near = {b: bits for (a, b), bits in apart.items() if a == "a"}
    assert hits == {b: 1 - bits / recipe.bits for b, bits in near.items() if bits <= distance}
    usual = similar(reports, id="a").matches
    assert {match.id for match in usual} == {
        b for b, bits in near.items() if bits <= usual_of(recipe)
    }
    assert {match.measure for match in usual} <= {"hamming"}
    assert not any(match.rearranged for match in usual if match.id != "d")
    page = search(reports, "", SearchOptions(sort="path", threshold=least))
    assert page.measure == "hamming"
    folded = {member.id for hit in page.hits if hit.id == "a" for member in hit.folded}
    assert folded == set(hits)
