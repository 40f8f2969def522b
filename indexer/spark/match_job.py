"""`match` over a cluster: the near-duplicate pairs of all documents, as one machine lists them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from indexer.errors import UsageError
from indexer.joins.slot_bounds import enough_equal, similarity_intervals, slot_similarity
from indexer.matching.limits import LABELS_NAMED, require_slots, unknown_label
from indexer.matching.match import MatchOptions
from indexer.recipe import Recipe
from indexer.sketch.bbit import FULL
from indexer.sketch.sketch_options import has_bits_alone, sketch_size
from indexer.spark.candidates import candidate_pairs
from indexer.spark.distinct_texts import keyed_documents, number_texts
from indexer.spark.sharing import Sharing, share_bands, share_blocks
from indexer.spark.short_keys import short_text_keys
from indexer.spark.verify import Verifier
from indexer.spark.work_folder import Stage, Work

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
    signed = numbered.rows.where("minhash IS NOT NULL").withColumn("rank", sf.col("text"))
    ranked = Stage(numbered.digest, signed, numbered.facts)
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
        return share_blocks(recipe, options.threshold)
    layout = options.band_plan(recipe)
    return share_bands(layout, layout.fewest_equal, recipe)


def options_json(options: MatchOptions) -> dict[str, Any]:
    """Return the options that a Spark job has."""
    values = asdict(options)
    return {name: values[name] for name in OPTIONS}


def _check_options(options: MatchOptions) -> None:
    """Raise `UsageError` for an option of `match` that a Spark job does not have."""
    for field in fields(options):
        if field.name not in OPTIONS and getattr(options, field.name) != field.default:
            raise UsageError(f"match over Spark has no option {field.name}; leave it out")


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
        share = (sf.col("equal") / sketch_size(verifier.recipe)).alias("similarity")
        return candidates.select("left", "right", share, sf.lit(True).alias("exact"))
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
    """Pairs of documents from pairs of texts, by the rules of `indexer.joins.copies`.

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
        for side in ("left", "right"):
            first = sf.col("first").alias(f"{side}_first")
            copies = sf.col("copies").alias(f"{side}_copies")
            texts = self.numbered.select(sf.col("text").alias(side), first, copies)
            pairs = pairs.join(texts, side)
        return pairs

    def _each_copy(self, pairs: DataFrame, side: str) -> DataFrame:
        """Return each pair once for every document of one side."""
        ids = self.members.select(sf.col("text").alias(side), sf.col("id").alias(f"{side}_id"))
        return pairs.join(ids, side)

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
    share = chance + (1 - chance) * sf.col("similarity")
    equal = sf.rint(share * slots).cast("int")
    is_exact = sf.col("exact") & sf.lit(options.measure != "estimate")
    bounds = []
    for name, ends in zip(("low", "high"), similarity_intervals(slots, bits=bits), strict=True):
        estimated = sf.lit(ends.tolist())[equal]
        bounds.append(sf.when(is_exact, sf.col("similarity")).otherwise(estimated).alias(name))
    return turned.select("a", "b", "similarity", measure, *bounds, "as_read").orderBy("a", "b")


def _with_cuts(pairs: DataFrame, members: DataFrame) -> DataFrame:
    """Return the pairs with `as_read`: whether the text of either document was cut."""
    cut = members.where("status = 'truncated'")
    for side in ("a", "b"):
        is_cut = sf.lit(True).alias(f"{side}_cut")
        pairs = pairs.join(cut.select(sf.col("id").alias(side), is_cut), side, "left")
    as_read = sf.coalesce("a_cut", sf.lit(False)) | sf.coalesce("b_cut", sf.lit(False))
    return pairs.withColumn("as_read", as_read)


def _against(pairs: DataFrame, members: DataFrame, label: str) -> DataFrame:
    """Return the pairs of a document without the label (`a`) and one with it (`b`)."""
    marks = members.select("id", sf.array_contains("labels", label).alias("marked"))
    for side in ("a", "b"):
        side_marks = marks.withColumnsRenamed({"id": side, "marked": f"{side}_marked"})
        pairs = pairs.join(side_marks, side)
    is_turned = sf.col("a_marked")
    ends = {
        "a": sf.when(is_turned, sf.col("b")).otherwise(sf.col("a")),
        "b": sf.when(is_turned, sf.col("a")).otherwise(sf.col("b")),
    }
    return pairs.where("a_marked != b_marked").withColumns(ends)
