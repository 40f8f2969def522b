"""A small map of a comparison: how much differs along the texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.comparing.blocks_view import Block, Part
from indexer.comparing.compare import Span

SEGMENTS = 24


@dataclass(slots=True)
class MapSegment:
    """An equal share of the length of both texts side by side.

    `differing`: the share of its characters that stand in differences. `first` and `last`: the
    numbers of the differences that begin in it, None without one; `block` is the place of the block
    in which the first of them begins. `moved`: it has a passage that stands in another order in the
    other text.
    """

    differing: float = 0.0
    first: int | None = None
    last: int | None = None
    block: int = 0
    moved: bool = False


def difference_map(blocks: Sequence[Block]) -> Sequence[MapSegment]:
    """Return the map of blocks in reading order, in at most `SEGMENTS` segments.

    No more than there are parts; empty without any characters.
    """
    parts = [(place, part) for place, block in enumerate(blocks) for part in block.parts]
    sizes = [_size(part) for _, part in parts]
    count = min(SEGMENTS, len(parts))
    if not sum(sizes):
        return []
    width = sum(sizes) / count
    segments = [MapSegment() for _ in range(count)]
    start = 0
    for (place, part), size in zip(parts, sizes, strict=True):
        last_character = start + max(0, size - 1)
        first = min(count - 1, int(start / width))
        last = min(count - 1, int(last_character / width))
        if part.difference is not None:
            _begin(segments[first], part.difference, place)
        moved = any(span.moved for span in (*part.left, *part.right))
        for number in range(first, last + 1):
            segments[number].moved |= moved
            if part.kind != "same":
                overlap = min(start + size, (number + 1) * width) - max(start, number * width)
                share = segments[number].differing + max(0.0, overlap / width)
                segments[number].differing = min(1.0, share)
        start += size
    return segments


def _begin(segment: MapSegment, number: int, block: int) -> None:
    if segment.first is None:
        segment.first, segment.block = number, block
    segment.last = number


def _size(part: Part) -> int:
    """Return the length of the longer side of a part, in characters."""
    left, right = (sum(_lengths(side)) for side in (part.left, part.right))
    return max(left, right)


def _lengths(spans: Sequence[Span]) -> Iterator[int]:
    return (span.end - span.start for span in spans)
