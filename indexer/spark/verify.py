"""Pairs of texts measured on the executors, exactly as one machine measures them."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.matching.verification import MOST_CHARS
from indexer.recipe import Recipe
from indexer.similarity.criteria import Criteria
from indexer.similarity.measures import measure_pair
from indexer.similarity.sides import Side, stored_side
from indexer.sketch.codec import unsigned64
from indexer.spark.arrow_rows import Batches, ddl, with_fields
from indexer.spark.distinct_texts import text_contents

_SIDE = ("content", "minhash", "simhash", "values")


@dataclass(frozen=True, slots=True)
class Verifier:
    """Measurer of pairs of texts. `rows` has the documents, `numbered` the texts.

    A pair at the `least` similarity of interest that does not meet the criteria is 0.
    """

    rows: DataFrame
    numbered: DataFrame
    measure: str
    recipe: Recipe
    criteria: Criteria
    least: float

    def similarities(self, pairs: DataFrame) -> DataFrame:
        """Return the pairs, numbers in the columns `left` and `right`, with their `similarity`.

        Put a frequent text left: it is sent once for many pairs.
        """
        needed = pairs.select(sf.col("left").alias("text")).union(pairs.select("right"))
        texts = text_contents(self.rows, self.numbered, needed)
        if self.measure in ("estimate", "hamming") and not self.criteria:
            texts = texts.withColumn("content", sf.lit(""))
        joined = pairs.join(_side_columns(texts, "right"), "right")
        joined = joined.join(_side_columns(texts, "left"), "left")
        schema = {"left": "bigint", "right": "bigint", "similarity": "double"}
        sides = [f"{side}_{name}" for side in ("left", "right") for name in _SIDE]
        narrow = joined.select("left", "right", *sides).sortWithinPartitions("left", "right")
        measurer = PairMeasurer(self.measure, self.recipe, self.criteria, self.least)
        return narrow.mapInArrow(measurer.add_similarities, ddl(schema))


def _side_columns(texts: DataFrame, side: str) -> DataFrame:
    columns = [sf.col(name).alias(f"{side}_{name}") for name in _SIDE]
    return texts.select(sf.col("text").alias(side), *columns)


@dataclass(frozen=True, slots=True)
class PairMeasurer:
    """Measurer of pairs on an executor, with the options of `Verifier`."""

    measure: str
    recipe: Recipe
    criteria: Criteria
    least: float

    def add_similarities(self, parts: Batches) -> Batches:
        """Yield the similarity of each pair.

        Sides that come again are cached, up to about 20 million characters.
        """
        sides = _SideCache(self.recipe)
        for part in parts:
            columns = [part.column(name).to_pylist() for name in part.schema.names]
            values = [self._similarity(sides, row) for row in zip(*columns, strict=True)]
            yield with_fields(part.select(["left", "right"]), "similarity", "double", values)

    def _similarity(self, sides: _SideCache, row: Sequence[Any]) -> float:
        left, right, *rest = row
        half = len(_SIDE)
        left_values, right_values = json.loads(rest[half - 1]), json.loads(rest[-1])
        if not self.criteria.allows(left_values, right_values):
            return 0.0
        a, b = sides.side(left, rest[: half - 1]), sides.side(right, rest[half:-1])
        value = measure_pair(self.measure, a, b).similarity
        if value >= self.least and self.criteria and not self.criteria.accepts(a, b):
            return 0.0
        return value


@dataclass(slots=True)
class _SideCache:
    """Cache of the sides measured last, by number of the text."""

    recipe: Recipe
    sides: OrderedDict[int, Side] = field(default_factory=OrderedDict)
    chars: int = 0

    def side(self, text: int, values: Sequence[Any]) -> Side:
        """Return the side of a text from its content, packed slots and bits."""
        if text in self.sides:
            self.sides.move_to_end(text)
            return self.sides[text]
        content, slots, signed_bits = values
        bits = None if signed_bits is None else unsigned64(signed_bits)
        side = stored_side(content, self.recipe, slots if self.recipe.sketch_bytes else None, bits)
        self.sides[text] = side
        self.chars += len(content)
        while self.chars > MOST_CHARS and len(self.sides) > 1:
            self.chars -= len(self.sides.popitem(last=False)[1].text)
        return side
