"""`match` over a cluster: the near-duplicate pairs of all documents, pair for pair those that one
machine lists.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from indexer.joins.slot_bounds import enough_equal, fewest_equal, similarity_intervals
from indexer.matching.limits import (
    ALMOST_ONE,
    CAP,
    LABELS_NAMED,
    check_cap,
    check_measure,
    check_threshold,
    require_slots,
    unknown_label,
)
from indexer.recipe import Recipe
from indexer.sketch.plan import Plan, plan
from indexer.spark import distinct_texts as texts
from indexer.spark.candidates import sharing
from indexer.spark.verify import Verifier
from indexer.spark.work_folder import Stage, Work


@dataclass(frozen=True, slots=True)
class PairRequest:
    """Which pairs are wanted, as for `indexer.match`."""

    threshold: float = 0.5
    false_negative_weight: float = 0.75
    measure: str = "jaccard"
    against: str | None = None
    exact: bool = False
    cap: int = CAP

    def layout(self, recipe: Recipe) -> Plan:
        """The bands that pairs are found by."""
        return plan(min(self.threshold, ALMOST_ONE), recipe.slots or 0, self.false_negative_weight)


def match(work: Work, rows: Stage, recipe: Recipe, asked: PairRequest) -> Stage:
    """The pairs at the threshold or above, sorted: `a`, `b`, `similarity`, `measure`, `low`,
    `high`.

    a < b, or with `against` a document without the label and then one with it. `facts`: `pairs`,
    `candidates`, what caps left out, and `copies_left_out`. Raises `UsageError` and
    `UnknownMeasure`.
    """
    check_measure(asked.measure)
    check_threshold(asked.threshold)
    check_cap(asked.cap)
    require_slots(recipe)
    _check_label(rows.rows, asked.against)
    numbered = texts.texts(work, rows, recipe)
    members = texts.members(work, rows, numbered, recipe)
    least = fewest_equal(asked.measure, recipe.slots or 0, asked.threshold)
    ranked = Stage(numbered.digest, numbered.rows.withColumn("rank", sf.col("text")))
    found = sharing(work, ranked, asked.layout(recipe), least, asked.cap)
    settings = {name: getattr(asked, name) for name in ("threshold", "measure", "against", "exact")}
    verifier = Verifier(rows.rows, numbered.rows, asked.measure, recipe)
    decided = work.stage(
        "similar",
        settings,
        [found, numbered],
        lambda: _decided(found.rows, numbered.rows, verifier, asked),
    )
    spelled = _Copies(numbered.rows, members.rows, asked.cap)
    listed = work.stage(
        "pairs",
        {**settings, "cap": asked.cap},
        [decided, members],
        lambda: _listed(spelled.pairs(decided.rows), members.rows, asked, recipe.slots or 0),
        lambda made: {"pairs": made.count(), "copies_left_out": spelled.left_out(decided.rows)},
    )
    return Stage(listed.digest, listed.rows, {**found.facts, **listed.facts})


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


def _decided(
    found: DataFrame, numbered: DataFrame, verifier: Verifier, asked: PairRequest
) -> DataFrame:
    """The pairs of texts at the threshold, by their slots where these decide: `left`, `right`,
    `similarity`, `exact`.
    """
    width = verifier.recipe.slots or 0
    decides = sf.col("equal") >= enough_equal(asked.measure, width, asked.threshold, asked.exact)
    share = (sf.col("equal") / width).alias("similarity")
    estimated = found.where(decides).select("left", "right", share, sf.lit(False).alias("exact"))
    measured = verifier.similarities(found.where(~decides).select("left", "right"))
    similar = measured.where((sf.col("similarity") >= asked.threshold) & (sf.col("similarity") > 0))
    return estimated.union(similar.withColumn("exact", sf.lit(True)))


@dataclass(frozen=True, slots=True)
class _Copies:
    """From pairs of texts to pairs of documents, by the rules of `indexer.joins.copies`.

    Where the copies of two texts, or of one, make more pairs than `cap`, only those with the first
    copy of either are listed.
    """

    numbered: DataFrame
    members: DataFrame
    cap: int

    def pairs(self, similar: DataFrame) -> DataFrame:
        """Pairs of documents `a`, `b`, in either order, with `similarity` and `exact`."""
        sized = self._sized(similar)
        few = sf.col("left_copies") * sf.col("right_copies") <= self.cap
        alone = (sf.col("left_copies") == 1) & (sf.col("right_copies") == 1)
        firsts = sized.where(alone).select(*_spelled("left_first", "right_first"))
        several, many = sized.where(~alone & few), sized.where(~few)
        every = self._of(self._of(several, "left"), "right").select(
            *_spelled("left_id", "right_id")
        )
        rights = self._of(many, "right").select(*_spelled("left_first", "right_id"))
        lefts = (
            self._of(many, "left")
            .where("left_id != left_first")
            .select(*_spelled("left_id", "right_first"))
        )
        return firsts.union(every).union(rights).union(lefts).union(self._among())

    def left_out(self, similar: DataFrame) -> int:
        """How many pairs of documents are not listed."""
        left, right = sf.col("left_copies"), sf.col("right_copies")
        between = (
            self._sized(similar)
            .where(left * right > self.cap)
            .agg(sf.sum((left - 1) * (right - 1)))
            .first()
        )
        copies = sf.col("copies")
        many = self.numbered.where(_all_among(copies) > self.cap)
        among = many.agg(sf.sum(_all_among(copies) - copies + 1).cast("bigint")).first()
        return sum(int(row[0] or 0) for row in (between, among) if row)

    def _sized(self, similar: DataFrame) -> DataFrame:
        made = similar
        for side in ("left", "right"):
            names = (sf.col(name).alias(f"{side}_{name}") for name in ("first", "copies"))
            made = made.join(self.numbered.select(sf.col("text").alias(side), *names), side)
        return made

    def _of(self, pairs: DataFrame, side: str) -> DataFrame:
        """Each pair once for every document of one side."""
        return pairs.join(
            self.members.select(sf.col("text").alias(side), sf.col("id").alias(f"{side}_id")), side
        )

    def _among(self) -> DataFrame:
        """Pairs of the documents of one text."""
        several = self.numbered.where("copies > 1").select("text", "first", "copies")
        sized = several.withColumns(
            {
                "similarity": sf.lit(1.0),
                "exact": sf.lit(True),
                "left": sf.col("text"),
                "right": sf.col("text"),
            }
        )
        few = _all_among(sf.col("copies")) <= self.cap
        every = self._of(self._of(sized.where(few), "left"), "right").where("left_id < right_id")
        stars = self._of(sized.where(~few), "right").where("right_id != first")
        return every.select(*_spelled("left_id", "right_id")).union(
            stars.select(*_spelled("first", "right_id"))
        )


def _all_among(copies: Column) -> Column:
    return copies * (copies - 1) / 2


def _spelled(a: str, b: str) -> list[Column]:
    return [sf.col(a).alias("a"), sf.col(b).alias("b"), sf.col("similarity"), sf.col("exact")]


def _listed(pairs: DataFrame, members: DataFrame, asked: PairRequest, slots: int) -> DataFrame:
    """The wanted pairs, turned and sorted, with the interval of what is estimated from so many
    slots.
    """
    turned = pairs.withColumns({"a": sf.least("a", "b"), "b": sf.greatest("a", "b")})
    if asked.against is not None:
        marks = members.select("id", sf.array_contains("labels", asked.against).alias("marked"))
        for side in ("a", "b"):
            pairs = pairs.join(
                marks.withColumnsRenamed({"id": side, "marked": f"{side}_marked"}), side
            )
        swap = sf.col("a_marked")
        ends = {
            "a": sf.when(swap, sf.col("b")).otherwise(sf.col("a")),
            "b": sf.when(swap, sf.col("a")).otherwise(sf.col("b")),
        }
        turned = pairs.where("a_marked != b_marked").withColumns(ends)
    named = sf.when(sf.col("exact"), asked.measure).otherwise("estimate").alias("measure")
    equal = sf.rint(sf.col("similarity") * slots).cast("int")
    exact = sf.col("exact") & sf.lit(asked.measure != "estimate")
    bounds = (
        sf.when(exact, sf.col("similarity")).otherwise(sf.lit(ends.tolist())[equal]).alias(name)
        for name, ends in zip(("low", "high"), similarity_intervals(slots), strict=True)
    )
    return turned.select("a", "b", "similarity", named, *bounds).orderBy("a", "b")
