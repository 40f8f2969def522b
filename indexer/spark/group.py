"""`group` over a cluster: families, and clusters as connected components.

Large-star and small-star in turn (Kiveris et al., "Connected Components in MapReduce and Beyond",
SoCC 2014) make every component a star around its smallest node. Few edges are joined by one task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from indexer.comparing.band_plan import equal_parts, has_bits_alone, min_equal, sketch_size
from indexer.grouping.group import SUMMED, ConnectedTexts
from indexer.grouping.group_options import GroupOptions
from indexer.recipe import Recipe
from indexer.spark.arrow_rows import Batches, batch, ddl
from indexer.spark.bands import Sharing, band_sharing, block_sharing, short_text_keys
from indexer.spark.candidates import candidate_pairs
from indexer.spark.match import Verifier, check_sketches
from indexer.spark.principals import (
    EDGE,
    MEASURED,
    OrderKey,
    PrincipalSteps,
    check_order,
    count_edges,
    order_documents,
    order_key,
    rank_texts,
    sum_similarities,
)
from indexer.spark.session import Stage, Work

_STAR = {"node": "bigint", "root": "bigint"}


@dataclass(frozen=True, slots=True)
class Components:
    """Finds components of numbered nodes; `at_once` edges or fewer are left to one task."""

    work: Work
    at_once: int

    def find(
        self, name: str, settings: Mapping[str, Any], sources: list[Stage], edges: DataFrame
    ) -> Stage:
        """Return each `node` that has an edge, and its `root`, the minimum node of its component.

        `edges` has two columns of numbers, in either order, and is made of `sources` by `settings`.
        """
        first, second = edges.columns
        ends = edges.select(
            sf.greatest(first, second).alias("node"), sf.least(first, second).alias("root")
        )
        stars = self.work.stage(
            f"{name}-edges",
            settings,
            sources,
            lambda: ends.where("node != root").distinct(),
            _edge_digest,
        )
        if stars.facts["edges"] <= self.at_once:
            return self.work.stage(
                name, {}, [stars], lambda: stars.rows.coalesce(1).mapInArrow(join_edges, ddl(_STAR))
            )
        before = None
        turn = 0
        while stars.facts != before:
            before = stars.facts
            turn += 1
            round_of_both = partial(_both_stars, stars.rows)
            stars = self.work.stage(f"{name}-{turn}", {}, [stars], round_of_both, _edge_digest)
        roots = stars.rows.select(sf.col("root").alias("node"), "root").distinct()
        return Stage(stars.digest, stars.rows.union(roots))


def _both_stars(edges: DataFrame) -> DataFrame:
    """Run one round of both steps of the star algorithm."""
    return small_star(large_star(edges))


def large_star(edges: DataFrame) -> DataFrame:
    """Connect the greater neighbours of each node to the minimum of it and its neighbours."""
    both = edges.union(edges.select("root", "node")).toDF("node", "other")
    minimum = both.groupBy("node").agg(sf.least("node", sf.min("other")).alias("root"))
    return (
        both.where("other > node")
        .join(minimum, "node")
        .select(sf.col("other").alias("node"), "root")
        .distinct()
    )


def small_star(edges: DataFrame) -> DataFrame:
    """Connect every lesser neighbour of each node, and the node, to the minimum of them.

    Edges go from greater to lesser.
    """
    minimum = edges.groupBy("node").agg(sf.min("root").alias("minimum"))
    others = edges.join(minimum, "node").select(
        sf.col("root").alias("node"), sf.col("minimum").alias("root")
    )
    return others.union(minimum.toDF("node", "root")).where("node != root").distinct()


def _edge_digest(edges: DataFrame) -> dict[str, int]:
    """Return the number of edges and their digest; a round that changes nothing keeps both."""
    total = sf.sum(sf.xxhash64("node", "root").cast("decimal(38,0)")) % (1 << 61)
    row = edges.agg(sf.count("*"), total.cast("bigint")).first() or (0, 0)
    return {"edges": row[0], "digest": row[1] or 0}


def join_edges(parts: Batches) -> Batches:
    """Yield the components of all edges of one task."""
    columns = []
    for part in parts:
        ends = [part.column("node").to_numpy(), part.column("root").to_numpy()]
        columns.append(np.stack(ends))
    if not columns:
        return
    nodes, positions = np.unique(np.concatenate(columns, axis=1), return_inverse=True)
    chains = ConnectedTexts(len(nodes))
    for a, b in positions.reshape(2, -1).T.tolist():
        chains.join(a, b)
    roots = [chains.root(position) for position in range(len(nodes))]
    yield batch(_STAR, [nodes, nodes[roots]])


# Families and clusters of all documents, as one machine makes them.

AT_ONCE = 200_000
_PAIR = ("left", "right")


def group(
    work: Work, rows: Stage, recipe: Recipe, settings: GroupOptions, at_once: int = AT_ONCE
) -> Stage:
    """Return the family fields of every document, as `Assignment` has them, ascending by id.

    `at_once`: so many pairs or fewer are left to one task, where rounds over the cluster would take
    longer. `facts`: the candidates, and what caps left out. Raises `UsageError` and
    `UnknownMeasure`.
    """
    check_sketches(recipe)
    settings = settings.for_recipe(recipe)
    settings.check_recipe(recipe)
    check_order(rows.rows, settings.principal_kind)
    grouping = _Grouping(work, rows, recipe, settings, at_once)
    families = grouping.assign()
    return Stage(families.digest, families.rows, grouping.candidates.facts)


@dataclass(frozen=True)
class _Grouping:
    """One grouping; its parts are computed on first use.

    Texts are identified by number or by rank, the first position of their documents.
    """

    work: Work
    rows: Stage
    recipe: Recipe
    settings: GroupOptions
    at_once: int

    @cached_property
    def documents(self) -> OrderKey:
        return order_key(self.work, self.rows, self.recipe, self.settings.folding)

    @cached_property
    def candidates(self) -> Stage:
        """Pairs that may be similar.

        Hot bands pair with the first text in principal order, for `central` with the longest.
        """
        central = self.settings.principal == "central"
        kind = "longest" if central else self.settings.principal_kind
        ranked = rank_texts(self.work, order_documents(self.work, self.documents, kind))
        numbered = self.documents.numbered
        sketches = numbered.rows.where("minhash IS NOT NULL").select("text", "minhash")
        fingerprinted = self.work.stage(
            "sketches",
            {},
            [ranked, numbered],
            lambda: ranked.rows.join(sketches, "text").select("text", "rank", "minhash"),
        )
        texts = Stage(fingerprinted.digest, fingerprinted.rows, numbered.facts)
        short = short_text_keys(self.work, self.rows, numbered, texts, self.recipe, self.settings)
        return candidate_pairs(self.work, texts, self._sharing(), self.settings.cap, short)

    def _sharing(self) -> Sharing:
        threshold = self.settings.min_threshold
        if has_bits_alone(self.recipe):
            return block_sharing(self.recipe, threshold)
        layout = self.settings.band_plan(self.recipe)
        return band_sharing(layout, self._min_equal(threshold), self.recipe)

    @cached_property
    def ordered(self) -> Stage:
        """Documents in principal order."""
        kind = self.settings.principal_kind
        sums = self._sums() if self.settings.principal in SUMMED else None
        return order_documents(self.work, self.documents, kind, sums)

    @cached_property
    def ranked(self) -> Stage:
        return rank_texts(self.work, self.ordered)

    @cached_property
    def verifier(self) -> Verifier:
        rows, numbered = self.rows.rows, self.documents.numbered.rows
        measure, criteria = self.settings.measure, self.settings.folding
        minimum = self.settings.min_threshold
        return Verifier(rows, numbered, measure, self.recipe, criteria, minimum)

    def assign(self) -> Stage:
        """Return the family fields of every document."""
        limits = {"threshold": self.settings.threshold, "measure": self.settings.measure}
        principals = PrincipalSteps(
            self.work, self.measure, self.settings.threshold, self.settings.measure, self.at_once
        )
        edges = self.work.stage(
            "edges", limits, [self.candidates, self.ranked], self._edges, count_edges
        )
        lost, measured = principals.decide(edges)
        if edges.facts["edges"] > self.at_once:
            measured = self._measure_rest(limits, lost, measured)
        clusters = self._clusters(measured)
        sources = [self.rows, self.ordered, self.ranked, lost, measured, clusters]
        return self.work.stage(
            "assigned",
            limits,
            sources,
            lambda: self._families(lost.rows, measured.rows, clusters.rows),
        )

    def measure(self, edges: DataFrame) -> DataFrame:
        """Return edges between ranks with their similarity."""
        names = self.ranked.rows.select("rank", "text")
        for end, name in zip(EDGE, _PAIR, strict=True):
            edges = edges.join(names.withColumnsRenamed({"rank": end, "text": name}), end)
        pairs = self.verifier.similarities(edges.select(*_PAIR))
        for end, name in zip(EDGE, _PAIR, strict=True):
            pairs = pairs.join(names.withColumnsRenamed({"rank": end, "text": name}), name)
        return pairs.select(*MEASURED)

    def _min_equal(self, threshold: float) -> int:
        if has_bits_alone(self.recipe):
            return equal_parts(self.recipe, threshold)
        return min_equal(self.settings.measure, threshold, self.recipe)

    def _sums(self) -> Stage:
        settings: dict[str, Any] = {
            "threshold": self.settings.threshold,
            "measure": self.settings.measure,
        }
        sources = [self.candidates]

        def similar() -> DataFrame:
            pairs = self.verifier.similarities(self.candidates.rows.select(*_PAIR))
            return pairs.where(sf.col("similarity") >= self.settings.threshold)

        def equal() -> DataFrame:
            minimum = self._min_equal(self.settings.threshold)
            pairs = self.candidates.rows.where(sf.col("equal") >= minimum)
            return pairs.select(*_PAIR, sf.col("equal").alias("similarity"))

        if self.settings.principal == "central":
            return sum_similarities(self.work, self.documents, sources, similar, settings)
        settings["principal"] = self.settings.principal
        slots = float(self.recipe.slots or sketch_size(self.recipe))
        return sum_similarities(self.work, self.documents, sources, equal, settings, slots)

    def _by_rank(self, threshold: float) -> DataFrame:
        """Return pairs that may be similar, as ranks.

        Columns: `earlier`, `later`, and the last position of the earlier one (`last`).
        """
        equal = sf.col("equal")
        is_near = (equal >= self._min_equal(threshold)) | (equal == 0)
        pairs = self.candidates.rows.where(is_near).select(*_PAIR)
        for name in _PAIR:
            known = sf.struct("rank", "last").alias(f"{name}_known")
            pairs = pairs.join(self.ranked.rows.select(sf.col("text").alias(name), known), name)
        first = sf.least("left_known", "right_known")
        second = sf.greatest("left_known", "right_known")
        return pairs.select(
            first["rank"].alias("earlier"),
            second["rank"].alias("later"),
            first["last"].alias("last"),
        )

    def _edges(self) -> DataFrame:
        return self._by_rank(self.settings.threshold).select(*EDGE)

    def _measure_rest(self, limits: Mapping[str, Any], lost: Stage, some: Stage) -> Stage:
        """Measure the edges of principals with texts that have a document after them."""
        sources = [self.candidates, self.ranked, lost, some]
        return self.work.stage(
            "measured", limits, sources, lambda: self._rest(lost.rows, some.rows)
        )

    def _rest(self, lost: DataFrame, some: DataFrame) -> DataFrame:
        pairs = self._by_rank(self.settings.threshold)
        earlier, later = lost.toDF("earlier"), lost.toDF("later")
        usual = pairs.join(later, "later", "left_semi").join(earlier, "earlier", "left_anti")
        behind = pairs.where("later < last")
        turned = behind.join(earlier, "earlier", "left_semi").join(later, "later", "left_anti")
        missing = (
            usual.select(*EDGE)
            .union(turned.select(*EDGE))
            .join(some.select(*EDGE), list(EDGE), "left_anti")
        )
        return some.select(*MEASURED).union(self.measure(missing))

    def _clusters(self, measured: Stage) -> Stage:
        """Return components by chains at the cluster threshold.

        Pairs that are connected already are not measured.
        """
        settings = {
            "threshold": self.settings.threshold_of_clusters,
            "measure": self.settings.measure,
        }
        components = Components(self.work, self.at_once)
        known = components.find("known-chains", settings, [measured], self._chained(measured))
        sources = [self.candidates, self.ranked, measured, known]
        more = self.work.stage(
            "more-measured",
            settings,
            sources,
            lambda: self.measure(self._apart(measured.rows, known.rows)),
        )
        return components.find(
            "chains", settings, [measured, more], self._chained(measured).union(self._chained(more))
        )

    def _chained(self, measured: Stage) -> DataFrame:
        return measured.rows.where(
            sf.col("similarity") >= self.settings.threshold_of_clusters
        ).select(*EDGE)

    def _apart(self, measured: DataFrame, known: DataFrame) -> DataFrame:
        """Return the pairs that were not measured and are not connected."""
        pairs = (
            self._by_rank(self.settings.min_threshold)
            .select(*EDGE)
            .join(measured.select(*EDGE), list(EDGE), "left_anti")
        )
        for end in EDGE:
            roots = known.withColumnsRenamed({"node": end, "root": f"{end}_root"})
            pairs = pairs.join(roots, end, "left")
        are_separate = sf.coalesce("earlier_root", "earlier") != sf.coalesce("later_root", "later")
        return pairs.where(are_separate).select(*EDGE)

    def _families(self, lost: DataFrame, measured: DataFrame, clusters: DataFrame) -> DataFrame:
        text = self.ranked.rows.select("text", "rank")
        ordered = self.ordered.rows.join(text, "text").select("id", "position", "rank")
        follows = lost.select(sf.col("later").alias("rank"), sf.lit(True).alias("lost"))
        joins = _joins(
            ordered, _principals(self.ranked.rows, lost), lost, measured, self.settings.threshold
        )
        known = ordered.join(follows, "rank", "left").join(joins, "id", "left")
        is_principal = sf.col("lost").isNull()
        representative = (
            sf.when(sf.col("joined").isNotNull(), sf.col("joined.principal"))
            .when(is_principal, sf.col("rank"))
            .otherwise(sf.col("position"))
        )
        copy = sf.when(is_principal & (sf.col("rank") != sf.col("position")), sf.lit(1.0))
        similarity = sf.coalesce(sf.col("joined.similarity"), copy).alias("similarity")
        names = self.ordered.rows.select(
            sf.col("position").alias("principal"), sf.col("id").alias("family")
        )
        families = known.select("id", "rank", representative.alias("principal"), similarity).join(
            names, "principal"
        )
        named = families.join(_clusters(ordered, clusters), "rank", "left").drop(
            "rank", "principal"
        )
        return _all_documents(self.rows.rows, named)


def _principals(ranked: DataFrame, lost: DataFrame) -> DataFrame:
    """Return the principals among texts, by rank (`principal`)."""
    return ranked.select(sf.col("rank").alias("principal")).join(
        lost.toDF("principal"), "principal", "left_anti"
    )


def _joins(
    ordered: DataFrame,
    principals: DataFrame,
    lost: DataFrame,
    measured: DataFrame,
    threshold: float,
) -> DataFrame:
    """Return the most similar earlier principal of each document whose text is not one.

    Columns: `id`, and `joined` with its `principal`. Ties go to the earlier one.
    """
    similar = measured.where(sf.col("similarity") >= threshold)
    either = similar.toDF("principal", "rank", "similarity").union(
        similar.select("later", "earlier", "similarity")
    )
    offers = either.join(principals, "principal", "left_semi").join(
        lost.toDF("rank"), "rank", "left_semi"
    )
    offered = (
        ordered.select("id", "position", "rank").join(offers, "rank").where("principal < position")
    )
    best = sf.max(sf.struct("similarity", (-sf.col("principal")).alias("tie"), "principal")).alias(
        "joined"
    )
    return offered.groupBy("id").agg(best)


def _clusters(ordered: DataFrame, chains: DataFrame) -> DataFrame:
    """Return the cluster of each text that is in one, by `rank`.

    It is named by the id of its first document in principal order.
    """
    rooted = ordered.join(chains.withColumnsRenamed({"node": "rank"}), "rank", "left")
    named = rooted.select("rank", sf.coalesce("root", "rank").alias("root"))
    several = named.groupBy("root").count().where("count > 1").select("root")
    first = ordered.select(sf.col("position").alias("root"), sf.col("id").alias("cluster"))
    return named.distinct().join(several.join(first, "root"), "root").select("rank", "cluster")


def _all_documents(rows: DataFrame, named: DataFrame) -> DataFrame:
    """Return the family fields of all documents.

    One that is not complete is a principal only if others joined it.
    """
    joined = named.where("family != id").select(sf.col("family").alias("id")).distinct()
    joined = joined.withColumn("is_joined", sf.lit(True))
    every = rows.select("id", "status").join(named, "id").join(joined, "id", "left")
    may_be_principal = (sf.col("status") == "complete") | sf.col("is_joined").isNotNull()
    principal: Column = (sf.col("family") == sf.col("id")) & may_be_principal
    columns = "id", "family", principal.alias("principal"), "similarity", "cluster"
    return every.select(*columns).orderBy("id")
