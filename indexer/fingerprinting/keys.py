"""Keys by which an inverted index finds near duplicates, made of slots, bits or passages."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UsageError
from indexer.fingerprinting.hashing import distinct_hashes, distinct_values, mix64_array
from indexer.fingerprinting.normalise import (
    DIGIT,
    WORDLESS,
    categories,
    codepoint_classes,
    normalised_codes,
)
from indexer.model import COLUMNS_PATTERN, DIGITS, NO_FILES, Fingerprint, Row

# The byte layout of stored sketches, big-endian.


def pack_slots(slots: NDArray[Any]) -> bytes:
    """Return slots as big-endian unsigned numbers of their own size, 4 bytes or 1.

    >>> pack_slots(np.array([1, 258], dtype=np.uint32)).hex()
    '0000000100000102'
    """
    return slots.astype(slots.dtype.newbyteorder(">")).tobytes()


def unpack_slots(packed: bytes, slot_bytes: int = 4) -> NDArray[Any]:
    """Return the slots that `pack_slots` packed: uint32, or uint8 with one byte a slot.

    >>> unpack_slots(bytes.fromhex("0000000100000102")).tolist()
    [1, 258]
    >>> unpack_slots(bytes.fromhex("0102"), 1).tolist()
    [1, 2]
    """
    native = np.dtype(f"u{slot_bytes}")
    return np.frombuffer(packed, dtype=native.newbyteorder(">")).astype(native)


def signed64(bits: int) -> int:
    """Return the signed number with the same 64 bits, as engines' `long` and SQLite store it.

    >>> signed64(2**64 - 1)
    -1
    """
    return bits - (1 << 64) if bits >= 1 << 63 else bits


def unsigned64(number: int) -> int:
    """Return the unsigned number with the same 64 bits, the inverse of `signed64`.

    >>> unsigned64(-1) == 2**64 - 1
    True
    """
    return number % (1 << 64)


# The sketches of a fingerprint as rows keep them.


def stored_sketch(fingerprint: Fingerprint) -> bytes | None:
    """Return the slots, rare-term vector or long bits of a fingerprint, packed; else None."""
    sketch = fingerprint.minhash if fingerprint.vector is None else fingerprint.vector
    return None if sketch is None else pack_slots(sketch)


def stored_bits(fingerprint: Fingerprint) -> int | None:
    """Return the bits of a fingerprint, if there are 64 of them at most."""
    return fingerprint.simhash if fingerprint.vector is None else None


def bits_of_row(row: Row) -> int | None:
    """Return the bits of a row of a recipe of bits alone; None if it has none."""
    return row.simhash if row.minhash is None else int.from_bytes(row.minhash, "big")


LONGEST_KEY = 12  # base-32 digits of a short key
_BASE_32 = np.array(list("0123456789abcdefghijklmnopqrstuv"))


def band_hashes(minhash: NDArray[Any], bands: int, rows: int) -> NDArray[np.uint64]:
    """Hash each band of `rows` consecutive slots: (n, slots) -> (n, bands) uint64.

    h = 0, then h = mix64(h xor slot) for each slot of the band in order. Slots beyond bands * rows
    are not used.
    """
    used = minhash[:, : bands * rows].reshape(len(minhash), bands, rows).astype(np.uint64)
    hashed = np.zeros(used.shape[:2], dtype=np.uint64)
    for position in range(rows):
        hashed = mix64_array(hashed ^ used[:, :, position])
    return hashed


def band_keys(
    minhash: NDArray[Any], bands: int, rows: int, digits: int | None = None
) -> list[tuple[str, ...]]:
    """Return the band keys of each row of (n, slots) slots.

    A key is two hexadecimal digits of the band and 16 of its hash. With `digits` it is short: the
    lowest `digits` base-32 digits (0 to 9, a to v) of mix64(hash xor band), at most 12.
    """
    if digits is None:
        return [_long_keys(row) for row in band_hashes(minhash, bands, rows).tolist()]
    keys = short_keys(minhash, bands, rows, digits)
    shifts = np.arange(5 * (digits - 1), -1, -5, dtype=np.uint64)
    positions = (keys[:, :, None] >> shifts & np.uint64(31)).astype(np.intp)
    formatted = _BASE_32[positions].view(f"U{digits}").reshape(keys.shape)
    return [tuple(row) for row in formatted.tolist()]


def short_keys(minhash: NDArray[Any], bands: int, rows: int, digits: int) -> NDArray[np.uint64]:
    """Return the short keys of each row of (n, slots) slots as numbers: (n, bands) uint64."""
    hashes = band_hashes(minhash, bands, rows) ^ np.arange(bands, dtype=np.uint64)
    mask = np.uint64((1 << 5 * digits) - 1)
    keys: NDArray[np.uint64] = mix64_array(hashes) & mask
    return keys


def _long_keys(hashes: list[int]) -> tuple[str, ...]:
    return tuple(f"{band:02x}{value:016x}" for band, value in enumerate(hashes))


def long_key_width(bands: int) -> int:
    """Return how many characters the longest key of so many bands has."""
    return len(_long_keys([0] * max(1, bands))[-1])


def block_keys(bits: int, width: int, blocks: int) -> tuple[str, ...]:
    """Return the keys of `blocks` equal parts of a `width`-bit sketch, most significant first.

    Two sketches that differ in fewer bits than there are blocks share at least one (Manku, Jain &
    Das Sarma, WWW 2007). Each key is two hexadecimal digits of the block and then its value.

    >>> block_keys(0x0123456789ABCDEF, width=64, blocks=4)
    ('000123', '014567', '0289ab', '03cdef')
    """
    template, shifts, mask = _block_format(width, blocks)
    return tuple((template % tuple([bits >> shift & mask for shift in shifts])).split())


@lru_cache(maxsize=64)
def _block_format(width: int, blocks: int) -> tuple[str, list[int], int]:
    """Return the keys of such blocks as one format of their values, and how these are read."""
    part = width // blocks
    digits = -(-part // 4)
    template = " ".join(f"{position:02x}%0{digits}x" for position in range(blocks))
    shifts = [width - part * (position + 1) for position in range(blocks)]
    return template, shifts, (1 << part) - 1


# Distances between bit sketches.


def hamming(left: int, right: int) -> int:
    """Return the number of bits in which two sketches differ.

    >>> hamming(0b1010, 0b0011)
    2
    """
    return (left ^ right).bit_count()


def bit_similarity(left: int, right: int, bits: int) -> float:
    """Return 1 - d / bits for the Hamming distance d, in [0, 1].

    >>> bit_similarity(0b1010, 0b0011, bits=64)
    0.96875
    """
    return 1.0 - hamming(left, right) / bits


def allowed_distance(similarity: float, bits: int = 64) -> int:
    """Return the greatest Hamming distance d with 1 - d / bits >= similarity.

    >>> allowed_distance(0.90), allowed_distance(0.98)
    (6, 1)
    """
    return int((1.0 - similarity) * bits + 1e-9)


# Tables of bit blocks: keys that find all sketches within a Hamming distance.

MAX_TABLES = 256  # of a design
_MAX_PARTS = 32  # that the bits are cut into
DISTANCE = 3  # different bits of near duplicates by default, of 64
FARTHEST = 8  # different bits beyond which keys would be too short to find pairs by
_TABLES = ((3, 16), (6, 28), (FARTHEST, 45))  # up to a distance, tables at most


@dataclass(frozen=True, slots=True)
class Level:
    """Cut into `parts` nearly equal parts and choose `chosen` of them."""

    parts: int
    chosen: int


@dataclass(frozen=True, slots=True)
class Design:
    """Tables for sketches of `bits` bits.

    No sketch within `distance` is missed; keys have at least `key_bits` bits.
    """

    bits: int
    levels: tuple[Level, ...]
    tables: int
    key_bits: int

    @property
    def distance(self) -> int:
        """The greatest Hamming distance at which no pair is missed."""
        return min(level.parts - level.chosen for level in self.levels)

    def expected_candidates(self, documents: int) -> float:
        """Return an upper bound of the candidates among so many unrelated, random sketches.

        Each row counts once per table.

        >>> round(DOC_CLOSE.expected_candidates(10**6), 3)
        0.06
        """
        return self.tables * documents / (1 << self.key_bits)


def choose_design(bits: int, levels: Sequence[tuple[int, int]]) -> Design:
    """Return the design with these (parts, chosen) levels. Raises `UsageError` if there is none.

    >>> design = choose_design(64, [(4, 1), (4, 1)])
    >>> design == DOC_CLOSE, design.tables, design.key_bits, design.distance
    (True, 16, 28, 3)
    """
    stages = tuple(Level(parts, chosen) for parts, chosen in levels)
    if not stages or not all(1 <= level.chosen < level.parts for level in stages):
        raise UsageError(
            f"each level chooses at least one part and leaves at least one, unlike {list(levels)}"
        )
    minimum = _min_bits(bits, stages)
    if minimum is None:
        raise UsageError(f"{bits} bits are too few to be cut as {list(levels)} says")
    tables = math.prod(math.comb(level.parts, level.chosen) for level in stages)
    return Design(bits, stages, tables, minimum)


def designs(bits: int, distance: int, max_tables: int = MAX_TABLES) -> list[Design]:
    """Return designs that miss nothing within `distance`, by number of tables.

    Each has longer keys than those before it.
    Designs of one and two levels are tried; ties go to fewer levels, then fewer parts. Empty when
    even the minimum of distance + 1 tables is too many.

    >>> [(design.tables, design.key_bits) for design in designs(64, 3, 20)]
    [(4, 16), (10, 25), (16, 28), (20, 31)]
    """
    choices = [Level(chosen + distance, chosen) for chosen in range(1, _MAX_PARTS - distance + 1)]
    one_level = itertools.product(choices, repeat=1)
    two_levels = itertools.product(choices, repeat=2)
    every = []
    for levels in itertools.chain(one_level, two_levels):
        tables = math.prod(math.comb(level.parts, level.chosen) for level in levels)
        key_bits = _min_bits(bits, levels) if tables <= max_tables else None
        if key_bits is not None:
            every.append(Design(bits, levels, tables, key_bits))
    every.sort(key=lambda design: (design.tables, -design.key_bits, len(design.levels)))
    best: list[Design] = []
    for design in every:
        if not best or design.key_bits > best[-1].key_bits:
            best.append(design)
    return best


def design_for(bits: int, distance: int, limit: int | None = None) -> Design:
    """Return the design with the longest keys of at most `limit` tables that misses nothing.

    Without `limit` it is 16 tables of 28 bits for 3 of 64 bits, 28 of 16 for 6; of more bits one
    table more than the distance. Raises `UsageError` for a distance above `farthest`, and where so
    few tables do not do.

    >>> design_for(256, 32).key_bits
    7
    >>> [(design_for(64, d).tables, design_for(64, d).key_bits) for d in (1, 3, 6)]
    [(16, 60), (16, 28), (28, 16)]
    """
    check_distance(bits, distance)
    if bits > 64 and limit is None:
        return choose_design(bits, [(max(distance, 1) + 1, 1)])
    usual = next(max_tables for farthest, max_tables in _TABLES if distance <= farthest)
    known = designs(bits, max(distance, 1), limit or usual)
    if not known:
        raise UsageError(
            f"{limit} tables are too few for a distance of {distance}; give {distance + 1} or more"
        )
    return known[-1]


def check_distance(bits: int, distance: int, remedy: str = "give a higher threshold") -> None:
    """Raise `UsageError` for a distance above `farthest`; the message ends by the remedy."""
    max_apart = farthest(bits)
    if not 0 <= distance <= max_apart:
        minimum = 1 - max_apart / bits
        raise UsageError(
            f"sketches of {bits} bits find pairs within {max_apart} different bits, "
            f"a threshold of {minimum:.3f}, not within {distance}; {remedy}"
        )


def parse_design(bits: int, levels: str) -> Design:
    """Return a design as recipes write it, such as `4/1,4/1`.

    >>> parse_design(64, "8/2").distance
    6
    """
    pairs = [level.split("/") for level in levels.split(",")]
    return choose_design(bits, [(int(parts), int(chosen)) for parts, chosen in pairs])


def tables(design: Design) -> tuple[int, ...]:
    """Return the mask of each table: the bits of a sketch that make its key.

    Parts are cut from the most significant bit on.

    >>> [f"{mask:04x}" for mask in tables(choose_design(16, [(4, 1)]))]
    ['f000', '0f00', '00f0', '000f']
    """
    choices = _choices(list(range(design.bits))[::-1], design.levels)
    return tuple(_mask_of(positions) for positions in choices)


def table_keys(sketch: int, masks: Sequence[int]) -> tuple[str, ...]:
    """Return the key of a sketch in each table.

    A key is the table's number in two hexadecimal digits (more beyond 256 tables), then the bits.

    >>> table_keys(0x1234, tables(choose_design(16, [(4, 1)])))
    ('001', '012', '023', '034')
    """
    digits = max(2, len(f"{len(masks) - 1:x}"))
    return tuple(
        f"{number:0{digits}x}{_extract_bits(sketch, mask):0{-(-mask.bit_count() // 4)}x}"
        for number, mask in enumerate(masks)
    )


def hashed_table_keys(sketch: int, masks: Sequence[int]) -> tuple[str, ...]:
    """Return the keys of a sketch of many bits: tables as above, then 32 bits of a hash.

    The first 8 hexadecimal digits of the SHA-256 of the masked sketch, most significant octet
    first.

    >>> hashed_table_keys(1 << 100, tables(choose_design(256, [(9, 1)])))[:2]
    ('0066687aad', '0166687aad')
    """
    octets = -(-max(masks).bit_length() // 8)
    return tuple(
        f"{number:02x}{sha256((sketch & mask).to_bytes(octets, 'big')).hexdigest()[:8]}"
        for number, mask in enumerate(masks)
    )


def bit_words(octets: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return sketches of (n, bytes) as (n, words), the first bits first.

    >>> bit_words(np.array([[1, 0, 0, 0, 0, 0, 0, 0, 255]], np.uint8)).tolist()
    [[1, 255]]
    """
    missing = -octets.shape[1] % 8
    padded = np.ascontiguousarray(np.pad(octets, ((0, 0), (missing, 0))))
    words: NDArray[np.uint64] = padded.view(">u8").astype(np.uint64)
    return words


def block_hashes(sketches: NDArray[np.uint64], mask: int) -> NDArray[np.uint64]:
    """Return 32 bits of a hash of each (n, words) sketch under the mask of a table: (n,).

    Two keys that share them by chance are distinguished by their distance.
    """
    hashed = np.zeros(len(sketches), dtype=np.uint64)
    for position in range(sketches.shape[1]):
        word = mask >> 64 * (sketches.shape[1] - 1 - position) & (1 << 64) - 1
        hashed = mix64_array(hashed ^ sketches[:, position] & np.uint64(word))
    halves: NDArray[np.uint64] = hashed >> np.uint64(32)
    return halves


_HALFWORDS = np.arange(1 << 16, dtype=np.uint16).view(np.uint8).reshape(-1, 2)


_ONES = np.unpackbits(_HALFWORDS, axis=1).sum(axis=1, dtype=np.uint8)


def count_ones(maps: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return how many bits are set in each row; NumPy before 2.0 uses a table.

    >>> count_ones(np.array([[1, 3, 0, 65535]], dtype=np.uint64)).tolist()
    [19]
    """
    has_popcount = hasattr(np, "bitwise_count")
    counts = np.bitwise_count(maps) if has_popcount else _ONES[maps.view(np.uint16)]
    total: NDArray[np.int64] = counts.sum(axis=1, dtype=np.int64)
    return total


def farthest(bits: int) -> int:
    """Return the most different bits within which pairs are found: an eighth.

    >>> farthest(32), farthest(64), farthest(1024)
    (4, 8, 128)
    """
    return bits // 8


def _mask_of(positions: list[int]) -> int:
    return sum(1 << position for position in positions)


def _extract_bits(sketch: int, mask: int) -> int:
    """Return the bits of `sketch` selected by `mask`, without the gaps between them."""
    value = shift = 0
    while mask:
        start = (mask & -mask).bit_length() - 1
        run = ((mask >> start) + 1 & ~(mask >> start)).bit_length() - 1
        value |= (sketch >> start & (1 << run) - 1) << shift
        mask &= ~(((1 << run) - 1) << start)
        shift += run
    return value


def _choices(positions: list[int], levels: Sequence[Level]) -> Iterator[list[int]]:
    """Yield each choice of positions that the levels allow, from positions in descending order."""
    if not levels:
        yield []
        return
    parts = _parts(positions, levels[0].parts)
    for chosen in itertools.combinations(range(len(parts)), levels[0].chosen):
        others = [number for number in range(len(parts)) if number not in chosen]
        key = [position for number in chosen for position in parts[number]]
        rest = [position for number in others for position in parts[number]]
        for more in _choices(rest, levels[1:]):
            yield key + more


def _parts(positions: list[int], count: int) -> list[list[int]]:
    """Cut into consecutive parts whose lengths differ by at most one, the longer ones first."""
    short, longer = divmod(len(positions), count)
    edges = [part * short + min(part, longer) for part in range(count + 1)]
    return [positions[start:end] for start, end in itertools.pairwise(edges)]


def _min_bits(bits: int, levels: Sequence[Level]) -> int | None:
    """Return the length of the shortest key; None when there are more parts than bits."""
    if not levels:
        return 0
    level = levels[0]
    if bits < level.parts:
        return None
    short, longer = divmod(bits, level.parts)
    min_long = max(0, level.chosen - (level.parts - longer))
    max_long = min(level.chosen, longer)
    lengths = []
    for long_parts in range(min_long, max_long + 1):
        chosen = short * level.chosen + long_parts
        rest = _min_bits(bits - chosen, levels[1:])
        if rest is None:
            return None
        lengths.append(chosen + rest)
    return min(lengths)


DOC_CLOSE = choose_design(64, [(4, 1), (4, 1)])


# Winnowing: a subset of a text's n-gram hashes that has at least one of every window.


def winnow(hashes: NDArray[np.uint64], window: int) -> NDArray[np.int64]:
    """Return the positions of the selected hashes, ascending, (k,) int64.

    Fewer hashes than the window has positions are one window; without hashes nothing is selected.
    Raises `UsageError` for a window below 1.

    >>> values = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98]
    >>> hashes = np.array(values, np.uint64)
    >>> hashes[winnow(hashes, 4)].tolist()
    [17, 17, 8, 39, 17]
    """
    if window < 1:
        raise UsageError(f"a window has at least one position, not {window}")
    if len(hashes) == 0:
        return np.empty(0, dtype=np.int64)
    windows = np.lib.stride_tricks.sliding_window_view(hashes, min(window, len(hashes)))
    width = windows.shape[1]
    rightmost = width - 1 - np.argmin(windows[:, ::-1], axis=1)
    return distinct_values(rightmost + np.arange(len(windows)))


def guarantee(window: int, width: int) -> int:
    """Return the length in characters from which a shared passage always shares a hash.

    For n-grams of `width` characters.

    >>> guarantee(4, 5)
    8
    """
    return window + width - 1


# Keys of passages, by which texts that share a long run of letters and digits are found.

RUN = 24  # letters and digits of a run
WINDOW = 25  # neighbouring runs of which one gives a key
GUARANTEED_LENGTH = RUN + WINDOW - 1
_BASE = 0x9E3779B97F4A7C15
_TABLE_BITS = 20
_TABLE = np.uint64((1 << _TABLE_BITS) - 1)


def run_hashes(codes: NDArray[np.uint32] | NDArray[np.uint64], width: int) -> NDArray[np.uint64]:
    """Return the hashes of all runs of `width` code points, in order.

    (max(0, n - width + 1),) uint64. The code points, or other numbers, are the digits of a number
    to the base 2**64 / golden ratio, modulo 2**64, which is then mixed.

    >>> hashes = run_hashes(np.array([1, 2, 3, 1, 2, 3, 4], dtype=np.uint32), 3)
    >>> len(hashes), len(set(hashes.tolist())), bool(hashes[0] == hashes[3])
    (5, 4, True)
    """
    if len(codes) < width:
        return np.empty(0, dtype=np.uint64)
    powers = np.multiply.accumulate(np.full(width, _BASE, dtype=np.uint64))
    doubled, length = codes.astype(np.uint64) + np.uint64(1), 1
    hashes, covered = np.zeros(len(codes) - width + 1, dtype=np.uint64), 0
    while length <= width:
        if width & length:
            part = doubled[covered : covered + len(hashes)]
            hashes = hashes * powers[length - 1] + part
            covered += length
        if 2 * length <= width:
            doubled = doubled[:-length] * powers[length - 1] + doubled[length:]
        length *= 2
    return mix64_array(hashes)


def passage_runs(text: str) -> NDArray[np.uint64]:
    """Return the hashes of all runs of `RUN` letters, marks and digits of a text, in order.

    The text is normalised by `default_v1`. Punctuation and symbols do not count, so that a
    quotation with a sign before each line is still one passage. Empty when the text is shorter than
    a run.

    >>> len(passage_runs("> To be, or not to be:\\n> that is the question."))
    7
    """
    return run_hashes(alphanumerics(normalised_codes(text)), RUN)


def passage_keys(runs: NDArray[np.uint64], window: int = WINDOW) -> NDArray[np.uint64]:
    """Return the distinct keys of a text from its runs, ascending; about one per 13 letters.

    >>> quoted = "a stretch of text that is long enough to be found again\\n> wherever it stands"
    >>> left = set(passage_keys(passage_runs(f"I wrote: {quoted}.")).tolist())
    >>> right = set(passage_keys(passage_runs(f"> {quoted}")).tolist())
    >>> bool(left & right)
    True
    """
    return distinct_hashes(runs[winnow(runs, window)])


def contained_fraction(runs: NDArray[np.uint64], other: NDArray[np.uint64]) -> float:
    """Return the fraction of a text's letters and digits in runs that another text has too.

    From the runs of both; 0 for a text without runs.

    >>> text = "the quick brown fox jumps over the lazy dog"
    >>> runs = passage_runs(f"{text} and so on, and so on")
    >>> round(contained_fraction(runs, passage_runs(f"we say: {text}")), 3)
    0.714
    """
    if not len(runs):
        return 0.0
    starts = np.flatnonzero(np.isin(runs, other))
    size = len(runs) + RUN - 1
    turns = np.bincount(starts, minlength=size + 1) - np.bincount(starts + RUN, minlength=size + 1)
    return int(np.count_nonzero(np.cumsum(turns)[:size])) / size


class RunIndex:
    """The runs of one text, to be compared with the runs of many others."""

    def __init__(self, runs: NDArray[np.uint64]) -> None:
        self._characters = len(runs) + RUN - 1
        self._order = np.argsort(runs, kind="stable")
        self._sorted = runs[self._order]
        self._may_have = np.zeros(1 << _TABLE_BITS, dtype=np.bool_)
        self._may_have[runs & _TABLE] = True

    def contained_fractions(self, other: NDArray[np.uint64]) -> tuple[float, float]:
        """Return `contained_fraction` of this text in another, and of the other in this one.

        A table by some bits of a run rules out most runs that only the other text has.

        >>> a = passage_runs("we say: the quick brown fox jumps over the lazy dog")
        >>> b = passage_runs("the quick brown fox jumps over the lazy dog")
        >>> [round(value, 3) for value in RunIndex(a).contained_fractions(b)]
        [0.875, 1.0]
        """
        positions = np.flatnonzero(self._may_have[other & _TABLE])
        runs = other[positions]
        first = np.searchsorted(self._sorted, runs)
        last = np.searchsorted(self._sorted, runs, side="right")
        positions = positions[first < last]
        if not len(positions):
            return 0.0, 0.0
        is_shared = np.zeros(len(self._sorted) + 1, dtype=np.int64)
        is_shared[first[first < last]] = 1
        is_shared[last[first < last]] -= 1
        own = np.sort(self._order[np.cumsum(is_shared[:-1]) > 0])
        return _covered(own) / self._characters, _covered(positions) / (len(other) + RUN - 1)


def _covered(starts: NDArray[np.int64]) -> int:
    """Return how many letters and digits lie in runs that start at these positions, ascending."""
    return int(np.minimum(np.diff(starts), RUN).sum()) + RUN


def alphanumerics(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the code points that are neither punctuation nor symbols."""
    is_letter = codepoint_classes()[codes] & WORDLESS == 0
    is_digit = categories()[codes] & DIGIT != 0
    selected: NDArray[np.uint32] = codes[is_letter | is_digit]
    return selected


# What a document holds besides its text, of which copies have the same.


class EmbeddedDigests(NamedTuple):
    """The digests of the files in a document and of the columns of its tables, empty for none."""

    files: str
    columns: str

    @classmethod
    def of(cls, packed: str) -> EmbeddedDigests:
        """Return the digests of what `pack_embedded` packed.

        >>> from indexer.model import EmbeddedFile, pack_embedded
        >>> EmbeddedDigests.of(pack_embedded([EmbeddedFile("columns", "empty cells", "0f")]))
        EmbeddedDigests(files='', columns='0f')
        """
        columns = re.search(COLUMNS_PATTERN, packed) if '["columns"' in packed else None
        files = packed[:DIGITS]
        return cls("" if files == NO_FILES else files, columns[1] if columns else "")

    def allow(self, other: EmbeddedDigests) -> bool:
        """Return whether documents of one text may be copies: they have the same files, and the
        same columns where both have some; a format without cells shows none.
        """
        has_both = self.columns and other.columns
        return self.files == other.files and (not has_both or self.columns == other.columns)
