"""Tables of bit blocks: keys that find all sketches within a Hamming distance.

Manku, Jain & Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007, section 3.1.1. Cut
the bits into parts; flipping k bits changes at most k parts, so at least parts - k are equal. There
is a table for each choice of that many parts; its key is their bits. The bits not chosen may be cut
and chosen from again, which makes keys longer: a design is a list of such levels. For 64 bits and k
= 3, one part of 4 and then one of 4 make 16 tables with keys of 16 + 12 = 28 bits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from indexer.errors import UsageError

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
    fewest = _fewest_bits(bits, stages)
    if fewest is None:
        raise UsageError(f"{bits} bits are too few to be cut as {list(levels)} says")
    tables = math.prod(math.comb(level.parts, level.chosen) for level in stages)
    return Design(bits, stages, tables, fewest)


def designs(bits: int, distance: int, max_tables: int = MAX_TABLES) -> list[Design]:
    """Return designs that miss nothing within `distance`, by number of tables.

    Each has longer keys than those before it.
    Designs of one and two levels are tried; ties go to fewer levels, then fewer parts. Empty when
    even the fewest tables, distance + 1, are too many.

    >>> [(design.tables, design.key_bits) for design in designs(64, 3, 20)]
    [(4, 16), (10, 25), (16, 28), (20, 31)]
    """
    choices = [Level(chosen + distance, chosen) for chosen in range(1, _MAX_PARTS - distance + 1)]
    one_level = itertools.product(choices, repeat=1)
    two_levels = itertools.product(choices, repeat=2)
    every = []
    for levels in itertools.chain(one_level, two_levels):
        tables = math.prod(math.comb(level.parts, level.chosen) for level in levels)
        key_bits = _fewest_bits(bits, levels) if tables <= max_tables else None
        if key_bits is not None:
            every.append(Design(bits, levels, tables, key_bits))
    every.sort(key=lambda design: (design.tables, -design.key_bits, len(design.levels)))
    best: list[Design] = []
    for design in every:
        if not best or design.key_bits > best[-1].key_bits:
            best.append(design)
    return best


def design_for(bits: int, distance: int, most: int | None = None) -> Design:
    """Return the design with the longest keys of at most `most` tables that misses nothing.

    Without `most` it is 16 tables of 28 bits for 3 of 64 bits, 28 of 16 for 6; of more bits one
    table more than the distance. Raises `UsageError` for a distance above `farthest`, and where so
    few tables do not do.

    >>> design_for(256, 32).key_bits
    7
    >>> [(design_for(64, d).tables, design_for(64, d).key_bits) for d in (1, 3, 6)]
    [(16, 60), (16, 28), (28, 16)]
    """
    check_distance(bits, distance)
    if bits > 64 and most is None:
        return choose_design(bits, [(max(distance, 1) + 1, 1)])
    usual = next(most_tables for farthest, most_tables in _TABLES if distance <= farthest)
    known = designs(bits, max(distance, 1), most or usual)
    if not known:
        raise UsageError(
            f"{most} tables are too few for a distance of {distance}; give {distance + 1} or more"
        )
    return known[-1]


def check_distance(bits: int, distance: int, remedy: str = "give a higher threshold") -> None:
    """Raise `UsageError` for a distance above `farthest`; the message ends by the remedy."""
    most_apart = farthest(bits)
    if not 0 <= distance <= most_apart:
        least = 1 - most_apart / bits
        raise UsageError(
            f"sketches of {bits} bits find pairs within {most_apart} different bits, "
            f"a threshold of {least:.3f}, not within {distance}; {remedy}"
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
    return tuple(_mask_of(places) for places in choices)


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


def farthest(bits: int) -> int:
    """Return the most different bits within which pairs are found: 8 of 64, an eighth of more.

    >>> farthest(64), farthest(256), farthest(1024)
    (8, 32, 128)
    """
    return max(FARTHEST, bits // 8)


def _mask_of(places: list[int]) -> int:
    return sum(1 << place for place in places)


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


def _choices(places: list[int], levels: Sequence[Level]) -> Iterator[list[int]]:
    """Yield each choice of places that the levels allow, from places in descending order."""
    if not levels:
        yield []
        return
    parts = _parts(places, levels[0].parts)
    for chosen in itertools.combinations(range(len(parts)), levels[0].chosen):
        others = [number for number in range(len(parts)) if number not in chosen]
        key = [place for number in chosen for place in parts[number]]
        rest = [place for number in others for place in parts[number]]
        for more in _choices(rest, levels[1:]):
            yield key + more


def _parts(places: list[int], count: int) -> list[list[int]]:
    """Cut into consecutive parts whose lengths differ by at most one, the longer ones first."""
    short, longer = divmod(len(places), count)
    edges = [part * short + min(part, longer) for part in range(count + 1)]
    return [places[start:end] for start, end in itertools.pairwise(edges)]


def _fewest_bits(bits: int, levels: Sequence[Level]) -> int | None:
    """Return the length of the shortest key; None when there are more parts than bits."""
    if not levels:
        return 0
    level = levels[0]
    if bits < level.parts:
        return None
    short, longer = divmod(bits, level.parts)
    fewest_long = max(0, level.chosen - (level.parts - longer))
    most_long = min(level.chosen, longer)
    lengths = []
    for long_parts in range(fewest_long, most_long + 1):
        chosen = short * level.chosen + long_parts
        rest = _fewest_bits(bits - chosen, levels[1:])
        if rest is None:
            return None
        lengths.append(chosen + rest)
    return min(lengths)


DOC_CLOSE = choose_design(64, [(4, 1), (4, 1)])
