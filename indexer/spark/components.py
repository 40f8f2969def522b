"""Connected components over a cluster: each node with the least node of its component.

Large-star and small-star in turn (Kiveris et al., "Connected Components in MapReduce and Beyond",
SoCC 2014) make every component a star around its least node. Few edges are joined by one task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.clustering.principals import ConnectedTexts
from indexer.spark.arrow_rows import Batches, batch, ddl
from indexer.spark.work_folder import Stage, Work

_STAR = {"node": "bigint", "root": "bigint"}


@dataclass(frozen=True, slots=True)
class Components:
    """Finds components of numbered nodes; `at_once` edges or fewer are left to one task."""

    work: Work
    at_once: int

    def find(
        self, name: str, settings: Mapping[str, Any], sources: list[Stage], edges: DataFrame
    ) -> Stage:
        """Return each `node` that has an edge, and its `root`, the least node of its component.

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
    """Connect every greater neighbour of each node to the least of the node and its neighbours."""
    both = edges.union(edges.select("root", "node")).toDF("node", "other")
    least = both.groupBy("node").agg(sf.least("node", sf.min("other")).alias("root"))
    return (
        both.where("other > node")
        .join(least, "node")
        .select(sf.col("other").alias("node"), "root")
        .distinct()
    )


def small_star(edges: DataFrame) -> DataFrame:
    """Connect every lesser neighbour of each node, and the node, to the least of them.

    Edges lead from greater to lesser.
    """
    least = edges.groupBy("node").agg(sf.min("root").alias("least"))
    others = edges.join(least, "node").select(
        sf.col("root").alias("node"), sf.col("least").alias("root")
    )
    return others.union(least.toDF("node", "root")).where("node != root").distinct()


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
    nodes, places = np.unique(np.concatenate(columns, axis=1), return_inverse=True)
    chains = ConnectedTexts(len(nodes))
    for a, b in places.reshape(2, -1).T.tolist():
        chains.join(a, b)
    roots = [chains.root(place) for place in range(len(nodes))]
    yield batch(_STAR, [nodes, nodes[roots]])
