"""Principals over a cluster, the same as if all texts were visited one after the other.

A text is a principal when no earlier principal is similar enough. So it depends on earlier texts
that may be similar, and on nothing else. In each round those texts become principals of which all
earlier texts are decided; only their pairs are measured, as one machine measures only pairs with
principals, and the texts that are similar enough to them are decided too. When few pairs are left
all are measured, and one task visits them in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.spark.arrow_rows import Batches, batch, ddl
from indexer.spark.work_folder import Stage, Work

EDGE = {"earlier": "bigint", "later": "bigint"}
MEASURED = {**EDGE, "similarity": "double"}
_LOST = {"later": "bigint"}
MeasureEdges = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True, slots=True)
class PrincipalSteps:
    """Finder of the texts that are not principals, identified by their ranks.

    `measure` adds `similarity` to edges, `measure_name` is the name of the measure. `at_once`
    edges or fewer are left to one task.
    """

    work: Work
    measure: MeasureEdges
    threshold: float
    measure_name: str
    at_once: int

    def decide(self, edges: Stage) -> tuple[Stage, Stage]:
        """Return the texts that are similar to an earlier principal, and all measured edges.

        The column of the texts is `later`. `edges`: pairs that may be similar, of a text
        and a later one.
        """
        lost: list[Stage] = []
        measured: list[Stage] = []
        turn = 0
        while edges.facts["edges"] > self.at_once:
            turn += 1
            principals = self._stage(
                f"leading-{turn}", [edges], partial(current_principals, edges.rows)
            )
            measured.append(
                self._measured(
                    f"measured-{turn}", [edges, principals], _edges_from(edges, principals)
                )
            )
            lost.append(Stage(measured[-1].digest, self._too_similar(measured[-1].rows)))
            edges = self._undecided(f"undecided-{turn}", edges, principals, lost[-1])
        measured.append(self._measured("measured-last", [edges], edges.rows))
        lost.append(self._last(measured[-1]))
        return Stage(lost[-1].digest, _union(lost)), Stage(measured[-1].digest, _union(measured))

    @property
    def _settings(self) -> dict[str, Any]:
        return {"threshold": self.threshold, "measure": self.measure_name}

    def _stage(self, name: str, sources: list[Stage], make: Callable[[], DataFrame]) -> Stage:
        return self.work.stage(name, self._settings, sources, make)

    def _measured(self, name: str, sources: list[Stage], edges: DataFrame) -> Stage:
        return self._stage(name, sources, lambda: self.measure(edges))

    def _too_similar(self, measured: DataFrame) -> DataFrame:
        return measured.where(sf.col("similarity") >= self.threshold).select("later").distinct()

    def _undecided(self, name: str, edges: Stage, principals: Stage, lost: Stage) -> Stage:
        """Return the edges between texts that are not decided yet."""
        decided = principals.rows.toDF("text").union(lost.rows.toDF("text"))
        earlier, later = decided.toDF("earlier"), decided.toDF("later")
        rest = (
            edges.rows.join(earlier, "earlier", "left_anti")
            .join(later, "later", "left_anti")
            .select(*EDGE)
        )
        return self.work.stage(
            name, self._settings, [edges, principals, lost], lambda: rest, count_edges
        )

    def _last(self, measured: Stage) -> Stage:
        near = measured.rows.where(sf.col("similarity") >= self.threshold)
        ordered = near.coalesce(1).sortWithinPartitions("later", "earlier")
        return self._stage(
            "lost-last", [measured], lambda: ordered.mapInArrow(lost_texts, ddl(_LOST))
        )


def count_edges(edges: DataFrame) -> dict[str, int]:
    """Return the number of edges."""
    return {"edges": edges.count()}


def current_principals(edges: DataFrame) -> DataFrame:
    """Return the texts that later ones may join and that are similar to no undecided earlier one.

    Their column is `earlier`.
    """
    later = edges.select(sf.col("later").alias("earlier")).distinct()
    return edges.select("earlier").distinct().join(later, "earlier", "left_anti")


def _edges_from(edges: Stage, principals: Stage) -> DataFrame:
    return edges.rows.join(principals.rows, "earlier", "left_semi").select(*EDGE)


def _union(stages: list[Stage]) -> DataFrame:
    rows = stages[0].rows
    for stage in stages[1:]:
        rows = rows.unionByName(stage.rows)
    return rows


def lost_texts(parts: Batches) -> Batches:
    """Yield the texts that are not principals.

    The edges are similar enough, and sorted by the later text.
    """
    lost: set[int] = set()
    for part in parts:
        pairs = zip(*(part.column(name).to_pylist() for name in EDGE), strict=True)
        for earlier, later in pairs:
            if earlier not in lost:
                lost.add(later)
    yield batch(_LOST, [sorted(lost)])
