"""Parts of a text that are no wording of its author: targets of links, URLs, e-mail addresses and
tokens, running headers, and copyright notices; and the cells of tables.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise

from indexer.wording import END_OF_HEADER

# URLs, and targets of links.

_OUTSIDE = r'\x00-\x20\x7f-\U0010ffff"<>\\^`{|}'  # characters that end a URL
_TARGET = re.compile(r"""[:wW(=](?:(?<=:)//|(?<=[wW])[wW]{2}\.|(?<=\]\()|(?<==)(?=["']))""")
_SCHEME_END = re.compile(r"[A-Za-z0-9]+\Z")
_URL = re.compile(rf"[^{_OUTSIDE}]+")
_LINK = re.compile(rf"[^{_OUTSIDE})]+(?=\))")
_ATTRIBUTE = re.compile(r"""(["'])[^\r\n"']*(?=\1)""")
_ATTRIBUTES = ("href", "src")
_BEFORE_TARGETS = ("://", "www.", "](", '="', "='")  # each target follows one


def link_targets(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of URLs and of the targets of links in Markdown and HTML, in order.

    >>> text = 'See [us](../a.md), <a href="b.html"> or www.x.org/c.'
    >>> [text[start:end] for start, end in link_targets(text)]
    ['../a.md', 'b.html', 'www.x.org/c.']
    """
    if not _has_any(text, _BEFORE_TARGETS):
        return
    position = 0
    while hint := _TARGET.search(text, position):
        span = _target(text, hint, position)
        if span:
            yield span
        position = span[1] if span else hint.start() + 1


def _has_any(text: str, strings: Iterable[str]) -> bool:
    """Return whether a text, in small letters, has one of some strings: faster than a pattern."""
    folded = text.lower()
    return any(string in folded for string in strings)


def _target(text: str, hint: re.Match[str], position: int) -> tuple[int, int] | None:
    """Return the target that a hint announces, if it is one; it begins at `position` or later."""
    start, end = hint.span()
    if text[start] == ":":
        scheme = _SCHEME_END.search(text, position, start)
        target = _URL.match(text, end) if scheme else None
        return (scheme.start(), target.end()) if scheme and target else None
    if text[start] in "wW":
        target = _URL.match(text, end)
        is_inside = start > position and text[start - 1].isascii() and text[start - 1].isalnum()
        return (start, target.end()) if target and not is_inside else None
    if text[start] == "(":
        link = _LINK.match(text, end)
        return link.span() if link and not set("/.#").isdisjoint(link.group()) else None
    name = text[max(0, start - 4) : start]
    value = _ATTRIBUTE.match(text, end) if name.lower().endswith(_ATTRIBUTES) else None
    return (value.start() + 1, value.end()) if value else None


# Running headers: lines at the edges of pages that recur, equal but for digits. Pages end in form
# feeds, or are seen by lines that number them. Readers of files that have such a line once mark it.

MIN_RECURRING = 3  # times that a running header stands in a text
DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"\b(?:page|seite|pagina|página|pág\.?|blad|sida|side|strona|sivu|стр\.?)[ \t]*(\d{1,5})\b",
    re.IGNORECASE,
)
_PAGE_WORDS = ("pag", "pág", "seite", "blad", "sida", "side", "strona", "sivu", "стр")
_MAX_LINE = 120  # characters of a line that numbers a page
_AMOUNT = re.compile(r"[$€£¥]|(?<![\d.,])\d[\d.,' ]*[.,]\d\d(?![\d.,/-])|\b[A-Z]{3} ?\d")
_EDGE_LINES = 4  # at most, of a page, and a quarter of its lines; one of two or three
_MIN_PAGES = 1 / 3  # of the pages have a running header
_MAX_HEADERS = 0.3  # of a text


def running_headers(text: str) -> list[tuple[int, int, bool]]:
    """Return the spans of running headers in order, and whether one is the first of its kind.

    Those that are marked, if any are. None where a page is hardly more than they are, as of labels
    and forms of a few lines; lines with an amount of money are none.

    >>> page = "Draft 3\\n" + "It is agreed.\\n" * 8 + "12 May 2024, page "
    >>> text = "\\f".join(f"{page}{number}" for number in range(3))
    >>> [text[start:end] for start, end, is_first in running_headers(text) if is_first]
    ['Draft 3', '12 May 2024, page 0']
    """
    if END_OF_HEADER in text:
        return [
            (start, end, True)
            for start, end in _marked_headers(text)
            if not _AMOUNT.search(text, start, end)
        ]
    ends = [match.end() for match in re.finditer("\f", text)]
    breaks = ends or _page_lines(text)
    if len(breaks) < MIN_RECURRING - 1:
        return []
    counts = Counter[str]()
    edges: dict[str, list[tuple[int, int]]] = {}
    of_short = Counter[str]()  # lines of pages of two or three, which may be sentences
    pages = 0
    for start, end in pairwise([0, *breaks, len(text)]):
        lines = [(match.start(), match.end()) for match in _LINE.finditer(text, start, end)]
        pages += bool(lines)
        keys = [DIGITS.sub("0", text[slice(*span)].casefold()) for span in lines]
        counts.update(keys)
        size = min(_EDGE_LINES, len(lines) // 4)
        if ends and len(lines) in (2, 3):
            size = 1
            of_short.update((keys[0], keys[-1]))
        if not ends and start:  # it begins with the line that numbers the page before
            size = min(max(1, size if end < len(text) else _EDGE_LINES), len(lines))
        edge = {*range(size), *range(len(lines) - size, len(lines))}
        for position in sorted(edge):
            edges.setdefault(keys[position], []).append(lines[position])
    enough = max(MIN_RECURRING, pages * _MIN_PAGES)
    headers = [
        (start, end, index == 0)
        for key, spans in edges.items()
        if len(spans) >= enough
        and counts[key] <= len(spans) + 1
        and (len(spans) - of_short[key] >= enough or _is_of_pages(text, spans))
        for index, (start, end) in enumerate(spans)
        if not _AMOUNT.search(text, start, end)
    ]
    size = sum(end - start for start, end, _ in headers)
    return sorted(headers) if size <= _MAX_HEADERS * len(text) else []


_LINE = re.compile(r"\S[^\n\f]*(?<=\S)")


def _marked_headers(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of lines that are marked as headers."""
    end = text.find(END_OF_HEADER)
    while end >= 0:
        yield text.rfind("\n", 0, end) + 1, end
        end = text.find(END_OF_HEADER, end + 1)


def _is_of_pages(text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether lines have the same numbers, or numbers that rise as page numbers do."""
    numbers = (DIGITS.findall(text, *span) for span in spans)
    for column in zip(*numbers, strict=True):
        steps = {int(after[-9:]) - int(before[-9:]) for before, after in pairwise(column)}
        if len(set(column)) > 1 and not steps <= {1, 2}:
            return False
    return True


def _page_lines(text: str) -> list[int]:
    """Return the starts of lines that number pages, each by one more than the line before."""
    numbers: list[int] = []
    starts: list[int] = []
    for match in _page_numbers(text):
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        if (len(text) if end < 0 else end) - start <= _MAX_LINE:
            numbers.append(int(match[1]))
            starts.append(start)
    is_rising = all(after == before + 1 for before, after in pairwise(numbers))
    return starts if is_rising else []


def _page_numbers(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of `_PAGE_NUMBER`, which is tried only where one of its words is."""
    lower = text.lower()
    if len(lower) != len(text) or "ı" in text or "ſ" in text:  # that match "i" and "s"
        yield from _PAGE_NUMBER.finditer(text)
        return
    known = [word for word in _PAGE_WORDS if word in lower]
    found = [match.start() for word in known for match in re.finditer(word, lower)]
    yield from filter(None, (_PAGE_NUMBER.match(text, start) for start in sorted(found)))


_BEYOND = 1 << 62  # any position


def are_around(spans: Sequence[tuple[int, int]], start: int) -> bool:
    """Return whether one of these sorted spans holds a position in the text."""
    index = bisect_right(spans, (start, _BEYOND)) - 1 if spans else -1
    return index >= 0 and start < spans[index][1]


# Lines of copyright notices.

_NOTICE = re.compile(r"\bcopyright\b|©|\(c\)|\ball rights reserved\b", re.IGNORECASE)


def is_notice(line: str) -> bool:
    """Return whether a line is one of a copyright notice.

    >>> is_notice("Copyright 2024 Acme"), is_notice("Copyrights are listed below.")
    (True, False)
    """
    may_be = _has_any(line, ("copyright", "©", "(c)", "all rights reserved"))
    return may_be and _NOTICE.search(line) is not None


# Pronouns with a capital letter within sentences, which are no names, by language.

_PRONOUNS = """
en: I I'm I'd I'll I've I’m I’d I’ll I’ve
de: sie ihnen ihr ihre ihrem ihren ihrer ihres du dir dich dein deine euch euer
nl: u uw
da nb: i de dem deres
sv: ni er
it: lei loro
es: usted ustedes ud uds vd vds
pt: você vocês
fr: vous
pl: pan pana panu panem pani panią państwo państwa państwu
cs sk: vy vás vám vámi váš vaše
hr sl: vi vas vam vaš vaša
bg ru sr uk: вы ви вас вам вами ваш ваша ваше ваши
hu: ön önök te
et fi: te teidän teie
lt lv: jūs jums
ro: dumneavoastră
tr: siz
"""
_TITLES = "mr mrs ms miss dr prof herr herrn frau hr señor señora sr sra signor signora"
TITLES = frozenset(_TITLES.split())
"""Folded words before the names of persons: "Mr Du" is a name, "Du" in German is a pronoun."""


def _pronouns_by_language(lists: str) -> dict[str, frozenset[str]]:
    """Return the pronouns with a capital, from lines `LANGUAGE ...: PRONOUN ...`."""
    pronouns: dict[str, frozenset[str]] = {}
    for line in lists.strip().splitlines():
        languages, _, listed = line.partition(":")
        capitalised = frozenset(word[0].upper() + word[1:] for word in listed.split())
        pronouns |= dict.fromkeys(languages.split(), capitalised)
    return pronouns


CAPITAL_PRONOUNS = _pronouns_by_language(_PRONOUNS)


# Names in scripts without capital letters.

_NO_CAPITALS = r"[\u0590-\u109f\u1100-\u139f\u1780-\u18af\u3040-\ud7ff]"
_WITHOUT_CAPITALS = re.compile(_NO_CAPITALS)
_FIELD = re.compile(  # label: value
    r"[^\S\n]*[^\W\d_][^:：。.!?\n]{0,23}[:：][^\S\n]*"
    rf"({_NO_CAPITALS}[^:：。！？，、.!?,;；()（）]{{0,23}})"
    r"(?<=\S)\s*(?:[(（].*)?\Z"
)
_TITLED = re.compile(
    r"((?:(?![与由向和的为為在从對对及以是之于於])[\u4e00-\u9fff々ァ-ヺー]){1,10})"
    r"(?:(?:股份)?有限公司|株式会社|先生|女士|小姐|様|さん)"
    r"|(?:株式会社)([\u4e00-\u9fff々ァ-ヺー]{1,10})"
    r"|([가-힣]{2,10}) ?(?:주식회사|㈜|\(주\)|씨(?![가-힣])|님(?![가-힣]))"
    r"|(?:주식회사|㈜|\(주\)) ?([가-힣]{2,10})"
    r"|(?<!\w)(?:شركة|السيد|السيدة|श्री|श्रीमती|मेसर्स|מר|גב'|חברת) ([^\W\d_][^\s,;.।،]*)"
)


def names_without_capitals(line: str) -> list[tuple[int, int]]:
    """Return the spans of a line that name somebody or something in scripts without capitals.

    The short value of a field, and what stands next to a title or the form of a company.

    >>> lines = "客户：王伟", "由清泉贸易有限公司交付", "客户：500元"
    >>> [[line[start:end] for start, end in names_without_capitals(line)] for line in lines]
    [['王伟'], ['清泉贸易'], []]
    """
    if not _WITHOUT_CAPITALS.search(line):
        return []
    field = _FIELD.match(line)
    titled = (match.span(match.lastindex or 0) for match in _TITLED.finditer(line))
    return [*([field.span(1)] if field else ()), *titled]


# E-mail addresses and URLs in a text.

_ADDRESS = re.compile(
    r"""(?<![\w.+%-])[\w.+%-]{1,64}@[\w-]+(?:\.[\w-]+)+  # e-mail
    | (?:\b[a-z][a-z0-9+.-]{1,9}://|\bwww\.)[^\s<>"\u201c\u201d]+  # a URL
    """,
    re.VERBOSE | re.IGNORECASE,
)
# each address has one of these; a set of first characters is found faster than alternatives
_ADDRESS_HINT = re.compile(r"[@:wW](?:(?<=@)|(?<=:)//|(?<=[wW])[wW]{2}\.)")
_MAX_BEFORE = 64  # characters at most that an address has before it
_SCHEME = re.compile(r"(?:https?://)?(?:www\.)?")
_SENTENCE_END = ".,;:!?)]}'\u2019*_/"  # characters that end a sentence around an address


def addresses(text: str) -> Iterator[tuple[int, str]]:
    """Yield each e-mail address, URL and target of a link with its position in the text, in order.

    >>> list(addresses("Ask <ann@x.org>, or see www.x.org/a."))
    [(5, 'ann@x.org'), (24, 'www.x.org/a')]
    >>> list(addresses("[terms](b.md)"))
    [(8, 'b.md')]
    """
    found = dict(_addresses(text))
    for start, end in link_targets(text):
        target = text[start:end]
        if not _ADDRESS_HINT.search(target):
            found.setdefault(start, target)
    yield from sorted(found.items())


def _addresses(text: str) -> Iterator[tuple[int, str]]:
    if not _has_any(text, ("@", "://", "www.")):
        return
    position = 0
    while symbol := _ADDRESS_HINT.search(text, position):
        match = _ADDRESS.search(text, max(position, symbol.start() - _MAX_BEFORE))
        if match is None:
            return
        yield match.start(), match.group().rstrip(_SENTENCE_END)
        position = match.end()


def is_link(address: str) -> bool:
    """Return whether an address is no e-mail address."""
    return "@" not in address or "://" in address or "/" in address.partition("@")[0]


def address_value(address: str) -> str:
    """Return the normal form of an address.

    >>> address_value("https://www.X.org/a")
    'x.org/a'
    """
    return _SCHEME.sub("", address.casefold(), count=1)


def name_value(spelling: str) -> str:
    """Return the words of a name, whatever joins them.

    >>> name_value("Groß-Gerau"), name_value("O’Brien")
    ('gross gerau', 'o brien')
    """
    return re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", spelling).casefold())


# What is no wording: targets of links, URLs, tokens, and lines that recur.

_TOKEN = re.compile(  # a UUID, or ten and more letters with digits
    r"""(?<![A-Za-z0-9])(?:
        (?=[A-Fa-f-]{,35}[0-9])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![A-Za-z0-9])
        | (?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{10,}
    )""",
    re.VERBOSE,
)


def find_unworded(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of URLs, targets of links and tokens, of lines that recur but for digits, as
    running headers do, and of headers that are marked.

    >>> text = "page 1\\nand\\npage 2\\nor\\npage 3\\nsee www.x.org/a, A1B2C3D4E5F6"
    >>> [text[start:end] for start, end in find_unworded(text)]
    ['www.x.org/a,', 'A1B2C3D4E5F6', 'page 1\\n', 'page 2\\n', 'page 3\\n']
    """
    yield from link_targets(text)
    yield from (match.span() for match in _TOKEN.finditer(text))
    yield from _marked_headers(text)
    lines: dict[str, list[tuple[int, int]]] = {}
    end = 0
    without_numbers = DIGITS.sub("0", text.casefold())
    keys = map(str.strip, without_numbers.splitlines())
    for key, line in zip(keys, text.splitlines(keepends=True), strict=True):
        start, end = end, end + len(line)
        lines.setdefault(key, []).append((start, end))
    for key, spans in lines.items():
        if len(spans) >= MIN_RECURRING and any(map(str.isalpha, key)):
            yield from spans


def sort_unworded(text: str) -> list[tuple[int, int]]:
    """Return the `find_unworded` by start, each with the last end so far: a line may have links."""
    spans = sorted(find_unworded(text))
    ends = accumulate((end for _, end in spans), max)
    return [(start, end) for (start, _), end in zip(spans, ends, strict=True)]


# Cells of tables, which are exchanged where the same values stand in other columns or rows: a line
# with a tab or a `|` is a row, as files and Markdown are read. Rows or columns that moved as a
# whole say the same. Where each cell is a line of its own, as some files are read, lines that name
# roles or end in a colon show that others are no list.

_SEPARATOR = re.compile(r"[\t|]")
_VALUE = re.compile(r"\w")
_NO_CELL = re.compile(r"\A[-*\u2022#]|:\Z")  # an item of a list, or a title
MAX_CELLS, MAX_CELL_WORDS = 12, 8  # that are exchanged; of a line that is a cell
_ROLE_NAMES = """
seller buyer vendor purchaser tenant landlord lessor lessee licensor licensee supplier customer
employer employee borrower lender plaintiff defendant agent principal client contractor debtor
verkäufer käufer vermieter mieter auftraggeber auftragnehmer arbeitgeber arbeitnehmer kläger
beklagter bailleur preneur vendeur acheteur acquéreur locataire employeur salarié vendedor
comprador arrendador arrendatario venditore acquirente locatore conduttore verkoper koper
"""
_ROLES = frozenset(_ROLE_NAMES.split())

Cells = tuple[str, ...]


def exchanged_cells(a: str, b: str) -> tuple[str, str] | None:
    """Return the first value of a cell in a and the one that stands there in b, if the rows that
    differ have the same values in other cells; None for others.

    >>> exchanged_cells("Seller | Buyer\\nAcme | Umbra", "Seller | Buyer\\nUmbra | Acme")
    ('acme', 'umbra')
    >>> exchanged_cells("Seller | Buyer\\nAcme | Umbra", "Buyer | Seller\\nUmbra | Acme")
    """
    left, right = _rows(a), _rows(b)
    if not left and not right:
        return _exchanged_lines(*(text.splitlines() for text in (a, b)))
    only_a, only_b = Counter(left) - Counter(right), Counter(right) - Counter(left)
    if not only_a or only_a.total() != only_b.total():
        return None
    rows = list(zip(only_a.elements(), only_b.elements(), strict=True))
    if any(len(x) != len(y) for x, y in rows):
        return None
    pairs = chain.from_iterable(zip(x, y, strict=True) for x, y in rows)
    changed = [(x, y) for x, y in pairs if x != y]
    if Counter(x for x, _ in changed) != Counter(y for _, y in changed):
        return None
    return None if _is_column_moved(left, rows) else changed[0]


def _exchanged_lines(a: list[str], b: list[str]) -> tuple[str, str] | None:
    """Return the first line of a and the one that stands there in b, if short lines that differ are
    the same ones in another order, next to titles of cells that stay; None for others.

    >>> _exchanged_lines(["Seller", "Acme", "Buyer", "Umbra"], ["Seller", "Umbra", "Buyer", "Acme"])
    ('acme', 'umbra')
    """
    left = [line.strip().casefold() for line in a if line.strip()]
    right = [line.strip().casefold() for line in b if line.strip()]
    changed = [index for index, (x, y) in enumerate(zip(left, right, strict=False)) if x != y]
    if not changed or len(left) != len(right) or len(changed) > MAX_CELLS:
        return None
    if Counter(left[index] for index in changed) != Counter(right[index] for index in changed):
        return None
    before = left[max(0, changed[0] - len(changed)) : changed[0]]
    cells = left[changed[0] : changed[-1] + 1]
    if any(len(line.split()) > MAX_CELL_WORDS for line in cells):
        return None
    titles = Counter(line for line in before + cells if line.endswith(":") or line in _ROLES)
    titles -= Counter(left[index] for index in changed)
    if any(_NO_CELL.search(left[index]) for index in changed) or titles.total() < 2:
        return None
    return left[changed[0]], right[changed[0]]


def _rows(text: str) -> list[Cells]:
    """Return the rows with two cells or more that are not blank."""
    if "\t" not in text and "|" not in text:
        return []
    lines = (_SEPARATOR.split(line.strip(" |").casefold()) for line in text.splitlines())
    rows = (tuple(map(str.strip, line)) for line in lines)
    return [row for row in rows if sum(map(bool, map(_VALUE.search, row))) > 1]


def _is_column_moved(table: list[Cells], rows: list[tuple[Cells, Cells]]) -> bool:
    """Return whether no row of as many cells, such as one with titles, stayed as it was."""
    changed = {x for x, _ in rows}
    sizes = {len(row) for row in changed}
    is_within = all(Counter(x) == Counter(y) for x, y in rows)
    return is_within and not any(len(row) in sizes for row in table if row not in changed)
