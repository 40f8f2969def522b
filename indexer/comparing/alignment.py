"""The words that two texts have in common, in order.

The measure `lcs` is the words of the longest common subsequence (LCS) / words of the longer text,
in [0, 1]. Words are as in `indexer.comparing.words`, so that it is 1 exactly where the normalised
texts are equal; in scripts written without spaces each code point is one. Where only one of the
texts has accents, a word in order that is the same without them counts `WITHOUT_ACCENTS`.

`lcs_length` computes it with the bit-parallel algorithm of Hyyrö ("Bit-parallel LCS-length
computation revisited", AWOCA 2004), as rapidfuzz implements it, on words as the characters of a
string. Words that only one text has cannot be in the LCS and are left out first; the number of the
others, each counted as often as both texts have it, bounds the LCS.

Beyond `EXACT_CELLS` pairs of words (texts of some 60,000 words) the LCS is taken along anchors, as
Hirschberg (CACM 1975) divides the table, but at runs of words that each text has once; see
`common_runs`. The result is then the length of one common subsequence, not always of the longest:
never above the exact value. On texts of 100,000 words it is short by less than .0003 where up to
30 % of the words are edited, a third is moved or a page is repeated, and by up to .1 where the same
words are shuffled, far below every threshold in use.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from operator import itemgetter
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.quantities import DENYING, NUMBERS, OF_ENDINGS, STATING, denials
from indexer.comparing.tiling import Tile
from indexer.comparing.words import (
    EXACT_CELLS,
    LANGUAGES_BY_WORD,
    Words,
    are_variants,
    as_string,
    find_symbols,
    is_lesser,
    lcs_of_strings,
    matching_blocks,
    number_runs,
    number_strings,
    runs_by_kernel,
    translate_numbers,
    words_by_language,
)
from indexer.fingerprinting.normalise import without_accents
from indexer.model import WordsInOrder

RUN_CELLS = 1 << 26  # pairs of words between two anchors: their table takes 8 MB
WIDTHS = (16, 6, 3)  # words of the runs that are anchors, the surest first

Numbers = NDArray[np.int64]


def lcs(a: Words, b: Words, minimum: float = 0.0) -> float:
    """Return the words of the LCS / words of the longer text; 0 when neither has any.

    May be 0 for a pair below `minimum`, which is found out sooner.

    >>> from indexer.comparing.words import words
    >>> lcs(words("to be or not to be"), words("not to be or to be"))
    0.8333333333333334
    """
    needed = math.ceil(minimum * max(len(a), len(b)) - 1e-9)
    return words_in_order(a, b, needed).similarity


def words_in_order(a: Words, b: Words, minimum: int = 0, length: int | None = None) -> WordsInOrder:
    """Return the words of the LCS, and those that are in the LCS of the words without accents, too,
    if only one of the texts has accents; none where they are fewer than `minimum` together.

    `length` is that of the LCS, if it is known.

    >>> from indexer.comparing.words import words
    >>> words_in_order(words("die Fähre nach Århus"), words("die Fahre nach Arhus"))
    WordsInOrder(common=2, words=(4, 4), accents=2)
    """
    lengths = len(a), len(b)
    if a.has_accents == b.has_accents:
        return WordsInOrder(lcs_length(a, b, minimum) if length is None else length, lengths)
    without = lcs_length(a.plain, b.plain, minimum)
    common = min(lcs_length(a, b) if length is None else length, without) if without else 0
    return WordsInOrder(common, lengths, without - common)


MAX_GROWTH = 2  # times the words of a text that another may have to be one that it has grown to


def grown(a: Words, b: Words, minimum: float = 0.0, length: int | None = None) -> float:
    """Return the words of the LCS / words of the shorter text, or of 1 / `MAX_GROWTH` of the longer
    one where these are more; 0 when neither has any.

    1 for a text that is in a text up to twice as long, in order. May be 0 for a pair below
    `minimum`, which is found out sooner. `length` is that of the LCS, if it is known.

    >>> from indexer.comparing.words import words
    >>> grown(words("to be or not"), words("to be today or not"))
    1.0
    """
    shorter, longer = sorted((len(a), len(b)))
    whole = max(shorter, longer / MAX_GROWTH)
    needed = math.ceil(minimum * whole - 1e-9)
    length = lcs_length(a, b, needed) if length is None else length
    return min(1.0, length / whole) if whole else 0.0


def lcs_length(a: Words, b: Words, minimum: int = 0) -> int:
    """Return the number of words of the LCS; 0 when it is less than `minimum`.

    Exact up to `EXACT_CELLS` pairs of words, else as the module says.
    """
    if min(len(a), len(b)) < max(minimum, 1):
        return 0
    shared = _shared_words(a, b)
    if _max_in_common(shared) < max(minimum, 1):
        return 0
    left, right = shared.a.numbers, shared.b.numbers
    if len(left) * len(right) <= EXACT_CELLS:
        return lcs_of_strings(as_string(left), as_string(right), minimum)
    common = sum(run.words for run in common_runs(a, b))
    return common if common >= minimum else 0


def common_runs(a: Words, b: Words) -> list[Tile]:
    """Return an LCS of two texts as runs of consecutive words, in order of both.

    The same for either order of the texts. Exact up to `RUN_CELLS` pairs of words; in larger texts
    runs of 16, then 6, then 3 words that each has once are anchors, of which the longest chain in
    both orders is kept, and what is between is aligned, or cut into equal parts without an anchor.
    """
    if (runs := runs_by_kernel(a, b, RUN_CELLS)) is not None:
        return [Tile(*run) for run in runs]
    if is_lesser(b, a):
        return [Tile(run.b, run.a, run.words) for run in common_runs(b, a)]
    shared = _shared_words(a, b)
    pairs = np.array(list(_aligned(shared.a.numbers, shared.b.numbers)), dtype=np.int64)
    pairs = pairs.reshape(-1, 3)
    if not len(pairs):
        return []
    lengths = pairs[:, 2]
    offsets = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    left = shared.a.positions[np.repeat(pairs[:, 0], lengths) + offsets]
    right = shared.b.positions[np.repeat(pairs[:, 1], lengths) + offsets]
    return _runs(left, right)


class Stretch(NamedTuple):
    """Folded words of either text between two runs; one text may have none."""

    a: tuple[str, ...]
    b: tuple[str, ...]

    @property
    def differs_in_accents(self) -> bool:
        """True where the words are the same without accents."""
        if all(map(str.isascii, self.a)) and all(map(str.isascii, self.b)):
            return False
        return [*map(without_accents, self.a)] == [*map(without_accents, self.b)]


class Gap(NamedTuple):
    """Words [`a`, `end_a`) and [`b`, `end_b`) between two runs; one text may have none."""

    a: int
    end_a: int
    b: int
    end_b: int

    @property
    def words(self) -> tuple[int, int]:
        """The number of words of either text."""
        return self.end_a - self.a, self.end_b - self.b


def gaps(runs: Iterable[Tile], lengths: tuple[int, int]) -> Iterator[Gap]:
    """Yield the gaps between runs of words in order, none of them empty.

    `lengths`: the words of either text.

    >>> list(gaps([Tile(0, 0, 1), Tile(2, 2, 1)], (4, 3)))
    [Gap(a=1, end_a=2, b=1, end_b=2), Gap(a=3, end_a=4, b=3, end_b=3)]
    """
    a = b = 0
    for run in [*runs, Tile(*lengths, 0)]:
        if run.a > a or run.b > b:
            yield Gap(a, run.a, b, run.b)
        a, b = run.a + run.words, run.b + run.words


class AlignedWords:
    """The words of two texts, which are aligned once, on first use."""

    def __init__(self, a: Words, b: Words) -> None:
        self.a, self.b = a, b

    @cached_property
    def runs(self) -> list[Tile]:
        """The `common_runs`."""
        return common_runs(self.a, self.b)

    @cached_property
    def in_order(self) -> int:
        """The number of words in runs."""
        return sum(run.words for run in self.runs)

    @cached_property
    def length(self) -> int:
        """The length of the LCS: no less than the words in runs, which narrow the search."""
        return lcs_length(self.a, self.b, self.in_order)

    @property
    def may_have_two_languages(self) -> bool:
        """True if the texts have other words enough for `two_languages`."""
        return min(len(self.a), len(self.b)) - self.in_order >= MIN_TIMES

    @cached_property
    def gaps(self) -> list[Gap]:
        """The gaps between the runs, in order; none is empty."""
        return list(gaps(self.runs, (len(self.a), len(self.b))))

    @cached_property
    def stretches(self) -> list[Stretch]:
        """The folded words of each gap.

        >>> from indexer.comparing.words import words
        >>> AlignedWords(words("one two three four"), words("one too three")).stretches
        [Stretch(a=('two',), b=('too',)), Stretch(a=('four',), b=())]
        """
        a = self.a.folded_in((gap.a, gap.end_a) for gap in self.gaps)
        b = self.b.folded_in((gap.b, gap.end_b) for gap in self.gaps)
        return list(map(Stretch, a, b))

    @cached_property
    def moved(self) -> frozenset[str]:
        """The words that are in a gap of both texts, so in different ones.

        >>> from indexer.comparing.words import words
        >>> sorted(AlignedWords(words("paid 1 due 2"), words("due 2 paid 1")).moved)
        ['1', 'paid']
        """
        a = frozenset(chain.from_iterable(stretch.a for stretch in self.stretches))
        b = frozenset(chain.from_iterable(stretch.b for stretch in self.stretches))
        return a & b


class WordText(Protocol):
    """A text with its words; `indexer.comparing.measures.ComparedText` is one."""

    @property
    def text(self) -> str:
        """The text itself."""

    @property
    def words(self) -> Words:
        """The words of the normalised text."""

    @property
    def spelled(self) -> Words:
        """The words as they are written."""

    @property
    def unworded(self) -> list[tuple[int, int]]:
        """The spans of text that is no wording, as `sort_unworded` returns them."""


# Words that the other text replaces by the same words again and again.

MIN_FRACTION = 0.25  # of the positions where the words stand


class Replacement(NamedTuple):
    """Words of a, the words of b that replace them, and how often."""

    a: str
    b: str
    times: int


NONE = Replacement("", "", 0)


def max_replaced(a: WordText, b: WordText) -> Replacement:
    """Return the replacement that is made most often, ties to the first words in order.

    `NONE` where no words stand for others, as for texts without words. The other order of the
    texts gives the same number of times.

    >>> from indexer.comparing.measures import ComparedText
    >>> from indexer.recipe import DEFAULT
    >>> a = "List instances. All instances are shown: no instances, no list."
    >>> b = "List disks. All disks are shown: no disks, no list."
    >>> max_replaced(ComparedText(a, DEFAULT), ComparedText(b, DEFAULT))
    Replacement(a='instances', b='disks', times=3)
    """
    found = replacements(a, b)
    return min(found, key=lambda made: (-made.times, made), default=NONE)


def is_replaced(
    a: WordText, b: WordText, limit: float, aligned: AlignedWords | None = None
) -> bool:
    """Return whether the same words stand for the same other words more than `limit` times.

    `aligned`: their words, if these are aligned already.
    """
    return any(replacements(a, b, limit, aligned))


def may_be_replaced(pair: AlignedWords, limit: float) -> bool:
    """Return whether `is_replaced` may hold of texts with these words."""
    others = min(len(pair.a), len(pair.b)) - pair.in_order
    return others > limit and any(_replacements(pair, pair.stretches, limit))


def replacements(
    a: WordText, b: WordText, more_than: float = 0, aligned: AlignedWords | None = None
) -> Iterator[Replacement]:
    """Yield each replacement that is made more than so many times, once.

    Words that are misread or spelled in another way are replaced once, however often; replacements
    in targets of links, tokens and lines that recur in both texts do not count.
    """
    pair = aligned or AlignedWords(a.words, b.words)
    found = list(_replacements(pair, pair.stretches, more_than))
    if not found:
        return
    worded = {
        stretch
        for gap, stretch in zip(pair.gaps, pair.stretches, strict=True)
        if not _are_within(a.words, gap.a, gap.end_a, a.unworded)
        or not _are_within(b.words, gap.b, gap.end_b, b.unworded)
    }
    kept = [stretch for stretch in pair.stretches if stretch in worded]
    yield from _replacements(pair, kept, more_than)


def _are_within(words: Words, start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether words [start, end) begin in spans, which are sorted."""
    for position in words.starts[start:end].tolist():
        index = bisect_right(spans, position, key=itemgetter(0)) - 1
        if index < 0 or position >= spans[index][1]:
            return False
    return True


def _replacements(
    pair: AlignedWords, stretches: Iterable[Stretch], more_than: float
) -> Iterator[Replacement]:
    counts = Counter(stretch for stretch in stretches if stretch.a and stretch.b)
    often = [
        (stretch, 1 if times > 1 and are_variants(*stretch) else times)
        for stretch, times in counts.items()
        if times > more_than
    ]
    often = [(stretch, times) for stretch, times in often if times > more_than]
    texts = [_WordString(pair.a), _WordString(pair.b)] if often else []
    for stretch, times in often:
        left, right = map(" ".join, stretch)
        replaced = zip(texts, (left, right), strict=True)
        if all(times >= MIN_FRACTION * text.occurrences(words) for text, words in replaced):
            yield Replacement(left, right, times)


class _WordString:
    """A text whose stretches of words are counted."""

    def __init__(self, words: Words) -> None:
        self._text = f" {'  '.join(words.folded)} "

    def occurrences(self, words: str) -> int:
        """Return how often a stretch of words stands in the text, overlaps not counted."""
        return self._text.count(f" {words.replace(' ', '  ')} ")


def other_accents(pair: AlignedWords) -> Replacement | None:
    """Return the first words that stand for the same words with other accents, and how often there
    are such; None if there are none.

    >>> from indexer.comparing.words import words
    >>> other_accents(AlignedWords(words("a résumé"), words("a resume")))
    Replacement(a='résumé', b='resume', times=1)
    """
    made = [*chain.from_iterable(map(_without_other_accents, pair.stretches))]
    if not made:
        return None
    left, right = made[0]
    return Replacement(" ".join(left), " ".join(right), len(made))


def _without_other_accents(stretch: Stretch) -> Iterator[Stretch]:
    """Yield the runs of words of a stretch that are the same without accents."""
    if stretch.differs_in_accents:
        yield stretch
        return
    if all(word.isascii() for word in chain(*stretch)):
        return
    left, right = (tuple(map(without_accents, words)) for words in stretch)
    numbers = number_strings([*left, *right])[0]
    for a, b, words in _aligned(numbers[: len(left)], numbers[len(left) :]):
        run = Stretch(stretch.a[a : a + words], stretch.b[b : b + words])
        if run.a != run.b:
            yield run


# Texts whose differing words are of two languages, such as pages that were hardly translated.

MIN_TIMES = 4  # function words of either language, since a misread text may have a few
OWN_FRACTION = 3  # times as many of the own language as of the other, in either text
BALANCE = 8  # times as many in one text as in the other at most


class TwoLanguages(NamedTuple):
    """The languages (ISO 639-1) of the words that only a, and only b has, and how many those are:
    of the text that has fewer.
    """

    a: str
    b: str
    times: int


SAME_LANGUAGE = TwoLanguages("", "", 0)


def two_languages(a: Words, b: Words) -> TwoLanguages:
    """Return the languages of the words that differ; `SAME_LANGUAGE` unless they are two.

    Accents are left out where only one text has any, which may be a copy without them.

    >>> from indexer.comparing.words import normal_words
    >>> a = normal_words("foo --bar: das ist nicht mit der Option und von der Datei")
    >>> two_languages(a, normal_words("foo --bar: this is not for the option and for the file"))
    TwoLanguages(a='de', b='en', times=8)
    """
    if a.has_accents != b.has_accents:
        a, b = a.plain, b.plain
    counts_a, counts_b = a.function_words, b.function_words
    left, right = words_by_language(counts_a - counts_b), words_by_language(counts_b - counts_a)
    if not left or not right:
        return SAME_LANGUAGE
    of_a, of_b = (max(sorted(counts), key=counts.__getitem__) for counts in (left, right))
    limit, minimum = max(left[of_a], right[of_b]), min(left[of_a], right[of_b])
    is_told_apart = (
        left[of_a] >= OWN_FRACTION * left[of_b] and right[of_b] >= OWN_FRACTION * right[of_a]
    )
    if of_a == of_b or minimum < MIN_TIMES or not is_told_apart or limit > BALANCE * minimum:
        return SAME_LANGUAGE
    return TwoLanguages(of_a, of_b, minimum)


# Texts that differ in plain words alone, with no number near: no criterion refuses them.

MIN_MESSAGE = 3  # words of a message that are no facts
_NEAR = 5  # words between a change and a number, which reads two words and `REACH` characters
_LOOKED_AT = 12  # of the strings next to a change, blank ones among them
_WORD = re.compile(r"[A-Za-z]+")
_NEXT_TO_CHANGES = re.compile(r"[A-Za-z]+[.,;:]?")
_CLOSED = re.compile(r"[!-~]*[!-,.-~]")  # ASCII without a hyphen at its end
_ATTRIBUTE = re.compile(r"=[\"']")  # of a link, whose target may have blanks


def differ_in_plain_words(
    a: str, b: str, max_replaced: float | None = None, numbers: bool = True
) -> bool:
    """Return whether no more than plain words differ, so that neither text states other facts.

    `max_replaced`: how often words may stand for the same others, as `Criteria.replaced` has it.
    `numbers`: whether numbers and symbols count, which depend on the words next to them. False also
    for pairs in doubt, as those whose words are in another order.

    >>> differ_in_plain_words("The old ferry is here.", "The new ferry is here.")
    True
    >>> differ_in_plain_words("The ferry is here.", "The ferry is not here.")
    False
    """
    if a == b:
        return True
    left, right = (text.replace("\n", " \n ").split(" ") for text in (a, b))
    if len(left) * len(right) > RUN_CELLS:
        return False
    blocks = matching_blocks(left, right)
    runs = [(0, 0, 0), *((block.a, block.b, block.size) for block in blocks)]
    changed_a: list[str] = []
    changed_b: list[str] = []
    for (a_start, b_start, size), (a_end, b_end, _) in pairwise(runs):
        spans = (left, a_start + size, a_end), (right, b_start + size, b_end)
        if any(start < end for _, start, end in spans):
            changed_a += left[a_start + size : a_end]
            changed_b += right[b_start + size : b_end]
            if not all(_is_plain_span(*span, numbers) for span in spans):
                return False
    changed = changed_a + changed_b
    matched = (left[start : start + size] for start, _, size in runs)
    return (
        _may_stand_for(changed_a, changed_b, max_replaced)
        and not (any(map(DENYING.match, changed)) and denials(changed_a, changed_b))
        and not _may_be_message(matched, changed_a, changed_b)
        and not (_ATTRIBUTE.search(a) or _ATTRIBUTE.search(b))
        and not (numbers and [*find_symbols(a), *find_symbols(b)])
    )


def _is_plain_span(words: Sequence[str], start: int, end: int, numbers: bool) -> bool:
    """Return whether words [start, end) are plain, joined to no other, and far from `numbers`."""
    return (
        all(map(_is_plain, words[start:end]))
        and _is_calm(words[max(0, start - _LOOKED_AT) : start][::-1], numbers)
        and _is_calm(words[end : end + _LOOKED_AT], numbers)
    )


@lru_cache(1 << 14)
def _is_plain(word: str) -> bool:
    """Return whether a word is in lower case, and states nothing in any language."""
    if word in STATING or any(ending.fullmatch(word) for ending in OF_ENDINGS.values()):
        return False
    return word.isascii() and word.isalpha() and word.islower()


def _is_calm(nearest: Sequence[str], numbers: bool) -> bool:
    """Return whether the first `_NEAR` are words, and no numbers; or the first one is closed."""
    size = _NEAR if numbers else 1
    near = [word for word in nearest if word and word != "\n"][:size]
    is_enough = len(near) == size or len(nearest) < _LOOKED_AT
    return is_enough and all(map(_is_no_number if numbers else _CLOSED.fullmatch, near))


@lru_cache(1 << 14)
def _is_no_number(word: str) -> bool:
    is_word = _NEXT_TO_CHANGES.fullmatch(word) is not None
    return is_word and word.rstrip(".,;:").lower() not in NUMBERS


def _may_stand_for(a: Sequence[str], b: Sequence[str], max_replaced: float | None) -> bool:
    """Return whether words of two texts are others, of one language, and none again and again."""
    if not set(a).isdisjoint(b):
        return False
    of_languages = min(sum(map(LANGUAGES_BY_WORD.__contains__, words)) for words in (a, b))
    times = min(max(Counter(words).values(), default=0) for words in (a, b))
    return of_languages < MIN_TIMES and (max_replaced is None or times <= max_replaced)


def _may_be_message(
    runs: Iterable[Sequence[str]], changed_a: Sequence[str], changed_b: Sequence[str]
) -> bool:
    """Return whether two texts may be other messages around one of these runs that both have.

    They are none if more words stand in the other runs than were changed; words that have changed
    elsewhere do not count, since they may be aligned in another way.
    """
    if min(len(changed_a), len(changed_b)) < MIN_MESSAGE:
        return False
    changed = {*changed_a, *changed_b}
    sizes = [0]
    for run in runs:
        words = run if not any(word.endswith("-") for word in run) else ()  # "-": halves of words
        sizes.append(sum(word.lower() not in changed for word in filter(_WORD.fullmatch, words)))
        if sum(sizes) - max(sizes) > max(len(changed_a), len(changed_b)):
            return False
    return True


# The alignment itself.


class _CommonWords(NamedTuple):
    """The words of a text that the other has too: numbers shared by both, and their positions."""

    numbers: Numbers
    positions: Numbers


class _SharedWords(NamedTuple):
    a: _CommonWords
    b: _CommonWords
    kinds: int


def _shared_words(a: Words, b: Words) -> _SharedWords:
    """Return both texts without the words that the other lacks.

    Words are numbered as in a's vocabulary.
    """
    translation = translate_numbers(a, b)
    is_shared = np.zeros(len(a.vocabulary), dtype=np.bool_)
    is_shared[translation[translation >= 0]] = True
    positions_a = np.flatnonzero(is_shared[a.numbers])
    numbers_b = translation[b.numbers]
    positions_b = np.flatnonzero(numbers_b >= 0)
    left = _CommonWords(a.numbers[positions_a], positions_a)
    right = _CommonWords(numbers_b[positions_b], positions_b)
    return _SharedWords(left, right, len(a.vocabulary))


def max_words_in_common(a: Words, b: Words) -> int:
    """Return the words that both texts have, each as often as both have it: at least the LCS."""
    return _max_in_common(_shared_words(a, b))


def _max_in_common(shared: _SharedWords) -> int:
    """Return the words that both texts have, each as often as both have it."""
    in_a = np.bincount(shared.a.numbers, minlength=shared.kinds)
    in_b = np.bincount(shared.b.numbers, minlength=shared.kinds)
    return int(np.minimum(in_a, in_b).sum())


def _aligned(a: Numbers, b: Numbers) -> Iterator[tuple[int, int, int]]:
    """Yield the runs of a common subsequence: position in a, position in b, length; in order."""
    stack: list[_Stretch | Tile] = [_Stretch(0, len(a), 0, len(b), 0)]
    while stack:
        part = stack.pop()
        if isinstance(part, Tile):
            yield part
            continue
        start = _equal_length(a[part.a : part.end_a], b[part.b : part.end_b])
        if start:
            yield part.a, part.b, start
            part = part._replace(a=part.a + start, b=part.b + start)
        end = _equal_length(a[part.a : part.end_a][::-1], b[part.b : part.end_b][::-1])
        if end:
            stack.append(Tile(part.end_a - end, part.end_b - end, end))
            part = part._replace(end_a=part.end_a - end, end_b=part.end_b - end)
        if part.cells == 0:
            continue
        if part.cells <= RUN_CELLS:
            left = as_string(a[part.a : part.end_a])
            right = as_string(b[part.b : part.end_b])
            for block in matching_blocks(left, right):
                if block.size:
                    yield part.a + block.a, part.b + block.b, block.size
            continue
        stack += reversed(list(_divided(a, b, part)))


class _Stretch(NamedTuple):
    """Words [a, end_a) and [b, end_b), to be divided by anchors of `WIDTHS[step]` words."""

    a: int
    end_a: int
    b: int
    end_b: int
    step: int

    @property
    def cells(self) -> int:
        """The pairs of words."""
        return (self.end_a - self.a) * (self.end_b - self.b)


def _divided(a: Numbers, b: Numbers, part: _Stretch) -> Iterator[_Stretch | Tile]:
    """Yield a stretch as anchors and the stretches between them, or cut in two."""
    if part.step == len(WIDTHS):
        middle_a = (part.a + part.end_a) // 2
        middle_b = (part.b + part.end_b) // 2
        yield part._replace(end_a=middle_a, end_b=middle_b)
        yield part._replace(a=middle_a, b=middle_b)
        return
    words_a = a[part.a : part.end_a]
    words_b = b[part.b : part.end_b]
    next_a, next_b = part.a, part.b
    for anchor in _anchors(words_a, words_b, WIDTHS[part.step]):
        position_a, position_b = part.a + anchor.a, part.b + anchor.b
        yield _Stretch(next_a, position_a, next_b, position_b, part.step + 1)
        yield Tile(position_a, position_b, anchor.words)
        next_a, next_b = position_a + anchor.words, position_b + anchor.words
    yield _Stretch(next_a, part.end_a, next_b, part.end_b, part.step + 1)


def _anchors(a: Numbers, b: Numbers, width: int) -> list[Tile]:
    """Return the longest chain, in the order of both, of runs that each text has once."""
    runs_a, runs_b = number_runs(a, b, width)
    kinds = 1 + max(int(runs_a.max(initial=0)), int(runs_b.max(initial=0)))
    is_single = np.bincount(runs_a, minlength=kinds) == 1
    is_single &= np.bincount(runs_b, minlength=kinds) == 1
    position_in_b = np.zeros(kinds, dtype=np.int64)
    position_in_b[runs_b] = np.arange(len(runs_b))
    positions_a = np.flatnonzero(is_single[runs_a])
    positions_b = position_in_b[runs_a[positions_a]]
    chain = _longest_rising(positions_b.tolist())
    anchors: list[Tile] = []
    for position_a, position_b in zip(
        positions_a[chain].tolist(), positions_b[chain].tolist(), strict=True
    ):
        anchor = Tile(position_a, position_b, width)
        last = anchors[-1] if anchors else None
        if last is None or min(position_a - last.a, position_b - last.b) >= last.words:
            anchors.append(anchor)
        elif position_a - last.a == position_b - last.b:
            anchors[-1] = Tile(last.a, last.b, position_a - last.a + width)
    return anchors


def _longest_rising(values: Sequence[int]) -> list[int]:
    """Return the positions of a longest strictly rising subsequence (Schensted 1961).

    >>> _longest_rising([5, 1, 4, 2, 3])
    [1, 3, 4]
    """
    ends: list[int] = []
    positions: list[int] = []
    before: list[int] = []
    for index, value in enumerate(values):
        length = bisect_left(ends, value)
        before.append(positions[length - 1] if length else -1)
        ends[length : length + 1] = [value]
        positions[length : length + 1] = [index]
    chain: list[int] = []
    index = positions[-1] if positions else -1
    while index >= 0:
        chain.append(index)
        index = before[index]
    return chain[::-1]


def _equal_length(a: Numbers, b: Numbers) -> int:
    """Return how many first items are the same."""
    size = min(len(a), len(b))
    different = np.flatnonzero(a[:size] != b[:size])[:1]
    return int(different[0]) if len(different) else size


def _runs(left: Numbers, right: Numbers) -> list[Tile]:
    """Return pairs of positions as runs that rise by one in both texts."""
    breaks = np.flatnonzero((np.diff(left) != 1) | (np.diff(right) != 1)) + 1
    edges = [0, *breaks.tolist(), len(left)]
    return [
        Tile(int(left[start]), int(right[start]), end - start) for start, end in pairwise(edges)
    ]
