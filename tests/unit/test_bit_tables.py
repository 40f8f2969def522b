"""Pairs by bits: tables of blocks, lists of fingerprints, and stores of a recipe of bits alone."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer import (
    IndexOptions,
    SearchOptions,
    delete,
    export,
    fold_hits,
    group,
    index,
    match,
    open_store,
    recipe_named,
    search,
)
from indexer.errors import UsageError
from indexer.fingerprinting.keys import (
    FARTHEST,
    design_for,
    farthest,
    hamming,
    hashed_table_keys,
    tables,
)
from indexer.fingerprinting.simhash import simhash_doc
from indexer.grouping.candidates import ClosePairs
from indexer.grouping.fingerprint_lists import match_fingerprints, read_fingerprints
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions
from indexer.model import Row
from indexer.system.external_memory import MemoryBudget

TEXT = "the harbour ferry leaves at eight in the morning and returns late in the evening"
WORDS = TEXT.split()
BASES = [0x0123456789ABCDEF, 0xFEDCBA9876543210, 0]


@st.composite
def sketches(draw: st.DrawFn) -> list[int]:
    flips = st.lists(st.integers(0, 63), max_size=9)
    values = draw(st.lists(st.tuples(st.sampled_from(BASES), flips), min_size=1, max_size=25))
    result = []
    for base, places in values:
        value = base
        for place in places:
            value ^= 1 << place
        result.append(value)
    return result


@pytest.mark.long
@settings(max_examples=60)
@given(sketches(), st.integers(0, FARTHEST))
def test_pairs_are_those_of_brute_force(values: list[int], distance: int) -> None:
    array = np.array(values, dtype=np.uint64)
    rank = np.arange(len(array))
    close = ClosePairs(
        array[:, None], design_for(64, distance), distance, rank, 1000, MemoryBudget()
    )
    pairs = {
        (a, b, bits)
        for left, right, apart in close.blocks()
        for a, b, bits in zip(left.tolist(), right.tolist(), apart.tolist(), strict=True)
    }
    assert pairs == {
        (a, b, hamming(values[a], values[b]))
        for b in range(len(values))
        for a in range(b)
        if hamming(values[a], values[b]) <= distance
    }


@settings(max_examples=40)
@given(sketches(), st.sampled_from([72, 256, 1024]), st.integers(0, 16))
def test_pairs_of_long_bits_are_those_of_brute_force(
    values: list[int], bits: int, distance: int
) -> None:
    distance = min(distance, farthest(bits))
    long = [value | value << bits - 64 for value in values]
    octets = -(-bits // 64) * 8
    packed = b"".join(value.to_bytes(octets, "big") for value in long)
    array = np.frombuffer(packed, dtype=">u8").astype(np.uint64).reshape(len(long), -1)
    design = design_for(bits, distance)
    close = ClosePairs(array, design, distance, np.arange(len(long)), 1000, MemoryBudget())
    pairs = {
        (a, b, apart)
        for left, right, differing in close.blocks()
        for a, b, apart in zip(left.tolist(), right.tolist(), differing.tolist(), strict=True)
    }
    assert pairs == {
        (a, b, hamming(long[a], long[b]))
        for b in range(len(long))
        for a in range(b)
        if hamming(long[a], long[b]) <= distance
    }
    keys = [set(hashed_table_keys(value, tables(design))) for value in long]
    assert all(keys[a] & keys[b] for a, b, _ in pairs)


@given(sketches(), st.integers(0, 4))
def test_pairs_of_a_list_are_those_of_brute_force(values: list[int], distance: int) -> None:
    listed = read_fingerprints(f"{value:016x}  {place}" for place, value in enumerate(values))
    pairs = [
        (int(pair.a), int(pair.b), pair.distance)
        for pair in match_fingerprints(listed, distance, 1000)
    ]
    assert pairs == [
        (a, b, hamming(values[a], values[b]))
        for a in range(len(values))
        for b in range(a + 1, len(values))
        if hamming(values[a], values[b]) <= distance
    ]


def test_the_designs_are_those_of_the_draft() -> None:
    # 3.1.1 of Manku et al. by the draft: 16 tables of 28 bits for k = 3
    assert (design_for(64, 3).tables, design_for(64, 3).key_bits) == (16, 28)
    assert (design_for(64, 6).tables, design_for(64, 6).key_bits) == (28, 16)
    assert (design_for(64, 3, 4).tables, design_for(64, 3, 4).key_bits) == (4, 16)
    with pytest.raises(UsageError, match="too few for a distance of 3; give 4 or more"):
        design_for(64, 3, 2)
    with pytest.raises(UsageError, match=r"not within 9; give a higher threshold$"):
        design_for(64, 9)


def test_equal_fingerprints_are_paired_one_after_another() -> None:
    listed = read_fingerprints("ff" for _ in range(200_000))
    first = list(islice(match_fingerprints(listed, 3, 1000), 3))
    assert [(pair.a, pair.b) for pair in first] == [
        ("line 1", f"line {place}") for place in (2, 3, 4)
    ]


def test_lists_of_fingerprints() -> None:
    lines = ["e2f5c59183172276  a b.txt\n", "\n", "0xE2F5C59183172277\n"]
    listed = read_fingerprints(lines)
    assert listed.names == ("a b.txt", "line 3")
    [pair] = match_fingerprints(listed, 3, 1000)
    assert (pair.a, pair.b, pair.distance, pair.similarity) == ("a b.txt", "line 3", 1, 63 / 64)
    spelled = read_fingerprints(
        ["simhash-doc-v2:4l24lemdc4rhm x", "SIMHASH-DOC-V2:4L24LEMDC4RHM y"]
    )
    assert [pair.distance for pair in match_fingerprints(spelled, 0, 1000)] == [0]
    with pytest.raises(UsageError, match="line 1 begins with 'nothing'"):
        read_fingerprints(["nothing"])
    with pytest.raises(UsageError, match="v1 and v2 do not compare"):
        read_fingerprints(["simhash-doc-v1:4l24lemdc4rhm", "simhash-doc-v2:4l24lemdc4rhm"])
    with pytest.raises(UsageError, match=r"unnamed version .hexadecimal digits. and v2 do not"):
        read_fingerprints(["e2f5c59183172276", "simhash-doc-v2:4l24lemdc4rhm"])
    assert list(match_fingerprints(read_fingerprints([]), 3, 1000)) == []


def test_a_store_of_simhash_doc_is_matched_grouped_and_exported(tmp_path: Path) -> None:
    texts = {f"{place}.txt": " ".join([*WORDS * 6, f"word{place % 2}"]) for place in range(4)}
    texts["other.txt"] = "an entirely different notice about parking in the lower town " * 4
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
    recipe = recipe_named("simhash-doc")
    expected = {
        (a, b): hamming(simhash_doc(texts[a]), simhash_doc(texts[b]))
        for b in texts
        for a in texts
        if a < b
    }
    with closing(open_store(f"sqlite:///{tmp_path}/x.db")) as store:
        index([str(folder)], store, IndexOptions(recipe, extractor="plain"))
        for options, distance in ((MatchOptions(), 3), (MatchOptions(threshold=0.9), 6)):
            result = match(store, options)
            names = [Path(path).name for path in result.names]
            found = {
                tuple(sorted((names[a], names[b]))): round(64 * (1 - pair.similarity))
                for a, b, pair in zip(result.left, result.right, result, strict=True)
            }
            assert found == {pair: bits for pair, bits in expected.items() if bits <= distance}
            assert {pair.measure for pair in result} == {"hamming"}
        account = group(store)
        assert (account.documents, account.families, account.largest) == (5, 1, 4)
        assert group(store).changed == 0
        families = {row.id: row.family for row in store.scan()}
        assert export(store, tmp_path / "pairs.csv", "csv", "pairs").records == len(match(store))
        for refused in ("jaccard", "overlap", "lcs"):
            with pytest.raises(UsageError, match="compared by hamming"):
                match(store, MatchOptions(measure=refused))
            with pytest.raises(UsageError, match="compared by hamming"):
                group(store, GroupOptions(measure=refused))
        for refused_threshold in (0.6, 0.8):
            with pytest.raises(UsageError, match="within 8 different bits"):
                match(store, MatchOptions(threshold=refused_threshold))
        with pytest.raises(UsageError, match="within 8 different bits"):
            group(store, GroupOptions(threshold=0.8))
        [principal] = {family for id, family in families.items() if family != id}
        [repaired] = delete(store, [principal]).repaired
        assert sum(repaired.into.values()) == 3
        remaining = {row.id: row.family for row in store.scan()}
        assert set(remaining.values()) <= remaining.keys()


def test_texts_without_bits_are_no_near_duplicates_of_each_other(tmp_path: Path) -> None:
    for place, text in enumerate(("1 2 3 4 5 6", "10 20 30 40", "10 20 30 40", "", TEXT)):
        (tmp_path / f"{place}.txt").write_text(text)
    with closing(open_store(f"sqlite:///{tmp_path}/x.db")) as store:
        index([str(tmp_path)], store, IndexOptions(recipe_named("simhash-doc"), extractor="plain"))
        names = {row.id: Path(row.path).name for row in store.scan()}
        pairs = [{names[pair.a], names[pair.b]} for pair in match(store)]
        assert pairs == [{"1.txt", "2.txt"}]
        account = group(store)
        assert (account.families, account.largest) == (1, 2)


def test_hits_of_a_store_of_simhash_doc_fold_by_hamming_distance(tmp_path: Path) -> None:
    texts = [" ".join([*WORDS * 4, *extra.split()]) for extra in ("", "x", "parking", "a b c d e")]
    texts += ["harbour parking notice " * 9, "7 8 9 harbour 7 8 9".replace("harbour", "")] * 2
    folder = tmp_path / "texts"
    folder.mkdir()
    for place, text in enumerate(texts):
        (folder / f"{place}.txt").write_text(text)
    with closing(open_store(f"sqlite:///{tmp_path}/x.db")) as store:
        index([str(folder)], store, IndexOptions(recipe_named("simhash-doc"), extractor="plain"))
        rows = {row.id: row for row in store.scan()}
        for threshold in (None, 0.9, 0.7):
            page = search(store, "", SearchOptions(threshold=threshold, sort="path"))
            assert page.measure == "hamming" and page.threshold == (threshold or 1 - 3 / 64)
            assert not page.notes
            heads: list[str] = []
            for row in sorted(rows.values(), key=lambda row: row.path):
                near = [id for id in heads if _folds(rows[id], row, page.threshold)]
                shown = {hit.id: {folded.id for folded in hit.folded} for hit in page.hits}
                if near:
                    assert any(row.id in shown[id] for id in near)
                else:
                    heads.append(row.id)
            assert [hit.id for hit in page.hits] == heads
        assert len(fold_hits(store, list(rows))) == len(search(store, "").hits)
        with pytest.raises(UsageError, match="compared by hamming"):
            search(store, "", SearchOptions(measure="lcs"))


def _folds(head: Row, row: Row, threshold: float) -> bool:
    if head.simhash is None or row.simhash is None:
        return head.exact == row.exact
    return 1 - hamming(head.simhash, row.simhash) / 64 >= threshold
