"""`match` over a cluster: near-duplicate pairs, measured exactly as on one machine."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeAlias

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from indexer.comparing.band_plan import enough_equal, has_bits_alone, sketch_size
from indexer.comparing.criteria import Criteria
from indexer.comparing.measures import ComparedText, measure_pair, stored_text
from indexer.errors import UsageError
from indexer.fingerprinting.keys import unsigned64
from indexer.fingerprinting.minhash import FULL, similarity_intervals, slot_similarity
from indexer.grouping.group_options import LABELS_NAMED, require_slots, unknown_label
from indexer.grouping.match import MatchOptions
from indexer.grouping.words_in_common import BATCH, BYTES_A_CHAR, MAX_CHARS, SequenceCache
from indexer.recipe import Recipe
from indexer.spark.arrow_rows import Batches, batch, ddl
from indexer.spark.bands import Sharing, band_sharing, block_sharing, short_text_keys
from indexer.spark.candidates import candidate_pairs
from indexer.spark.principals import keyed_documents, number_texts, text_contents
from indexer.spark.session import Stage, Work
from indexer.system.external_memory import LruCache

_TEXT_COLUMNS = ("content", "minhash", "simhash", "values")
_MEASURED = {"left": "bigint", "right": "bigint", "similarity": "double"}

Stored: TypeAlias = list[Any]
"""The content of a text, its packed slots, its bits, and the values of its rules as JSON."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """Measurer of pairs of texts. `rows` has the documents, `numbered` the texts.

    A pair at the `threshold` similarity of interest that does not meet the criteria is 0.
    """

    rows: DataFrame
    numbered: DataFrame
    measure: str
    recipe: Recipe
    criteria: Criteria
    threshold: float

    def similarities(self, pairs: DataFrame) -> DataFrame:
        """Return the pairs, numbers in the columns `left` and `right`, with their `similarity`.

        It may be 0 for one below `threshold`. The task that measures a pair is a cell of a grid:
        all pairs of some left texts with some right ones. A text is sent to a cell once.
        """
        cells = _in_cells(pairs)
        needed = cells.select("cell", "left").union(cells.select("cell", "right"))
        needed = needed.toDF("cell", "text").distinct()
        texts = text_contents(self.rows, self.numbered, needed.select("text"))
        if self.measure in ("estimate", "hamming") and not self.criteria:
            texts = texts.withColumn("content", sf.lit(""))
        texts = texts.join(needed, "text").select(
            "cell",
            sf.col("text").alias("left"),
            sf.lit(None).cast("bigint").alias("right"),
            *_TEXT_COLUMNS,
        )
        absent = [
            sf.lit(None).cast(kind).alias(name)
            for name, kind in texts.select(*_TEXT_COLUMNS).dtypes
        ]
        both = texts.union(cells.select("cell", "left", "right", *absent))
        divided = both.repartitionById(_texts_of_grid(pairs) ** 2, sf.col("cell"))
        is_pair = sf.col("right").isNotNull()
        ordered = divided.sortWithinPartitions(is_pair, "left", "right")
        measurer = PairMeasurer(self.measure, self.recipe, self.criteria, self.threshold)
        return ordered.mapInArrow(measurer.add_similarities, ddl(_MEASURED))


def _in_cells(pairs: DataFrame) -> DataFrame:
    """Return the pairs with the number of their `cell`."""
    size = sf.lit(_texts_of_grid(pairs))
    row, column = (sf.pmod(sf.hash(name), size) for name in ("left", "right"))
    return pairs.select("left", "right", (row * size + column).alias("cell"))


def _texts_of_grid(pairs: DataFrame) -> int:
    partitions = pairs.sparkSession.conf.get("spark.sql.shuffle.partitions")
    return math.ceil(math.sqrt(int(partitions or 1)))


@dataclass(frozen=True, slots=True)
class PairMeasurer:
    """Measurer of pairs on an executor, with the options of `Verifier`."""

    measure: str
    recipe: Recipe
    criteria: Criteria
    threshold: float

    def add_similarities(self, parts: Batches) -> Batches:
        """Yield the similarity of each pair of a cell, whose texts come before its pairs.

        Results computed from texts are cached, up to about 20 million characters.
        """
        texts = _Texts(self.recipe)
        for part in parts:
            texts.add(part.filter(part.column("right").is_null()))
            pairs = part.filter(part.column("right").is_valid())
            left, right = (pairs.column(name).to_pylist() for name in ("left", "right"))
            for start in range(0, len(left), BATCH):
                texts_of_pairs = left[start : start + BATCH], right[start : start + BATCH]
                values = self._similarities(texts, list(zip(*texts_of_pairs, strict=True)))
                yield batch(_MEASURED, [*texts_of_pairs, values])

    def _similarities(self, texts: _Texts, pairs: Sequence[tuple[int, int]]) -> list[float]:
        allowed = [pair for pair in pairs if self._allows(texts, *pair)]
        known: Sequence[float | None] = [None] * len(allowed)
        if self.measure == "lcs":
            known = texts.sequences.measure_pairs(allowed, self.threshold)
        values = dict.fromkeys(pairs, 0.0)
        for pair, value in zip(allowed, known, strict=True):
            values[pair] = self._similarity(texts, *pair) if value is None else value
            if self.criteria and values[pair] >= self.threshold and not self._accepts(texts, *pair):
                values[pair] = 0.0
        return [values[pair] for pair in pairs]

    def _similarity(self, texts: _Texts, left: int, right: int) -> float:
        a, b = texts.text(left), texts.text(right)
        return measure_pair(self.measure, a, b, minimum=self.threshold).similarity

    def _allows(self, texts: _Texts, left: int, right: int) -> bool:
        if not self.criteria:
            return True
        values = (json.loads(texts.stored[text][-1]) for text in (left, right))
        return self.criteria.allows(*values)

    def _accepts(self, texts: _Texts, left: int, right: int) -> bool:
        return self.criteria.accepts(texts.text(left), texts.text(right))


@dataclass(slots=True)
class _Texts:
    """The texts of a cell by number, with a cache of the texts measured last."""

    recipe: Recipe
    stored: dict[int, Stored] = field(default_factory=dict)
    compared: LruCache[int, ComparedText] = field(
        default_factory=lambda: LruCache(MAX_CHARS, lambda text: len(text.text))
    )
    sequences: SequenceCache = field(init=False)

    def __post_init__(self) -> None:
        self.sequences = SequenceCache(self._contents, BYTES_A_CHAR * MAX_CHARS)

    def add(self, part: Any) -> None:
        """Take the texts of a batch."""
        columns = [part.column(name).to_pylist() for name in ("left", *_TEXT_COLUMNS)]
        self.stored.update((text, values) for text, *values in zip(*columns, strict=True))

    def text(self, text: int) -> ComparedText:
        """Return a text by its number."""
        kept = self.compared.get(text)
        if kept is not None:
            return kept
        content, slots, fingerprinted_bits, _ = self.stored[text]
        bits = None if fingerprinted_bits is None else unsigned64(fingerprinted_bits)
        compared = stored_text(
            content, self.recipe, slots if self.recipe.sketch_bytes else None, bits
        )
        self.compared.put(text, compared, min_entries=1)
        return compared

    def _contents(self, texts: Sequence[int]) -> list[str]:
        return [self.stored[text][0] for text in texts]


# The near-duplicate pairs of all documents.

OPTIONS = ("threshold", "recall", "measure", "against", "exact", "cap", "criteria")


def match(work: Work, rows: Stage, recipe: Recipe, options: MatchOptions) -> Stage:
    """Return the pairs at the threshold or above, sorted.

    Columns: `a`, `b`, `similarity`, `measure`, `low`, `high`, `as_read`; a < b, or with `against` a
    document without the label and then one with it. `facts`: `pairs`, `candidates`, what caps left
    out, and `copies_left_out`. Raises `UsageError`, also for options of `match` that are not in
    `OPTIONS`.
    """
    _check_options(options)
    check_sketches(recipe)
    options = options.for_recipe(recipe)
    options.criteria.check_sketches(recipe, options.measure)
    _check_label(rows.rows, options.against)
    numbered = number_texts(work, rows, recipe, options.criteria)
    members = keyed_documents(work, rows, numbered, recipe, options.criteria)
    fingerprinted = numbered.rows.where("minhash IS NOT NULL").withColumn("rank", sf.col("text"))
    ranked = Stage(numbered.digest, fingerprinted, numbered.facts)
    short = short_text_keys(work, rows, numbered, ranked, recipe, options)
    candidates = candidate_pairs(work, ranked, _sharing(options, recipe), options.cap, short)
    names = ("threshold", "measure", "against", "exact")
    settings = {name: getattr(options, name) for name in names}
    verifier = Verifier(
        rows.rows, numbered.rows, options.measure, recipe, options.criteria, options.threshold
    )
    similar = work.stage(
        "similar",
        settings,
        [candidates, numbered],
        lambda: _similar_texts(candidates.rows, verifier, options),
    )
    copies = _CopyPairs(numbered.rows, members.rows, options.cap)
    pairs = work.stage(
        "pairs",
        {**settings, "cap": options.cap},
        [similar, members],
        lambda: _sorted_pairs(copies.pairs(similar.rows), members.rows, options, recipe),
        lambda rows: {"pairs": rows.count(), "copies_left_out": copies.left_out(similar.rows)},
    )
    return Stage(pairs.digest, pairs.rows, {**candidates.facts, **pairs.facts})


def check_sketches(recipe: Recipe) -> None:
    """Raise `UsageError` for a recipe without the MinHash slots or the bits that Spark joins by,
    for one that leaves passages out, and for one whose corpus statistics are open: they are counted
    by `nearfold index`.
    """
    if recipe.terms:
        raise UsageError(
            f"Spark compares slots or bits, and recipe {recipe.name} keeps rare terms; "
            "use nearfold match and nearfold group"
        )
    if recipe.left_out:
        raise UsageError(
            "Spark compares whole texts, and this index leaves approved passages out of them; "
            "use nearfold match and nearfold group"
        )
    if recipe.lacks_statistics:
        raise UsageError(
            f"recipe {recipe.name} needs corpus statistics, which Spark does not count; "
            "index the documents with nearfold index, and give Spark the store by --format store"
        )
    if not has_bits_alone(recipe):
        require_slots(recipe)


def _sharing(options: MatchOptions, recipe: Recipe) -> Sharing:
    if has_bits_alone(recipe):
        return block_sharing(recipe, options.threshold)
    layout = options.band_plan(recipe)
    return band_sharing(layout, layout.fewest_equal, recipe)


def options_json(options: MatchOptions) -> dict[str, Any]:
    """Return the options that a Spark job has."""
    values = asdict(options)
    return {name: values[name] for name in OPTIONS}


def _check_options(options: MatchOptions) -> None:
    """Raise `UsageError` for an option of `match` that a Spark job does not have."""
    for option in fields(options):
        if option.name not in OPTIONS and getattr(options, option.name) != option.default:
            raise UsageError(f"match over Spark has no option {option.name}; leave it out")


def _check_label(rows: DataFrame, against: str | None) -> None:
    """Raise `UsageError` when no document carries the label."""
    if against is None or not rows.where(sf.array_contains("labels", against)).isEmpty():
        return
    labels = (
        rows.select(sf.explode("labels").alias("label"))
        .distinct()
        .sort("label")
        .limit(LABELS_NAMED + 1)
        .collect()
    )
    raise unknown_label(against, {row["label"] for row in labels})


def _similar_texts(candidates: DataFrame, verifier: Verifier, options: MatchOptions) -> DataFrame:
    """Return the pairs of texts at the threshold: `left`, `right`, `similarity`, `exact`.

    Pairs whose slots decide are estimated, all others are measured (`exact`).
    """
    if options.criteria:  # for which both texts are read
        return _measured(candidates, verifier, options)
    if has_bits_alone(verifier.recipe):
        fraction = (sf.col("equal") / sketch_size(verifier.recipe)).alias("similarity")
        return candidates.select("left", "right", fraction, sf.lit(True).alias("exact"))
    slots = verifier.recipe.slots or 0
    bits = verifier.recipe.packed or FULL
    enough = enough_equal(options.measure, slots, options.threshold, options.exact, bits)
    by_equal = slot_similarity(np.arange(slots + 1, dtype=np.uint32), slots, bits)
    estimate = sf.lit(by_equal.tolist())[sf.col("equal")].alias("similarity")
    estimated = candidates.where(sf.col("equal") >= enough).select(
        "left", "right", estimate, sf.lit(False).alias("exact")
    )
    others = candidates.where(sf.col("equal") < enough)
    return estimated.union(_measured(others, verifier, options))


def _measured(candidates: DataFrame, verifier: Verifier, options: MatchOptions) -> DataFrame:
    """Return the pairs of `_similar_texts`, each measured on both texts."""
    measured = verifier.similarities(candidates.select("left", "right"))
    similarity = sf.col("similarity")
    similar = measured.where((similarity >= options.threshold) & (similarity > 0))
    return similar.withColumn("exact", sf.lit(True))


@dataclass(frozen=True, slots=True)
class _CopyPairs:
    """Pairs of documents from pairs of texts, by the rules of `indexer.grouping.collection`.

    Where the copies of two texts, or of one, make more pairs than `cap`, only those with the first
    copy of either are listed.
    """

    numbered: DataFrame
    members: DataFrame
    cap: int

    def pairs(self, similar: DataFrame) -> DataFrame:
        """Return pairs of documents `a`, `b`, in either order, with `similarity` and `exact`."""
        counted = self._with_copies(similar)
        is_small = sf.col("left_copies") * sf.col("right_copies") <= self.cap
        is_single = (sf.col("left_copies") == 1) & (sf.col("right_copies") == 1)
        singles = counted.where(is_single).select(*_pair_columns("left_first", "right_first"))
        small = counted.where(~is_single & is_small)
        large = counted.where(~is_small)
        all_copies = self._each_copy(self._each_copy(small, "left"), "right")
        right_copies = self._each_copy(large, "right")
        left_copies = self._each_copy(large, "left").where("left_id != left_first")
        return (
            singles.union(all_copies.select(*_pair_columns("left_id", "right_id")))
            .union(right_copies.select(*_pair_columns("left_first", "right_id")))
            .union(left_copies.select(*_pair_columns("left_id", "right_first")))
            .union(self._pairs_of_one_text())
        )

    def left_out(self, similar: DataFrame) -> int:
        """Return how many pairs of documents are not listed."""
        left = sf.col("left_copies")
        right = sf.col("right_copies")
        large = self._with_copies(similar).where(left * right > self.cap)
        between = large.agg(sf.sum((left - 1) * (right - 1))).first()
        copies = sf.col("copies")
        many = self.numbered.where(_pairs_among(copies) > self.cap)
        among = many.agg(sf.sum(_pairs_among(copies) - copies + 1).cast("bigint")).first()
        return sum(int(row[0] or 0) for row in (between, among) if row)

    def _with_copies(self, similar: DataFrame) -> DataFrame:
        """Return the pairs with the first document and the number of copies of either text."""
        pairs = similar
        for name in ("left", "right"):
            first = sf.col("first").alias(f"{name}_first")
            copies = sf.col("copies").alias(f"{name}_copies")
            texts = self.numbered.select(sf.col("text").alias(name), first, copies)
            pairs = pairs.join(texts, name)
        return pairs

    def _each_copy(self, pairs: DataFrame, name: str) -> DataFrame:
        """Return each pair once for every document of one text."""
        ids = self.members.select(sf.col("text").alias(name), sf.col("id").alias(f"{name}_id"))
        return pairs.join(ids, name)

    def _pairs_of_one_text(self) -> DataFrame:
        """Return the pairs of documents that have the same text."""
        repeated = self.numbered.where("copies > 1").select("text", "first", "copies")
        columns = {
            "similarity": sf.lit(1.0),
            "exact": sf.lit(True),
            "left": sf.col("text"),
            "right": sf.col("text"),
        }
        texts = repeated.withColumns(columns)
        is_small = _pairs_among(sf.col("copies")) <= self.cap
        all_copies = self._each_copy(self._each_copy(texts.where(is_small), "left"), "right")
        stars = self._each_copy(texts.where(~is_small), "right").where("right_id != first")
        small = all_copies.where("left_id < right_id").select(*_pair_columns("left_id", "right_id"))
        return small.union(stars.select(*_pair_columns("first", "right_id")))


def _pairs_among(copies: Column) -> Column:
    return copies * (copies - 1) / 2


def _pair_columns(a: str, b: str) -> list[Column]:
    return [sf.col(a).alias("a"), sf.col(b).alias("b"), sf.col("similarity"), sf.col("exact")]


def _sorted_pairs(
    pairs: DataFrame, members: DataFrame, options: MatchOptions, recipe: Recipe
) -> DataFrame:
    """Return the pairs in their order, sorted, with the interval of estimates from slots."""
    slots, bits = recipe.slots or 1, recipe.packed or FULL
    turned = pairs.withColumns({"a": sf.least("a", "b"), "b": sf.greatest("a", "b")})
    if options.against is not None:
        turned = _against(pairs, members, options.against)
    turned = _with_cuts(turned, members)
    measure = sf.when(sf.col("exact"), options.measure).otherwise("estimate").alias("measure")
    chance = 2.0**-bits if bits < FULL else 0.0
    fraction = chance + (1 - chance) * sf.col("similarity")
    equal = sf.rint(fraction * slots).cast("int")
    is_exact = sf.col("exact") & sf.lit(options.measure != "estimate")
    bounds = []
    for name, ends in zip(("low", "high"), similarity_intervals(slots, bits=bits), strict=True):
        estimated = sf.lit(ends.tolist())[equal]
        bounds.append(sf.when(is_exact, sf.col("similarity")).otherwise(estimated).alias(name))
    return turned.select("a", "b", "similarity", measure, *bounds, "as_read").orderBy("a", "b")


def _with_cuts(pairs: DataFrame, members: DataFrame) -> DataFrame:
    """Return the pairs with `as_read`: whether the text of either document was cut."""
    cut = members.where("status = 'truncated'")
    for end in ("a", "b"):
        is_cut = sf.lit(True).alias(f"{end}_cut")
        pairs = pairs.join(cut.select(sf.col("id").alias(end), is_cut), end, "left")
    as_read = sf.coalesce("a_cut", sf.lit(False)) | sf.coalesce("b_cut", sf.lit(False))
    return pairs.withColumn("as_read", as_read)


def _against(pairs: DataFrame, members: DataFrame, label: str) -> DataFrame:
    """Return the pairs of a document without the label (`a`) and one with it (`b`)."""
    marks = members.select("id", sf.array_contains("labels", label).alias("marked"))
    for end in ("a", "b"):
        end_marks = marks.withColumnsRenamed({"id": end, "marked": f"{end}_marked"})
        pairs = pairs.join(end_marks, end)
    is_turned = sf.col("a_marked")
    ends = {
        "a": sf.when(is_turned, sf.col("b")).otherwise(sf.col("a")),
        "b": sf.when(is_turned, sf.col("a")).otherwise(sf.col("b")),
    }
    return pairs.where("a_marked != b_marked").withColumns(ends)
