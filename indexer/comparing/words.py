"""The words of a text with their offsets: as measures compare them, and as they are written.

`normal_words` are compared by measures: runs of letters, marks and digits of the normalised text.
`words` are as they are written, and state facts: `1,000` is one number.

A word of `words` is a run of letters, marks and numbers. A sign between two of them may belong to
it: a hyphen, an apostrophe, a full stop, a middle dot, an underscore; between two digits also a
comma, colon or slash. In scripts written without spaces each letter, with the marks that follow it,
is a word of its own. A word that a hyphen breaks at the end of a line is one.

Words are equal when their folded forms are: normalised by `default_v1` (case, compatibility
forms, characters without width), with ß as ss, typographic apostrophes made plain and hyphens
between letters left out, so that `E‑Mail` equals `email`. Two texts are aligned as strings whose
characters are words, by rapidfuzz.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import repeat
from typing import Any
from unicodedata import is_normalized

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq, MatchingBlock

from indexer.fingerprinting.normalise import (
    ASCII_HYPHEN,
    BLANK,
    DIGIT,
    IGNORABLE,
    LINE_END_HYPHEN,
    MARK,
    NONSTARTER,
    SEPARATOR,
    SPACE,
    UNASSIGNED,
    UNSPACED,
    WORDLESS,
    categories,
    codepoint_classes,
    decode,
    encode,
    first_accent,
    fold,
    nfkc,
    normalise,
    to_lower,
    without_accents,
    without_ignorables,
    word_starts,
)

# Words and runs of words as integers, equal exactly where the words are.

_MAX_SPAN = 1 << 62
_SURROGATES = range(0xD800, 0xE000)
MAX_CODES = 0x110000 - len(_SURROGATES)
EXACT_CELLS = 1 << 32  # pairs of words that are compared exactly, as a number only


@dataclass(frozen=True)
class Words:
    """The words of one text in order.

    `vocabulary`: the distinct folded words, by first appearance. (n,) int64 each: `numbers`,
    the position of each word in the vocabulary; `starts` and `ends`, offsets [start, end) into the
    text.
    """

    vocabulary: tuple[str, ...]
    numbers: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def numbering(self) -> dict[str, int]:
        """The number of each word of the vocabulary, in its order."""
        return {word: number for number, word in enumerate(self.vocabulary)}

    @cached_property
    def function_words(self) -> Counter[str]:
        """The occurrences of each function word of a language."""
        known = list(LANGUAGES_BY_WORD.keys() & self.numbering.keys())
        counts = np.bincount(self.numbers, minlength=len(self.vocabulary))
        times = counts[[self.numbering[word] for word in known]].tolist()
        return Counter(dict(zip(known, times, strict=True)))

    @cached_property
    def language(self) -> str:
        """The language that the most of the function words are of; empty without any."""
        counts = words_by_language(self.function_words)
        return max(sorted(counts), key=counts.__getitem__, default="")

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """The position where each word of the vocabulary first stands: (vocabulary,)."""
        return np.unique(self.numbers, return_index=True)[1]

    @cached_property
    def folded(self) -> list[str]:
        """The folded form of every word."""
        return [self.vocabulary[number] for number in self.numbers.tolist()]

    def folded_in(self, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[str, ...]]:
        """Yield the folded words [start, end) of each span."""
        folded = self.folded
        for start, end in spans:
            yield tuple(folded[start:end])

    def word(self, position: int) -> str:
        """Return the folded form of one word."""
        return self.vocabulary[int(self.numbers[position])]

    @cached_property
    def has_accents(self) -> bool:
        """True if a word has an accent."""
        text = " ".join(self.vocabulary)
        return not text.isascii() and first_accent(text) != ""

    @cached_property
    def plain(self) -> Words:
        """The same words without accents."""
        if all(map(str.isascii, self.vocabulary)):
            return self
        numbers, vocabulary = number_strings(list(map(without_accents, self.vocabulary)))
        return Words(tuple(vocabulary), numbers[self.numbers], self.starts, self.ends)


def words_by_language(function_words: Mapping[str, int]) -> Counter[str]:
    """Return how many of these function words are of each language; a word may be of several."""
    counts = Counter[str]()
    for word, times in function_words.items():
        for language in LANGUAGES_BY_WORD[word]:
            counts[language] += times
    return counts


def number_strings(items: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Number strings from 0 by first appearance, and return the distinct ones in that order.

    >>> number_strings(["to", "be", "to"])
    (array([0, 1, 0]), ['to', 'be'])
    """
    positions = {item: index for index, item in enumerate(dict.fromkeys(items))}
    numbers = np.fromiter(map(positions.__getitem__, items), dtype=np.int64, count=len(items))
    return numbers, list(positions)


def shared_numbers(a: Words, b: Words) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the words of two texts as numbers from 0, the same for the same word in both.

    (words,) for either text; empty for a text without words. The numbers of a are its own.

    >>> from indexer.comparing.words import words
    >>> [numbers.tolist() for numbers in shared_numbers(words("to be"), words("be not"))]
    [[0, 1], [1, 2]]
    """
    translation = translate_numbers(a, b)
    is_new = translation < 0
    translation[is_new] = len(a.vocabulary) + np.arange(np.count_nonzero(is_new))
    return a.numbers, translation[b.numbers]


def translate_numbers(a: Words, b: Words) -> NDArray[np.int64]:
    """Return the number that each word of b's vocabulary has in a; -1 where a lacks it."""
    numbers = map(a.numbering.get, b.vocabulary, repeat(-1))
    return np.fromiter(numbers, np.int64, len(b.vocabulary))


def is_lesser(a: Words, b: Words) -> bool:
    """Return whether a has fewer words, or as many and the lesser one where they first differ."""
    if len(a) != len(b):
        return len(a) < len(b)
    left, right = shared_numbers(a, b)
    different = np.flatnonzero(left != right)[:1]
    return any(a.word(position) < b.word(position) for position in different.tolist())


def number_runs(
    a: NDArray[np.int64], b: NDArray[np.int64], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number every run of `width` consecutive words from 0: (n - width + 1,) each.

    Two runs have the same number exactly when they are equal; a text shorter than `width` has none.
    O(n log n) for n words of both texts together.

    >>> [runs.tolist() for runs in number_runs(np.array([7, 8, 9]), np.array([8, 9]), 2)]
    [[0, 1], [1]]
    """
    count_a = max(0, len(a) - width + 1)
    count_b = max(0, len(b) - width + 1)
    base = 1 + max(int(a.max(initial=0)), int(b.max(initial=0)))
    runs = np.concatenate([a[:count_a], b[:count_b]])
    span = base
    for position in range(1, width):
        if span * base > _MAX_SPAN:
            distinct, runs = np.unique(runs, return_inverse=True)
            span = len(distinct)
        runs = runs * base
        runs += np.concatenate([a[position : position + count_a], b[position : position + count_b]])
        span *= base
    runs = np.unique(runs, return_inverse=True)[1]
    return runs[:count_a], runs[count_a:]


def as_numbers(codes: str) -> NDArray[np.int64]:
    """Return the numbers of which `as_string` made a string: (n,).

    >>> as_numbers(str(as_string(np.array([0, 60000, 2])))).tolist()
    [0, 60000, 2]
    """
    numbers = np.frombuffer(codes.encode("utf-32-le"), dtype="<u4").astype(np.int64)
    numbers[numbers >= _SURROGATES.stop] -= len(_SURROGATES)
    return numbers


def as_string(numbers: NDArray[np.int64]) -> str | list[int]:
    """Return numbers as the code points of a string, surrogates left out.

    A list of the numbers themselves where there are more of them than code points.
    """
    if int(numbers.max(initial=0)) >= MAX_CODES:
        listed: list[int] = numbers.tolist()
        return listed
    codes = numbers + len(_SURROGATES) * (numbers >= _SURROGATES.start)
    return codes.astype("<u4").tobytes().decode("utf-32-le")


# Longest common subsequences (LCS) of words as the characters of a string.


def lcs_of_strings(a: str | list[int], b: str | list[int], minimum: int = 0) -> int:
    """Return the length of the LCS of two strings exactly; 0 when it is less than `minimum`."""
    # one less: rapidfuzz 3.14 may give 0 for a pair whose LCS is exactly the cut-off
    length = LCSseq.similarity(a, b, score_cutoff=max(minimum - 1, 0))
    return length if length >= minimum else 0


def matching_blocks(a: str | list[Any], b: str | list[Any]) -> list[MatchingBlock]:
    """Return an LCS of two strings or lists as runs in order, the last of which is empty."""
    return LCSseq.editops(a, b).as_matching_blocks()


# Frequent function words by language: articles, prepositions, auxiliaries, pronouns.

_LISTS = """
ar: أن أو إذا إلى التي على عن في كل لا ما مع من هذا هذه هو
bg: ако да за или като които на не от по са само се този че
cs: by do jako je jsou které který na nebo není po pokud pro se také tento to za že
da: af at den denne der det eller en er et for fra har hvis ikke kan med og om på skal som til
    vil
de: als am an auch auf aus bei das dem den der des die durch ein eine einem einen einer er es
    für im in ist man mit nach nicht oder sich sie sind so um und von war wenn werden wie wird
    zu
el: ένα αν από για δεν είναι και με να που στο τα την της το του των
en: all an and any are as at be but by can do for from has have he if in is it may me must no
    not of on or should so that the this to was we when which will with you your
es: al como con de del el en es este la las le lo los más no para por que se si sin son su sus
    un una
et: aga ei ja kes kui mis mitte ning nii oma on peab see või
fa: آن از است این با برای به در را شود می که یا یک
fi: ei että ja joka jos kuin kun mutta myös niin ole on ovat se sen tai tämä vain voi
fr: au aux avec ce ces cette dans de des du elle en est et il la le les leur mais ne nous on ou
    par pas plus pour que qui se si son sont sur un une vous être
he: או אל אם את גם הוא היא זה יש כי כל לא לפי על עם של
hi: एक और का की के को नहीं पर में यह या लिए से है हैं
hr: biti će do i ili iz je koja koje koji na nije od po se su što u za
hu: az azt csak egy el ez ha hogy is kell ki lehet meg mint nem vagy van és
id: adalah akan atau dalam dan dapat dari dengan di ini itu jika ke oleh pada tidak untuk yang
it: ad al alla che come con da dei del della delle di gli il in la le lo ma nel nella non per
    più se si sono su un una
ja: い が さ し す た で と に の は も る れ を
km: ក ត ន ប ម រ ស ា េ
ko: 경우 그 는 대한 또는 를 및 수 에 은 을 의 이 있는 있습니다
lo: ກ ງ ນ ມ ລ ວ າ ເ ໃ ໄ
lt: apie ar arba bei gali iki ir iš į kad kaip nuo pagal per su už yra
lv: ar arī ir ja kas no par pēc pie tiek un uz vai var
my: က င တ န မ ရ သ
nb: at av de den denne det eller en er et for fra har hvis ikke kan med og om på skal som til
    vil
nl: aan al als bij dat de deze die dit door een en er het in is kan met naar niet of om ook op
    te tot uit van voor worden wordt ze zijn
pl: aby być dla do ich jako jest jeśli które lub na nie od oraz po przez się to tylko za że
pt: ao as com como da das de do dos em mais na nas no nos não os ou para pela pelo por que se
    sem ser são um uma
ro: acest care ce cu dacă de din este fi la nu pe pentru prin sau se sunt să un va în și
ru: будет для его если из или как на не но от по при то только что это
sk: ak ako alebo do je ktoré ktorý na nie po pre sa sú tento tiež to za že
sl: ali če da in iz je ki kot na ob od po pri se so v za
sr: ако да за или као који на не ово од са само се су је
sv: att av de den denna det detta du eller en er ett från för har inte kan med och om på ska som
    till vid är
th: ก ง น ม ร า อ เ ใ ไ ที่
tr: bir bu da daha de değil eğer gibi her ile ise için ne olan olarak sonra ve veya çok
uk: або буде від для до за його лише на не по при під та те це що як якщо
vi: bị cho các có của khi không là một như những này trong từ và với đã được để
zh: 不 个 为 了 以 個 和 在 如 将 將 或 於 是 有 為 用 的 與 被
"""


def _languages_by_word(lists: str) -> Mapping[str, tuple[str, ...]]:
    """Return the languages of each word, from lines `LANGUAGE: WORD ...` that blanks continue."""
    languages: dict[str, tuple[str, ...]] = {}
    for line in lists.strip().replace("\n ", " ").splitlines():
        language, _, listed = line.partition(":")
        for word in listed.split():
            languages[word] = (*languages.get(word, ()), language)
    return languages


LANGUAGES_BY_WORD = _languages_by_word(_LISTS)
"""The languages, as ISO 639-1 codes, in whose list a word is."""


# Words that are written in two ways, or misread, but are the same.

_MISREAD = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("ii", "u"), ("li", "h"), ("i", "l"))
_MISREAD_DIGITS = str.maketrans("105", "los")
_SPELLINGS = tuple(
    (re.compile(rf"(?<=[a-z]{{2}}){british}"), american)
    for british, american in (
        ("our", "or"), ("ys(?=e|ing)", "yz"), (r"is(?=e|ing|ation)", "iz"), (r"tre\b", "ter"),
        (r"ogue\b", "og"), (r"amme\b", "am"), ("ence", "ense"),
    )
)  # fmt: skip
_DOUBLED = re.compile(r"(.)\1")
_MIN_SPELLED = 4  # letters of a word that has two spellings


def are_variants(a: Sequence[str], b: Sequence[str]) -> bool:
    """Return whether folded words are others misread, spelled in another way or joined.

    >>> [are_variants(a.split(), b.split()) for a, b in (
    ...     ("pattern", "pattem"), ("colour", "color"), ("travelled", "traveled"), ("12", "l2"),
    ...     ("no index", "noindex"), ("fähre", "fahre"), ("21", "11"), ("lessor", "lessee"))]
    [True, True, True, True, True, True, False, False]
    """
    return "".join(a) == "".join(b) or (len(a) == len(b) and all(map(_is_variant, a, b)))


def _is_variant(a: str, b: str) -> bool:
    if a.isdecimal() and b.isdecimal():
        return a == b
    forms = (without_accents, _as_misread, _in_one_spelling)
    return any(form(a) == form(b) for form in forms)


def _as_misread(word: str) -> str:
    word = word.translate(_MISREAD_DIGITS)
    for read, printed in _MISREAD:
        word = word.replace(read, printed)
    return word


def _in_one_spelling(word: str) -> str:
    if len(word) < _MIN_SPELLED or not word.isalpha():
        return word
    for british, american in _SPELLINGS:
        word = british.sub(american, word)
    return _DOUBLED.sub(r"\1", word)


# The words that measures compare, with their offsets in the original text.

try:
    from indexer import _kernel
except ImportError:
    _kernel = None  # type: ignore[assignment]


def runs_by_kernel(a: Words, b: Words, max_cells: int) -> list[tuple[int, int, int]] | None:
    """Return the `indexer.comparing.alignment.common_runs`; None where the kernel has none."""
    if not hasattr(_kernel, "common_runs"):
        return None
    left, right = a.numbers, translate_numbers(a, b)[b.numbers]
    is_swapped = len(b) < len(a)
    if len(a) == len(b):
        different = np.flatnonzero(left != right)[:1].tolist()
        is_swapped = any(b.word(position) < a.word(position) for position in different)
    if not is_swapped:
        return _kernel.common_runs(left.tobytes(), right.tobytes(), max_cells)
    runs = _kernel.common_runs(right.tobytes(), left.tobytes(), max_cells)
    return runs and [(run_a, run_b, words) for run_b, run_a, words in runs]


_CHANGING = ((0x80, 0x20000), (0x2F800, 0x2FA20))  # outside, NFKC changes no single character
_JAMO = ((0x1160, 0x11FF), (0x3131, 0x318E), (0xFFA0, 0xFFDC))  # Hangul letters, which compose


def normal_words(text: str) -> Words:
    """Return the words of any `str`; none of a text without letters, marks and digits.

    A character that stands for several words (½) is the position of each of them. Surrogates are
    separators.

    >>> normal_words("Don’t pay 1,000 re-\\nplies, STRASSE/Straße: 近似").folded
    ['don', 't', 'pay', '1', '000', 'replies', 'strasse', 'strasse', '近', '似']
    """
    if text.isascii() and not ASCII_HYPHEN.search(text):
        return _ascii_words(text)
    codes, starts, ends = _composed(text)
    codes, positions = fold(codes)
    first = word_starts(codes)
    last = np.append(first[1:], len(codes))[: len(first)]
    last = last - (codes[last - 1] == SPACE)
    normal = decode(codes)
    spans = zip(first.tolist(), last.tolist(), strict=True)
    numbers, vocabulary = number_strings([normal[start:end] for start, end in spans])
    return Words(tuple(vocabulary), numbers, starts[positions[first]], ends[positions[last - 1]])


def folded_words(text: str) -> list[str]:
    """Return the `folded` of `normal_words` in a small part of the time, by the kernel.

    >>> folded_words("Don't pay 1,000: 近似")
    ['don', 't', 'pay', '1', '000', '近', '似']
    """
    if _kernel is not None and hasattr(_kernel, "spaced_words"):
        return _kernel.spaced_words(text).split()
    return normal_words(text).folded


def _ascii_words(text: str) -> Words:
    """Return the words of ASCII without a hyphen at the end of a line: a third of the time."""
    if hasattr(_kernel, "ascii_words"):
        return _by_kernel(text, is_joined=False)
    folded = text.encode().translate(_folded_ascii())
    in_word = np.zeros(len(folded) + 2, dtype=np.bool_)
    in_word[1:-1] = np.frombuffer(folded, dtype=np.uint8) != SPACE
    edges = np.flatnonzero(in_word[1:] != in_word[:-1])
    numbers, vocabulary = number_strings(folded.decode().split())
    return Words(tuple(vocabulary), numbers, edges[::2], edges[1::2])


def _by_kernel(text: str, *, is_joined: bool) -> Words:
    vocabulary, *arrays = _kernel.ascii_words(text, is_joined)
    of_words = (np.frombuffer(array, np.uint32).astype(np.int64) for array in arrays)
    return Words(tuple(vocabulary), *of_words)


@cache
def _folded_ascii() -> bytes:
    """Return the lower case of every letter and digit, and a blank for the rest, by byte."""
    codes = to_lower()[:256].astype(np.uint8)
    codes[codepoint_classes()[:256] & SEPARATOR != 0] = SPACE
    return codes.tobytes()


def _composed(text: str) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """Return the code points of a text after the first three steps of the normalisation.

    And the offsets [start, end) in the text of the characters that each comes from; (n,) each.
    """
    visible = text if text.isascii() else without_ignorables(text)
    if len(visible) == len(text):
        positions = np.arange(len(text))
    else:
        bits = codepoint_classes()[encode(text)]
        positions = np.flatnonzero(bits & IGNORABLE == 0)
    spans = [match.span() for match in LINE_END_HYPHEN.finditer(visible)]
    if spans:
        joins = np.zeros(len(visible) + 1, dtype=np.int64)
        for start, end in spans:
            joins[start] += 1
            joins[end] -= 1
        positions = positions[np.cumsum(joins[:-1]) == 0]
        visible = LINE_END_HYPHEN.sub("", visible)
    normal = nfkc(visible)
    codes = encode(normal)
    if normal == visible:
        return codes, positions, positions + 1
    first, last = _sources(visible)
    return codes, positions[first], positions[last] + 1


def _sources(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last character that each code point of the NFKC comes from.

    (n,) int64 each, as offsets in the text. The text is cut into stretches that NFKC changes one by
    one; a run of characters that it leaves alone is one.
    """
    codes = encode(text)
    composes = _composes()[codes]
    stays = _stays()[codes]
    inner = stays[1:] & stays[:-1] & ~np.append(composes[2:], False)
    edges = np.concatenate(([0], np.flatnonzero(~inner & ~composes[1:]) + 1, [len(text)]))
    starts, ends = edges[:-1], edges[1:]
    sizes = ends - starts
    is_same = np.logical_and.reduceat(stays, starts)
    for position in np.flatnonzero(~is_same).tolist():
        sizes[position], is_same[position] = _composed_size(text[starts[position] : ends[position]])
    inside = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    alone = inside * np.repeat(is_same, sizes)
    last = np.where(is_same, starts, ends - 1)
    return np.repeat(starts, sizes) + alone, np.repeat(last, sizes) + alone


@lru_cache(4096)
def _composed_size(stretch: str) -> tuple[int, bool]:
    """Return the length of the NFKC of a stretch, and whether it is the stretch itself."""
    composed = nfkc(stretch)
    return len(composed), composed == stretch


@cache
def _composes() -> NDArray[np.bool_]:
    """Flag code points that NFKC may compose with the one before them, (0x110000,) bool."""
    flags: NDArray[np.bool_] = (codepoint_classes() & NONSTARTER != 0) | (categories() & MARK != 0)
    for start, end in _JAMO:
        flags[start : end + 1] = True
    return flags


@cache
def _stays() -> NDArray[np.bool_]:
    """Flag the code points that NFKC leaves alone where nothing is composed, (0x110000,) bool."""
    flags = ~_composes()
    for start, end in _CHANGING:
        changed = [code for code in range(start, end) if not is_normalized("NFKC", chr(code))]
        flags[changed] = False
    return flags


_PART, _DIGIT, _JOINER, _DIGIT_JOINER, _ALONE, _MARK = (1 << bit for bit in range(6))
_JOINERS = "-\u2010\u2011'\u2019.\u00b7_"
_DIGIT_JOINERS = ",:/"
_SEPARATOR = "\U0010ffff"  # a noncharacter: never part of a word, untouched by normalisation
_ASCII_SEPARATOR = "!"  # never part of a word either
_LINE_END = re.compile(r"[-\u00ad\u2010][ \t]*(?:\r\n?|\n)[ \t]*")
_HYPHEN = re.compile(r"[-\u2010](?<=[^\W\d_].)(?=[^\W\d_])")  # a set is found soonest


def words(text: str) -> Words:
    """Return the words of any `str`; lone surrogates and punctuation are in none.

    >>> words("Don’t e-mail: 1,000 re-\\nplies!").folded
    ["don't", 'email', '1,000', 'replies']
    """
    if text.isascii() and hasattr(_kernel, "ascii_words"):
        return _by_kernel(text, is_joined=True)
    starts, ends = _bounds(text)
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    numbers, distinct = number_strings([text[start:end] for start, end in spans])
    folds, vocabulary = number_strings(_fold(distinct))
    return Words(tuple(vocabulary), folds[numbers], starts, ends)


def _fold(spellings: list[str]) -> list[str]:
    """Return the folded forms of many distinct words at once.

    Words of ASCII are normalised together without a character that normalisation would have to
    spare.
    """
    plain = [spelling for spelling in spellings if spelling.isascii()]
    if len(plain) == len(spellings):
        return _fold_joined(plain, _ASCII_SEPARATOR)
    others = [spelling for spelling in spellings if not spelling.isascii()]
    folds = [*_fold_joined(plain, _ASCII_SEPARATOR), *_fold_joined(others, _SEPARATOR)]
    by_spelling = dict(zip([*plain, *others], folds, strict=True))
    return [by_spelling[spelling] for spelling in spellings]


def _fold_joined(spellings: list[str], separator: str) -> list[str]:
    if not spellings:
        return []
    joined = normalise(separator.join(spellings)).replace("\u2019", "'").replace("ß", "ss")
    return _HYPHEN.sub("", joined).split(separator)


def _bounds(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the offsets [start, end) of every word, (n,) int64 each, ascending."""
    is_ascii = text.isascii()
    codes = np.frombuffer(text.encode(), np.uint8) if is_ascii else encode(text)
    kinds, positions = _kinds()[codes], np.arange(len(codes), dtype=np.int64)
    if not is_ascii:
        visible = codepoint_classes()[codes] & IGNORABLE == 0
        kinds, positions = kinds[visible], positions[visible]
    alone = kinds & _ALONE != 0
    marks = kinds & _MARK != 0
    syllable = alone if is_ascii else _with_marks(alone, marks)
    run = _add_joiners(kinds & _PART != 0, kinds, ~syllable)
    if _LINE_END.search(text):
        run |= _line_breaks(text, positions, run & ~syllable & (kinds & _DIGIT == 0))
    starts = run & (~_shift(run) | alone | (_shift(syllable) & ~marks))
    ends = run & ~np.concatenate((run[1:] & ~starts[1:], [False]))[: len(run)]
    return positions[starts], positions[ends] + 1


def _with_marks(alone: NDArray[np.bool_], marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Flag letters that stand alone, and the marks that follow each of them."""
    base = np.maximum.accumulate(np.where(marks, 0, np.arange(len(marks))))
    return alone[base]


def _add_joiners(
    run: NDArray[np.bool_], kinds: NDArray[np.uint8], spaced: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Add to `run` the joiners between the right neighbours.

    None of these may be of a script without spaces.
    """
    digits = kinds & _DIGIT != 0
    characters = run & spaced
    run[1:-1] |= (kinds[1:-1] & _JOINER != 0) & characters[:-2] & characters[2:]
    run[1:-1] |= (kinds[1:-1] & _DIGIT_JOINER != 0) & digits[:-2] & digits[2:]
    return run


def _line_breaks(
    text: str, positions: NDArray[np.int64], characters: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Flag the visible characters from a hyphen at the end of a line to the next line's first.

    Only between letters.
    """
    spans = [match.span() for match in _LINE_END.finditer(text)]
    first, last = np.searchsorted(positions, np.array(spans, dtype=np.int64).reshape(-1, 2)).T
    inner = (first > 0) & (last < len(positions))
    first, last = first[inner], last[inner]
    broken = characters[first - 1] & characters[last]
    turns = np.zeros(len(positions) + 1, dtype=np.int64)
    np.add.at(turns, first[broken], 1)
    np.add.at(turns, last[broken], -1)
    return np.cumsum(turns[:-1]) > 0


def _shift(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the flag of the character before each one; False for the first."""
    return np.concatenate(([False], flags[:-1]))[: len(flags)]


@cache
def _kinds() -> NDArray[np.uint8]:
    """Return the role of each code point in a word, by pinned tables, (0x110000,) uint8.

    The signs that are numbers without being digits (such as ½) alone come from Python, of those
    that Unicode 13.0 assigns: none of these ever changes.
    """
    classes = codepoint_classes()
    hidden = classes & (BLANK | IGNORABLE) != 0
    wordless = classes & WORDLESS != 0
    unspaced = classes & UNSPACED != 0
    kinds = np.where(hidden | wordless, 0, _PART).astype(np.uint8)
    assigned = classes & UNASSIGNED == 0
    symbols = np.flatnonzero(wordless & ~hidden & assigned).astype(np.uint32)
    kinds[symbols[np.char.isnumeric(symbols.view("U1"))]] = _PART
    kinds[wordless & ~hidden & (categories() & DIGIT != 0)] |= _PART | _DIGIT
    marks = classes & NONSTARTER != 0
    marks[:0x2000] |= (unspaced & (categories() & MARK != 0))[:0x2000]
    kinds[marks] |= _MARK
    kinds[unspaced & ~marks & ~wordless & ~hidden] |= _ALONE
    for joiners, kind in ((_JOINERS, _JOINER), (_DIGIT_JOINERS, _DIGIT_JOINER)):
        kinds[[ord(joiner) for joiner in joiners]] |= kind
    kinds[ord(_SEPARATOR)] = 0
    return kinds


# Symbols between words that change the meaning: comparisons, "not", "about", and the like.

_TAG = re.compile(
    r"""</?[^\s<>]+(?:\s+[\w:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))*\s*/?>"""
    r"|<[^\W\d][\w .'-]*>"  # what is to be filled in, as in "<your name>"
)
_FACT_SIGN = re.compile(
    r"""(?<![<>=!~/?&|-])(?:
        (<>|[<>]=?|=<(?=[\s\d])|!==?)(?![<>=!?/]|-(?!\d))
        | (\+/-|\+-|[±×÷¬＜＞≦≧⩽⩾]|(?![\u2212\u2215\u2217-\u2219\u22c5])[\u2200-\u22ff])
        | (?:(?<=\s)(&&|\|\|)(?=\s))
        | (?<![\w.,)~/])(~)(?=\d)
        | (?<=[\s(,;{[|&])(!)(?=[^\W\d]|\()
        | (?<=[^\W_])(\+{1,2}|\#)(?=[\s.,;:!?)\]]|\Z)  # "C++", "C#", "18+"
    )""",
    re.VERBOSE,
)
_FIRST = re.compile(r"[<>=!+\#~&|±×÷¬＜＞≦≧⩽⩾\u2200-\u22ff]")  # characters that a sign begins with
_ASCII_FIRST = "<>=!+#~&|"
_SAME = {
    "<=": "≤", "=<": "≤", "≦": "≤", "⩽": "≤", ">=": "≥", "≧": "≥", "⩾": "≥", "＜": "<", "＞": ">",
    "!=": "≠", "!==": "≠", "<>": "≠", "+/-": "±", "+-": "±", "~": "≈", "∼": "≈", "≃": "≈",
    "≅": "≈", "!": "¬", "&&": "∧", "||": "∨",
}  # fmt: skip
ATTACHED = frozenset(("+", "++", "#"))  # signs that belong to the word before them
_QUOTING = re.compile(r"(?:\A|[\r\n])[ \t>|]*\Z")
_FROM_LINE = 40  # characters before a sign that are looked at for the beginning of its line


def find_symbols(text: str) -> Iterator[tuple[int, str]]:
    """Yield each sign with the position in the text where it ends.

    >>> list(find_symbols("> if 5 <= x <b>or</b> y->z != 3")), list(find_symbols("x ≤ 5"))
    ([(9, '≤'), (29, '≠')], [(3, '≤')])
    """
    matches = list(_matches(text))
    if not matches:
        return
    tags = [match.span() for match in _TAG.finditer(text)]
    inside = iter([*tags, (len(text), len(text))])
    start, end = next(inside)
    for match in matches:
        while end <= match.start():
            start, end = next(inside)
        if match.start() >= start:
            continue
        symbol = match.group()
        if symbol in (">", "!") and _QUOTING.search(
            text, max(0, match.start() - _FROM_LINE), match.start()
        ):
            continue
        yield match.end(), _SAME.get(symbol, symbol)


def _matches(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of `_SIGN`, which is tried only where a sign may begin."""
    if text.isascii() and not any(map(text.__contains__, _ASCII_FIRST)):
        return
    position = 0
    while first := _FIRST.search(text, position):
        match = _FACT_SIGN.match(text, first.start())
        if match:
            yield match
        position = match.end() if match else first.end()
