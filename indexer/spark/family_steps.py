"""Families over a cluster: who leads and whom each document joins, as if all had been visited one
after the other.

A text leads when its first document is complete and no earlier leader is similar enough. So a
text's fate hangs on earlier texts that may be similar, and on nothing else. In each round those
lead on which no undecided earlier text bears any more; only their pairs are measured, as one
machine measures only pairs with principals; what is similar enough is decided too. When few pairs
are left all are measured, and one task visits them in order.
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
Measuring = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True, slots=True)
class PrincipalSteps:
    """Finds the texts that do not lead, called by their ranks.

    `measure` adds `similarity` to edges, `named` says by which measure. `at_once` edges or fewer
    are left to one task.
    """

    work: Work
    measure: Measuring
    threshold: float
    named: str
    at_once: int

    def decide(self, edges: Stage) -> tuple[Stage, Stage]:
        """The texts that some earlier leader keeps from leading (`later`), and all edges measured
        on the way.

        `edges`: pairs that may be similar, of a text that may lead and a later one.
        """
        lost: list[Stage] = []
        measured: list[Stage] = []
        turn = 0
        while edges.facts["edges"] > self.at_once:
            turn += 1
            leading = self._stage(
                f"leading-{turn}", [edges], partial(current_principals, edges.rows)
            )
            measured.append(
                self._measured(f"measured-{turn}", [edges, leading], _touching(edges, leading))
            )
            lost.append(Stage(measured[-1].digest, self._too_similar(measured[-1].rows)))
            edges = self._undecided(f"undecided-{turn}", edges, leading, lost[-1])
        measured.append(self._measured("measured-last", [edges], edges.rows))
        lost.append(self._last(measured[-1]))
        return Stage(lost[-1].digest, _together(lost)), Stage(
            measured[-1].digest, _together(measured)
        )

    @property
    def _settings(self) -> dict[str, Any]:
        return {"threshold": self.threshold, "measure": self.named}

    def _stage(self, name: str, sources: list[Stage], make: Callable[[], DataFrame]) -> Stage:
        return self.work.stage(name, self._settings, sources, make)

    def _measured(self, name: str, sources: list[Stage], edges: DataFrame) -> Stage:
        return self._stage(name, sources, lambda: self.measure(edges))

    def _too_similar(self, measured: DataFrame) -> DataFrame:
        return measured.where(sf.col("similarity") >= self.threshold).select("later").distinct()

    def _undecided(self, name: str, edges: Stage, leading: Stage, lost: Stage) -> Stage:
        """The edges between texts that are not decided yet."""
        decided = leading.rows.toDF("text").union(lost.rows.toDF("text"))
        earlier, later = decided.toDF("earlier"), decided.toDF("later")
        rest = (
            edges.rows.join(earlier, "earlier", "left_anti")
            .join(later, "later", "left_anti")
            .select(*EDGE)
        )
        return self.work.stage(name, self._settings, [edges, leading, lost], lambda: rest, number)

    def _last(self, measured: Stage) -> Stage:
        near = measured.rows.where(sf.col("similarity") >= self.threshold)
        ordered = near.coalesce(1).sortWithinPartitions("later", "earlier")
        return self._stage(
            "lost-last", [measured], lambda: ordered.mapInArrow(visit_documents, ddl(_LOST))
        )


def number(edges: DataFrame) -> dict[str, int]:
    """How many edges there are."""
    return {"edges": edges.count()}


def current_principals(edges: DataFrame) -> DataFrame:
    """The texts that some others may join and that no earlier one may keep from leading
    (`earlier`).
    """
    later = edges.select(sf.col("later").alias("earlier")).distinct()
    return edges.select("earlier").distinct().join(later, "earlier", "left_anti")


def _touching(edges: Stage, leading: Stage) -> DataFrame:
    return edges.rows.join(leading.rows, "earlier", "left_semi").select(*EDGE)


def _together(stages: list[Stage]) -> DataFrame:
    made = stages[0].rows
    for stage in stages[1:]:
        made = made.unionByName(stage.rows)
    return made


def visit_documents(parts: Batches) -> Batches:
    """The texts that do not lead, of edges that are similar enough and sorted by the later text."""
    lost: set[int] = set()
    for part in parts:
        for earlier, later in zip(
            part.column("earlier").to_pylist(), part.column("later").to_pylist(), strict=True
        ):
            if earlier not in lost:
                lost.add(later)
    yield batch(_LOST, [sorted(lost)])
