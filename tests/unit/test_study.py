"""The study: signatures, neighbours by brute force, resumed runs, figures."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.defaults import STUDY_BITS
from indexer.errors import UsageError
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.minhash import pack_low_bits
from indexer.fingerprinting.schemes import count_text_features
from indexer.lab.studies.files import write
from indexer.lab.studies.methods import FEATURES, lengths, pairs_of
from indexer.lab.studies.signatures import Tables, grams_of
from indexer.lab.studies.study import common_pairs, distinct, neighbours, study
from indexer.review.charts import Line, Scale, lines, standalone

TEXTS = [
    "The quick brown fox jumps over the lazy dog. " * 3,
    "A ferry line between the two harbours opens in May.",
    "日本語の文章もここにある、短いけれど。",
    (
        "This Agreement is made between Coca-Cola and the Supplier named below, on terms of "
        "Schedule A."
    ),
    "This Agreement is made between Nabisco and the Supplier named below, on terms of Schedule A.",
    "abcd",
]


def test_signatures_are_those_of_single_documents() -> None:
    statistics = count_text_features(TEXTS, FEATURES)
    grams = [grams_of(text) for text in TEXTS]
    tables = Tables(grams, (16, 40, 64, 768, 1024))
    for text, text_grams in zip(TEXTS, grams, strict=True):
        result = tables.signatures(text_grams, statistics)
        for method, bits in pairs_of((16, 40, 64, 768, 1024)):
            single = fingerprint(text, method.recipe(bits), statistics)
            value = single.simhash
            if single.minhash is not None:
                value = int.from_bytes(pack_low_bits(single.minhash, 1), "big")
            assert result[method.name, bits] == (value or 0).to_bytes(bits // 8, "big"), (
                method.name,
                bits,
            )


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(
        [(16, 1), (16, 3), (32, 1), (32, 3), (128, 1), (128, 3), (1024, 1), (1024, 3), (40, 2)]
    ),
    st.lists(
        st.tuples(st.integers(0, 5), st.sets(st.integers(0, 1023), max_size=4)),
        min_size=1,
        max_size=40,
    ),
)
def test_neighbours_are_those_of_brute_force(
    width: tuple[int, int], signatures: list[tuple[int, set[int]]]
) -> None:
    bits, distance = width
    values = []
    for base, flipped in signatures:
        value = int.from_bytes(bytes([base * 37 % 256]) * (bits // 8), "big")
        for entry in flipped:
            value ^= 1 << entry % bits
        values.append(value)
    rows = np.frombuffer(
        b"".join(value.to_bytes(bits // 8, "big") for value in values), np.uint8
    ).reshape(len(values), -1)
    counts = neighbours(distinct(rows), bits, distance).tolist()
    assert counts == [
        sum((entry ^ neighbour).bit_count() <= distance for neighbour in values) - 1
        for entry in values
    ]


def test_lengths_are_checked() -> None:
    assert lengths([64, 16, 64]) == (16, 64) and lengths(STUDY_BITS) == STUDY_BITS
    for wrong in ([8], [20], [2048], []):
        with pytest.raises(UsageError):
            lengths(wrong)


def test_a_study_goes_on_where_it_was_cut_short_and_order_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, text in enumerate([*TEXTS, TEXTS[0], ""]):
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    undisturbed = study(folder, tmp_path / "whole", bits=(16, 32), sample=1)

    def stop(stage: str, _done: int, _total: int) -> None:
        if stage == "counting signatures":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study(folder, tmp_path / "cut", bits=(16, 32), sample=1, progress=stop)
    for file in folder.iterdir():
        file.unlink()
    again = study(folder, tmp_path / "cut", bits=(16, 32), sample=1)
    assert replace(again, seconds=()) == replace(undisturbed, seconds=())
    account = undisturbed.account
    assert (account.documents, account.studied, account.copies, account.empty) == (8, 6, 1, 1)
    assert account.octets == sum(len(text.encode()) for text in TEXTS)


@pytest.mark.long
def test_a_study_that_was_killed_while_it_read_starts_again(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(400):
        (folder / f"{number}.txt").write_text(f"{TEXTS[number % 5]} Annex {number}")
    ended = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom indexer.lab.studies.study "
        "import study\n"
        "study(Path(sys.argv[1]), Path(sys.argv[2]), bits=(16,), progress=lambda *_: "
        "os.kill(os.getpid(), signal.SIGKILL))"
    )
    out = tmp_path / "out"
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", ended, folder, out], cwd=root, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (
        len(list((out / "work").iterdir())) == 2
    )  # the texts, and the journal of what was not finished
    assert study(folder, out, bits=(16,), sample=1).account.studied == 400


@pytest.mark.long
def test_what_a_study_writes_is_no_document_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "one.txt").write_text(TEXTS[0], encoding="utf-8")
    for _ in range(2):
        result = study(folder, folder / "studied", bits=(16,), sample=1)
        assert (result.source, result.account.documents) == (str(folder.resolve()), 1)
        write(result, folder / "studied")
    html = (folder / "studied" / "report.html").read_text(encoding="utf-8")
    assert str(folder.resolve()) in html and "Statistics of 1 document give" in html
    with pytest.raises(UsageError, match="to another folder"):
        study(folder, folder, bits=(16,), sample=1)
    assert study(folder / "studied", folder, bits=(16,), sample=1).account.documents > 5


@pytest.mark.long
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=12))
def test_common_pairs_are_those_of_all_comparisons(bits: list[tuple[int, int]]) -> None:
    """By the definition: every pair, both distances; few values, so that many pairs are near."""
    a, b = (np.array([[one[side]] for one in bits], np.uint64).reshape(-1, 1) for side in (0, 1))

    def near(words: np.ndarray) -> set[tuple[int, int]]:
        values = [int(word) for word in words[:, 0]]
        pairs = combinations(range(len(values)), 2)
        return {(i, j) for i, j in pairs if (values[i] ^ values[j]).bit_count() <= 3}

    expected = len(near(a) & near(b)), len(near(a) | near(b))
    assert common_pairs(a, b, 64, 3) == common_pairs(b, a, 64, 3) == expected


def test_batches_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(25):
        (folder / f"{number}.txt").write_text(
            f"{TEXTS[number % 5]} Annex {number * number}", encoding="utf-8"
        )
    undisturbed = study(folder, tmp_path / "whole", bits=(16, 64), sample=1)
    monkeypatch.setattr("indexer.lab.studies.signatures.BATCH", 4)
    parts = study(folder, tmp_path / "parts", bits=(16, 64), sample=1)
    assert replace(parts, seconds=()) == replace(undisturbed, seconds=())
    assert [entry.documents for entry in undisturbed.answers.samples] == [10, 25]
    assert (
        undisturbed.answers.samples[-1].differing == 0
        and undisturbed.answers.samples[-1].close == 1
    )
    assert undisturbed.answers.samples[-1].same_pairs == 1
    assert 0 < undisturbed.answers.samples[0].same_pairs <= 1
    assert undisturbed.answers.arrivals[-1].last == 25


def test_collisions_and_neighbours_of_a_method_that_distinguishes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, text in enumerate(("aaaa", "aaaaa", "aaaaaa", "The quick brown fox")):
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    result = study(folder, tmp_path / "out", bits=(32,), sample=1)
    spread = next(entry for entry in result.spreads if entry.method == "simhash")
    assert (spread.unique, spread.collisions, spread.deviation, spread.most) == (2, 2.0, 1.0, 3)
    near = next(entry for entry in result.near if (entry.method, entry.distance) == ("simhash", 1))
    alike = next(entry for entry in result.alike if entry.method == "simhash")
    assert (alike.pairs, alike.mean, alike.unlike) == (1, 1.0, 0.0)
    assert near.documents[0] == 1 and near.documents[2] == 3 and sum(near.documents) == 4


def test_copies_and_texts_without_features_are_counted_as_published(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    texts = (TEXTS[0], TEXTS[0], TEXTS[1], "", " ", "12", "2024 17", "ab")
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    kept = study(folder, tmp_path / "kept", bits=(32,), sample=1)
    assert (kept.account.studied, kept.account.copies, kept.counted) == (3, 1, 8)
    assert (kept.account.empty, kept.account.numbers_only, kept.account.too_short) == (2, 1, 1)
    spread = next(entry for entry in kept.spreads if entry.method == "weighted-topsig")
    # two of a copy, two of one text each, and four without features under the signature 0
    assert (spread.unique, spread.collisions, spread.most) == (4, 2.0, 4)
    near = next(entry for entry in kept.near if (entry.method, entry.distance) == ("topsig", 1))
    assert near.documents[:4] == (2, 2, 0, 4)
    distinct_only = study(folder, tmp_path / "once", bits=(32,), sample=1, keep_duplicates=False)
    assert (distinct_only.account.studied, distinct_only.counted) == (2, 2)
    assert {spread.collisions for spread in distinct_only.spreads if spread.bits == 32} == {1.0}


def test_charts_are_wellformed_and_logarithmic_scales_show_one() -> None:
    series = [
        Line("x & y", [("0", 0), ("1", 1), (">1", None)]),
        Line("z", [("0", 100), ("1", 10), (">1", 1)]),
    ]
    chart = lines("a <title>", series, "places", Scale(100, log=True))
    assert 'role="img" aria-label="a &lt;title&gt;"' in chart
    assert "style" not in chart and " id=" not in chart
    root = ElementTree.fromstring(standalone(chart))
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "x & y" in texts and root.tag.endswith("svg")
    assert [text for text in texts if text in ("0", "1", "10", "100")] == [
        "0",
        "1",
        "0",
        "1",
        "10",
        "100",
    ]
    assert "var(" not in standalone(chart)
    assert lines("a <title>", series, "places", Scale(100, log=True)) == chart
