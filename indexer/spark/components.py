"""Connected components over a cluster: chains of edges, each node with the least node that it hangs
together with.

Large-star and small-star in turn (Kiveris et al., "Connected Components in MapReduce and Beyond",
SoCC 2014) make every component a star around its least node. Edges that are few are joined by one
task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.clustering.families import ConnectedTexts
from indexer.spark.arrow_rows import Batches, batch, ddl
from indexer.spark.work_folder import Stage, Work

_STAR = {"node": "bigint", "root": "bigint"}


@dataclass(frozen=True, slots=True)
class Components:
    """Finds components of numbered nodes; `at_once` edges or fewer are left to one task."""

    work: Work
    at_once: int

    def of(
        self, name: str, settings: Mapping[str, Any], sources: list[Stage], edges: DataFrame
    ) -> Stage:
        """Each node that has an edge, and its root, the least node of its component: `node`,
        `root`.

        `edges` has two columns of numbers, in either order, and is made of `sources` by `settings`.
        """
        first, second = edges.columns
        ends = edges.select(
            sf.greatest(first, second).alias("node"), sf.least(first, second).alias("root")
        )
        made = self.work.stage(
            f"{name}-edges",
            settings,
            sources,
            lambda: ends.where("node != root").distinct(),
            _state,
        )
        if made.facts["edges"] <= self.at_once:
            return self.work.stage(
                name, {}, [made], lambda: made.rows.coalesce(1).mapInArrow(joined, ddl(_STAR))
            )
        before, turn = None, 0
        while made.facts != before:
            before, turn, rows = made.facts, turn + 1, made.rows
            made = self.work.stage(f"{name}-{turn}", {}, [made], partial(_both_stars, rows), _state)
        roots = made.rows.select(sf.col("root").alias("node"), "root").distinct()
        return Stage(made.digest, made.rows.union(roots))


def _both_stars(edges: DataFrame) -> DataFrame:
    """Run one round of both steps of the star algorithm."""
    return small_star(large_star(edges))


def large_star(edges: DataFrame) -> DataFrame:
    """Hang every greater neighbour of each node on the least of the node and its neighbours."""
    both = edges.union(edges.select("root", "node")).toDF("node", "other")
    least = both.groupBy("node").agg(sf.least("node", sf.min("other")).alias("root"))
    return (
        both.where("other > node")
        .join(least, "node")
        .select(sf.col("other").alias("node"), "root")
        .distinct()
    )


def small_star(edges: DataFrame) -> DataFrame:
    """Hang every lesser neighbour of each node, and the node, on the least of them; edges lead from
    greater to lesser.
    """
    least = edges.groupBy("node").agg(sf.min("root").alias("least"))
    others = edges.join(least, "node").select(
        sf.col("root").alias("node"), sf.col("least").alias("root")
    )
    return others.union(least.toDF("node", "root")).where("node != root").distinct()


def _state(edges: DataFrame) -> dict[str, int]:
    """What tells that a turn changed nothing: how many edges, and a digest of them."""
    total = sf.sum(sf.xxhash64("node", "root").cast("decimal(38,0)")) % (1 << 61)
    row = edges.agg(sf.count("*"), total.cast("bigint")).first() or (0, 0)
    return {"edges": row[0], "digest": row[1] or 0}


def joined(parts: Batches) -> Batches:
    """The components of all edges of one task."""
    columns = [
        np.stack([part.column("node").to_numpy(), part.column("root").to_numpy()]) for part in parts
    ]
    if not columns:
        return
    nodes, places = np.unique(np.concatenate(columns, axis=1), return_inverse=True)
    chains = ConnectedTexts(len(nodes))
    for a, b in places.reshape(2, -1).T.tolist():
        chains.join(a, b)
    yield batch(_STAR, [nodes, nodes[[chains.root(place) for place in range(len(nodes))]]])
