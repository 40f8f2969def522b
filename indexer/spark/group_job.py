"""`group` over a cluster: families and clusters of all documents, the same as one machine makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from indexer.grouping.assign_families import RECALL, GroupOptions, fewest_equal
from indexer.matching.limits import ALMOST_ONE
from indexer.recipe import Recipe
from indexer.sketch.plan import Plan, plan_for_recall
from indexer.spark import principal_order as places
from indexer.spark.candidates import sharing
from indexer.spark.components import Components
from indexer.spark.family_steps import EDGE, MEASURED, PrincipalSteps, number
from indexer.spark.verify import Verifier
from indexer.spark.work_folder import Stage, Work

AT_ONCE = 200_000
_PAIR = ("left", "right")


def group(
    work: Work, rows: Stage, recipe: Recipe, settings: GroupOptions, at_once: int = AT_ONCE
) -> Stage:
    """The family fields of every document, as `Assignment` has them, ascending by id.

    `at_once`: so many pairs or fewer are left to one task, where rounds over the cluster would take
    longer. `facts`: the candidates, and what caps left out. Raises `UsageError` and
    `UnknownMeasure`.
    """
    settings.check_recipe(recipe)
    grouping = _Grouping(work, rows, recipe, settings, at_once)
    assigned = grouping.assigned()
    return Stage(assigned.digest, assigned.rows, grouping.found.facts)


@dataclass(frozen=True)
class _Grouping:
    """One grouping; its parts are made when they are asked for. Texts are called by number or by
    rank, their first place.
    """

    work: Work
    rows: Stage
    recipe: Recipe
    settings: GroupOptions
    at_once: int

    @cached_property
    def documents(self) -> places.OrderKey:
        return places.keyed(self.work, self.rows, self.recipe)

    @cached_property
    def found(self) -> Stage:
        """Pairs that may be similar; hot bands around the first in principal order, for `central`
        around the longest.
        """
        kind = "longest" if self.settings.principal == "central" else self.settings.principal
        ranked = places.ranked(self.work, places.placed(self.work, self.documents, kind))
        signed = ranked.rows.join(self.documents.numbered.rows.select("text", "minhash"), "text")
        layout: Plan = plan_for_recall(
            min(self.settings.least_threshold, ALMOST_ONE), RECALL, self.recipe.slots or 0
        )
        centred = Stage(ranked.digest, signed.select("text", "rank", "minhash"))
        return sharing(
            self.work,
            centred,
            layout,
            self._fewest(self.settings.least_threshold),
            self.settings.cap,
        )

    @cached_property
    def placed(self) -> Stage:
        """Documents in principal order."""
        kind = self.settings.principal
        return places.placed(
            self.work, self.documents, kind, self._sums() if kind == "central" else None
        )

    @cached_property
    def ranked(self) -> Stage:
        return places.ranked(self.work, self.placed)

    @cached_property
    def verifier(self) -> Verifier:
        return Verifier(
            self.rows.rows, self.documents.numbered.rows, self.settings.measure, self.recipe
        )

    def assigned(self) -> Stage:
        """The family fields of every document."""
        limits = {"threshold": self.settings.threshold, "measure": self.settings.measure}
        leaders = PrincipalSteps(
            self.work, self.measured, self.settings.threshold, self.settings.measure, self.at_once
        )
        edges = self.work.stage("edges", limits, [self.found, self.ranked], self._edges, number)
        lost, some = leaders.decide(edges)
        measured = (
            some if edges.facts["edges"] <= self.at_once else self._completed(limits, lost, some)
        )
        clusters = self._clusters(measured)
        sources = [self.rows, self.placed, self.ranked, lost, measured, clusters]
        return self.work.stage(
            "assigned",
            limits,
            sources,
            lambda: self._assigned(lost.rows, measured.rows, clusters.rows),
        )

    def measured(self, edges: DataFrame) -> DataFrame:
        """Edges between ranks with their similarity."""
        names = self.ranked.rows.select("rank", "text")
        for side, name in zip(EDGE, _PAIR, strict=True):
            edges = edges.join(names.withColumnsRenamed({"rank": side, "text": name}), side)
        made = self.verifier.similarities(edges.select(*_PAIR))
        for side, name in zip(EDGE, _PAIR, strict=True):
            made = made.join(names.withColumnsRenamed({"rank": side, "text": name}), name)
        return made.select(*MEASURED)

    def _fewest(self, threshold: float) -> int:
        return fewest_equal(self.settings.measure, self.recipe.slots or 0, threshold)

    def _sums(self) -> Stage:
        settings = {"threshold": self.settings.threshold, "measure": self.settings.measure}

        def similar() -> DataFrame:
            made = self.verifier.similarities(self.found.rows.select(*_PAIR))
            return made.where(sf.col("similarity") >= self.settings.threshold)

        return places.sums(self.work, self.documents, [self.found], similar, settings)

    def _by_rank(self, threshold: float) -> DataFrame:
        """Pairs that may be similar, as ranks: `earlier` and `later`, whether either may lead, and
        the earlier's last place.
        """
        pairs = self.found.rows.where(sf.col("equal") >= self._fewest(threshold)).select(*_PAIR)
        for side in _PAIR:
            known = sf.struct("rank", "leads", "last").alias(f"{side}_known")
            pairs = pairs.join(self.ranked.rows.select(sf.col("text").alias(side), known), side)
        first, second = (
            sf.least("left_known", "right_known"),
            sf.greatest("left_known", "right_known"),
        )
        named = {"earlier": first["rank"], "later": second["rank"], "last": first["last"]}
        return pairs.select(
            *(column.alias(name) for name, column in named.items()),
            first["leads"].alias("earlier_leads"),
            second["leads"].alias("later_leads"),
        )

    def _edges(self) -> DataFrame:
        return self._by_rank(self.settings.threshold).where("earlier_leads").select(*EDGE)

    def _completed(self, limits: Mapping[str, Any], lost: Stage, some: Stage) -> Stage:
        """What is measured where not all edges are: those of leaders with texts that have a
        document after them.
        """
        sources = [self.found, self.ranked, lost, some]
        return self.work.stage(
            "measured", limits, sources, lambda: self._rest(lost.rows, some.rows)
        )

    def _rest(self, lost: DataFrame, some: DataFrame) -> DataFrame:
        pairs = self._by_rank(self.settings.threshold)
        earlier, later = lost.toDF("earlier"), lost.toDF("later")
        usual = (
            pairs.where("earlier_leads")
            .join(later, "later", "left_semi")
            .join(earlier, "earlier", "left_anti")
        )
        behind = pairs.where("later_leads AND later < last")
        turned = behind.join(earlier, "earlier", "left_semi").join(later, "later", "left_anti")
        missing = (
            usual.select(*EDGE)
            .union(turned.select(*EDGE))
            .join(some.select(*EDGE), list(EDGE), "left_anti")
        )
        return some.select(*MEASURED).union(self.measured(missing))

    def _clusters(self, measured: Stage) -> Stage:
        """Components by chains at the cluster threshold; pairs that hang together already are not
        measured.
        """
        settings = {
            "threshold": self.settings.threshold_of_clusters,
            "measure": self.settings.measure,
        }
        components = Components(self.work, self.at_once)
        known = components.of("known-chains", settings, [measured], self._chained(measured))
        sources = [self.found, self.ranked, measured, known]
        more = self.work.stage(
            "more-measured",
            settings,
            sources,
            lambda: self.measured(self._apart(measured.rows, known.rows)),
        )
        return components.of(
            "chains", settings, [measured, more], self._chained(measured).union(self._chained(more))
        )

    def _chained(self, measured: Stage) -> DataFrame:
        return measured.rows.where(
            sf.col("similarity") >= self.settings.threshold_of_clusters
        ).select(*EDGE)

    def _apart(self, measured: DataFrame, known: DataFrame) -> DataFrame:
        """The pairs that were not measured and do not hang together."""
        pairs = (
            self._by_rank(self.settings.least_threshold)
            .select(*EDGE)
            .join(measured.select(*EDGE), list(EDGE), "left_anti")
        )
        for side in EDGE:
            named = known.withColumnsRenamed({"node": side, "root": f"{side}_root"})
            pairs = pairs.join(named, side, "left")
        apart = sf.coalesce("earlier_root", "earlier") != sf.coalesce("later_root", "later")
        return pairs.where(apart).select(*EDGE)

    def _assigned(self, lost: DataFrame, measured: DataFrame, clusters: DataFrame) -> DataFrame:
        text = self.ranked.rows.select("text", "rank", sf.col("leads").alias("text_leads"))
        placed = self.placed.rows.join(text, "text").select("id", "place", "rank", "text_leads")
        follows = lost.select(sf.col("later").alias("rank"), sf.lit(True).alias("lost"))
        joins = _joins(
            placed, _leading(self.ranked.rows, lost), lost, measured, self.settings.threshold
        )
        known = placed.join(follows, "rank", "left").join(joins, "id", "left")
        led = sf.col("lost").isNull() & sf.col("text_leads")
        head = (
            sf.when(sf.col("joined").isNotNull(), sf.col("joined.head"))
            .when(led, sf.col("rank"))
            .otherwise(sf.col("place"))
        )
        copy = sf.when(led & (sf.col("rank") != sf.col("place")), sf.lit(1.0))
        similarity = sf.coalesce(sf.col("joined.similarity"), copy).alias("similarity")
        names = self.placed.rows.select(sf.col("place").alias("head"), sf.col("id").alias("family"))
        families = known.select("id", "rank", head.alias("head"), similarity).join(names, "head")
        named = families.join(_clusters(placed, clusters), "rank", "left").drop("rank", "head")
        return _everyone(self.rows.rows, named)


def _leading(ranked: DataFrame, lost: DataFrame) -> DataFrame:
    """The texts that lead, by rank (`head`)."""
    return (
        ranked.where("leads")
        .select(sf.col("rank").alias("head"))
        .join(lost.toDF("head"), "head", "left_anti")
    )


def _joins(
    placed: DataFrame, leading: DataFrame, lost: DataFrame, measured: DataFrame, threshold: float
) -> DataFrame:
    """For each document of a text that does not lead the most similar earlier leader: `id`, and
    `joined` with its `head`.

    Ties go to the earlier one.
    """
    similar = measured.where(sf.col("similarity") >= threshold)
    either = similar.toDF("head", "rank", "similarity").union(
        similar.select("later", "earlier", "similarity")
    )
    offers = either.join(leading, "head", "left_semi").join(lost.toDF("rank"), "rank", "left_semi")
    offered = placed.select("id", "place", "rank").join(offers, "rank").where("head < place")
    best = sf.max(sf.struct("similarity", (-sf.col("head")).alias("least"), "head")).alias("joined")
    return offered.groupBy("id").agg(best)


def _clusters(placed: DataFrame, chains: DataFrame) -> DataFrame:
    """The cluster of each text that is in one, by `rank`: the id of its first document in principal
    order.
    """
    rooted = placed.join(chains.withColumnsRenamed({"node": "rank"}), "rank", "left")
    named = rooted.select("rank", sf.coalesce("root", "rank").alias("root"))
    several = named.groupBy("root").count().where("count > 1").select("root")
    first = placed.select(sf.col("place").alias("root"), sf.col("id").alias("cluster"))
    return named.distinct().join(several.join(first, "root"), "root").select("rank", "cluster")


def _everyone(rows: DataFrame, named: DataFrame) -> DataFrame:
    """The family fields of all documents; those without keys are alone."""
    family: Column = sf.coalesce("family", "id")
    leads = (family == sf.col("id")) & (sf.col("status") == "complete")
    every = rows.select("id", "status").join(named, "id", "left")
    return every.select(
        "id", family.alias("family"), leads.alias("principal"), "similarity", "cluster"
    ).orderBy("id")
