"""The pairs that families have measured, which clusters need not measure again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from itertools import compress, repeat
from pathlib import Path
from typing import Any, TypeAlias
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.criteria import RULES_VERSION
from indexer.comparing.measures import measure_named
from indexer.grouping.collection import Collection
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.verification import UNDECIDED, TextReader, Verifier
from indexer.grouping.words_in_common import PassedOver, count_passed_over
from indexer.model import Row
from indexer.system.external_memory import (
    Codes,
    Column,
    MemoryBudget,
    Positions,
    Sorter,
    are_in,
    decode_pair,
    encode_pair,
)
from indexer.system.files import make_private, rename_durably

AT_ONCE = 1000  # pairs, or digests, that are kept together
Values: TypeAlias = NDArray[np.float64]


class _PendingPairs:
    """Values of pairs of texts, (left, right, value), until there are enough to be packed as one;
    `pack` takes their codes and values.
    """

    def __init__(self, pack: Callable[[Codes, Values], None]) -> None:
        self._pack = pack
        self._pending: list[tuple[int, int, float]] = []

    def add(self, values: Iterable[tuple[int, int, float]]) -> None:
        self._pending += values
        if len(self._pending) >= AT_ONCE:
            self.flush()

    def flush(self) -> None:
        pending = np.array(self._pending).reshape(-1, 3)
        self._pending = []
        self._pack(_codes(pending[:, :2].astype(np.int32)), pending[:, 2])


class MeasuredPairs:
    """The pairs of texts that were measured for families, and which of them clusters connect.

    The memory budget holds 8 bytes a pair, and again for one that is connected.
    """

    def __init__(self, verifier: Verifier, options: GroupOptions, budget: MemoryBudget) -> None:
        self._verifier = verifier
        self._threshold = options.threshold
        self._of_clusters = options.threshold_of_clusters
        self._measured = Sorter(budget)
        self._connected = Column(budget, np.uint64)
        self._passed_over = Column(budget, np.uint64), Column(budget, np.float64)
        self._pending = _PendingPairs(self._pack)

    def measure_with(self, text: int, others: Sequence[int]) -> list[float]:
        """Measure a text as `Verifier.measure_nearest` does, and remember the values."""
        values = self._verifier.measure_nearest(text, others, minimum=self._threshold)
        self._pending.add(zip(repeat(text), others, values))
        return values

    def _pack(self, codes: Codes, measured: Values) -> None:
        is_decided = measured > UNDECIDED
        codes, measured = codes[is_decided], measured[is_decided]
        if self._of_clusters >= self._threshold:  # lower values may be too low, to save time
            self._measured.add(codes)
        self._connected.add(codes[measured >= max(self._threshold, self._of_clusters)])
        for column, kept in zip(self._passed_over, (codes, measured), strict=True):
            column.add(kept[measured < 0])

    def passed_over(self) -> PassedOver:
        """Return how many pairs are rearranged or grown, where the verifier marks them."""
        self._pending.flush()
        codes, values = (column.whole() for column in self._passed_over)
        return count_passed_over(values[np.unique(codes, return_index=True)[1]])

    def connected(self) -> tuple[Positions, Positions]:
        """Return the pairs at the threshold of clusters. Measure nothing afterwards."""
        self._pending.flush()
        return decode_pair(self._connected.whole())

    def contains(self, left: Positions, right: Positions) -> NDArray[np.bool_]:
        """Return which pairs, left < right, clusters need not measure.

        Measure nothing afterwards.
        """
        return are_in(encode_pair(left, right), self._codes)

    @cached_property
    def _codes(self) -> Codes:
        self._pending.flush()
        return self._measured.sorted()


# Similarities that the last `group` measured, so that the next one compares only what is new.

SUFFIXES = {"documents": "pairs", "parts": "part-pairs"}  # of the file next to the journal
Digests: TypeAlias = NDArray[np.uint64]


def text_digest(text: str) -> bytes:
    """Return 16 bytes that identify a text."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


class TextDigests:
    """The digest of the text of every row that passes: 16 bytes of the memory budget each."""

    def __init__(self, budget: MemoryBudget) -> None:
        self._column = Column(budget, np.uint64)

    def watch(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows as they are."""
        pending: list[bytes] = []
        for row in rows:
            pending.append(text_digest(row.text))
            if len(pending) == AT_ONCE:
                self._add(pending)
                pending = []
            yield row
        self._add(pending)

    def whole(self) -> Digests:
        """Return the digests, (rows, 2), in the order of the rows. Let no more pass."""
        return self._column.whole().reshape(-1, 2)

    def _add(self, digests: Sequence[bytes]) -> None:
        self._column.add(np.frombuffer(b"".join(digests), np.uint64))


class RememberedPairs:
    """Similarities of pairs of texts, of an earlier run and of this one.

    `journal`: the file next to which they are kept, for the same users. `settings`: all that they
    depend on but the texts and the versions of the measure and the rules. `digests`: (texts, 2) of
    each text by its number in this run. Takes 16 bytes a pair of either run.
    """

    def __init__(
        self, journal: Path, settings: Mapping[str, Any], digests: Digests, budget: MemoryBudget
    ) -> None:
        self._journal, self._digests = journal, digests
        self._path = Path(f"{journal}.{SUFFIXES[settings['of']]}")
        version = measure_named(settings["measure"]).version
        versions = {"measure": version, "rules": RULES_VERSION, "undecided": UNDECIDED}
        self._settings = json.dumps({**settings, "versions": versions}, sort_keys=True)
        known, self._codes, self._values = _read(self._path, self._settings)
        self._known_numbers = _positions(known, digests)
        self._new_codes = Column(budget, np.uint64)
        self._new_values = Column(budget, np.float64)
        self._pending = _PendingPairs(self._pack)

    def values(self, pairs: Sequence[tuple[int, int]]) -> Values:
        """Return the similarity of each pair of the earlier run, nan of one that it had not."""
        values = np.full(len(pairs), np.nan)
        if len(self._codes) and pairs:
            numbers = self._known_numbers[np.array(pairs)]
            codes = _codes(numbers)
            positions = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
            is_known = (numbers >= 0).all(axis=1) & (self._codes[positions] == codes)
            values[is_known] = self._values[positions[is_known]]
        return values

    def add(self, pairs: Iterable[tuple[int, int]], values: Sequence[float]) -> None:
        """Take the similarities of pairs of this run, which the next one may need."""
        self._pending.add((*pair, value) for pair, value in zip(pairs, values, strict=True))

    def _pack(self, codes: Codes, values: Values) -> None:
        self._new_codes.add(codes)
        self._new_values.add(values)

    def is_text(self, number: int, text: str) -> bool:
        """Return whether a text of this run still is what it was when its digest was made."""
        return bool(self._digests[number].tobytes() == text_digest(text))

    def save(self) -> None:
        """Replace the file by the pairs of this run. Raises `OSError` when it cannot be written."""
        self._pending.flush()
        codes, last = np.unique(self._new_codes.whole()[::-1], return_index=True)
        values = self._new_values.whole()[::-1][last]
        left, right = decode_pair(codes)
        texts = np.unique(np.concatenate([left, right]))
        texts = texts[np.argsort(self._digests[texts, 0])]
        numbers = np.zeros(len(self._digests), np.int32)
        numbers[texts] = np.arange(len(texts))
        codes = _codes(np.stack([numbers[left], numbers[right]], axis=1))
        order = np.argsort(codes)
        half = Path(f"{self._path}.half")
        half.unlink(missing_ok=True)
        make_private(half, self._journal)
        with half.open("wb") as file:
            np.savez(
                file,
                settings=np.frombuffer(self._settings.encode(), np.uint8),
                digests=self._digests[texts],
                codes=codes[order],
                values=values[order],
            )
        rename_durably(str(half), str(self._path))


class RememberingVerifier(Verifier):
    """A verifier that measures only the pairs that an earlier run has not.

    `minimum`: the similarity below which values may be 0 in either run; others are not remembered.
    """

    def __init__(
        self,
        store: TextReader,
        collection: Collection,
        measure: str,
        remembered: RememberedPairs,
        minimum: float,
    ) -> None:
        super().__init__(store, collection, measure)
        self._remembered, self._threshold = remembered, minimum
        self._changed: set[int] = set()

    def measure_pairs(self, pairs: Sequence[tuple[int, int]], minimum: float = 0.0) -> list[float]:
        """Return the measure of each pair, as `Verifier.measure_pairs` does."""
        if minimum != self._threshold:
            return super().measure_pairs(pairs, minimum)
        allowed = [self.allows(*pair) for pair in pairs]
        if not all(allowed):  # for other reasons than their texts, which are all that is kept
            measured = iter(self.measure_pairs(list(compress(pairs, allowed)), minimum))
            return [next(measured) if is_allowed else 0.0 for is_allowed in allowed]
        values = self._remembered.values(pairs)
        is_new = ~(values > UNDECIDED)
        if is_new.any():
            values[is_new] = super().measure_pairs(list(compress(pairs, is_new.tolist())), minimum)
        result: list[float] = values.tolist()
        self._remember(pairs, result)
        return result

    def measure_nearest(
        self, text: int, others: Sequence[int], minimum: float = 0.0
    ) -> list[float]:
        """Return the measure of one text with others, as `Verifier.measure_nearest` does."""
        values = super().measure_nearest(text, others, minimum)
        if minimum == self._threshold and self._decides_nearest:  # else `measure_pairs` has done it
            self._remember([(text, other) for other in others], values)
        return values

    def _measure_allowed(
        self, pairs: Sequence[tuple[int, int]], minimum: float
    ) -> tuple[list[float], list[bool]]:
        if minimum != self._threshold:
            return super()._measure_allowed(pairs, minimum)
        known = self._remembered.values(pairs)
        known[[not self.allows(*pair) for pair in pairs]] = np.nan
        is_open = known <= UNDECIDED
        values = np.where(is_open, UNDECIDED - known, known)
        is_new = np.isnan(values)
        if is_new.any():
            others = list(compress(pairs, is_new.tolist()))
            values[is_new], is_open[is_new] = super()._measure_allowed(others, minimum)
        return values.tolist(), is_open.tolist()

    def _remember(self, pairs: Sequence[tuple[int, int]], values: Sequence[float]) -> None:
        """Remember pairs that the rules allow, of texts that have not changed."""
        lasting = [self._changed.isdisjoint(pair) and self.allows(*pair) for pair in pairs]
        self._remembered.add(compress(pairs, lasting), list(compress(values, lasting)))

    def read_ahead(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Read the texts of pairs that probably have to be measured.

        A text that an earlier run found similar to one before it will join that, and is compared
        with none that come later.
        """
        values = self._remembered.values(pairs)
        joining = {
            text for (text, _), value in zip(pairs, values, strict=True) if value >= self._threshold
        }
        is_new = np.isnan(values).tolist()
        super().read_ahead([pair for pair in compress(pairs, is_new) if pair[1] not in joining])

    def save_pairs(self) -> None:
        """Keep the pairs for the next run, which measures all again where this cannot be done."""
        with suppress(OSError):
            self._remembered.save()

    def _read_contents(self, texts: Sequence[int]) -> list[str]:
        contents = super()._read_contents(texts)
        for text, content in zip(texts, contents, strict=True):
            if not self._remembered.is_text(text, content):
                self._changed.add(text)
        return contents


def _codes(pairs: NDArray[Any]) -> Codes:
    """Return one code for each pair, whichever of its texts comes first."""
    return encode_pair(pairs.min(axis=1), pairs.max(axis=1))


def _positions(known: Digests, digests: Digests) -> NDArray[np.int64]:
    """Return the position of each digest among known ones, sorted by their first half; else -1.

    Of known ones with the same first half only the first is found: the others count as unknown.
    """
    if not len(known):
        return np.full(len(digests), -1)
    positions = np.minimum(np.searchsorted(known[:, 0], digests[:, 0]), len(known) - 1)
    return np.where((known[positions] == digests).all(axis=1), positions, -1)


def _read(path: Path, settings: str) -> tuple[Digests, Codes, Values]:
    """Return what a file has of these settings; nothing of any other file or of a damaged one."""
    try:
        with path.open("rb") as whole, np.load(whole, allow_pickle=False) as file:
            if file["settings"].tobytes() == settings.encode():
                digests, codes, values = (file[name] for name in ("digests", "codes", "values"))
                if digests.shape[1:] == (2,) and codes.shape == values.shape == (len(codes),):
                    return digests, codes, values
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        pass
    return np.zeros((0, 2), np.uint64), np.zeros(0, np.uint64), np.zeros(0)
