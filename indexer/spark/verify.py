"""Pairs of texts measured on the executors, exactly as one machine measures them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.matching.verification import MOST_CHARS
from indexer.recipe import Recipe
from indexer.similarity.measures import measure_pair
from indexer.similarity.sides import Side
from indexer.sketch.codec import unpack_slots, unsigned64
from indexer.spark.arrow_rows import Batches, Mapper, ddl, with_fields
from indexer.spark.distinct_texts import contents

_SIDE = ("content", "minhash", "simhash")


@dataclass(frozen=True, slots=True)
class Verifier:
    """Measures pairs of texts. `rows` has the documents, `numbered` the texts."""

    rows: DataFrame
    numbered: DataFrame
    measure: str
    recipe: Recipe

    def similarities(self, pairs: DataFrame) -> DataFrame:
        """The pairs, numbers in the columns `left` and `right`, with the column `similarity`.

        What comes often is best put left: its text travels once for many pairs.
        """
        needed = pairs.select(sf.col("left").alias("text")).union(pairs.select("right"))
        known = contents(self.rows, self.numbered, needed)
        if self.measure in ("estimate", "hamming"):
            known = known.withColumn("content", sf.lit(""))
        joined = pairs.join(_renamed(known, "right"), "right").join(_renamed(known, "left"), "left")
        schema = {"left": "bigint", "right": "bigint", "similarity": "double"}
        sides = [f"{side}_{name}" for side in ("left", "right") for name in _SIDE]
        narrow = joined.select("left", "right", *sides).sortWithinPartitions("left", "right")
        return narrow.mapInArrow(measures(self.measure, self.recipe), ddl(schema))


def _renamed(known: DataFrame, side: str) -> DataFrame:
    return known.select(
        sf.col("text").alias(side), *(sf.col(name).alias(f"{side}_{name}") for name in _SIDE)
    )


def measures(measure: str, recipe: Recipe) -> Mapper:
    """The measure of each pair; sides that come again are kept, up to about 20 million
    characters.
    """

    def verify(parts: Batches) -> Batches:
        sides = _Sides(recipe)
        for part in parts:
            columns = [part.column(name).to_pylist() for name in part.schema.names]
            values = [_similarity(measure, sides, row) for row in zip(*columns, strict=True)]
            yield with_fields(part.select(["left", "right"]), "similarity", "double", values)

    return verify


def _similarity(measure: str, sides: _Sides, row: Sequence[Any]) -> float:
    left, right, *rest = row
    half = len(_SIDE)
    return measure_pair(
        measure, sides.side(left, rest[:half]), sides.side(right, rest[half:])
    ).similarity


@dataclass(slots=True)
class _Sides:
    """The sides measured last, by number of the text."""

    recipe: Recipe
    kept: OrderedDict[int, Side] = field(default_factory=OrderedDict)
    chars: int = 0

    def side(self, text: int, given: Sequence[Any]) -> Side:
        if text in self.kept:
            self.kept.move_to_end(text)
            return self.kept[text]
        content, slots, bits = given
        side = Side(
            content, self.recipe, unpack_slots(slots), None if bits is None else unsigned64(bits)
        )
        self.kept[text] = side
        self.chars += len(content)
        while self.chars > MOST_CHARS and len(self.kept) > 1:
            self.chars -= len(self.kept.popitem(last=False)[1].text)
        return side
