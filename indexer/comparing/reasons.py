"""The reasons why two documents are near duplicates: in what they differ, and in what copies do.

The facts that differ (`indexer.comparing.differences`), the marks (`indexer.comparing.marks`), the
words that only one text has, with their rarity in a store, and whether all is in another order; and
the sentences that name them.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from posixpath import basename, splitext
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np

from indexer.comparing.alignment import (
    WordText,
    lcs,
    max_words_in_common,
    other_accents,
    two_languages,
    words_in_order,
)
from indexer.comparing.differences import KINDS, differing_facts, with_renamed
from indexer.comparing.facts import ADDRESSES, FactSource
from indexer.comparing.marks import (
    AddedSentence,
    Comparison,
    added_sentences,
    exchanged,
    has_other_message,
    is_form,
    negated,
)
from indexer.comparing.measures import ComparedText, TextOperand, align
from indexer.comparing.quantities import ANSWERS, DUTY, TIME_UNITS
from indexer.comparing.tiling import Tile
from indexer.comparing.words import LANGUAGES_BY_WORD, Words
from indexer.defaults import REVIEW
from indexer.fingerprinting.fingerprint import number_symbols, pictographs
from indexer.fingerprinting.keys import EmbeddedDigests
from indexer.fingerprinting.normalise import composed_codes, value_symbols
from indexer.model import (
    Difference,
    DifferenceKind,
    Mark,
    MarkKind,
    NewWords,
    RareWord,
    Row,
    Sameness,
    WordFrequencies,
    WordsInOrder,
    unpack_embedded,
)
from indexer.wording import DIFFERENCE_NOUNS, count_of, format_marks, format_sameness, join_names

# Copies of the same words, which differ in what normalisation ignores.

_BLANKS = re.compile(r"\s+")


def copy_key(row: Row) -> str:
    """Return what a document shares with its copies and with nothing else.

    It is the digest of the normalised text or, where nothing is left of the text, of the bytes; the
    id of a document that has neither.
    """
    if row.chars and row.exact:
        return row.exact
    return f"bytes {row.raw}" if row.raw else row.id


def have_same_symbols(a: str, b: str) -> bool:
    """Return whether texts of the same words have the same symbols of value, the same pictographs
    such as ticks, and between the digits of two short numbers the same sign.

    Digests of recipes before `default_v3` do not read the first, and none reads the others.

    >>> have_same_symbols("a gain of 500", "a gain of -500"), have_same_symbols("> a-b", "a b!")
    (False, True)
    >>> have_same_symbols("1/2 cup", "1.2 cup"), have_same_symbols("1.5 cups", "1,5 cups")
    (False, True)
    """
    if a == b:
        return True
    if number_symbols(a) != number_symbols(b) or pictographs(a) != pictographs(b):
        return False
    return value_symbols(composed_codes(a)) == value_symbols(composed_codes(b))


def ignored(a: str, b: str) -> tuple[str, ...]:
    """Return in what two texts of the same words differ, which normalisation ignores.

    >>> ignored("Pay 5!", "pay  -5"), ignored("a b", "a  b")
    (('case', 'blanks', 'signs'), ('blanks',))
    """
    kinds = []
    characters_a, characters_b = (list(filter(str.isalnum, text)) for text in (a, b))
    if characters_a != characters_b:
        is_case = "".join(characters_a).casefold() == "".join(characters_b).casefold()
        kinds.append("case" if is_case else "forms of letters")
    if _BLANKS.findall(a) != _BLANKS.findall(b):
        kinds.append("blanks")
    if list(filter(_is_symbol, a)) != list(filter(_is_symbol, b)):
        kinds.append("signs")
    return tuple(kinds)


def _is_symbol(char: str) -> bool:
    return not char.isalnum() and not char.isspace()


def sameness(a: Row, b: Row) -> Sameness:
    """Return what two copies have in common: their bytes, their texts, or the words of these."""
    if a.raw and a.raw == b.raw:
        return Sameness("bytes")
    as_read = "truncated" in (a.status, b.status)
    extracted = bool(a.raw and b.raw) and not _is_plain(a) and not _is_plain(b)
    if a.text == b.text:
        return Sameness("text", (), as_read, extracted)
    return Sameness("words", ignored(a.text, b.text), as_read, extracted)


def _is_plain(row: Row) -> bool:
    """Return whether the text is the whole file, or was given without one."""
    return not row.extractor or row.extractor.startswith("plain/")


# The facts that differ, and their sentences.

QUOTED_DIFFERENCES = 3  # differences of a kind that a sentence quotes
_ONCE: tuple[DifferenceKind, ...] = ("header", *ADDRESSES)


def differences(
    a: FactSource, b: FactSource, runs: Sequence[Tile] | None = None
) -> tuple[Difference, ...]:
    """Return the facts in which two texts differ, by kind, in the order of the texts.

    A word without its accents is the same fact, if its text has none. `runs`: the `common_runs`.

    >>> from indexer.comparing.words import words
    >>> texts = "He paid 42,000 euros in May 2023.", "He paid 45,500 euros in May 2024."
    >>> for difference in differences(*(FactSource(text, words(text)) for text in texts)):
    ...     print(difference.kind, difference.a, difference.b)
    date May 2023 May 2024
    amount 42,000 45,500
    """
    result = with_renamed(list(differing_facts(a, b, runs)), a, b)
    # an address is a fact of each of its words; a head and a foot may have the same date
    once = dict.fromkeys(fact for fact in result if fact.kind in _ONCE)
    result = [*once, *(fact for fact in result if fact.kind not in _ONCE)]
    return tuple(sorted(result, key=lambda difference: KINDS.index(difference.kind)))


def format_differences(differences: Iterable[Difference]) -> list[str]:
    """Return a sentence for each kind.

    >>> format_differences([Difference("number", "42,000", "45,500")])
    ['1 number differs: 42,000 / 45,500']
    >>> format_differences([Difference("name", "Acme", "Acme")])
    ['1 name differs: Acme in another place']
    """
    by_kind: dict[DifferenceKind, list[Difference]] = defaultdict(list)
    for difference in differences:
        by_kind[difference.kind].append(difference)
    sentences = []
    for kind, members in by_kind.items():
        quoted = ", ".join(map(_format, members[:QUOTED_DIFFERENCES]))
        left_out = len(members) - QUOTED_DIFFERENCES
        more = f" and {left_out:,} more" if left_out > 0 else ""
        verb = "differs" if len(members) == 1 else "differ"
        noun = DIFFERENCE_NOUNS.get(kind, kind)
        sentences.append(f"{count_of(len(members), noun)} {verb}: {quoted}{more}")
    return sentences


def _format(difference: Difference) -> str:
    if difference.a == difference.b:
        return f"{difference.a} in another place"
    return f"{difference.a or '–'} / {difference.b or '–'}"


# Words of either of two texts that the other lacks, and how rare these are in a store.

RARE = 0.02  # of the documents of a store
QUOTED_WORDS = 5  # rare words that a sentence names
MAX_KNOWN = 1 << 17  # words whose frequencies are remembered
FrequencyLookup: TypeAlias = Callable[[Sequence[str]], WordFrequencies]
_WORD = re.compile(r"\w+")
_SHORT = 2  # letters of words without content
_BothTexts: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


class Rarity:
    """The frequencies of words in a store, requested once; the last 131,072 are cached.

    `lookup` counts the documents of the store that have each word.
    """

    def __init__(self, lookup: FrequencyLookup) -> None:
        self._lookup = lookup
        self._documents = 0
        self._counts: dict[str, int] = {}

    def frequencies(self, words: Sequence[str]) -> WordFrequencies:
        """Return the frequencies of distinct words; those not remembered by one look-up."""
        missing = [word for word in words if word not in self._counts]
        if missing and len(self._counts) + len(missing) > MAX_KNOWN:
            self._counts.clear()
            missing = list(words)
        if missing:
            result = self._lookup(missing)
            self._documents = result.documents
            self._counts |= result.counts
        return WordFrequencies(self._documents, {word: self._counts[word] for word in words})


def new_words(a: WordText, b: WordText) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the distinct words of a that b lacks, and of b that a lacks.

    They are written as where they first occur in the text that has them.

    >>> from indexer.recipe import DEFAULT
    >>> from indexer.comparing.measures import ComparedText
    >>> a = ComparedText("To be or NOT to be", DEFAULT)
    >>> new_words(a, ComparedText("Be, or be e-mailed", DEFAULT))
    (('To', 'NOT'), ('e', 'mailed'))
    """
    return tuple(_spellings(a, _new(a, b))), tuple(_spellings(b, _new(b, a)))


def content_words(a: WordText, b: WordText, differing: Iterable[Difference]) -> list[str]:
    """Return the words of a that b lacks, folded, without function words, words of two letters, and
    words of the facts that differ.

    >>> from indexer.recipe import DEFAULT
    >>> from indexer.comparing.measures import ComparedText
    >>> a = ComparedText("Subject to the advice of my lawyer, 5 May", DEFAULT)
    >>> content_words(a, ComparedText("Dated 6 May", DEFAULT), [Difference("number", "6", "5")])
    ['subject', 'advice', 'lawyer']
    """
    written = " ".join(f"{difference.a or ''} {difference.b or ''}" for difference in differing)
    facts = set(_WORD.findall(written.casefold()))
    return [
        word
        for word in dict.fromkeys(map(str.casefold, new_words(a, b)[0]))
        if word not in facts and word not in LANGUAGES_BY_WORD and _has_content(word)
    ]


def _has_content(word: str) -> bool:
    return word.isalpha() and (len(word) > _SHORT or not word.isascii())


def measure_new_words(
    pairs: Sequence[tuple[WordText, WordText]], rarity: Rarity | None = None
) -> list[NewWords]:
    """Return the new words of many pairs, whose frequencies are requested together.

    Without `rarity` they are only counted.
    """
    new = [(_new(a, b), _new(b, a)) for a, b in pairs]
    counts = [NewWords(len(left), len(right)) for left, right in new]
    if rarity is None:
        return counts
    wholes = [
        (tuple(_whole_words(a, left)), tuple(_whole_words(b, right)))
        for (a, b), (left, right) in zip(pairs, new, strict=True)
    ]
    words = dict.fromkeys(word for pair in wholes for words_of in pair for word in words_of)
    frequencies = rarity.frequencies(list(words))
    return [
        _with_rarity(count, pair, frequencies) for count, pair in zip(counts, wholes, strict=True)
    ]


def format_new_words(new: NewWords) -> str:
    """Return a sentence: how many words, how many of them rare, the rarest by name, the novelty.

    >>> rare = RareWord("quorum", "left", 1), RareWord("4711", "right", 2)
    >>> format_new_words(NewWords(2, 1, rare, 9.21))
    '3 new words, 2 of them rare: quorum, 4711 (novelty 9.2)'
    """
    if not new.left + new.right:
        return "no new words"
    novelty = "" if new.novelty is None else f" (novelty {new.novelty:,.1f})"
    return _sentence(new.left + new.right, new.rare) + novelty


def format_new_words_by_text(new: NewWords) -> list[str]:
    """Return a sentence for each of two texts, A and B, and one for their novelty where known.

    >>> format_new_words_by_text(NewWords(2, 0, (RareWord("quorum", "left", 1),), 9.21))
    ['A has 2 new words, 1 of them rare: quorum', 'B has 0 new words', 'novelty 9.2']
    """
    if not new.left + new.right:
        return ["no new words"]
    sentences = []
    texts: tuple[tuple[str, Literal["left", "right"], int], ...]
    texts = ("A", "left", new.left), ("B", "right", new.right)
    for letter, text, count in texts:
        rare = None if new.rare is None else [word for word in new.rare if word.side == text]
        sentences.append(f"{letter} has {_sentence(count, rare)}")
    if new.novelty is not None:
        sentences.append(f"novelty {new.novelty:,.1f}")
    return sentences


def _sentence(count: int, rare: Sequence[RareWord] | None) -> str:
    words = count_of(count, "new word")
    if rare is None or not count:
        return words
    if not rare:
        return f"{words}, {'not' if count == 1 else 'none of them'} rare"
    named = join_names(word.word for word in rare[:QUOTED_WORDS])
    more = ", …" if len(rare) > QUOTED_WORDS else ""
    if count == 1:
        return f"{words}, rare: {named}"
    number = "all" if count == len(rare) else f"{len(rare):,}"
    return f"{words}, {number} of them rare: {named}{more}"


def _new(text: WordText, other: WordText) -> list[int]:
    """Return the numbers of the words of one text that the other lacks."""
    numbering = text.words.numbering
    return sorted(numbering[word] for word in numbering.keys() - other.words.numbering.keys())


def _spellings(text: WordText, new: list[int]) -> Iterator[str]:
    """Yield words of a text by their numbers, as they are first written there.

    One that is broken at the end of a line is put together.
    """
    words = text.words
    firsts = words.firsts[new]
    starts, ends = words.starts[firsts].tolist(), words.ends[firsts].tolist()
    for number, start, end in zip(new, starts, ends, strict=True):
        yield _put_together(text.text[start:end], words.vocabulary[number])


def _whole_words(text: WordText, new: list[int]) -> dict[str, None]:
    """Return the words of a text, as written, that contain the words with these numbers."""
    words, formatted = text.words, text.spelled
    firsts = words.firsts[new]
    first_starts, first_ends = words.starts[firsts], words.ends[firsts]
    positions = np.searchsorted(formatted.starts, first_starts, side="right") - 1
    is_inside = positions >= 0
    is_inside[is_inside] = formatted.ends[positions[is_inside]] >= first_ends[is_inside]
    first_starts[is_inside] = formatted.starts[positions[is_inside]]
    first_ends[is_inside] = formatted.ends[positions[is_inside]]
    spellings: dict[str, None] = {}
    spans = zip(new, first_starts.tolist(), first_ends.tolist(), strict=True)
    for number, start, end in spans:
        spellings[_put_together(text.text[start:end], words.vocabulary[number])] = None
    return spellings


def _put_together(written: str, word: str) -> str:
    """Return a word as written, or folded where it is broken at the end of a line."""
    return word if "\n" in written or "\r" in written else written


def _with_rarity(new: NewWords, texts: _BothTexts, frequencies: WordFrequencies) -> NewWords:
    documents = max(1, frequencies.documents)
    limit = max(1, RARE * documents)
    rare: list[RareWord] = []
    amounts: list[float] = []
    names: tuple[Literal["left", "right"], ...] = ("left", "right")
    for name, words in zip(names, texts, strict=True):
        for word in words:
            count = frequencies.counts[word]
            # a document may be written between two counts
            amounts.append(math.log(documents / min(documents, max(1, count))))
            if count <= limit:
                rare.append(RareWord(word, name, count))
    rare.sort(key=lambda word: (word.documents, word.word))
    return NewWords(new.left, new.right, tuple(rare), math.fsum(amounts))


# Texts of the same passages in another order.

REARRANGED = 0.9  # minimum overlap of texts that are called rearranged


def is_rearranged(overlap: float, in_order: float, threshold: float) -> bool:
    """Return whether two texts share nearly all passages, but too few words in order.

    `overlap` is S_L, `in_order` the value of `lcs`.

    >>> is_rearranged(1.0, 0.5, 0.8), is_rearranged(1.0, 0.9, 0.8), is_rearranged(0.5, 0.5, 0.8)
    (True, False, False)
    """
    return overlap >= REARRANGED and in_order < threshold


def measure_rearranged(a: Words, b: Words, threshold: float) -> tuple[float, float] | None:
    """Return the overlap and `lcs` of two texts that are one another rearranged, None for others.

    Passages are only looked for where the texts have enough words in common.
    """
    longer = max(len(a), len(b))
    if not longer or min(len(a), len(b)) < REARRANGED * longer:
        return None
    if max_words_in_common(a, b) < REARRANGED * longer:
        return None
    in_order = lcs(a, b)
    if in_order >= threshold:
        return None
    overlap = align(a, b).overlap
    return (overlap, in_order) if is_rearranged(overlap, in_order, threshold) else None


def measured_words(a: Words, b: Words, measure: str, similarity: float) -> WordsInOrder:
    """Return the words in order of two texts whose similarity by a measure is known, of which it
    may be their fraction.
    """
    is_counted = measure == "lcs" and a.has_accents == b.has_accents
    if not is_counted or similarity == 1.0:  # copies are not measured
        return words_in_order(a, b)
    lengths = len(a), len(b)
    return WordsInOrder(round(similarity * max(lengths)), lengths)


# The marks of a pair.

MIN_GROWTH = 1.1  # of the words of a text that has grown
CONTAINED = 0.98  # minimum fraction of the words of a text that the grown one has
SAME_FILE = 0.95  # minimum fraction of the words of the shorter one of two formats of a file
FIRST_LINES = 3  # that may name a version
FIRST_CHARS = 300
MARK_KINDS: tuple[MarkKind, ...] = get_args(MarkKind)
_OF_DIFFERENCE: Mapping[str, MarkKind] = MappingProxyType({"negation": "negated", "sign": "symbol"})
_VERSION = re.compile(
    r"\d+(?:\.\d+)+[a-z]?\d*|(?<=v)\d+|(?:(?<=version )|(?<=release )|(?<=edition )|(?<=licence )"
    r"|(?<=license )|(?<=revision )|(?<=fassung )|(?<=versión )|(?<=版本)|(?<=버전 ))\d+",
    re.IGNORECASE,
)
_UNIT = re.compile(r"[^\W\d_]+")


class TextDifferences(NamedTuple):
    """The marks of two documents, each kind once and the most serious first, and the facts that
    differ.
    """

    marks: tuple[Mark, ...]
    facts: tuple[Difference, ...]


def explain(
    a: TextOperand,
    b: TextOperand,
    *,
    paths: tuple[str, str] = ("", ""),
    rearranged: bool = False,
    embedded: tuple[str, str] = ("", ""),
) -> TextDifferences:
    """Return in what two documents differ, by one alignment of their words; equal texts differ in
    the files in their documents alone (`embedded`, as rows keep them).

    >>> from indexer.comparing.measures import ComparedText
    >>> from indexer.recipe import DEFAULT
    >>> a = ComparedText("The tenant may assign this lease within 14 days.", DEFAULT)
    >>> b = ComparedText("The tenant may not assign this lease within 24 hours.", DEFAULT)
    >>> for mark in explain(a, b).marks:
    ...     print(mark.kind, mark.a, mark.b)
    negated None not
    deadline 14 days 24 hours
    """
    other_files = _of_embedded(*embedded)
    if a.text == b.text:
        return TextDifferences(other_files, ())
    pair = Comparison(a, b)
    differing = differences(a.facts, b.facts, pair.runs)
    added = list(added_sentences(pair))
    found: dict[MarkKind, Mark] = {}
    for mark in chain(
        other_files,
        _whole(pair, paths, rearranged),
        _of_gaps(pair, added),
        _of_first_lines(a, b),
        _of_facts(_without_added(differing, added)),
    ):
        found.setdefault(mark.kind, mark)
    return TextDifferences(tuple(found[kind] for kind in MARK_KINDS if kind in found), differing)


def _of_embedded(a: str, b: str) -> tuple[Mark, ...]:
    """Return the mark of documents with other files in them: the names of what one alone has; of
    columns only where both have some.

    >>> from indexer.model import EmbeddedFile, pack_embedded
    >>> files = [EmbeddedFile("attachment", name, name) for name in ("a.png", "b.png")]
    >>> _of_embedded(pack_embedded(files[:1]), pack_embedded(files[1:]))
    (Mark(kind='embedded', a='a.png', b='b.png', count=1),)
    """
    if a == b:
        return ()
    digests = EmbeddedDigests.of(a), EmbeddedDigests.of(b)
    if digests[0].allow(digests[1]):
        return ()
    left, right = unpack_embedded(a), unpack_embedded(b)
    common = {file.sha256 for file in left} & {file.sha256 for file in right}
    if not all(files.columns for files in digests):
        common |= {files.columns for files in digests}
    first = [file.name for file in left if file.sha256 not in common]
    second = [file.name for file in right if file.sha256 not in common]
    if not first and not second and left and right:
        first, second = ["the same"], ["in another order, position or name"]
    count = max(1, len(first), len(second))
    return (Mark("embedded", next(iter(first), None), next(iter(second), None), count),)


def _of_facts(differing: Sequence[Difference]) -> Iterator[Mark]:
    """Yield a mark for each kind of facts, with the first of them and their number."""
    kinds: dict[MarkKind, list[Difference]] = {}
    for difference in differing:
        kind = _kind_of(difference)
        kinds.setdefault(kind, []).append(difference)
    for kind, members in kinds.items():
        yield Mark(kind, members[0].a, members[0].b, len(members))


def _without_added(
    differing: Sequence[Difference], added: Sequence[AddedSentence]
) -> list[Difference]:
    """Return facts without negations of added sentences and duties, or "true", in one text."""
    texts = " ".join(text for pair in added for text in pair if text)
    denies_twice = any(DUTY.search(f"{fact.a} {fact.b}") for fact in differing)
    words = {*texts.casefold().split(), *ANSWERS, *("なせ" if denies_twice else "")}

    def is_added(fact: Difference) -> bool:
        is_single = fact.kind == "negation" and not (fact.a and fact.b)
        return is_single and (fact.a or fact.b or "").casefold() in words

    return [fact for fact in differing if not is_added(fact)]


def _kind_of(difference: Difference) -> MarkKind:
    units = _UNIT.findall(f"{difference.a} {difference.b}".casefold())
    if difference.kind == "number" and not TIME_UNITS.isdisjoint(units):
        return "deadline"
    kind: MarkKind = _OF_DIFFERENCE.get(difference.kind, difference.kind)  # type: ignore[arg-type]
    return kind


def _whole(pair: Comparison, paths: tuple[str, str], rearranged: bool) -> Iterator[Mark]:
    if is_form(pair):
        yield Mark("form")
    elif has_other_message(pair):
        yield Mark("message")
    if rearranged:
        yield Mark("rearranged")
    languages = two_languages(pair.texts[0].words, pair.texts[1].words)
    if languages.times:
        yield Mark("language", languages.a, languages.b, languages.times)
    lengths = sorted(len(text.spelled) for text in pair.texts)
    in_order = pair.aligned.in_order
    if in_order >= CONTAINED * lengths[0] and lengths[1] >= MIN_GROWTH * lengths[0] > 0:
        yield Mark("grown")
    names = (basename(path.replace("\\", "/")) for path in paths)
    (stem_a, suffix_a), (stem_b, suffix_b) = map(splitext, names)
    if stem_a and stem_a == stem_b and suffix_a != suffix_b and in_order >= SAME_FILE * lengths[0]:
        yield Mark("format", suffix_a, suffix_b)


def _of_gaps(pair: Comparison, added: Sequence[AddedSentence]) -> Iterator[Mark]:
    if words_negated := negated(pair):
        yield Mark("negated", words_negated[0] or None, words_negated[1] or None)
    if parties := exchanged(pair):
        yield Mark("parties_exchanged", *parties)
    if accents := other_accents(pair.aligned):
        yield Mark("accents", accents.a, accents.b, accents.times)
    if added:
        yield Mark("clause_added", *added[0], len(added))


def _of_first_lines(a: TextOperand, b: TextOperand) -> Iterator[Mark]:
    """Yield the mark of first lines that name different versions and no other numbers."""
    left, right = (_first_numbers(text.text) for text in (a, b))
    if left and right and left[0] != right[0] and left[1:] == right[1:]:
        yield Mark("version", left[0], right[0])


def _first_numbers(text: str) -> list[str]:
    lines = [line for line in text[:FIRST_CHARS].splitlines() if line.strip()]
    return _VERSION.findall("\n".join(lines[:FIRST_LINES]))


# The differences between near duplicates, in addition to their similarity, and their sentences.


class PairDifferences(Protocol):
    """The differences between two documents, of which `Reasons` and `indexer.model.Match` are."""

    @property
    def same(self) -> Sameness | None:
        """The common traits of copies, None for others."""

    @property
    def rearranged(self) -> bool:
        """True if nearly all passages are shared, in another order."""

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The kinds of differences that a reader must know, the most serious first."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The facts that differ."""

    @property
    def new_words(self) -> NewWords:
        """The words that only one has."""


@dataclass(frozen=True, slots=True)
class Reasons:
    """The differences between two documents, as `PairDifferences` says."""

    same: Sameness | None
    rearranged: bool
    marks: tuple[Mark, ...]
    differences: tuple[Difference, ...]
    new_words: NewWords


def format_reasons(reasons: PairDifferences) -> list[str]:
    """Return sentences: the marks, what copies have in common, whether the order is another, the
    facts that differ, and the new words of texts that are no copies.
    """
    sentences = [f"marks: {format_marks(reasons.marks)}"] if reasons.marks else []
    if reasons.same:
        sentences.append(format_sameness(reasons.same))
    if reasons.rearranged:
        sentences.append("rearranged: nearly all passages are shared, in another order")
    sentences += format_differences(reasons.differences)
    return sentences if reasons.same else [*sentences, format_new_words(reasons.new_words)]


def reasons_of(
    rows: tuple[Row, Row], texts: tuple[ComparedText, ComparedText], new_words: NewWords
) -> Reasons:
    """Return what differs between two documents, whose new words are known.

    They are called rearranged below `REVIEW` of their words in order.
    """
    a, b = texts
    is_copy = copy_key(rows[0]) == copy_key(rows[1]) and have_same_symbols(a.text, b.text)
    in_order = lcs(a.words, b.words)
    overlap = 0.0 if in_order >= REVIEW else align(a.words, b.words).overlap
    rearranged = is_rearranged(overlap, in_order, REVIEW)
    found = explain(
        a,
        b,
        paths=(rows[0].path, rows[1].path),
        rearranged=rearranged,
        embedded=(rows[0].embedded, rows[1].embedded),
    )
    return Reasons(
        sameness(*rows) if is_copy else None,
        rearranged,
        found.marks,
        found.facts,
        new_words,
    )
