"""Pairs of texts measured on the executors, exactly as one machine measures them."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.matching.sequence_cache import SequenceCache
from indexer.matching.verification import BATCH, BYTES_A_CHAR, MOST_CHARS
from indexer.recipe import Recipe
from indexer.similarity.criteria import Criteria
from indexer.similarity.measures import measure_pair
from indexer.similarity.sides import Side, stored_side
from indexer.sketch.codec import unsigned64
from indexer.spark.arrow_rows import Batches, batch, ddl
from indexer.spark.distinct_texts import text_contents

_SIDE = ("content", "minhash", "simhash", "values")
_MEASURED = {"left": "bigint", "right": "bigint", "similarity": "double"}

Stored: TypeAlias = list[Any]
"""The content of a text, its packed slots, its bits, and the values of its rules as JSON."""


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

        It may be 0 for one below `least`. The task that measures a pair is a cell of a grid: all
        pairs of some left texts with some right ones. A text is sent to a cell once.
        """
        cells = _in_cells(pairs)
        needed = cells.select("cell", "left").union(cells.select("cell", "right"))
        needed = needed.toDF("cell", "text").distinct()
        texts = text_contents(self.rows, self.numbered, needed.select("text"))
        if self.measure in ("estimate", "hamming") and not self.criteria:
            texts = texts.withColumn("content", sf.lit(""))
        texts = texts.join(needed, "text").select(
            "cell", sf.col("text").alias("left"), sf.lit(None).cast("bigint").alias("right"), *_SIDE
        )
        absent = [sf.lit(None).cast(kind).alias(name) for name, kind in texts.select(*_SIDE).dtypes]
        both = texts.union(cells.select("cell", "left", "right", *absent))
        placed = both.repartitionById(_sides_of_grid(pairs) ** 2, sf.col("cell"))
        is_pair = sf.col("right").isNotNull()
        ordered = placed.sortWithinPartitions(is_pair, "left", "right")
        measurer = PairMeasurer(self.measure, self.recipe, self.criteria, self.least)
        return ordered.mapInArrow(measurer.add_similarities, ddl(_MEASURED))


def _in_cells(pairs: DataFrame) -> DataFrame:
    """Return the pairs with the number of their `cell`."""
    size = sf.lit(_sides_of_grid(pairs))
    row, column = (sf.pmod(sf.hash(side), size) for side in ("left", "right"))
    return pairs.select("left", "right", (row * size + column).alias("cell"))


def _sides_of_grid(pairs: DataFrame) -> int:
    partitions = pairs.sparkSession.conf.get("spark.sql.shuffle.partitions")
    return math.ceil(math.sqrt(int(partitions or 1)))


@dataclass(frozen=True, slots=True)
class PairMeasurer:
    """Measurer of pairs on an executor, with the options of `Verifier`."""

    measure: str
    recipe: Recipe
    criteria: Criteria
    least: float

    def add_similarities(self, parts: Batches) -> Batches:
        """Yield the similarity of each pair of a cell, whose texts come before its pairs.

        What is computed of texts is cached, up to about 20 million characters.
        """
        texts = _Texts(self.recipe)
        for part in parts:
            texts.add(part.filter(part.column("right").is_null()))
            pairs = part.filter(part.column("right").is_valid())
            left, right = (pairs.column(side).to_pylist() for side in ("left", "right"))
            for start in range(0, len(left), BATCH):
                sides = left[start : start + BATCH], right[start : start + BATCH]
                values = self._similarities(texts, list(zip(*sides, strict=True)))
                yield batch(_MEASURED, [*sides, values])

    def _similarities(self, texts: _Texts, pairs: Sequence[tuple[int, int]]) -> list[float]:
        allowed = [pair for pair in pairs if self._allows(texts, *pair)]
        known: Sequence[float | None] = [None] * len(allowed)
        if self.measure == "lcs":
            known = texts.sequences.measure_pairs(allowed, self.least)
        values = dict.fromkeys(pairs, 0.0)
        for pair, value in zip(allowed, known, strict=True):
            values[pair] = self._similarity(texts, *pair) if value is None else value
            if self.criteria and values[pair] >= self.least and not self._accepts(texts, *pair):
                values[pair] = 0.0
        return [values[pair] for pair in pairs]

    def _similarity(self, texts: _Texts, left: int, right: int) -> float:
        a, b = texts.side(left), texts.side(right)
        return measure_pair(self.measure, a, b, least=self.least).similarity

    def _allows(self, texts: _Texts, left: int, right: int) -> bool:
        if not self.criteria:
            return True
        values = (json.loads(texts.stored[text][-1]) for text in (left, right))
        return self.criteria.allows(*values)

    def _accepts(self, texts: _Texts, left: int, right: int) -> bool:
        return self.criteria.accepts(texts.side(left), texts.side(right))


@dataclass(slots=True)
class _Texts:
    """The texts of a cell by number, with a cache of the sides measured last."""

    recipe: Recipe
    stored: dict[int, Stored] = field(default_factory=dict)
    sides: OrderedDict[int, Side] = field(default_factory=OrderedDict)
    chars: int = 0
    sequences: SequenceCache = field(init=False)

    def __post_init__(self) -> None:
        self.sequences = SequenceCache(self._contents, BYTES_A_CHAR * MOST_CHARS)

    def add(self, part: Any) -> None:
        """Take the texts of a batch."""
        columns = [part.column(name).to_pylist() for name in ("left", *_SIDE)]
        self.stored.update((text, values) for text, *values in zip(*columns, strict=True))

    def side(self, text: int) -> Side:
        """Return a text by its number."""
        if text in self.sides:
            self.sides.move_to_end(text)
            return self.sides[text]
        content, slots, signed_bits, _ = self.stored[text]
        bits = None if signed_bits is None else unsigned64(signed_bits)
        side = stored_side(content, self.recipe, slots if self.recipe.sketch_bytes else None, bits)
        self.sides[text] = side
        self.chars += len(content)
        while self.chars > MOST_CHARS and len(self.sides) > 1:
            self.chars -= len(self.sides.popitem(last=False)[1].text)
        return side

    def _contents(self, texts: Sequence[int]) -> list[str]:
        return [self.stored[text][0] for text in texts]
