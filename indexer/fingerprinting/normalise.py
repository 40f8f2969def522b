"""Normalisation: the same text under every Python, every JVM and the Rust kernel.

`default_v1` in order:

1. a lone surrogate becomes U+FFFD; default-ignorable code points (zero width, soft hyphen, bidi
   controls) go;
2. a hyphen at the end of a line goes: one of U+002D U+2010 before optional blanks or tabs and a
   line feed or carriage return;
3. NFKC as of Unicode 13.0 (`nfkc`);
4. simple lower case as of Unicode 13.0, final sigma as sigma;
5. white space and control characters go.

White space goes because extractors disagree about it more than about anything else: line ends,
table cells, spaces between Chinese characters in PDF. Tables and reasons:
docs/decisions/001-normalisation.md.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from indexer.errors import MissingExtra
from indexer.fingerprinting import unicode13, unicode13_categories

# Code points by Unicode 13.0, whatever tables the running Python has.

END = 0x110000
MAX_NONSTARTERS = 30
# bits of `codepoint_classes()`
UNASSIGNED, NONSTARTER, IGNORABLE, BLANK, WORDLESS, UNSPACED, SEPARATOR = (
    1 << bit for bit in range(7)
)
_CLASSES = {
    UNASSIGNED: unicode13.UNASSIGNED,
    NONSTARTER: unicode13.NONSTARTER,
    IGNORABLE: unicode13.IGNORABLE,
    BLANK: unicode13.BLANK,
    WORDLESS: unicode13.WORDLESS,
    UNSPACED: unicode13.UNSPACED,
    SEPARATOR: unicode13.SEPARATOR,
}
# the beginnings, before a colon, of identifiers that are no words
IDENTIFIER_SCHEMES = (
    *("mailto", "urn", "doi", "arxiv", "isbn", "issn"),
    *("pmid", "pmcid", "hdl", "ark", "orcid"),
)
# bits of `categories()`
WORD, SPACING_MARK, LETTER, MARK, DIGIT, PUNCTUATION, KATAKANA = (1 << bit for bit in range(7))
_CATEGORIES = {
    WORD: unicode13_categories.WORD,
    SPACING_MARK: unicode13_categories.SPACING_MARK,
    LETTER: unicode13_categories.LETTER,
    MARK: unicode13_categories.MARK,
    DIGIT: unicode13_categories.DIGIT,
    PUNCTUATION: unicode13_categories.PUNCTUATION,
    KATAKANA: unicode13_categories.KATAKANA,
}


def ranges(table: str) -> Iterator[tuple[int, int]]:
    """Yield the inclusive ranges of a table.

    >>> list(ranges("41-43 5F"))
    [(65, 67), (95, 95)]
    """
    for word in table.split():
        first, _, last = word.partition("-")
        yield int(first, 16), int(last or first, 16)


def class_ranges(bit: int) -> Iterator[tuple[int, int]]:
    """Yield the inclusive ranges of code points in the class of this bit of `codepoint_classes`.

    >>> next(class_ranges(UNSPACED))
    (3584, 3839)
    """
    return ranges(_CLASSES[bit])


def category_ranges(bit: int) -> Iterator[tuple[int, int]]:
    """Yield the inclusive ranges of code points in the categories of this bit of `categories`."""
    return ranges(_CATEGORIES[bit])


@cache
def codepoint_classes() -> NDArray[np.uint8]:
    """Return the class bits of every code point, (0x110000,) uint8."""
    return _bits(_CLASSES)


@cache
def categories() -> NDArray[np.uint8]:
    """Return the category bits of every code point, (0x110000,) uint8.

    >>> letter, connector = categories()[ord("é")], categories()[ord("_")]
    >>> bool(letter & LETTER), bool(connector & LETTER), bool(connector & WORD)
    (True, False, True)
    """
    return _bits(_CATEGORIES)


def _bits(tables: Mapping[int, str]) -> NDArray[np.uint8]:
    """Return the bits of the tables that hold each code point, (0x110000,) uint8; tables by bit."""
    bits = np.zeros(END, dtype=np.uint8)
    for bit, table in tables.items():
        for first, last in ranges(table):
            bits[first : last + 1] |= bit
    return bits


@cache
def character_class(bits: int, spaced: bool | None = None) -> str:
    """Return the bracket expression, for `re`, of the code points in any of these categories.

    With `spaced`, only of scripts with (True) or without (False) spaces between words.

    >>> import re
    >>> re.findall(character_class(LETTER), "a1_é")
    ['a', 'é']
    """
    member = categories() & bits != 0
    if spaced is not None:
        member &= (codepoint_classes() & UNSPACED == 0) == spaced
    edges = np.flatnonzero(np.diff(member.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    return "[" + "".join(f"\\U{first:08x}-\\U{end - 1:08x}" for first, end in edges.tolist()) + "]"


@cache
def to_lower() -> NDArray[np.uint32]:
    """Return the lower-case code point of every code point, or itself, (0x110000,) uint32."""
    mapped = np.arange(END, dtype=np.uint32)
    for word in unicode13.LOWER.split():
        span, _, move = word.partition("/")
        first, last = (int(part, 16) for part in span.split("-"))
        step, delta = int(move[0]), int(move[1:])
        mapped[first : last + 1 : step] += np.uint32(delta % (1 << 32))
    return mapped


def encode(text: str) -> NDArray[np.uint32]:
    """Return the code points of a text, (n,) uint32; a lone surrogate becomes U+FFFD.

    >>> [hex(code) for code in encode("a\\ud800")]
    ['0x61', '0xfffd']
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32)
    codes[(codes >= 0xD800) & (codes < 0xE000)] = 0xFFFD
    return codes


def decode(codes: NDArray[np.uint32]) -> str:
    """Return the text of code points, (n,); the inverse of `encode` but for surrogates."""
    return codes.astype("<u4").tobytes().decode("utf-32-le")


def without_ignorables(text: str) -> str:
    """Return a text without default-ignorable characters.

    >>> without_ignorables("soft\\u00adly")
    'softly'
    """
    codes = encode(text)
    return decode(codes[codepoint_classes()[codes] & IGNORABLE == 0])


def nfkc(text: str) -> str:
    """Return the NFKC of a text as of Unicode 13.0, whatever Python runs.

    A code point that 13.0 does not assign passes through unchanged and separates. So does every
    30th consecutive non-starter, which bounds the work on hostile text (compare UAX #15,
    stream-safe text).
    """
    return text if text.isascii() else "".join(_nfkc_pieces(text))


def _nfkc_pieces(text: str) -> Iterator[str]:
    """Yield the NFKC of every piece between barriers."""
    bits = codepoint_classes()[encode(text)]
    assigned = bits & UNASSIGNED == 0
    start = 0
    for end in [*_barriers(bits), len(text)]:
        if end > start:
            piece = text[start:end]
            yield unicodedata.normalize("NFKC", piece) if assigned[start] else piece
        start = end


def _barriers(bits: NDArray[np.uint8]) -> list[int]:
    """Return the positions where the text is cut, ascending.

    Either assignedness changes there, or a run of non-starters reaches its limit.
    """
    unassigned = bits & UNASSIGNED != 0
    changes = np.flatnonzero(unassigned[1:] != unassigned[:-1]) + 1
    marks = bits & NONSTARTER != 0
    position = np.arange(len(bits))
    since = position - np.maximum.accumulate(np.where(marks, -1, position))
    full = np.flatnonzero(marks & (since % MAX_NONSTARTERS == 0) & (since > 0)) + 1
    return sorted({*changes.tolist(), *full.tolist()})


# Normalisation `default_v1`.

_LINE_END_HYPHEN = re.compile(r"[-\u2010](?=[ \t]*[\r\n])")


def normalise(text: str) -> str:
    """Normalise by `default_v1`.

    >>> normalise("Ｎear-\\n Dupli\\u00adcates  ﬁnd \\u03a3\\u03c2")
    'nearduplicatesfindσσ'
    """
    return decode(normalised_codes(text))


def normalised_codes(text: str) -> NDArray[np.uint32]:
    """Return the code points of `normalise(text)`, (n,) uint32."""
    codes = encode(nfkc(_join_lines(text)))
    lower: NDArray[np.uint32] = to_lower()[codes]
    visible: NDArray[np.uint32] = lower[codepoint_classes()[lower] & BLANK == 0]
    return visible


def _join_lines(text: str) -> str:
    """Apply steps 1 and 2: replace surrogates, remove ignorables and line-end hyphens."""
    if not text.isascii():
        text = without_ignorables(text)
    return _LINE_END_HYPHEN.sub("", text)


def count_words(text: str) -> int:
    """Count the runs of anything but white space and controls.

    In scripts without spaces each code point is a word.

    >>> count_words("near duplicates, 近似重複")
    6
    """
    codes = encode(text)
    bits = codepoint_classes()[codes]
    bits = bits[bits & IGNORABLE == 0]
    unspaced = bits & UNSPACED != 0
    inside = (bits & BLANK == 0) & ~unspaced
    starts = inside & ~np.concatenate(([False], inside[:-1]))
    return int(np.count_nonzero(starts) + np.count_nonzero(unspaced))


def has_letters(codes: NDArray[np.uint32]) -> bool:
    """Return whether a text has more than numbers, punctuation, symbols and blanks.

    Those are categories N, P and S of Unicode 13.0, white space and control characters.
    """
    wordless = WORDLESS | BLANK
    return bool(np.any(codepoint_classes()[codes] & wordless == 0))


# Normalisation `default_v2`: words, and one blank between them.

SPACE = 0x20
SHARP_S = 0xDF
_LINE_END = r"[ \t]*(?:\r\n?|\n)[ \t]*"
LINE_END_HYPHEN = re.compile(rf"[-\u2010]{_LINE_END}")
ASCII_HYPHEN = re.compile(f"-{_LINE_END}")  # the same in ASCII, found in an eighth of the time


def normalise_v2(text: str) -> str:
    """Normalise by `default_v2`.

    >>> normalise_v2("> Ｎear  Dupli\\u00adcates, hyphen-\\n ated:  (STRASSE) Straße; 近似 重複!")
    'near duplicates hyphenated strasse strasse近似重複'
    """
    return decode(normalised_codes_v2(text))


def normalised_codes_v2(text: str) -> NDArray[np.uint32]:
    """Return the code points of `normalise_v2(text)`, (n,) uint32."""
    return fold(composed_codes(text))[0]


def composed_codes(text: str) -> NDArray[np.uint32]:
    """Return the code points of a text after steps 1 to 3 of `default_v2`, (n,) uint32."""
    return encode(nfkc(_join_lines_v2(text)))


# Symbols of value, which `default_v2` leaves out, and which tell two numbers or formulas apart.

CURRENCIES = frozenset((*"$¢£¤¥", *map(chr, range(0x20A0, 0x20C0))))
SYMBOLS = frozenset("#%+<=>°±×÷‰≈≠≤≥")
MINUSES = frozenset("-\u2013\u2212")


def value_symbols(codes: NDArray[np.uint32]) -> str:
    """Return the symbols of value in composed code points, each with its position in words.

    `symbols_v1`. One is a currency, wherever it stands; one of `SYMBOLS` after a word of its line,
    or directly before one of the digits 0 to 9; a minus, written `-`, directly before such a digit
    or a currency, but not directly after a word. A character of a script without spaces is no word
    here, so a symbol may stand directly after it. A line ends at a line feed or carriage return. A
    symbol is followed by the number of words, as of the normalised text, that begin before it.
    Quotation marks, bullets and rules of `=` at the start of a line are no symbols.

    >>> value_symbols(composed_codes("> 7 < 8, -500 or 5-6 in C++"))
    '<1-2+8+8'
    """
    codes = to_lower()[codes]
    bits = codepoint_classes()[codes]
    word = bits & SEPARATOR == 0
    unspaced = word & (bits & UNSPACED != 0)
    inside = np.concatenate(([False], (word & ~unspaced)[:-1]))[: len(codes)]
    before = np.cumsum(word & (unspaced | ~inside))
    positions = np.arange(len(codes))
    line_end = (codes == 0x0A) | (codes == 0x0D)
    last_word, last_end = (
        np.maximum.accumulate(np.where(mask, positions, -1)) for mask in (word, line_end)
    )
    digit = (codes >= ord("0")) & (codes <= ord("9"))
    currency, other, minus = (_isin(codes, known) for known in (CURRENCIES, SYMBOLS, MINUSES))
    before_digit, before_value = (
        np.concatenate((mask[1:], [False]))[: len(codes)] for mask in (digit, digit | currency)
    )
    found = currency | other & (last_word > last_end) | other & before_digit
    found |= minus & ~inside & before_value
    written = np.where(minus, np.uint32(ord("-")), codes)
    return "".join(f"{chr(written[index])}{before[index]}" for index in np.flatnonzero(found))


def _isin(codes: NDArray[np.uint32], known: frozenset[str]) -> NDArray[np.bool_]:
    return np.isin(codes, np.array(sorted(map(ord, known)), dtype=np.uint32))


def fold(codes: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Apply steps 4 and 5 to code points; also return the position that each result comes from.

    `codes`: (n,); both results are (m,), and positions ascend. Nothing remains of separators alone.
    """
    codes = to_lower()[codes]
    positions = np.arange(len(codes))
    sharp = codes == SHARP_S
    if np.any(sharp):
        positions = np.repeat(positions, 1 + sharp)
        codes = np.where(sharp, np.uint32(ord("s")), codes)[positions]
    kept, separated = _separate(codes)
    return separated, positions[kept]


def word_starts(codes: NDArray[np.uint32]) -> NDArray[np.intp]:
    """Return where the words of normalised code points start, ascending: (words,).

    A word ends at a blank; in scripts without spaces each code point is a word.

    >>> word_starts(normalised_codes_v2("near duplicates 近似x")).tolist()
    [0, 5, 15, 16, 17]
    """
    alone = codepoint_classes()[codes] & UNSPACED != 0
    bounds = alone | (codes == SPACE)
    after = np.concatenate(([True], bounds))[:-1]
    return np.flatnonzero((codes != SPACE) & (alone | after))


def _join_lines_v2(text: str) -> str:
    """Apply steps 1 and 2: replace surrogates, remove ignorables, join hyphenated words."""
    if not text.isascii():
        text = without_ignorables(text)
    return LINE_END_HYPHEN.sub("", text)


def _separate(codes: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Apply step 5: replace runs of separators by a blank where one may stand.

    Returns the positions of the code points that stay, and these.
    """
    bits = codepoint_classes()[codes]
    separates = bits & SEPARATOR != 0
    first = separates & ~np.concatenate(([False], separates))[:-1]
    kept = np.flatnonzero(~separates | first)
    codes = np.where(separates, np.uint32(SPACE), codes)[kept]
    # the ends of the text refuse a blank as characters of scripts without spaces do
    refuses = np.concatenate(([True], bits[kept] & UNSPACED != 0, [True]))
    stays = (codes != SPACE) | ~(refuses[:-2] | refuses[2:])
    return kept[stays], codes[stays]


# The text of HTML, by Beautiful Soup: the one file that imports it.

_DECLARATION = re.compile("<!(?!--)")


def without_markup(text: str) -> str:
    """Return the character data of an HTML text, with character references resolved.

    There are no tags, comments, scripts or styles in it. Python's own HTML parser does the work,
    through Beautiful Soup, as in copietje; broken markup is read as the running Python release
    reads it. Nothing is put instead of a tag: `a<br>b` becomes `ab`. Where the parser fails on a
    malformed declaration (`<![x`), declarations are read as text, and at last comments too. In
    older Python releases it takes quadratic time for text that opens tags or comments and never
    closes them.

    Raises `MissingExtra` without Beautiful Soup.

    >>> without_markup("<p>Fish &amp; <b>chips</b></p><script>no()</script>")
    'Fish & chips'
    """
    for attempt in (text, _DECLARATION.sub("&lt;!", text), text.replace("<!", "&lt;!")):
        data = _character_data(attempt)
        if data is not None:
            return data
    return text


def _character_data(text: str) -> str | None:
    """Return the character data; None when the parser fails."""
    try:
        import bs4
    except ImportError:
        raise MissingExtra(package="beautifulsoup4", extra="text") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs4.MarkupResemblesLocatorWarning)
        warnings.simplefilter("ignore", bs4.XMLParsedAsHTMLWarning)
        try:
            return bs4.BeautifulSoup(text, features="html.parser").get_text()
        except bs4.ParserRejectedMarkup:
            return None


# Repair of broken Unicode by ftfy: the one file that imports it.


def repair_unicode(text: str) -> str:
    """Repair mis-decoded characters, HTML entities, ligatures, full-width forms and curly quotes.

    The text comes in NFC, as the running Python has it, so characters of newer Unicode versions may
    come out different under an older Python. Raises `MissingExtra` without ftfy.

    >>> repair_unicode("cafÃ© â€” Ｌ")
    'café — L'
    """
    try:
        import ftfy
    except ImportError:
        raise MissingExtra(package="ftfy", extra="text") from None
    return ftfy.fix_text(text, normalization="NFC")


# Transliteration of any script to ASCII, by the tables of two optional libraries.


def by_unidecode(text: str) -> str:
    """Transliterate by Unidecode, as clean-text does.

    Emoji stay, and `:names:` of emoji become emoji. Raises `MissingExtra` without Unidecode or
    emoji.

    >>> by_unidecode("Łódź, 中文 😀")
    'Lodz, Zhong Wen  😀'
    """
    try:
        import emoji
        import unidecode
    except ImportError as error:
        raise MissingExtra(package=str(error.name), extra="copietje") from None
    named = emoji.demojize(text, language="alias")
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # private-use characters have no transliteration
        plain = unidecode.unidecode(named)
    return emoji.emojize(plain, language="alias")


def by_anyascii(text: str) -> str:
    """Transliterate by anyascii; an emoji becomes its name. Raises `MissingExtra` without anyascii.

    >>> by_anyascii("Łódź, 中文 😀")
    'Lodz, ZhongWen :grinning:'
    """
    try:
        import anyascii
    except ImportError:
        raise MissingExtra(package="anyascii", extra="text") from None
    return str(anyascii.anyascii(text))


# Normalisers by name: each takes a text and returns a plainer one.

Normaliser = Callable[[str], str]

_CURRENCY = re.compile("(?:[$£¥฿₡₦₩₪₫€₱₲₴₹]|zł)+")
_SINGLE_QUOTES = re.compile("[‘‛’❛❜`´]")
_DOUBLE_QUOTES = re.compile("[«‹»›„“‟”❝❞❮❯〝〞〟＂]")


def none(text: str) -> str:
    """Return the text itself; only lone surrogates, which UTF-8 cannot hold, become U+FFFD.

    >>> none("Untouched\\n\\ud800")
    'Untouched\\n\\ufffd'
    """
    return decode(encode(text))


def norm(text: str) -> str:
    """Normalise as copietje's `norm`.

    In order: backslash escapes are resolved, broken Unicode repaired, currency signs removed, the
    text transliterated to ASCII, punctuation removed, letters made lower case, white space reduced
    to single spaces. Raises `MissingExtra` without the extra `copietje`.

    >>> norm("Some $TEXT\\n\\nwIth   CAPITALS !")
    'some text with capitals'
    """
    plain = _CURRENCY.sub("", repair_unicode(_unescape(none(text))))
    quoted = _DOUBLE_QUOTES.sub('"', _SINGLE_QUOTES.sub("'", plain))
    return _bare(by_unidecode(quoted))


def norm_html(text: str) -> str:
    """Return `norm` of the text without HTML markup, as copietje's `norm-html`.

    >>> norm_html("<h1>CAPITALS !</h1>")
    'capitals'
    """
    return norm(without_markup(none(text)))


def norm_anyascii(text: str) -> str:
    """Return `norm` with anyascii for Unidecode, emoji by name, and backslashes as they are.

    Needs the extra `text`.

    >>> norm_anyascii("Łódź: €5, ☕")
    'lodz 5 coffee'
    """
    return _bare(by_anyascii(_CURRENCY.sub("", repair_unicode(none(text)))))


def norm_html_anyascii(text: str) -> str:
    """Return `norm_anyascii` of the text without HTML markup.

    >>> norm_html_anyascii("<h1>CAPITALS !</h1>")
    'capitals'
    """
    return norm_anyascii(without_markup(none(text)))


NORMALISERS: dict[str, Normaliser] = {
    "none": none,
    "default": normalise,
    "words_v2": normalise_v2,
    "norm": norm,
    "norm-html": norm_html,
    "norm-anyascii": norm_anyascii,
    "norm-html-anyascii": norm_html_anyascii,
}


def _unescape(text: str) -> str:
    """Resolve Python's backslash escapes (`\\n`, `\\xe9`, `\\u20ac`).

    A text with a malformed one stays as it is.
    """
    if "\\" not in text:
        return text
    with warnings.catch_warnings():
        # unknown escapes stay as they are
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return none(text.encode("latin-1", "backslashreplace").decode("unicode_escape"))
        except UnicodeDecodeError:
            return text


def _bare(text: str) -> str:
    """Remove punctuation, make lower case, and reduce white space to single spaces."""
    return " ".join(_punctuation().sub("", text).lower().split())


@cache
def _punctuation() -> re.Pattern[str]:
    return re.compile(character_class(PUNCTUATION))


# Accents of Latin and Greek letters.

_LETTERS_WITH_ACCENTS = {*range(0xC0, 0x2000)} - {0x130}  # İ, which is folded to i
_GREEK = frozenset(map(chr, range(0x370, 0x400)))
_STROKES = str.maketrans("łđøħŧı", "ldohti")  # letters that no accent is taken from, but strokes


@cache
def _accents() -> dict[int, str]:
    """Return the letter without its accents of each code point, and nothing for an accent alone."""
    plain = dict.fromkeys(range(0x300, 0x370), "")
    for code in _LETTERS_WITH_ACCENTS:
        base, *marks = list(unicodedata.normalize("NFD", chr(code)))
        is_latin_or_greek = base.isalpha() and (ord(base) < 0x180 or base in _GREEK)
        if marks and is_latin_or_greek and all(ord(mark) in plain for mark in marks):
            plain[code] = base
    return plain


@cache
def _accent() -> re.Pattern[str]:
    return re.compile(f"[{''.join(map(chr, _accents()))}]")


def first_accent(text: str) -> str:
    """Return the first letter with an accent, or accent alone; empty where there is none.

    >>> first_accent("die Fähre"), first_accent("Łodz, мой")
    ('ä', '')
    """
    found = None if text.isascii() else _accent().search(text)
    return found[0] if found else ""


def without_accents(words: str) -> str:
    """Return folded words without the accents and strokes of Latin and Greek letters.

    >>> without_accents("fähre łódź đường ελλάδα мой")
    'fahre lodz duong ελλαδα мой'
    """
    return words if words.isascii() else words.translate(_accents()).translate(_STROKES)
