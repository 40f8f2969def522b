"""Compare two texts: every measure, the passages they share, and both texts in aligned rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

from indexer.comparing.alignment import Matching, passages
from indexer.comparing.criteria import is_rearranged
from indexer.comparing.differences import (
    FrequencyLookup,
    Rarity,
    differences,
    ignored,
    measure_new_words,
)
from indexer.comparing.measures import (
    MEASURES,
    MeasureValues,
    Side,
    check_measure,
    measure_all,
    signed_side,
)
from indexer.defaults import SHINGLE_WORDS
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.model import Difference, Fingerprint, NewWords, Passage, Sameness
from indexer.recipe import DEFAULT, Recipe

IN_ORDER = 0.8  # share of words in order below which texts with the same passages are rearranged
_OPENING = re.compile(r"[\[({<¿¡\"'«‹“‘„‚「『（【〈《]+\Z")
_CLOSING = re.compile(r"[^\w\s]+")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts, their similarity by every measure, and their shared passages in order of the first
    text.

    `names` are display names of the texts (paths); `words` their numbers of words; `differences`
    the facts that differ; `same`: what texts that are equal
    after normalisation have in common, None for others; `new_words`: those that only one has.
    """

    names: tuple[str, str]
    texts: tuple[str, str]
    words: tuple[int, int]
    recipe: Recipe
    matching: Matching
    measures: MeasureValues
    shared: tuple[Passage, ...]
    differences: tuple[Difference, ...]
    new_words: NewWords
    same: Sameness | None = None

    @property
    def rearranged(self) -> bool:
        """Return whether nearly all passages are shared, in another order."""
        return is_rearranged(self.measures.overlap, self.measures.lcs, IN_ORDER)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one text. `passage`: the number from 1 of the shared passage it is, None for
    text not shared.

    `moved`: the passage stands in another order in the other text.
    """

    start: int
    end: int
    passage: int | None = None
    moved: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Aligned stretches of both texts: one passage in the same order in both, or the text between
    two such passages.

    Either side may be empty in a row between passages.
    """

    left: tuple[Span, ...]
    right: tuple[Span, ...]

    @property
    def same(self) -> bool:
        """Return whether both sides are the same passage."""
        return (
            len(self.left) == len(self.right) == 1
            and self.left[0].passage == self.right[0].passage is not None
        )


def compare(
    a: str,
    b: str,
    recipe: Recipe = DEFAULT,
    *,
    matching: Matching = "literal",
    names: tuple[str, str] = ("A", "B"),
    frequencies: FrequencyLookup | None = None,
    shingle_width: int = SHINGLE_WORDS,
) -> Comparison:
    """Compare two texts by every measure, `resemblance` by shingles of `shingle_width` words.

    They are compared whole, also by a recipe that leaves approved passages out of texts.

    `frequencies` counts the documents of a store that have each word, as
    `store.vocabulary.frequencies` does; without it no new word is called rare.

    >>> compared = compare("Did you steal the money?", "> Did you steal the money? Yes.")
    >>> round(compared.measures.jaccard_words, 2), compared.shared
    (0.83, (Passage(a=(0, 23), b=(2, 25), words=5),))
    """
    recipe = replace(recipe, left_out=None)
    prints = fingerprint(a, recipe), fingerprint(b, recipe)
    sides = _side(a, prints[0], recipe), _side(b, prints[1], recipe)
    scores = measure_all(*sides, matching, shingle_width)
    words = sides[0].words, sides[1].words
    return Comparison(
        names,
        (a, b),
        (len(words[0]), len(words[1])),
        recipe,
        matching,
        scores,
        passages(scores.alignment, *words),
        differences(sides[0].facts, sides[1].facts),
        measure_new_words([sides], Rarity(frequencies) if frequencies else None)[0],
        _sameness(a, b) if prints[0].exact == prints[1].exact and prints[0].chars else None,
    )


def _sameness(a: str, b: str) -> Sameness:
    return Sameness("text") if a == b else Sameness("words", ignored(a, b))


def _side(text: str, signed: Fingerprint, recipe: Recipe) -> Side:
    return signed_side(text, recipe, signed)


def as_json(comparison: Comparison, measure: str | None = None) -> dict[str, Any]:
    """Return the JSON of `compare --json`: all measures, or one by name, and the shared passages
    with character offsets [start, end), the counts of words in order, the facts that differ and
    the new words.

    With all of them come `containment_words`, C / words both ways, and `hamming_interval`.
    `estimate`, `hamming` and its interval are null when a text has no such sketch. Raises
    `UnknownMeasure`.
    """
    scores = comparison.measures
    values: dict[str, Any] = {name: getattr(scores, name) for name in MEASURES}
    values |= {name: list(getattr(scores, name)) for name in ("containment", "containment_words")}
    values["estimate"] = scores.estimate and asdict(scores.estimate)
    values["hamming_interval"] = scores.hamming_interval and list(scores.hamming_interval)
    if measure is not None:
        check_measure(measure)
        values = {measure: values[measure]}
    shared = [
        {"a": list(passage.a), "b": list(passage.b), "words": passage.words}
        for passage in comparison.shared
    ]
    return {
        "measures": values,
        "in_order": asdict(scores.in_order),
        "same": comparison.same and asdict(comparison.same),
        "rearranged": comparison.rearranged,
        "differences": [asdict(difference) for difference in comparison.differences],
        "new_words": asdict(comparison.new_words),
        "shared": shared,
    }


def rows(comparison: Comparison) -> list[Row]:
    """Return both texts in rows, in reading order, without wordless text between passages.

    The passages with a row of their own are the set with the most words that has the same order in
    both texts; the others are `moved` and appear where they stand in each text. Each word of a text
    appears once.
    """
    fixed = _fixed_passages(comparison.shared)
    left, right = (
        list(_spans(text, side, comparison.shared, fixed))
        for side, text in zip("ab", comparison.texts, strict=True)
    )
    fixed &= {span.passage for span in left} & {span.passage for span in right}
    result = []
    for left_spans, right_spans in zip(_cut(left, fixed), _cut(right, fixed), strict=True):
        if left_spans or right_spans:
            result.append(Row(left_spans, right_spans))
    return result


def _spans(
    text: str, side: str, shared: Sequence[Passage], fixed: set[int | None]
) -> Iterator[Span]:
    """Yield a text as spans in order: shared passages with adjacent punctuation, and the words
    between them.
    """
    end, places = (
        0,
        sorted((*getattr(passage, side), number) for number, passage in enumerate(shared, 1)),
    )
    pending: Span | None = None
    for begin, stop, number in [*places, (len(text), len(text), 0)]:
        start = max(begin, end)
        gap = text[end:start]
        closing = _CLOSING.match(gap) if pending else None
        opening = _OPENING.search(gap) if number and _WORD.search(gap) else None
        first = end + (closing.end() if closing else 0)
        last = max(first, start - (len(opening.group()) if opening else 0))
        if pending:
            yield Span(pending.start, first, pending.passage, pending.moved)
        if _WORD.search(text, first, last):
            yield Span(first, last)
        pending = Span(last, stop, number, number not in fixed) if number and stop > start else None
        end = max(stop, start)


def _cut(spans: Sequence[Span], fixed: set[int | None]) -> list[tuple[Span, ...]]:
    """Return the spans of one text, cut around the fixed passages: between, fixed, between, fixed,
    ..., between.
    """
    places = [
        place
        for place, span in enumerate(spans)
        if span.passage in fixed and span.passage is not None
    ]
    cuts = [0, *(edge for place in places for edge in (place, place + 1)), len(spans)]
    return [tuple(spans[start:stop]) for start, stop in pairwise(cuts)]


def _fixed_passages(shared: Sequence[Passage]) -> set[int | None]:
    """Return the numbers of the passages, sorted by a, that form the sequence with the most words
    in order of b as well.
    """
    ranked = sorted(range(len(shared)), key=lambda place: shared[place].b)
    rank = {place: nth for nth, place in enumerate(ranked, 1)}
    # A Fenwick tree of (words so far, last passage) by rank in b.
    best: list[tuple[int, int]] = [(0, -1)] * (len(shared) + 1)
    before: list[int] = []
    for place, passage in enumerate(shared):
        words, last = max(_prefixes(best, rank[place] - 1), default=(0, -1))
        before.append(last)
        nth = rank[place]
        while nth < len(best):
            best[nth] = max(best[nth], (words + passage.words, place))
            nth += nth & -nth
    fixed: set[int | None] = set()
    _, place = max(_prefixes(best, len(shared)), default=(0, -1))
    while place >= 0:
        fixed.add(place + 1)
        place = before[place]
    return fixed


def _prefixes(tree: Sequence[tuple[int, int]], nth: int) -> Iterator[tuple[int, int]]:
    """Yield the entries of a Fenwick tree that cover its first `nth` places."""
    while nth:
        yield tree[nth]
        nth -= nth & -nth
