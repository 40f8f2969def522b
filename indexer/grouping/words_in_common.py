"""Words that a text has in common with others: in the same order, and in any.

The compiled kernel, where installed, computes it without a vocabulary of many texts, which
`indexer.grouping.words_in_common` makes otherwise; the words in order are the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, combinations, groupby, islice
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import is_normalized

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.measures import TextOperand, measure_pair
from indexer.comparing.reasons import CONTAINED, MIN_GROWTH, REARRANGED, Rarity
from indexer.comparing.words import (
    EXACT_CELLS,
    LANGUAGES_BY_WORD,
    MAX_CODES,
    Words,
    as_numbers,
    as_string,
    folded_words,
    lcs_of_strings,
    normal_words,
)
from indexer.fingerprinting.hashing import (
    GAMMA,
    distinct_values,
    mix64_array,
    number_occurrences,
    string_hashes,
)
from indexer.fingerprinting.normalise import first_accent, without_accents
from indexer.model import WITHOUT_ACCENTS
from indexer.system.external_memory import LruCache
from indexer.wording import count_of

if TYPE_CHECKING:
    from indexer.comparing.criteria import Criteria

try:
    from indexer import _kernel
except ImportError:
    _kernel = None  # type: ignore[assignment]

# Words in order of many pairs: `lcs` of texts whose words have numbers of one vocabulary.

BINS = 1 << 10
_MAX_COUNTED = (1 << 16) - 1


@dataclass(frozen=True, slots=True)
class WordSequence:
    """The words of a text as code points, how many of them, without their accents, fall into each
    of `BINS` bins, and whether one has accents.
    """

    codes: str
    counts: NDArray[np.uint16]
    has_accents: bool

    @property
    def size(self) -> int:
        """The bytes that it takes, about."""
        return 4 * len(self.codes) + self.counts.nbytes + 200


class _WordNumbers:
    """The definition of the kernel's `WordNumbers`."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of_text(self, text: str) -> tuple[bytes, list[str]]:
        """Number the `normal_words` of a text."""
        return self.of_words(folded_words(text))

    def of_words(self, words: list[str]) -> tuple[bytes, list[str]]:
        """Return the number of each word as uint32, and the new words."""
        known = len(self._numbers)
        numbers = [self._numbers.setdefault(word, len(self._numbers)) for word in words]
        return np.array(numbers, np.uint32).tobytes(), list(islice(self._numbers, known, None))


_new_numbers: Callable[[], Any] = getattr(_kernel, "WordNumbers", _WordNumbers)


def words_without_positions(text: str) -> Words:
    """Return the `normal_words` of a text, without their positions in it."""
    numbers, vocabulary = _new_numbers().of_text(text)
    nowhere = np.zeros(0, dtype=np.int64)
    words = np.frombuffer(numbers, np.uint32).astype(np.int64)
    return Words(tuple(vocabulary), words, nowhere, nowhere)


@cache
def _languages_by_plain_word() -> dict[str, frozenset[str]]:
    languages: dict[str, frozenset[str]] = {}
    for word, listed in LANGUAGES_BY_WORD.items():
        plain = without_accents(word)
        languages[plain] = languages.get(plain, frozenset()).union(listed)
    return languages


def language_without_accents(words: Words) -> str:
    """Return the `language` of words that have lost their accents.

    >>> language_without_accents(words_without_positions("khong duoc cho thue lai va cua nguoi"))
    'vi'
    """
    counts = Counter[str]()
    times = np.bincount(words.numbers, minlength=len(words.vocabulary)).tolist()
    for word, count in zip(words.vocabulary, times, strict=True):
        for language in _languages_by_plain_word().get(word, ()):
            counts[language] += count
    return max(sorted(counts), key=counts.__getitem__, default="")


class Vocabulary:
    """The numbers of words, in the order in which they come first."""

    def __init__(self) -> None:
        self._numbers = _new_numbers()
        self._spelling: list[str] = []
        self._plain = np.zeros(0, dtype=np.int64)  # of each word that without accents
        self._has_accents = np.zeros(0, dtype=np.bool_)

    def __len__(self) -> int:
        return len(self._spelling)

    def sequence(self, words: Words) -> WordSequence | None:
        """Return the words of a text as numbers; None when there are more than code points."""
        if len(self) + len(words.vocabulary) > MAX_CODES:
            return None
        numbers = self._added(*self._numbers.of_words(list(words.vocabulary)))
        return self._sequence(numbers[words.numbers])

    def sequence_of(self, text: str) -> WordSequence | None:
        """Return the `sequence` of the `normal_words` of a text."""
        if len(self) + len(text) > MAX_CODES:
            return self.sequence(normal_words(text))
        return self._sequence(self._added(*self._numbers.of_text(text)))

    def in_order(self, a: WordSequence, b: WordSequence, minimum: float) -> tuple[int, int] | None:
        """Return the words in order of two texts, and those that are the same but for their accents
        (see `WordsInOrder`); none for a similarity below `minimum`.

        None for texts so long that they are aligned otherwise.
        """
        if len(a.codes) * len(b.codes) > EXACT_CELLS:
            return None
        needed = math.ceil(minimum * max(len(a.codes), len(b.codes)) - 1e-9)
        if a.has_accents == b.has_accents:
            return lcs_of_strings(a.codes, b.codes, needed), 0
        without = lcs_of_strings(self._plain_codes(a), self._plain_codes(b), needed)
        common = lcs_of_strings(a.codes, b.codes) if without else 0
        return common, without - common

    def _plain_codes(self, sequence: WordSequence) -> str | list[int]:
        return as_string(self._plain[as_numbers(sequence.codes)])

    def _added(self, numbers: bytes, new: list[str]) -> NDArray[np.int64]:
        """Return the numbers of words, of which some are new."""
        if new:
            self._add(new)
        return np.frombuffer(numbers, np.uint32).astype(np.int64)

    def _add(self, new: list[str]) -> None:
        """Take new words, and number these words without accents."""
        changing = [number for number, word in enumerate(new, len(self)) if not word.isascii()]
        self._spelling += new
        words = [self._spelling[number] for number in changing]
        plain, more = self._numbers.of_words([without_accents(word) for word in words])
        self._spelling += more
        if len(self) > len(self._plain):
            self._plain = _enlarged(self._plain, np.arange(2 * len(self)))
            self._has_accents = _enlarged(self._has_accents, np.zeros(2 * len(self), np.bool_))
        self._plain[changing] = np.frombuffer(plain, np.uint32)
        self._has_accents[changing] = [first_accent(word) != "" for word in words]

    def _sequence(self, numbers: NDArray[np.int64]) -> WordSequence:
        if len(numbers) > _MAX_COUNTED:
            counts = np.full(BINS, _MAX_COUNTED, dtype=np.uint16)
        else:
            bins = self._plain[numbers] & (BINS - 1)
            counts = np.bincount(bins, minlength=BINS).astype(np.uint16)
        codes = as_string(numbers)
        return WordSequence(str(codes), counts, bool(self._has_accents[numbers].any()))


def _enlarged(values: NDArray[Any], room: NDArray[Any]) -> NDArray[Any]:
    """Return the room with the values at its begin."""
    room[: len(values)] = values
    return room


def may_reach_pair(a: WordSequence, b: WordSequence, minimum: float) -> bool:
    """Return what `may_reach` does for one pair, sooner."""
    shorter, longer = sorted((len(a.codes), len(b.codes)))
    needed = math.ceil(minimum * longer - 1e-9)
    if shorter < needed:
        return False
    return int(np.minimum(a.counts, b.counts).sum(dtype=np.int64)) >= needed


def may_reach(
    pairs: Sequence[tuple[WordSequence, WordSequence]], minimum: float
) -> NDArray[np.bool_]:
    """Return for each pair whether its lengths and its words allow an `lcs` of `minimum`.

    (pairs,) bool; True for a pair of empty texts.
    """
    lengths = np.array([(len(a.codes), len(b.codes)) for a, b in pairs]).reshape(-1, 2)
    needed = np.ceil(minimum * lengths.max(axis=1) - 1e-9)
    possible: NDArray[np.bool_] = lengths.min(axis=1) >= needed
    positions = np.flatnonzero(possible).tolist()
    if positions:
        left = np.stack([pairs[position][0].counts for position in positions])
        right = np.stack([pairs[position][1].counts for position in positions])
        shared = np.minimum(left, right).sum(axis=1, dtype=np.int64)
        possible[positions] = shared >= needed[positions]
    return possible


def _similarity(in_order: int, accents: int, longer: int) -> float:
    return (in_order + WITHOUT_ACCENTS * accents) / longer if longer else 0.0


class InCommon(NamedTuple):
    """The numbers of words that two texts have in common.

    `in_order`: the length of the longest common subsequence; 0 if it is not requested. `shared`:
    the words that both have, each counted as often as both have it, or more. `words`: those of
    either text. `excess`: how much oftener a word comes in the first text than in the other, at
    most; each counted as often as in `shared`. `accents` is defined by `WordsInOrder`.
    """

    in_order: int
    shared: int
    words: tuple[int, int]
    excess: int
    accents: int = 0

    @property
    def lcs(self) -> float:
        """The measure `lcs`."""
        return _similarity(self.in_order, self.accents, max(self.words))

    @property
    def is_exact(self) -> bool:
        """True if the texts are not so long that `measure_pair` aligns them otherwise."""
        return math.prod(self.words) <= EXACT_CELLS

    @property
    def max_out_of_order(self) -> int:
        """Return how often a word of the first text is outside the common subsequence at most.

        Of each word the subsequence leaves out its excess, and all words together what is shared
        and not in order. A word is replaced, as `replacements` counts, no more often.
        """
        return self.excess + self.shared - self.in_order


def words_in_common(text: str, others: Sequence[str], minimum: float) -> list[InCommon | None]:
    """Return what a text has in common with each of others, in words as `normal_words` has them.

    `in_order` is 0 where it is less than the fraction `minimum` of the words of the longer text, so
    that nothing is aligned for a fraction above 1. None where texts are too long to be compared so.

    >>> words_in_common("to be or not to be", ["not to be or to be"], 0.8)[0].lcs
    0.8333333333333334
    """
    if _kernel is None or not hasattr(_kernel, "words_in_common"):
        return _by_vocabulary(text, others, minimum)
    counted = _kernel.words_in_common(text, list(others), minimum)
    result = [counts and InCommon(*counts) for counts in counted]
    accented = _have_accents(text)
    unlike = [index for index, other in enumerate(others) if _have_accents(other) != accented]
    if unlike:
        measured = _by_vocabulary(text, [others[index] for index in unlike], minimum)
        for index, common in zip(unlike, measured, strict=True):
            result[index] = common
    return result


def _have_accents(text: str) -> bool:
    """Return `has_accents` of the words of a text, without these for most texts."""
    if text.isascii():
        return False
    first = first_accent(text)
    if first.isalpha():
        return True
    is_possible = first or not is_normalized("NFKC", text)
    return bool(is_possible and first_accent(" ".join(folded_words(text))))


def _by_vocabulary(text: str, others: Sequence[str], minimum: float) -> list[InCommon | None]:
    vocabulary = Vocabulary()
    own = vocabulary.sequence_of(text)
    return [_in_common(vocabulary, own, vocabulary.sequence_of(other), minimum) for other in others]


def _in_common(
    vocabulary: Vocabulary, a: WordSequence | None, b: WordSequence | None, minimum: float
) -> InCommon | None:
    if a is None or b is None:
        return None
    words = len(a.codes), len(b.codes)
    shared = int(np.minimum(a.counts, b.counts).sum(dtype=np.int64))
    excess = int((a.counts.astype(np.int64) - b.counts).max())
    if not may_reach_pair(a, b, minimum):
        return InCommon(0, shared, words, max(excess, 0))
    found = vocabulary.in_order(a, b, minimum)
    return found and InCommon(found[0], shared, words, max(excess, 0), found[1])


def measure_in_common(
    measure: str, a: TextOperand, others: Sequence[TextOperand], minimum: float
) -> list[tuple[float, InCommon | None]]:
    """Return the similarity of a text to each of others as `measure_pair` has it, and the words
    that both have in common, if those in order are the measure.
    """
    in_common: Sequence[InCommon | None] = [None] * len(others)
    if measure == "lcs" and others:
        in_common = words_in_common(a.text, [other.text for other in others], minimum)
    return [
        (common.lcs, common)
        if common
        else (measure_pair(measure, a, other, minimum=minimum).similarity, None)
        for other, common in zip(others, in_common, strict=True)
    ]


def accepts_in_common(
    criteria: Criteria,
    a: TextOperand,
    b: TextOperand,
    common: InCommon | None,
    rarity: Rarity | None = None,
) -> bool:
    """Return `criteria.accepts`, sooner where the words that both texts have in common say it.

    `common`: these words, those in order computed; None if they are not known.
    """
    if criteria.needs_facts or criteria.reads_changes or common is None:
        return criteria.accepts(a, b, rarity)
    if criteria.reads_marks:
        has_others = max(common.words) > common.in_order
        return not has_others or criteria.accepts(a, b, rarity)
    limit = criteria.replaced
    words_out_of_order = min(common.words) - common.in_order
    if limit is None or words_out_of_order <= limit:
        return True
    if not criteria.accepts_languages(a.words, b.words):
        return False
    return common.max_out_of_order <= limit or criteria.accepts_replacements(a, b)


def lcs_to_each(text: str, others: Sequence[str], minimum: float) -> list[float | None]:
    """Return `lcs` of a text to each of others; 0 for one below `minimum`.

    None where texts are too long to be compared so.
    """
    return [common and common.lcs for common in words_in_common(text, others, minimum)]


def may_have_common_words(text: str, others: Sequence[str], minimum: float) -> list[bool]:
    """Return for each of other texts if it may have `minimum` of the words of the longer one in
    common with a text, in any order.
    """
    counted = words_in_common(text, others, 2.0)
    return [
        common is None or common.shared >= minimum * max(common.words) - 1e-9 for common in counted
    ]


# A cache of the words of texts as sequences, within the memory budget, and their `lcs`.

# Words that short texts have in common at a threshold, and keys made of choices of them.

FEW_WORDS = 20  # a text of fewer is short
_MAX_KEYS = 220  # of one number of common words; so many are the choices of nine of twelve
_SLACK = 1e-9
Choices = tuple[tuple[int, NDArray[np.intp]], ...]


def max_words(threshold: float) -> int:
    """Return the most words of a text that a short one may resemble.

    >>> max_words(0.8), max_words(0.5)
    (23, 38)
    """
    return math.floor((FEW_WORDS - 1) / threshold + _SLACK)


def short_keys(words: NDArray[np.uint64], threshold: float) -> NDArray[np.uint64]:
    """Return the keys of texts of the same number of words: (texts, keys).

    `words`: (texts, words) a hash for each occurrence of each word, ascending. Two texts with `lcs`
    of `threshold` or more share a key if one of them is short.
    """
    columns = []
    for common, choices in _choices(words.shape[1], threshold):
        salt = np.uint64(common * GAMMA % (1 << 64))
        columns.append(mix64_array(words[:, choices].sum(axis=2, dtype=np.uint64) + salt))
    return np.concatenate([np.zeros((len(words), 0), np.uint64), *columns], axis=1)


@lru_cache(maxsize=512)
def _choices(words: int, threshold: float) -> Choices:
    """Return for each number of words that may be common the positions of the words of each key."""
    longest = min(words / threshold, max_words(threshold)) + _SLACK
    numbers = {min_in_common(longer, threshold) for longer in range(words, math.floor(longest) + 1)}
    choices = []
    for common in sorted(number for number in numbers if number <= min(words, FEW_WORDS - 1)):
        size = _words_of_key(common, threshold)
        positions = list(combinations(range(words - common + size), size))
        choices.append((common, np.array(positions, dtype=np.intp)))
    return tuple(choices)


def min_in_common(longer: int, threshold: float) -> int:
    """Return the minimum number of words in common at a threshold; at least 1."""
    return max(1, math.ceil(threshold * longer - _SLACK))


def _words_of_key(common: int, threshold: float) -> int:
    """Return of how many words keys are made of texts that share `common`, whatever their length.

    So many that the longest of these texts has at most `_MAX_KEYS` keys, if it can.
    """
    missing = math.floor(common / threshold + _SLACK) - common
    sizes = range(common, 0, -1)
    return next((size for size in sizes if math.comb(missing + size, size) <= _MAX_KEYS), 1)


MAX_CHARS = 20_000_000  # characters of texts that are kept at most
BYTES_A_CHAR = 13  # of a text that is kept, its features and words included
BATCH = 500  # texts or pairs that are read or measured together
FEW_PAIRS = 3  # of each text on average, that are compared without numbers of words


BYTES_A_WORD = 150  # of a vocabulary

Contents = Callable[[Sequence[int]], list[str]]


@dataclass
class PassedOver:
    """Pairs below a threshold of `lcs` that are near duplicates in another sense.

    `rearranged`: nine tenths of their words are the same, in another order. `grown`: one text has
    nearly all words of the other, and a tenth more.
    """

    rearranged: int = 0
    grown: int = 0

    def __add__(self, other: PassedOver) -> PassedOver:
        return PassedOver(self.rearranged + other.rearranged, self.grown + other.grown)

    def sentences(self, verb: str, contained: str) -> Iterator[str]:
        """Yield a sentence for each kind of which there are some, with the option that finds them;
        `contained` for those of which one has grown.
        """
        if self.rearranged:
            yield (
                f"{count_of(self.rearranged, 'pair')} of texts with nearly the same words in "
                f"another order passed over; --measure overlap {verb} those of the same passages"
            )
        if self.grown:
            yield (
                f"{count_of(self.grown, 'pair')} of which one text has nearly all words of the "
                f"other and more passed over; --measure grown {verb} those at most twice as long, "
                f"{contained} excerpts and sources"
            )


# values of pairs below a threshold, where those that are passed over are marked
BELOW = REARRANGED_BELOW, GROWN_BELOW = -1.0, -2.0


def _value_by_counts(shared: int, words: tuple[int, int]) -> float:
    """Return the mark of a pair that may be rearranged or grown, 0 for others; `shared` and `words`
    are as `InCommon` has them.
    """
    shorter, longer = sorted(words)
    has_grown = longer >= MIN_GROWTH * shorter
    needed = CONTAINED * shorter if has_grown else REARRANGED * longer
    if shared < needed:
        return 0.0
    return GROWN_BELOW if has_grown else REARRANGED_BELOW


def _share_words(mark: float, distinct: tuple[int, int, int]) -> bool:
    """Return whether a pair with such a mark has enough distinct words in common.

    `distinct`: the distinct words of either text, and those in common.
    """
    fewer, more = sorted(distinct[:2])
    return distinct[2] >= (CONTAINED * fewer if mark == GROWN_BELOW else REARRANGED * more)


def count_passed_over(values: NDArray[np.float64]) -> PassedOver:
    """Return how many of these values are marks of pairs that are rearranged or grown."""
    rearranged, grown = (np.count_nonzero(values == mark) for mark in BELOW)
    return PassedOver(int(rearranged), int(grown))


class SequenceCache:
    """Word sequences of texts by number, at most `memory` bytes of them, of their vocabulary and of
    the words of those that were compared word by word.

    `contents` returns the texts of these numbers.
    """

    def __init__(self, contents: Contents, memory: int) -> None:
        self._contents = contents
        self._memory = memory
        self._vocabulary = Vocabulary()
        self._sequences = LruCache[int, WordSequence | None](memory // 2, _size)
        self._words = LruCache[int, Words](memory // 4, _size_of_words)
        self._distinct = LruCache[int, NDArray[np.int64]](memory // 8, attrgetter("nbytes"))
        self._in_common: dict[tuple[int, int], InCommon] = {}  # of pairs that were measured last

    def measure_pairs(self, pairs: Sequence[tuple[int, int]], minimum: float) -> list[float | None]:
        """Return `lcs` of each pair, 0 for one below `minimum`; None where texts are too long.

        Texts of few pairs are compared by the kernel, which numbers no words of all texts.
        """
        values: list[float | None] = [None] * len(pairs)
        if hasattr(_kernel, "words_in_common"):
            values = self._measure_few(pairs, minimum)
        is_open = [index for index, value in enumerate(values) if value is None]
        if not is_open:
            return values
        bounded = self._bounded([pairs[index] for index in is_open], minimum)
        for position, left, right, is_possible in bounded:
            if not is_possible:
                values[is_open[position]] = 0.0
            elif found := self._vocabulary.in_order(left, right, minimum):
                longer = max(len(left.codes), len(right.codes))
                values[is_open[position]] = _similarity(*found, longer)
        return values

    def _measure_few(self, pairs: Sequence[tuple[int, int]], minimum: float) -> list[float | None]:
        """Return `lcs` of each pair as above; None also where texts are in many pairs."""
        texts = list(dict.fromkeys(chain.from_iterable(pairs)))
        self._in_common = {}
        if len(pairs) > FEW_PAIRS * len(texts):
            return [None] * len(pairs)
        contents = dict(zip(texts, self._contents(texts), strict=True))
        for left, of_left in groupby(pairs, key=itemgetter(0)):
            same_left = list(of_left)
            others = [contents[right] for _, right in same_left]
            in_common = words_in_common(contents[left], others, minimum)
            for pair, common in zip(same_left, in_common, strict=True):
                if common and common.is_exact:
                    self._in_common[pair] = common
        measured = map(self._in_common.get, pairs)
        return [None if common is None else common.lcs for common in measured]

    def values_below(self, pairs: Sequence[tuple[int, int]]) -> list[float]:
        """Return the marks of these pairs, which are below a threshold, if they are rearranged or
        grown; 0 for others.
        """
        counted = self._in_common
        self.read(dict.fromkeys(text for pair in pairs if pair not in counted for text in pair))
        values = [0.0] * len(pairs)
        for index, (a, b) in enumerate(pairs):
            if (a, b) in counted:
                values[index] = _value_by_counts(counted[a, b].shared, counted[a, b].words)
                continue
            left, right = self._sequences.peek(a), self._sequences.peek(b)
            if left is not None and right is not None:
                shared = int(np.minimum(left.counts, right.counts).sum(dtype=np.int64))
                values[index] = _value_by_counts(shared, (len(left.codes), len(right.codes)))
        marked = [index for index, value in enumerate(values) if value]
        of_marked = self._distinct_in_common([pairs[index] for index in marked])
        for index, distinct in zip(marked, of_marked, strict=True):
            if distinct is None or not _share_words(values[index], distinct):
                values[index] = 0.0
        return values

    def new_words(self, pairs: Sequence[tuple[int, int]]) -> list[int | None]:
        """Return how many distinct words only one text of each pair has; None where texts are too
        long.
        """
        return [
            distinct and distinct[0] + distinct[1] - 2 * distinct[2]
            for distinct in self._distinct_in_common(pairs)
        ]

    def _distinct_in_common(
        self, pairs: Sequence[tuple[int, int]]
    ) -> Iterator[tuple[int, int, int] | None]:
        """Yield how many distinct words each text of a pair has, and both; None where texts are too
        long. Fastest for pairs that are sorted by their first text.
        """
        texts = dict.fromkeys(text for pair in pairs for text in pair)
        self.read(texts)
        self._distinct.use(texts)
        self._distinct.trim()
        is_in_a = np.zeros(len(self._vocabulary), dtype=bool)
        marked, words_of_a = -1, np.zeros(0, np.int64)
        for left, right in pairs:
            a, b = self._distinct_words(left), self._distinct_words(right)
            if a is None or b is None:
                yield None
                continue
            if left != marked:
                is_in_a[words_of_a] = False
                is_in_a[a] = True
                marked, words_of_a = left, a
            yield len(a), len(b), int(np.count_nonzero(is_in_a[b]))

    def _distinct_words(self, text: int) -> NDArray[np.int64] | None:
        """Return the numbers of the words of a text that was read, each once."""
        if text not in self._distinct:
            sequence = self._sequences.peek(text)
            if sequence is None:
                return None
            self._distinct.add(text, distinct_values(as_numbers(sequence.codes)))
        return self._distinct[text]

    def words(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[Words, Words]] | None:
        """Return the words of the texts of each pair; None if one has more than code points."""
        distinct = dict.fromkeys(text for pair in pairs for text in pair)
        self._words.use(distinct)
        self._words.trim()
        missing = [text for text in distinct if text not in self._words]
        for text, content in zip(missing, self._contents(missing), strict=True):
            if len(content) > MAX_CODES:
                return None
            self._words.add(text, words_without_positions(content))
        return [(self._words[a], self._words[b]) for a, b in pairs]

    def may_reach(self, pairs: Sequence[tuple[int, int]], minimum: float) -> NDArray[np.bool_]:
        """Return for each pair whether its lengths and its words allow an `lcs` of `minimum`."""
        flags = np.ones(len(pairs), dtype=bool)
        for position, _, _, is_possible in self._bounded(pairs, minimum):
            flags[position] = is_possible
        return flags

    def _bounded(
        self, pairs: Sequence[tuple[int, int]], minimum: float
    ) -> Iterator[tuple[int, WordSequence, WordSequence, bool]]:
        """Yield index and sequences of the pairs that have both, and whether they may reach it."""
        self.read(dict.fromkeys(text for pair in pairs for text in pair))
        known = []
        for index, (a, b) in enumerate(pairs):
            left, right = self._sequences.peek(a), self._sequences.peek(b)
            if left is not None and right is not None:
                known.append((index, left, right))
        possible = may_reach([(left, right) for _, left, right in known], minimum)
        for entry, is_possible in zip(known, possible.tolist(), strict=True):
            yield (*entry, is_possible)

    def occurrences(self, texts: Sequence[int]) -> Iterator[NDArray[np.uint64]]:
        """Yield a hash for each occurrence of each word of these texts, and keep their sequences.

        Two texts share as many hashes as words, without their accents, each word as often as both
        have it.
        """
        self._evict()
        for text, content in zip(texts, self._contents(texts), strict=True):
            of_text = normal_words(content)
            self._sequences.add(text, self._vocabulary.sequence(of_text))
            plain = of_text.plain.vocabulary
            yield number_occurrences(string_hashes(plain)[of_text.plain.numbers])

    def read(self, texts: Collection[int]) -> None:
        """Read the distinct texts that are not kept; evict the longest unused."""
        self._sequences.use(texts)
        self._evict()
        missing = [text for text in texts if text not in self._sequences]
        for text, content in zip(missing, self._contents(missing), strict=True):
            self._sequences.add(text, self._vocabulary.sequence_of(content))

    def _evict(self) -> None:
        if BYTES_A_WORD * len(self._vocabulary) > self._memory // 4:
            self._vocabulary = Vocabulary()
            self._sequences.clear()
            self._distinct.clear()
        self._sequences.trim()


def _size_of_words(words: Words) -> int:
    return BYTES_A_WORD * len(words.vocabulary) + 16 * len(words)


def _size(sequence: WordSequence | None) -> int:
    return 0 if sequence is None else sequence.size
