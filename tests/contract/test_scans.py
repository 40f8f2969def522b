"""Scanned collections: recipe `scans` and the measure `lcs_misread`, in every store.

Of each text there is a copy with one character in twenty misread.
"""

from dataclasses import replace

import pytest
from sample_library import fill, rows
from samples import pdf

from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.jobs.check import check
from indexer.lab.synthesis.changes import RandomSource, add_ocr_noise
from indexer.recipe import DEFAULT, recipe_named
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar

SCANS = recipe_named("scans")
MEASURE = "lcs_misread"


def letter(number, size=4):
    """Return a text of 150 words of eight letters or more, or of twice `size`."""
    chance = RandomSource(number, "letter")
    syllables = [first + second for first in "bdfgklmnprst" for second in "aeiou"]
    return " ".join(
        "".join(chance.choice(syllables) for _ in range(size + chance.below(2))) for _ in range(150)
    )


CLEAN = {f"clean-{number}": letter(number) for number in range(6)}
MISREAD = {
    name.replace("clean", "read"): add_ocr_noise(text, 0.05, RandomSource(7, name))
    for name, text in CLEAN.items()
}
COPY = dict(zip(CLEAN, MISREAD, strict=True))


@pytest.fixture
def scans(unprepared):
    unprepared.prepare(SCANS)
    return fill(unprepared, rows({**CLEAN, **MISREAD}, recipe=SCANS))


def test_a_look_up_finds_the_misread_copy(scans):
    options = SimilarOptions(measure=MEASURE)
    for name, copy in COPY.items():
        assert [hit.id for hit in similar(scans, options=options, id=name).matches] == [copy]


def test_scans_are_found_among_other_texts_by_the_default_recipe(unprepared):
    unprepared.prepare(DEFAULT)
    clean = {f"clean-{number}": letter(number, 2) for number in range(6)}
    misread = {
        COPY[name]: add_ocr_noise(text, 0.05, RandomSource(7, name)) for name, text in clean.items()
    }
    store = fill(unprepared, rows({**clean, **misread}))
    pairs = {(pair.a, pair.b) for pair in match(store, MatchOptions(measure=MEASURE))}
    assert pairs <= set(COPY.items()) and len(pairs) >= len(COPY) - 1
    group(store, GroupOptions(0.8, MEASURE))
    store.refresh()
    families = {row.id: row.family for row in store.scan()}
    assert all(families[name] == families[copy] for name, copy in pairs)


def test_a_look_up_by_the_default_recipe_finds_what_is_marked_as_a_scan(unprepared):
    unprepared.prepare(DEFAULT)
    clean = {f"clean-{number}": letter(number, 2) for number in range(6)}
    misread = {
        COPY[name]: add_ocr_noise(text, 0.05, RandomSource(7, name)) for name, text in clean.items()
    }
    marked = [replace(row, ocr="Tesseract") for row in rows(misread)]
    store = fill(unprepared, [*rows(clean), *marked])
    assert {row.ocr for row in store.get(list(misread)).values()} == {"Tesseract"}
    found = {
        (name, hit.id, hit.measure)
        for name in (*clean, *misread)
        for hit in similar(store, id=name).matches
    }
    right = {(name, copy, MEASURE) for pair in COPY.items() for name, copy in (pair, pair[::-1])}
    assert found <= right and len(found) >= len(right) - 2
    shown = []
    pairs = match(store, on_pairs=shown.extend)
    of_marked = {(pair.a, pair.b, pair.measure) for pair in pairs}
    assert of_marked <= right and len(of_marked) >= len(COPY) - 1
    assert set(shown) == set(pairs) and any("6 scans" in note for note in pairs.notes())
    assert not list(match(store, MatchOptions(measure="lcs")))
    by_lcs = SimilarOptions(measure="lcs")
    assert not any(similar(store, options=by_lcs, id=name).matches for name in clean)


def test_a_scan_in_a_file_is_found_and_is_for_review(unprepared, tmp_path):
    unprepared.prepare(DEFAULT)
    text = letter(1, 2)
    store = fill(unprepared, rows({"clean": text}))
    words = add_ocr_noise(text, 0.03, RandomSource(7, "scan")).split()
    lines = [" ".join(words[start : start + 10]) for start in range(0, len(words), 10)]
    file = tmp_path / "scan.pdf"
    file.write_bytes(pdf(lines, producer="ABBYY FineReader 15"))
    result = check(store, path=str(file))
    assert (result.verdict, result.of, result.measure) == ("review", "clean", MEASURE)
    assert "a scan" in result.reasons[0]


def test_match_and_families(scans):
    pairs = {(pair.a, pair.b) for pair in match(scans, MatchOptions(measure=MEASURE))}
    assert pairs == set(COPY.items())
    assert not list(match(scans, MatchOptions()))
    group(scans, GroupOptions(0.8, MEASURE))
    scans.refresh()
    families = {row.id: row.family for row in scans.scan()}
    assert all(families[name] == families[copy] for name, copy in COPY.items())
    assert len(set(families.values())) == len(CLEAN)


def test_live_folding(scans):
    options = SearchOptions(threshold=0.8, measure=MEASURE, sort="path", fold="live", limit=20)
    page = search(scans, "", options)
    assert {hit.id: [member.id for member in hit.folded] for hit in page.hits} == {
        name: [copy] for name, copy in COPY.items()
    }
