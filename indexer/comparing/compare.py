"""Compare two texts: every measure, shared passages, aligned rows, and a redline."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby, pairwise
from typing import Any, Literal, TypeAlias

from indexer.comparing.measures import (
    MEASURES,
    MeasureValues,
    align,
    fingerprinted_text,
    measure_all,
    passages,
)
from indexer.comparing.reasons import (
    FrequencyLookup,
    Rarity,
    differences,
    have_same_symbols,
    ignored,
    is_rearranged,
    measure_new_words,
)
from indexer.comparing.words import Words, normal_words
from indexer.defaults import SHINGLE_WORDS
from indexer.errors import UnknownMeasure
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.model import Difference, Fingerprint, Matching, NewWords, Passage, Sameness
from indexer.recipe import DEFAULT, Recipe
from indexer.wording import unify_line_ends

IN_ORDER = 0.8  # fraction of words in order below which texts with the same passages are rearranged
_OPENING = re.compile(r"[\[({<¿¡\"'«‹“‘„‚「『（【〈《]+\Z")
_CLOSING, _WORD = re.compile(r"[^\w\s]+"), re.compile(r"\w")
_SEPARATE = re.compile(r"\s.?\Z|\d[.,:]\d\Z")  # two texts that need no blank between them


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

    Either text may be empty in a row between passages.
    """

    left: tuple[Span, ...]
    right: tuple[Span, ...]

    @property
    def same(self) -> bool:
        """Return whether both texts have the same passage here."""
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
    variants: Sequence[str] = (),
) -> Comparison:
    """Compare two texts by every measure, `resemblance` by shingles of `shingle_width` words, and
    by variants such as `overlap:8`.

    They are compared whole, also by a recipe that leaves approved passages out of texts.

    `frequencies` counts the documents of a store that have each word, as
    `store.vocabulary.frequencies` does; without it no new word is called rare.

    >>> compared = compare("Did you steal the money?", "> Did you steal the money? Yes.")
    >>> round(compared.measures.jaccard_words, 2), compared.shared
    (0.83, (Passage(a=(0, 23), b=(2, 25), words=5),))
    """
    recipe = replace(recipe, left_out=None)
    prints = fingerprint(a, recipe), fingerprint(b, recipe)
    texts = fingerprinted_text(a, recipe, prints[0]), fingerprinted_text(b, recipe, prints[1])
    scores = measure_all(*texts, matching, shingle_width, variants)
    words = texts[0].words, texts[1].words
    return Comparison(
        names,
        (a, b),
        (len(words[0]), len(words[1])),
        recipe,
        matching,
        scores,
        passages(scores.alignment, *words),
        differences(texts[0].facts, texts[1].facts),
        measure_new_words([texts], Rarity(frequencies) if frequencies else None)[0],
        _sameness(a, b) if _are_copies(a, b, *prints) else None,
    )


def _are_copies(a: str, b: str, left: Fingerprint, right: Fingerprint) -> bool:
    return left.chars > 0 and left.exact == right.exact and have_same_symbols(a, b)


def _sameness(a: str, b: str) -> Sameness:
    return Sameness("text") if a == b else Sameness("words", ignored(a, b))


def as_json(comparison: Comparison, measure: str | None = None) -> dict[str, Any]:
    """Return the JSON of `compare --json`: all measures, or one by name, and the shared passages
    with character offsets [start, end), the counts of words in order, the facts that differ and
    the new words.

    With all of them come `containment_words`, C / words both ways, and `hamming_interval`.
    `estimate`, `hamming` and its interval are null when a text has no such sketch. Raises
    `UnknownMeasure`.
    """
    scores = comparison.measures
    values: dict[str, Any] = {name: scores.value(name) for name in (*MEASURES, *scores.others)}
    values |= {name: list(getattr(scores, name)) for name in ("containment", "containment_words")}
    values["estimate"] = scores.estimate and asdict(scores.estimate)
    values["hamming_interval"] = scores.hamming_interval and list(scores.hamming_interval)
    if measure is not None:
        if measure not in (*MEASURES, *scores.others):
            raise UnknownMeasure(name=measure, known=tuple(MEASURES))
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
    return _rows(comparison.texts, comparison.shared)


def _rows(texts: tuple[str, str], shared: Sequence[Passage]) -> list[Row]:
    fixed = _fixed_passages(shared)
    left, right = (
        list(_spans(text, name, shared, fixed)) for name, text in zip("ab", texts, strict=True)
    )
    fixed &= {span.passage for span in left} & {span.passage for span in right}
    result = []
    for left_spans, right_spans in zip(_cut(left, fixed), _cut(right, fixed), strict=True):
        if left_spans or right_spans:
            result.append(Row(left_spans, right_spans))
    return result


def _spans(
    text: str, name: str, shared: Sequence[Passage], fixed: set[int | None]
) -> Iterator[Span]:
    """Yield a text as spans in order: shared passages with adjacent punctuation, and the words
    between them.
    """
    positions = sorted(
        (*getattr(passage, name), number) for number, passage in enumerate(shared, 1)
    )
    end, pending = 0, None
    for begin, stop, number in [*positions, (len(text), len(text), 0)]:
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
    own = fixed - {None}
    positions = [index for index, span in enumerate(spans) if span.passage in own]
    cuts = [0, *(edge for position in positions for edge in (position, position + 1)), len(spans)]
    return [tuple(spans[start:stop]) for start, stop in pairwise(cuts)]


def _fixed_passages(shared: Sequence[Passage]) -> set[int | None]:
    """Return the numbers of the passages, sorted by a, that form the sequence with the most words
    in order of b as well.
    """
    ranked = sorted(range(len(shared)), key=lambda position: shared[position].b)
    rank = {position: nth for nth, position in enumerate(ranked, 1)}
    # A Fenwick tree of (words so far, last passage) by rank in b.
    best: list[tuple[int, int]] = [(0, -1)] * (len(shared) + 1)
    before: list[int] = []
    for index, passage in enumerate(shared):
        words, last = max(_prefixes(best, rank[index] - 1), default=(0, -1))
        before.append(last)
        nth = rank[index]
        while nth < len(best):
            best[nth] = max(best[nth], (words + passage.words, index))
            nth += nth & -nth
    fixed: set[int | None] = set()
    _, index = max(_prefixes(best, len(shared)), default=(0, -1))
    while index >= 0:
        fixed.add(index + 1)
        index = before[index]
    return fixed


def _prefixes(tree: Sequence[tuple[int, int]], nth: int) -> Iterator[tuple[int, int]]:
    """Yield the entries of a Fenwick tree that cover its first `nth` positions."""
    while nth:
        yield tree[nth]
        nth -= nth & -nth


# Differences between two short word sequences, and between two words.

MAX_EDITS = 100  # insertions and deletions that are looked for


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch [a, a_end) of one sequence instead of [b, b_end) of the other.

    Either may be empty.
    """

    a: int
    a_end: int
    b: int
    b_end: int


def edits(a: Sequence[str], b: Sequence[str], limit: int = MAX_EDITS) -> list[Edit]:
    """Return the shortest edits from a to b, in order; between two edits both are equal.

    With more than `limit` single insertions and deletions everything between the common beginning
    and the common end is one edit. Time: O((N + M) * most).

    >>> edits("did you steal money".split(), "did they steal money then".split())
    [Edit(a=1, a_end=2, b=1, b_end=2), Edit(a=4, a_end=4, b=4, b_end=5)]
    """
    first, last = _ends(a, b)
    inner_a, inner_b = a[first : len(a) - last], b[first : len(b) - last]
    if not inner_a and not inner_b:
        return []
    path = _path(inner_a, inner_b, limit) if inner_a and inner_b else None
    if path is None:
        return [Edit(first, len(a) - last, first, len(b) - last)]
    return list(_stretches(path, len(inner_a), len(inner_b), first))


def _ends(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """Count the equal items at the beginning and, of the rest, at the end."""
    limit = min(len(a), len(b))
    first = next((position for position in range(limit) if a[position] != b[position]), limit)
    limit -= first
    last = next(
        (position for position in range(limit) if a[-1 - position] != b[-1 - position]), limit
    )
    return first, last


def _path(a: Sequence[str], b: Sequence[str], limit: int) -> list[tuple[int, int]] | None:
    """Return the positions that are equal in both on the shortest path, ascending.

    None when it has more than `limit` steps.
    """
    furthest: dict[int, int] = {1: 0}
    trail: list[dict[int, int]] = []
    for steps in range(min(limit, len(a) + len(b)) + 1):
        trail.append(dict(furthest))
        for diagonal in range(-steps, steps + 1, 2):
            x = _start(furthest, diagonal, steps)
            y = x - diagonal
            while 0 <= y < len(b) and x < len(a) and a[x] == b[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(a) and y >= len(b):
                return list(_walk_back(trail, len(a), len(b)))[::-1]
    return None


def _start(furthest: dict[int, int], diagonal: int, steps: int) -> int:
    """Return the beginning of a diagonal after one more step.

    The step leads down from the diagonal above, or right from the one below.
    """
    if _is_down(furthest, diagonal, steps):
        return furthest[diagonal + 1]
    return furthest[diagonal - 1] + 1


def _is_down(furthest: dict[int, int], diagonal: int, steps: int) -> bool:
    """Return whether the step to a diagonal leads down."""
    if diagonal in (-steps, steps):
        return diagonal == -steps
    return furthest[diagonal - 1] < furthest[diagonal + 1]


def _walk_back(trail: Sequence[dict[int, int]], x: int, y: int) -> Iterator[tuple[int, int]]:
    """Yield the equal positions from the end to the beginning."""
    for steps in range(len(trail) - 1, -1, -1):
        diagonal = x - y
        begin = _start(trail[steps], diagonal, steps)
        while x > begin and y > begin - diagonal:
            x, y = x - 1, y - 1
            yield x, y
        if steps:
            x, y = (x, y - 1) if _is_down(trail[steps], diagonal, steps) else (x - 1, y)


def _stretches(
    path: Sequence[tuple[int, int]], size_a: int, size_b: int, offset: int
) -> Iterator[Edit]:
    """Yield the stretches between the equal positions."""
    a = b = 0
    for x, y in [*path, (size_a, size_b)]:
        if x > a or y > b:
            yield Edit(a + offset, x + offset, b + offset, y + offset)
        a, b = x + 1, y + 1


Change: TypeAlias = Literal["same", "removed", "added"]
_Piece: TypeAlias = tuple[Change, int, int]  # words [start, end) of a change
_Moves: TypeAlias = dict[Change, list[tuple[int, int, int]]]
_CURRENCY = (
    "$¢-¥\u058f\u060b\u09f2\u09f3\u09fb\u0af1\u0bf9\u0e3f\u17db\u20a0-\u20cf\ua838\ufdfc\ufe69"
    "\uff04\uffe0\uffe1\uffe5\uffe6"
)
_BEFORE = re.compile(rf"(?:[{_CURRENCY}][^\S\n]?|[-+−–‐‑﹣－±<>≤≥=≈#§])+\Z")
_AFTER = re.compile(rf"[^\S\n]?[%‰]|[^\S\n]?[{_CURRENCY}](?!\s?\d)|[°+#]+")
_EDGE = 3  # words at the end of equal ones, whose signs depend on what follows
_MAX_SYMBOLS = 8  # characters before a number that are looked at
_VARIANTS = str.maketrans("−–—‐‑﹣－’", "-------'")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive words with the same change, the text between and after them, and their number.

    Unchanged words are written as in the later text, whose spelling, case and punctuation may
    differ; but a word with another sign of value (currency, per cent, minus, what parts the digits
    of a number) is changed. `moved`: the number of the passage that is removed here and added
    elsewhere, 0 for other text.
    """

    change: Change
    text: str
    words: int
    moved: int = 0


def redline(before: str, after: str) -> Iterator[Stretch]:
    """Yield the changes from a text to another one; moved text is removed in one position and added
    in another. The texts are only aligned: nothing else is measured.

    `same` and `added` stretches hold the second text, whole and in order.

    >>> stretches = redline("we may sell ten ships today", "We may sell two ships today.")
    >>> [(stretch.change, stretch.text) for stretch in stretches]
    [('same', 'We may sell '), ('removed', 'ten '), ('added', 'two '), ('same', 'ships today.')]
    >>> [(stretch.change, stretch.text) for stretch in redline("for $400 now", "for €400 now")]
    [('same', 'for '), ('removed', '$400 '), ('added', '€400 '), ('same', 'now')]
    """
    a, b = _WordText(before), _WordText(after)
    shared = passages(align(a.words, b.words), a.words, b.words)
    for change, position, end in _changes(shared, a, b):
        text = a if change == "removed" else b
        yield Stretch(change, text.between(position, end), end - position)


def redline_in_lines(comparison: Comparison, line_ends: int = 1) -> Iterator[Stretch]:
    """Yield the redline for a page: blanks and line ends that both texts have are in neither
    change, no two words are joined, and passages that moved as a whole are stretches of their own.

    So many `line_ends` part paragraphs; where one text alone has them, they are a change.

    >>> from indexer.comparing.compare import compare
    >>> ferry, rent = "The harbour ferry leaves at eight.", "The rent is due on the first of May."
    >>> compared = compare(f"{rent} {ferry}", f"{ferry} {rent}")
    >>> [(one.change, one.moved) for one in redline_in_lines(compared) if one.text.strip()]
    [('added', 2), ('same', 0), ('removed', 2)]
    """
    a, b = (_WordText(text) for text in comparison.texts)
    parted = _with_own_breaks(_with_moves(comparison, a, b), a, b, line_ends)
    yield from _keep_apart(_keep_blanks(parted))


def _with_moves(comparison: Comparison, a: _WordText, b: _WordText) -> Iterator[Stretch]:
    """Yield the changes, cut around the passages that are removed in one position and added in
    another one, each as a whole.
    """
    changes = list(_changes(comparison.shared, a, b))
    moves = _moves(comparison, a, b, changes)
    for change, position, end in _from_line_starts(changes, a, b, moves):
        text = a if change == "removed" else b
        own = moves.get(change, [])
        at = position
        for start, stop, passage in own[bisect_left(own, (at,)) : bisect_left(own, (end,))]:
            if at < start:
                yield Stretch(change, text.between(at, start), start - at)
            yield Stretch(change, text.between(start, stop), stop - start, passage)
            at = stop
        if at < end:
            yield Stretch(change, text.between(at, end), end - at)


def _from_line_starts(
    changes: list[_Piece], a: _WordText, b: _WordText, moves: _Moves
) -> list[_Piece]:
    """Return changes that begin with a line if the words before it begin their line as well."""
    found: list[_Piece] = [("same", 0, 0), *changes, ("same", 0, 0)]
    for position, (change, start, end) in enumerate(found):
        text, moved = a if change == "removed" else b, moves.get(change, [])
        has_moves = bisect_left(moved, (start,)) < bisect_left(moved, (end,))
        if change == "same" or has_moves or "\n" not in text.between(start, end):
            continue
        (before, first, stop), (after, _, last) = found[position - 1], found[position + 1]
        steps = text.steps_to_line(start, end, stop - first)
        if before == after == "same" and steps:
            edge = stop if change == "removed" else end
            found[position - 1 : position + 2] = (
                (before, first, stop - steps),
                (change, start - steps, end - steps),
                (after, edge - steps, last or edge),
            )
    return [piece for piece in found if piece[1] < piece[2]]


def _moves(comparison: Comparison, a: _WordText, b: _WordText, changes: Sequence[_Piece]) -> _Moves:
    """Return the passages that one change removes and another one adds as a whole: by change, the
    words [start, end) and the number of each, in order.
    """
    spans = [(row.left, row.right) for row in rows(comparison)]
    removed = dict(_whole((span for left, _right in spans for span in left), a, "removed", changes))
    added = dict(_whole((span for _left, right in spans for span in right), b, "added", changes))
    both = removed.keys() & added.keys()
    return {
        "removed": sorted((*removed[passage], passage) for passage in both),
        "added": sorted((*added[passage], passage) for passage in both),
    }


def _whole(
    spans: Iterable[Span], text: _WordText, change: Change, changes: Sequence[_Piece]
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the moved passages of a text that one change of this kind holds as a whole: the number
    and the words [start, end) of each.
    """
    pieces = [(position, end) for kind, position, end in changes if kind == change]
    for span in spans:
        if span.moved and span.passage:
            words = _words((span,), text.words)
            at = bisect_right(pieces, (words.start, len(text.text))) - 1
            if words and at >= 0 and words.stop <= pieces[at][1]:
                yield span.passage, (words.start, words.stop)


def _with_own_breaks(
    stretches: Iterable[Stretch], a: _WordText, b: _WordText, line_ends: int
) -> Iterator[Stretch]:
    """Yield stretches in which ends of paragraphs after kept words that one text alone has are
    changes: who rejects a sentence that was added to a paragraph neither joins nor parts any.

    >>> a, b = _WordText("One.\\n\\nTwo."), _WordText("One. New.\\n\\nTwo.")
    >>> made = _with_own_breaks(redline(a.text, b.text), a, b, 2)
    >>> [(stretch.change, stretch.text) for stretch in made]
    [('same', 'One.'), ('added', ' New.'), ('same', '\\n\\n'), ('same', 'Two.')]
    """
    kept, own = Stretch("same", "", 0), ""
    x = y = 0  # words of the texts before a stretch
    for is_same, group in groupby(stretches, key=lambda stretch: stretch.change == "same"):
        changed = list(group)
        if is_same:
            words = sum(one.words for one in changed)
            *others, (kept, own) = _paragraphs(a, b, (x, y), words, line_ends)
            for other, end in others:
                yield from _broken(other, end, [], line_ends)
            x, y = x + words, y + words
        else:
            yield from _broken(kept, own, changed, line_ends)
            x += sum(one.words for one in changed if one.change == "removed")
            y += sum(one.words for one in changed if one.change == "added")
            kept, own = Stretch("same", "", 0), ""
    if kept.words:
        yield kept


def _paragraphs(
    a: _WordText, b: _WordText, starts: tuple[int, int], words: int, line_ends: int
) -> Iterator[tuple[Stretch, str]]:
    """Yield kept words up to each end of a paragraph in one text alone, and the first's blanks."""
    (x, y), first = starts, 0
    both = a.between(x, x + words) + b.between(y, y + words)
    for number in range(1, words) if "\n" in unify_line_ends(both) else ():
        own, other = (
            _blanks(text.between(at + number - 1, at + number)) for text, at in ((a, x), (b, y))
        )
        if (own.count("\n") < line_ends) != (other.count("\n") < line_ends):
            yield Stretch("same", b.between(y + first, y + number), number - first), own
            first = number
    own = _blanks(a.between(x + words - 1, x + words))
    yield Stretch("same", b.between(y + first, y + words), words - first), own


def _broken(kept: Stretch, own: str, changed: list[Stretch], line_ends: int) -> Iterator[Stretch]:
    """Yield kept words, which have `own` blanks in the first text, and the changes after them."""
    blanks = _blanks(kept.text)
    is_equal = (own.count("\n") < line_ends) == (blanks.count("\n") < line_ends)
    if not kept.words or is_equal or len(changed) > 2 or any(one.moved for one in changed):
        yield from (kept, *changed) if kept.words else changed
        return
    yield replace(kept, text=kept.text.rstrip())
    texts = {"removed": own, "added": blanks}
    texts |= {one.change: texts[one.change] + one.text for one in changed}
    if len(changed) == 1:
        [only] = changed
        end, wanted = _blanks(only.text), blanks if only.change == "removed" else own
        if (end.count("\n") < line_ends) == (wanted.count("\n") < line_ends):
            yield replace(only, text=texts[only.change].rstrip())
            yield Stretch("same", end, 0)
            return
    words = {one.change: one.words for one in changed}
    changes: tuple[Change, Change] = ("removed", "added")
    yield from (Stretch(change, texts[change], words.get(change, 0)) for change in changes)


def _blanks(text: str) -> str:
    return unify_line_ends(text[len(text.rstrip()) :])


def _keep_blanks(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield stretches in which blanks after exchanged words are kept where both texts have them.

    A stretch has the blanks after its last word, which may end a paragraph.

    >>> stretches = Stretch("removed", "roof\\n\\n", 1), Stretch("added", "it\\n\\n", 1)
    >>> [(stretch.change, stretch.text) for stretch in _keep_blanks(stretches)]
    [('removed', 'roof'), ('added', 'it'), ('same', '\\n\\n')]
    """
    removed: Stretch | None = None
    for stretch in stretches:
        if removed and stretch.change == "added":
            blanks = _blanks(stretch.text)
            if _blanks(removed.text) == blanks:
                yield replace(removed, text=removed.text.rstrip())
                yield replace(stretch, text=stretch.text.rstrip())
                yield Stretch("same", blanks, 0)
                removed = None
                continue
        if removed:
            yield removed
        removed = stretch if stretch.change == "removed" else None
        if not removed:
            yield stretch
    if removed:
        yield removed


def _keep_apart(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield stretches with a deleted blank where words of the first text would be joined: text that
    is kept has the blanks of the second one, text that is removed its own; "100.00" has none.
    """
    last = " "
    for stretch in stretches:
        if stretch.change != "added" and stretch.text:
            if not _SEPARATE.search(last + stretch.text[0]):
                yield Stretch("removed", " ", 0)
            last = stretch.text[-2:] if stretch.change == "same" else " "
        yield stretch


class _WordText:
    """A text, its words, and where each begins with the signs of value before it."""

    def __init__(self, text: str) -> None:
        self.text, self.words = text, normal_words(text)
        self._starts: list[int] = self.words.starts.tolist()
        self._ends: list[int] = self.words.ends.tolist()

    def between(self, position: int, end: int) -> str:
        """Return the text of words [start, end) up to the next word; text before the first word of
        all belongs to that word.
        """
        first = self._start(position) if position else 0
        last = self._start(end) if end < len(self._starts) else len(self.text)
        return self.text[first:last]

    def steps_to_line(self, start: int, end: int, limit: int) -> int:
        """Count the words up to the start of a line before words [start, end) that are the last
        ones of these as well; 0 if others are between.
        """
        for steps in range(limit + 1):
            first, last = start - steps, end - steps - 1
            if not first or "\n" in self.text[self._ends[first - 1] : self._starts[first]]:
                return steps
            if self.words.numbers[first - 1] != self.words.numbers[last]:
                return 0
            if self.symbols(first - 1) != self.symbols(last):
                return 0
        return 0

    def written(self, positions: range) -> str:
        """Return the text from the first to the last of these words."""
        return self.text[self._starts[positions[0]] : self._ends[positions[-1]]]

    def symbols(self, position: int) -> tuple[str, str]:
        """Return the signs of value before and after a word, without blanks and variants."""
        start, end = self._starts[position], self._ends[position]
        before = self.text[self._start(position) : start]
        rest = self.text[end : end + 2]
        if not before and rest[:1] in " \n" and rest[1:].isalpha():
            return "", ""
        after = _AFTER.match(self.text, end)
        parting = rest[:1] if rest[1:].isdigit() and self.text[end - 1].isdigit() else ""
        texts = before, after.group() if after else parting
        plain_before, plain_after = ("".join(text.translate(_VARIANTS).split()) for text in texts)
        return plain_before, plain_after

    def _start(self, position: int) -> int:
        """Return where a word begins, a number with its signs."""
        start = self._starts[position]
        if not self.text[start].isdigit():
            return start
        end = self._ends[position - 1] if position else 0
        before = _BEFORE.search(self.text, max(end, start - _MAX_SYMBOLS), start)
        return before.start() if before else start


def _changes(shared: Sequence[Passage], a: _WordText, b: _WordText) -> Iterator[_Piece]:
    """Yield stretches of words as [start, end), of the first text where they are removed, else of
    the second.
    """
    pending: _Piece | None = None
    for change, position, end in _pieces(shared, a, b):
        if position == end:
            continue
        if pending and pending[0] == change and pending[2] == position:
            pending = change, pending[1], end
            continue
        if pending:
            yield pending
        pending = change, position, end
    if pending:
        yield pending


def _pieces(shared: Sequence[Passage], a: _WordText, b: _WordText) -> Iterator[_Piece]:
    folded_a, folded_b = a.words.folded, b.words.folded
    for row in _rows((a.text, b.text), shared):
        left, right = _words(row.left, a.words), _words(row.right, b.words)
        x, y = left.start, right.start
        if not row.same:
            for edit in edits(folded_a[left.start : left.stop], folded_b[right.start : right.stop]):
                ends = left.start + edit.a, right.start + edit.b
                yield from _same(a, b, range(x, ends[0]), range(y, ends[1]))
                x, y = left.start + edit.a_end, right.start + edit.b_end
                yield "removed", ends[0], x
                yield "added", ends[1], y
        yield from _same(a, b, range(x, left.stop), range(y, right.stop))


def _same(a: _WordText, b: _WordText, left: range, right: range) -> Iterator[_Piece]:
    """Yield equal words of both texts, and those whose signs of value differ as changed."""
    first = right.start
    if len(left) == len(right):
        pairs = list(zip(left, right, strict=True))
        if len(pairs) > _EDGE and a.written(left) == b.written(right):  # then inner signs are equal
            pairs = [*pairs[:1], *pairs[-_EDGE:]]
        for x, y in pairs:
            if a.symbols(x) != b.symbols(y):
                yield "same", first, y
                yield "removed", x, x + 1
                yield "added", y, y + 1
                first = y + 1
    yield "same", first, right.stop


def _words(spans: tuple[Span, ...], text_words: Words) -> range:
    """Return the positions of the words of adjacent spans."""
    if not spans:
        return range(0)
    starts = text_words.starts
    edges = (spans[0].start, spans[-1].end)
    return range(*(int(starts.searchsorted(edge)) for edge in edges))
