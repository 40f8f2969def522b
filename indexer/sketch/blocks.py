"""Tables of bit blocks: keys by which all sketches within a Hamming distance are found, for any
distance and number of tables.

Manku, Jain & Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007, section 3.1.1. Cut
the bits into parts; flipping k bits touches at most k parts, so at least parts - k are equal. There
is a table for each way to choose so many parts; its key are their bits. The bits not chosen may be
cut and chosen from again, which makes keys longer: a design is a list of such levels. For 64 bits
and k = 3, one part of 4 and then one of 4 make 16 tables with keys of 16 + 12 = 28 bits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.errors import UsageError

MAX_TABLES = 256
_MAX_PARTS = 32


@dataclass(frozen=True, slots=True)
class Level:
    """Cut into `parts` nearly equal parts and choose `chosen` of them."""

    parts: int
    chosen: int


@dataclass(frozen=True, slots=True)
class Design:
    """Tables for sketches of `bits` bits: none within `distance` is missed; keys have at least
    `key_bits` bits.
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
        """Rows that a look-up meets among so many unrelated sketches with random bits, counted once
        per table; an upper bound.

        >>> round(DOC_CLOSE.expected_candidates(10**6), 3)
        0.06
        """
        return self.tables * documents / (1 << self.key_bits)


def choose_design(bits: int, levels: Sequence[tuple[int, int]]) -> Design:
    """The design with these (parts, chosen) levels. Raises `UsageError` when it is none.

    >>> DOC_CLOSE == choose_design(64, [(4, 1), (4, 1)]), DOC_CLOSE.tables, DOC_CLOSE.key_bits, DOC_CLOSE.distance
    (True, 16, 28, 3)
    """
    stages = tuple(Level(parts, chosen) for parts, chosen in levels)
    if not stages or not all(1 <= level.chosen < level.parts for level in stages):
        raise UsageError(
            f"each level chooses at least one part and leaves at least one, unlike {list(levels)}"
        )
    fewest = _fewest_bits(bits, stages)
    if fewest is None:
        raise UsageError(f"{bits} bits are too few to be cut as {list(levels)} says")
    tables = math.prod(math.comb(level.parts, level.chosen) for level in stages)
    return Design(bits, stages, tables, fewest)


def designs(bits: int, distance: int, max_tables: int = MAX_TABLES) -> list[Design]:
    """Designs that miss nothing within `distance`, by number of tables; each has longer keys than
    those before it.

    Designs of one and two levels are tried; ties go to fewer levels, then fewer parts. Empty when
    even the fewest tables, distance + 1, are too many.

    >>> [(design.tables, design.key_bits) for design in designs(64, 3, 20)]
    [(4, 16), (10, 25), (16, 28), (20, 31)]
    """
    choices = [Level(chosen + distance, chosen) for chosen in range(1, _MAX_PARTS - distance + 1)]
    found = []
    for levels in itertools.chain(
        itertools.product(choices, repeat=1), itertools.product(choices, repeat=2)
    ):
        tables = math.prod(math.comb(level.parts, level.chosen) for level in levels)
        key_bits = _fewest_bits(bits, levels) if tables <= max_tables else None
        if key_bits is not None:
            found.append(Design(bits, levels, tables, key_bits))
    found.sort(key=lambda design: (design.tables, -design.key_bits, len(design.levels)))
    lengths = list(itertools.accumulate((design.key_bits for design in found), max, initial=0))
    return [
        design for design, longest in zip(found, lengths, strict=False) if design.key_bits > longest
    ]


def tables(design: Design) -> tuple[int, ...]:
    """The mask of each table, in order: the bits of a sketch that make its key. Parts are cut from
    the most significant bit on.

    >>> [f"{mask:04x}" for mask in tables(choose_design(16, [(4, 1)]))]
    ['f000', '0f00', '00f0', '000f']
    """
    return tuple(
        sum(1 << place for place in places)
        for places in _chosen(list(range(design.bits))[::-1], design.levels)
    )


def table_keys(sketch: int, masks: Sequence[int]) -> tuple[str, ...]:
    """The key of a sketch in each table: the table's number in two (past 256 tables more)
    hexadecimal digits, then the bits.

    >>> table_keys(0x1234, tables(choose_design(16, [(4, 1)])))
    ('001', '012', '023', '034')
    """
    digits = max(2, len(f"{len(masks) - 1:x}"))
    return tuple(
        f"{number:0{digits}x}{_gathered(sketch, mask):0{-(-mask.bit_count() // 4)}x}"
        for number, mask in enumerate(masks)
    )


def _gathered(sketch: int, mask: int) -> int:
    """The bits of `sketch` under `mask`, moved together."""
    value = shift = 0
    while mask:
        start = (mask & -mask).bit_length() - 1
        run = ((mask >> start) + 1 & ~(mask >> start)).bit_length() - 1
        value |= (sketch >> start & (1 << run) - 1) << shift
        mask &= ~(((1 << run) - 1) << start)
        shift += run
    return value


def _chosen(places: list[int], levels: Sequence[Level]) -> Iterator[list[int]]:
    """Each choice of places that the levels allow, from places in descending order."""
    if not levels:
        yield []
        return
    parts = _parts(places, levels[0].parts)
    for picked in itertools.combinations(range(len(parts)), levels[0].chosen):
        taken = [place for part in picked for place in parts[part]]
        rest = [
            place for part, places in enumerate(parts) if part not in picked for place in places
        ]
        for more in _chosen(rest, levels[1:]):
            yield taken + more


def _parts(places: list[int], count: int) -> list[list[int]]:
    """Cut into consecutive parts whose lengths differ by one at the most, the longer ones first."""
    short, longer = divmod(len(places), count)
    edges = [part * short + min(part, longer) for part in range(count + 1)]
    return [places[start:end] for start, end in itertools.pairwise(edges)]


def _fewest_bits(bits: int, levels: Sequence[Level]) -> int | None:
    """The length of the shortest key; None when there are more parts than bits."""
    if not levels:
        return 0
    level = levels[0]
    if bits < level.parts:
        return None
    short, longer = divmod(bits, level.parts)
    fewest = []
    for long_ones in range(
        max(0, level.chosen - (level.parts - longer)), min(level.chosen, longer) + 1
    ):
        taken = short * level.chosen + long_ones
        rest = _fewest_bits(bits - taken, levels[1:])
        if rest is None:
            return None
        fewest.append(taken + rest)
    return min(fewest)


DOC_CLOSE = choose_design(64, [(4, 1), (4, 1)])
DOC_LOOSE = choose_design(64, [(8, 2)])
