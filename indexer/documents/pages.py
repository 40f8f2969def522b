"""Pages in HTML: what of them is not displayed, or is marked, and the files in them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from html import unescape
from itertools import chain
from typing import NamedTuple, TypeAlias

from indexer.documents.base import (
    MAX_PAIRS,
    Anchors,
    Colour,
    all_of,
    anchored,
    columns,
    is_near,
    markup_files,
    page_rows,
    searchable,
    sha256,
    without_unshown,
)
from indexer.documents.marked_text import NO_COLOUR, WHITE, colour_of, hides_text
from indexer.model import EmbeddedFile

_INPUT = re.compile(
    rb"<(?:input|meter|progress)\b[^>]*>|<ol\b[^>]*\b(?:start=|type=|reversed\b)[^>]*>"
    rb"|<li\b[^>]*\bvalue=[^>]*>|(?P<choice><option\b[^>]*\bselected\b[^>]*>[^<]*)"
    rb"|<(?P<label>(?:optgroup|option)\b[^>]*\slabel\s*=[^>]*>)"
    rb"|<(?P<name>(?:s|strike|del|math)\b(?=[^>]*>)|(?<=\d<)su[bp]\b(?=[^>]*>[-+]?\d)"
    rb"|bdo\b(?=[^>]*\brtl\b[^>]*>))[^>]*>",
    re.IGNORECASE,
)
_MATH_TAG, _TAG = re.compile(rb"<(/?[\w:]+)[^>]*>"), re.compile(rb"<[^<>]*>")
_NUMBERING = re.compile(rb"\s(?:type\s*=\s*[\"']?([aAiI])\b|(reversed)\b)", re.IGNORECASE)
_LABEL = re.compile(rb"\slabel\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']*))", re.IGNORECASE)
_NO_VALUE = re.compile(rb"type\s*=\s*[\"']?(?:hidden|image)\b", re.IGNORECASE)
_CHOICE = re.compile(rb"type\s*=\s*[\"']?(?:checkbox|radio)\b", re.IGNORECASE)
_CHECKED = re.compile(rb"[\s\"']checked\b", re.IGNORECASE)
_VALUE = re.compile(
    rb"\s(?:value|start)\s*=\s*(?:\"([^\"]+)\"|'([^']+)'|([^\s>\"']+))", re.IGNORECASE
)
_SOURCE = re.compile(
    rb"<(?:img|image|source|object|embed|video|audio|iframe)\b[^>]*?"
    rb"\s(?:src|xlink:href|href|data)\s*=\s*[\"']?(?!data:)([^\"'>\s]+)",
    re.IGNORECASE,
)
# a value of an attribute in which a tag seems to begin or end, and a tag with its values
_QUOTED = re.compile(rb"=\s*(?:\"[^\"<>]*[<>][^\"]*\"|'[^'<>]*[<>][^']*')")
_WHOLE_TAG = re.compile(
    rb"<([A-Za-z][^<>=]*(?:=(?:\s*\"[^\"]*\"|\s*'[^']*'|(?!\s*[\"']))[^<>=]*)*)>"
)


def page_files(
    data: bytes, files: Callable[[str], str] | None = None, styles: bytes = b""
) -> Iterator[EmbeddedFile]:
    """Yield the files in a page in HTML, values and choices of its forms, the first numbers of
    lists, text that its own styles or linked ones mark, and the columns of its tables.

    `files` gives the SHA-256 of a file that the page refers to, empty if it is not at hand.
    """
    data = searchable(data)
    if _QUOTED.search(data):
        data = _WHOLE_TAG.sub(
            lambda tag: b"<%s>" % tag[1].replace(b"<", b" ").replace(b">", b" "), data
        )
    yield from chain(markup_files(data), columns(page_rows(data)))
    folded = data.lower()  # end tags are in any case
    found = ((tag, data[tag.start() : end]) for tag, end in _elements(data, _INPUT, folded))
    values = [(tag.start(), value) for tag, element in found if (value := _value(tag, element))]
    styled, unread = _styled(data, folded, styles)
    values = sorted(chain(values, styled))
    displayed = [
        (match.start(), digest.encode())
        for match in (_SOURCE.finditer(data) if files else ())
        if files and (digest := files(unescape(match[1].decode("utf-8", "replace"))))
    ]
    anchors = Anchors(data if values or displayed else b"")
    if values:
        yield all_of("values and struck text", anchored(values, anchors))
    if unread:
        yield EmbeddedFile("unread", "styles", sha256("\n".join(unread).encode()))
    if displayed:
        yield all_of("pictures in the text", anchored(displayed, anchors))


def _elements(
    data: bytes, tags: re.Pattern[bytes], folded: bytes
) -> Iterator[tuple[re.Match[bytes], int]]:
    """Yield opening tags with the end of the text up to the end tag of their group `name`, or their
    own end where they have none; those whose end tag is missing are passed over.

    `folded`: the data in which the end tag is written as the name. The time is linear: a pattern
    up to the end tag would effect for a missing one, as of open paragraphs, to the end each time.

    >>> page = b"<s>no <s>yes</s> <i>left open"
    >>> [(tag[0], end) for tag, end in _elements(page, re.compile(rb"<(?P<name>\\w)>"), page)]
    [(b'<s>', 12)]
    """
    position = 0
    missing: set[bytes] = set()
    while tag := tags.search(data, position):
        end_tag = b"</%s>" % folded[slice(*tag.span("name"))] if tag["name"] else b""
        end = folded.find(end_tag, tag.end()) if end_tag not in missing else -1
        if end < 0:
            missing.add(end_tag)
            position = tag.start() + 1
        else:
            yield tag, end
            position = end


def _value(tag: re.Match[bytes], element: bytes) -> bytes:
    """Return what a reader sees of an element that is not read; empty for nothing."""
    name = (tag["name"] or b"").lower()
    if tag["label"]:
        label = _LABEL.search(element)
        return b"".join(label.groups(b"")) if label else b""
    if name == b"math":
        return b"".join(_MATH_TAG.sub(rb"<\1>", element).split())
    if tag["choice"] or name:
        text = _text(element)
        return b"%s %s" % (name, text) if name in (b"sup", b"sub", b"bdo") else text
    if element[:3].lower() == b"<ol":
        numbering = b"".join(map(b"".join, _NUMBERING.findall(element)))
        start = _VALUE.search(element)
        return b" ".join(filter(None, (numbering, *(start.groups() if start else ()))))
    is_checked = _CHECKED.search(element) is not None
    if _NO_VALUE.search(element) or (_CHOICE.search(element) and not is_checked):
        return b""
    value = _VALUE.search(element)
    return b" ".join(filter(None, (b"checked" * is_checked, *(value.groups() if value else ()))))


# Style sheets. A character that an escape writes, or that is in a string, is no syntax: it is moved
# to an area of characters that have no other use.

_MARKS = " \t\n\r\f!\"#$%&'()*+,./:;<=>?@[\\]^`{|}~"
_SYNTAX = {ord(mark): chr(0xE000 + ord(mark)) for mark in _MARKS}
_UNMOVED = {ord(moved): code for code, moved in _SYNTAX.items()}
_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?|\\(.)", re.DOTALL)
_TOKEN = re.compile(
    r"\\(?:[0-9a-fA-F]{1,6}\s?|.)|/\*.*?(?:\*/|\Z)|<!--|-->"
    r"|(?P<quote>[\"'])(?P<text>(?:\\.|(?!(?P=quote))[^\\\n])*)(?P=quote)",
    re.DOTALL,
)
_BRACE = re.compile(r"([^{};]*)([{};])")
_ALWAYS = re.compile(
    r"@(?:media\s*(?:(?:only\s+)?(?:all|screen)\s*)?|supports\b(?!\s*not\b).*|layer\b.*)", re.DOTALL
)
_MAX_NESTED, _MAX_SELECTOR = 8, 1_000  # rules in rules, characters
_TOO_LONG = ":too-long"  # a selector that is not evaluated
_MAX_TESTS = 500_000  # of elements by selectors
_WORDS = re.compile(r"(?P<quote>[\"'])(?P<text>(?:(?!(?P=quote)).)*)(?P=quote)|attr\(\s*([\w-]+)")


class _Effect(NamedTuple):
    """The effect of declarations: a mark, empty for hidden or struck text, colours of text
    and background, and words before or after it.
    """

    mark: str | None = None
    colour: Colour = None
    background: Colour = None
    added: tuple[str, ...] = ()


def _rules(css: str) -> Iterator[tuple[str, str]]:
    """Yield selectors and declarations of the rules of a style sheet, but for rules that are for
    some screens alone.

    >>> list(_rules("@media (width > 9px) { a { color: red } } b, i { opacity: 0 }"))
    [('b, i', 'opacity: 0')]
    """
    css = _TOKEN.sub(_without_syntax, css)
    outer: list[tuple[str | None, list[str]]] = []
    for piece in _BRACE.finditer(css + "}" * (css.count("{") + 1)):  # the end closes all rules
        text, end = piece[1].strip(), piece[2]
        if end == "{":
            around = outer[-1][0] if outer else ""
            outer.append((_nested(text, around) if len(outer) < _MAX_NESTED else None, []))
        elif outer:
            outer[-1][1].append(text)
            if end == "}":
                selector, declarations = outer.pop()
                if selector:
                    yield selector, ";".join(filter(None, declarations))


def _nested(prelude: str, around: str | None) -> str | None:
    """Return the selector of a rule in another one; None where it is not always used."""
    if around is None:
        return None
    if prelude.startswith("@"):
        return around if _ALWAYS.fullmatch(prelude.lower()) else None
    if not around:
        return prelude
    if len(prelude) + max(1, prelude.count("&")) * len(around) > _MAX_SELECTOR:
        return _TOO_LONG
    return prelude.replace("&", f":is({around})") if "&" in prelude else f":is({around}) {prelude}"


def _unescaped(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else ord(found[2])
    is_character = 0 < code < 0xD800 or 0xDFFF < code < 0x110000
    return (chr(code) if is_character else "\ufffd").translate(_SYNTAX)


def _without_syntax(token: re.Match[str]) -> str:
    if token["quote"]:
        text = _ESCAPE.sub(_unescaped, token["text"]).translate(_SYNTAX)
        return token["quote"] + text + token["quote"]
    return _ESCAPE.sub(_unescaped, token[0]) if token[0].startswith("\\") else " "


@lru_cache(maxsize=1000)
def _effect(declarations: str) -> _Effect:
    """Return what declarations without comments and escapes do to an element.

    >>> _effect("Color: #FFF; opacity: 4%"), _effect("vertical-align: super").mark
    (_Effect(mark='', colour=(255, 255, 255), background=None, added=()), 'sup')
    """
    mark, colours = None, dict[str, Colour]()
    added: tuple[str, ...] = ()
    for declaration in declarations.split(";"):
        name, _, value = declaration.partition(":")
        name, written = name.strip().lower(), value.strip()
        value = written.lower()
        if name == "content":
            found = [match["text"] or f"attr({match[3]})" for match in _WORDS.finditer(written)]
            added = tuple(text.translate(_UNMOVED) for text in found)
        elif name == "vertical-align" and value.startswith(("sub", "super")):
            mark = value[:3] if mark is None else mark
        elif name in ("color", "-webkit-text-fill-color"):
            colours["colour"] = colour_of(value)
            mark = "" if colours["colour"] == NO_COLOUR else mark
        elif name.startswith("background"):
            background = _background(value) if name in _BACKGROUNDS else None
            colours["background"] = background or colours.get("background")
        elif hides_text(name, value):
            mark = ""
    return _Effect(mark, colours.get("colour"), colours.get("background"), added)


_BACKGROUNDS = ("background", "background-color", "background-image")


def _background(value: str) -> Colour:
    """Return the colour of a background; its words where it has more than one colour."""
    first = value.partition(" ")[0] if not value.startswith(("rgb", "hsl")) else value
    if "url(" in value or "gradient(" in value:
        return value
    colour = colour_of(first)
    return None if colour in ("none", NO_COLOUR) else colour


# Elements of a page, and selectors of them.

_ANY_TAG = re.compile(rb"<(?P<end>/)?(?P<name>[A-Za-z][^\s/<>]*)(?P<attributes>(?:[\s/][^<>]*)?)>")
# a page in XML, or a drawing or formula, where a tag that ends with `/` has no end tag
_XML = re.compile(rb"\A\s*<\?xml\b|<html\b[^<>]*\sxmlns=", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"([^\s=/>\"']+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+)))?")
_VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
_OPEN = frozenset(b"p li dt dd td th tr option".split())  # end where the next one begins


def _text(markup: bytes) -> bytes:
    return b" ".join(_TAG.sub(b" ", markup).split())


class _UnknownSelectorError(ValueError):
    """Raised for a selector that is not evaluated."""


class _Tree:
    """The elements of a page, by their numbers in its order."""

    def __init__(self, page: bytes) -> None:
        self.names: list[str] = []
        self.spans: list[list[int]] = []  # from the tag to the end of the text; -1: has none
        self.text_starts: list[int] = []
        self.texts: list[tuple[int, int, bytes]] = []  # elements of texts, and where these begin
        self.attributes: list[dict[str, str]] = []
        self.parents: list[int] = []
        self.siblings: defaultdict[int, list[int]] = defaultdict(list)
        self.positions: list[int] = []
        self._classes: dict[int, list[str]] = {}
        self._left = _MAX_TESTS
        self._read(page)

    def _read(self, page: bytes) -> None:
        around: list[int] = []
        counts: Counter[str] = Counter()  # of elements that are open
        end = 0
        is_xml = _XML.search(page) is not None
        for tag in _ANY_TAG.finditer(page):
            self._add_text(around, page, end, tag.start())
            end = tag.end()
            name = tag["name"].decode("latin-1").lower()
            if tag["end"] and not counts[name]:
                continue
            may_end = bool(tag["end"]) or (tag["name"].lower() in _OPEN and around)
            if may_end and (tag["end"] or self.names[around[-1]] == name):
                while True:
                    last = around.pop()
                    self.spans[last][1] = tag.start()
                    counts[self.names[last]] -= 1
                    if self.names[last] == name:
                        break
            if not tag["end"]:
                self._add(tag, name, around[-1] if around else -1)
                is_empty = tag["attributes"].endswith(b"/") and (
                    is_xml or counts["svg"] or counts["math"] or name in ("svg", "math")
                )
                if tag["name"].lower() not in _VOID and not is_empty:
                    around.append(len(self.names) - 1)
                    counts[name] += 1
        self._add_text(around, page, end, len(page))
        for last in around:
            self.spans[last][1] = len(page)

    def _add_text(self, around: Sequence[int], page: bytes, start: int, end: int) -> None:
        if around and (text := _text(page[start:end])):
            self.texts.append((around[-1], start, text))

    def _add(self, tag: re.Match[bytes], name: str, parent: int) -> None:
        number = len(self.names)
        self.names.append(name)
        self.spans.append([tag.start(), -1])
        self.text_starts.append(tag.end())
        self.parents.append(parent)
        self.siblings[parent].append(number)
        self.positions.append(len(self.siblings[parent]))
        found = _ATTRIBUTE.findall(tag["attributes"]) if tag["attributes"] else ()
        self.attributes.append(
            {
                name.decode("latin-1").lower(): unescape((a or b or c).decode("utf-8", "replace"))
                for name, a, b, c in reversed(found)
            }
        )

    def classes(self, number: int) -> list[str]:
        """Return the classes of an element as selectors have them."""
        if number not in self._classes:
            names = self.attributes[number].get("class", "").split()
            self._classes[number] = [name.translate(_SYNTAX) for name in names]
        return self._classes[number]

    def spend(self, count: int) -> None:
        """Count tests. Raises `_UnknownSelectorError` after too many."""
        self._left -= count
        if self._left < 0:
            raise _UnknownSelectorError

    def test(self, selector: _Selector, number: int) -> bool:
        """Return whether an element is one of a selector. Raises `_UnknownSelectorError` after too
        many tests.
        """
        self.spend(1)
        tests, combinator, before, _ = selector
        if not all(test(self, number) for test in tests):
            return False
        if before is None:
            return True
        return any(self.test(before, other) for other in self._related(combinator, number))

    def _related(self, combinator: str, number: int) -> Iterator[int]:
        """Yield the elements that a combinator relates to an element."""
        parent = self.parents[number]
        if combinator in ("+", "~"):
            last = self.positions[number] - 1
            yield from self.siblings[parent][max(0, last - 1) if combinator == "+" else 0 : last]
            return
        while parent >= 0:
            yield parent
            if combinator == ">":
                return
            parent = self.parents[parent]


_Test: TypeAlias = Callable[[_Tree, int], bool]


class _Selector(NamedTuple):
    """Tests of an element, the selector of another one that a combinator relates to it, and a name,
    class or id without which no element passes the tests.
    """

    tests: tuple[_Test, ...]
    combinator: str
    before: _Selector | None
    key: str


_IDENTIFIER = r"[^\s.#:\[\]()>+~,*\"'=|^$]+"
_SIMPLE = re.compile(
    rf"\s*(?P<combinator>[>+~])\s*|(?P<blank>\s+)|(?P<tag>{_IDENTIFIER}|\*)"
    rf"|(?P<kind>[#.])(?P<value>{_IDENTIFIER})"
    rf"|\[\s*(?P<attribute>{_IDENTIFIER})\s*(?:(?P<operator>[~|^$*]?=)\s*(?P<quote>[\"']?)"
    r"(?P<of>[^\]\"']*?)(?P=quote)\s*(?:[isIS]\s*)?)?\]"
    r"|:(?P<pseudo>:?[\w-]+)(?P<bracket>\()?"
)
_NTH = re.compile(r"([-+]?\d*)n\s*(?:([-+])\s*(\d+))?|[-+]?\d+")
_OF_STATE = ("hover", "focus", "active", "visited", "target", "focus-within", "focus-visible")
_COMPARISONS: Mapping[str, Callable[[str, str], bool]] = {
    "": lambda value, of: True,
    "=": lambda value, of: value == of,
    "~=": lambda value, of: of in value.split(),
    "|=": lambda value, of: value == of or value.startswith(f"{of}-"),
    "^=": lambda value, of: bool(of) and value.startswith(of),
    "$=": lambda value, of: bool(of) and value.endswith(of),
    "*=": lambda value, of: bool(of) and of in value,
}
_COUNTED = {
    "first-child": (0, 1, False, False), "last-child": (0, 1, True, False),
    "first-of-type": (0, 1, False, True), "last-of-type": (0, 1, True, True),
}  # fmt: skip
_OF_ATTRIBUTES = {"link": "href", "any-link": "href", "checked": "checked", "disabled": "disabled"}


def _selectors(text: str) -> Iterator[str]:
    """Yield the selectors of a list that are not empty.

    >>> list(_selectors("a, :is(b, i) c"))
    ['a', ':is(b, i) c']
    """
    depth = start = 0
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            if selector := text[start:position].strip():
                yield selector
            start = position + 1
    if selector := text[start:].strip():
        yield selector


def _selector(text: str) -> _Selector:
    """Return a selector. Raises `_UnknownSelectorError` for one that is not evaluated."""
    position, combinator, key = 0, "", "*"
    tests: list[_Test] = []
    before: _Selector | None = None
    text = text.strip()
    if len(text) > _MAX_SELECTOR:
        raise _UnknownSelectorError
    while position < len(text):
        found = _SIMPLE.match(text, position)
        if found is None:
            raise _UnknownSelectorError
        position = found.end()
        if found["combinator"] or found["blank"]:
            before = _Selector(tuple(tests), combinator, before, key) if tests else before
            tests, combinator, key = [], found["combinator"] or " ", "*"
            continue
        if found["tag"] or found["kind"]:
            key = found[0] if found["kind"] else found[0].lower()
        argument = ""
        if found["bracket"]:
            end = _closing(text, position)
            argument, position = text[position:end], end + 1
        tests.append(_test(found, argument))
    return _Selector(tuple(tests), combinator, before, key)


def _closing(text: str, position: int) -> int:
    depth = 1
    for end in range(position, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            return end
    raise _UnknownSelectorError


def _test(found: re.Match[str], argument: str) -> _Test:
    """Return the test of a simple selector."""
    if tag := found["tag"]:
        name = tag.lower()
        return lambda tree, number: name in ("*", tree.names[number])
    if found["kind"] == "#":
        id = found["value"].translate(_UNMOVED)
        return lambda tree, number: tree.attributes[number].get("id") == id
    if found["kind"]:
        value = found["value"]
        return lambda tree, number: value in tree.classes(number)
    if found["attribute"]:
        of = (found["of"] or "").translate(_UNMOVED)
        return _attribute_test(found["attribute"].lower(), found["operator"] or "", of)
    return _pseudo_test(found["pseudo"].lower(), argument)


def _attribute_test(name: str, operator: str, of: str) -> _Test:
    compare = _COMPARISONS[operator]

    def is_in(tree: _Tree, number: int) -> bool:
        value = tree.attributes[number].get(name)
        return value is not None and compare(value, of)

    return is_in


def _pseudo_test(name: str, argument: str) -> _Test:
    if name in _OF_STATE:
        return lambda tree, number: False
    if name == "root":
        return lambda tree, number: tree.parents[number] < 0
    if name == "empty":
        return lambda tree, number: tree.spans[number][1] <= tree.text_starts[number]
    if attribute := _OF_ATTRIBUTES.get(name):
        return lambda tree, number: attribute in tree.attributes[number]
    if name in ("is", "where", "not", "matches", "-webkit-any"):
        inner = [_selector(each) for each in _selectors(argument)]
        is_not = name == "not"
        return lambda tree, number: (
            bool(inner) and is_not != any(tree.test(each, number) for each in inner)
        )
    counted = _COUNTED.get(name)
    if counted is None and name.startswith("nth-"):
        step, offset = _nth(argument.strip().lower())
        counted = step, offset, "-last-" in name, name.endswith("-of-type")
    if counted is None:
        raise _UnknownSelectorError
    return partial(_is_nth, *counted)


def _nth(formula: str) -> tuple[int, int]:
    """Return step and offset of a formula.

    >>> _nth("odd"), _nth("2n+1"), _nth("-n + 3"), _nth("4")
    ((2, 1), (2, 1), (-1, 3), (0, 4))
    """
    formula = {"odd": "2n+1", "even": "2n"}.get(formula, formula)
    found = _NTH.fullmatch(formula)
    if found is None:
        raise _UnknownSelectorError
    if "n" not in formula:
        return 0, int(formula)
    step = int(found[1] + "1" if found[1] in ("", "+", "-") else found[1])
    return step, int((found[2] or "") + (found[3] or "0"))


def _is_nth(
    step: int, offset: int, is_from_end: bool, is_of_type: bool, tree: _Tree, number: int
) -> bool:
    siblings = tree.siblings[tree.parents[number]]
    if is_of_type:
        tree.spend(len(siblings) // 10)
        siblings = [each for each in siblings if tree.names[each] == tree.names[number]]
        index = siblings.index(number)
    else:
        index = tree.positions[number] - 1
    counted = (len(siblings) - 1 - index if is_from_end else index) + 1 - offset
    return counted == 0 if step == 0 else counted % step == 0 and counted // step >= 0


# What the styles of a page hide, mark, add or colour as its background.

_STANDARD = "[hidden], template, dialog:not([open]) { display: none }"
_MAY_STYLE = re.compile(
    rb"<(?:style|template|dialog)\b|\s(?:hidden\b|style\s*=|(?:bg)?color\s*=|text\s*=)",
    re.IGNORECASE,
)
_STYLES = re.compile(rb"<(?P<name>style)\b[^>]*>", re.IGNORECASE)
_INLINE = re.compile(
    rb"\s(?P<name>style|(?:bg)?color|text)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+))",
    re.IGNORECASE,
)
_HIDDEN_TAG = re.compile(rb"<(?:template|dialog)\b|\shidden(?=[\s=>/])", re.IGNORECASE)
_BACKGROUND = re.compile(  # that something may have, of another colour
    rb"(?:background(?:-color|-image)?\s*:|b(?:gcolor|ackground)\s*=)\s*[\"']?\s*"
    rb"(?!#f{3}\b|#f{6}\b|white\b|none\b|transparent\b|inherit\b|initial\b|rgb\(255,\s*255,\s*255)"
    rb"|<link\b[^>]*stylesheet",
    re.IGNORECASE,
)
_NAME_END = re.compile(r"[\s\"'=<>]+")
_AROUND = re.compile(r"::?(?:before|after)\s*\Z")
_POWER, _MAX_POWER = re.compile(rb"\d<[^>]*>[-+]?\d"), 1_000  # bytes, as elements are nested
_BARE_DIGITS = re.compile(r"\A(?=[0-9a-f]{6}\Z)")
_ATTRIBUTE_OF, _WORD = re.compile(r"attr\(([\w-]+)"), re.compile(r"\w")


@dataclass(slots=True)
class _Styles:
    """The rules of a page by the last words of their selectors, and those that are not read."""

    names: set[str]  # of classes, ids and elements of the page, among other words
    rules: defaultdict[str, list[tuple[tuple[int, ...], _Selector, _Effect]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    effects: list[_Effect] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def add(self, selectors: str, effect: _Effect) -> None:
        """Add a rule, by each selector of its list."""
        for selector in _selectors(selectors):
            around = _AROUND.search(selector)
            own = effect._replace(added=()) if around is None else _Effect(added=effect.added)
            if own == _Effect():
                continue
            try:
                read = _selector(_AROUND.sub("", selector))
            except (_UnknownSelectorError, RecursionError):
                if "::" not in selector and (own.mark is not None or own.added):
                    self.unread.append(f"{selector} {own.mark} {own.added}")
                continue
            name = read.key.lstrip("#.")
            if name != "*" and name.isascii() and name not in self.names:
                continue
            weight = tuple(map(selector.count, "#.[")), len(self.effects)
            self.rules[read.key].append(((*weight[0], weight[1]), read, own))
            self.effects.append(own)

    def effect(self, tree: _Tree, number: int) -> _Effect:
        """Return what rules, attributes and its own style do to an element. Raises
        `_UnknownSelectorError` where that takes too long.
        """
        attributes = tree.attributes[number]
        keys = ["*", tree.names[number], *(f".{name}" for name in tree.classes(number))]
        if "id" in attributes:
            keys.append(f"#{attributes['id'].translate(_SYNTAX)}")
        found = [rule for key in dict.fromkeys(keys) for rule in self.rules.get(key, ())]
        found.sort(key=lambda rule: rule[0])
        effects = [effect for _, selector, effect in found if tree.test(selector, number)]
        text = attributes.get("text" if tree.names[number] == "body" else "color")
        background = _colour_attribute(attributes.get("bgcolor")) or attributes.get("background")
        effects.insert(0, _Effect(colour=_colour_attribute(text), background=background))
        if "style" in attributes:
            effects.append(_own_effect(attributes["style"]))
        return _joined(effects)


def _colour_attribute(value: str | None) -> Colour:
    return colour_of(_BARE_DIGITS.sub("#", value.strip().lower())) if value else None


def _joined(effects: Sequence[_Effect]) -> _Effect:
    """Return the last of each kind; hidden text stays hidden."""
    joined = effects[0]
    for effect in effects[1:]:
        mark = joined.mark if effect.mark is None or joined.mark == "" else effect.mark
        colour, background = effect.colour or joined.colour, effect.background or joined.background
        joined = _Effect(mark, colour, background, joined.added + effect.added)
    return joined


@lru_cache(maxsize=1000)
def _own_effect(style: str) -> _Effect:
    """Return what the style of an element does to it."""
    found = next(_rules(f"a{{{style}}}"), ("", ""))
    return _effect(found[1])._replace(added=())


def _styled(data: bytes, folded: bytes, linked: bytes) -> tuple[list[tuple[int, bytes]], list[str]]:
    """Return the text that styles hide, raise, strike out, add, or colour as its background, by
    positions, and the rules that hide text by selectors which are not evaluated.
    """
    if not linked and not _MAY_STYLE.search(data):
        return [], []
    own = (data[tag.end() : end] for tag, end in _elements(data, _STYLES, folded))
    css = b" ".join((linked, *own))
    standard = _STANDARD if _HIDDEN_TAG.search(data) else ""
    page = without_unshown(data)
    words = unescape(page.decode("utf-8", "replace"))
    styles = _Styles({*_NAME_END.split(words), *_NAME_END.split(words.lower())})
    for selectors, declarations in _rules(standard + css.decode("utf-8", "replace")):
        styles.add(selectors, _effect(declarations))
    effects = {*styles.effects, *_own_effects(data)}
    colours = {effect.colour for effect in effects if effect.colour}
    backgrounds = {WHITE, *(effect.background for effect in effects if effect.background)}
    has_colours = len(colours) * len(backgrounds) > MAX_PAIRS or any(
        is_near(colour, background) for colour in colours for background in backgrounds
    )
    if not (has_colours or any(effect.mark is not None or effect.added for effect in effects)):
        return [], styles.unread
    found: list[tuple[int, bytes]] = []
    try:
        found.extend(_found(data, page, styles, has_colours=has_colours))
    except (_UnknownSelectorError, RecursionError):
        styles.unread.append(css.decode("utf-8", "replace"))
    return found, styles.unread


def _own_effects(data: bytes) -> Iterator[_Effect]:
    """Yield what the styles and colours that elements have of their own do."""
    for name, *values in set(_INLINE.findall(data)):
        value = unescape(b"".join(values).decode("utf-8", "replace"))
        if name.lower() == b"style":
            yield _own_effect(value)
        else:
            colour = _colour_attribute(value)
            yield _Effect(background=colour) if name[:1] in b"bB" else _Effect(colour=colour)


def _found(
    data: bytes, page: bytes, styles: _Styles, *, has_colours: bool
) -> Iterator[tuple[int, bytes]]:
    """Yield the text that styles mark, by positions. Raises `_UnknownSelectorError` where selectors
    take too long.
    """
    tree = _Tree(page)
    colours: list[tuple[Colour, Colour]] = []
    hidden: list[bool] = []
    end_of_hidden = 0
    for number, (start, end) in enumerate(tree.spans):
        effect, parent = styles.effect(tree, number), tree.parents[number]
        attributes = tree.attributes[number]
        colour, background = colours[parent] if parent >= 0 else (None, None)
        if tree.names[number] == "a" and "href" in attributes and effect.colour is None:
            colour = "link"
        colours.append((effect.colour or colour, effect.background or background))
        hidden.append(start < end_of_hidden)
        if hidden[-1]:
            continue
        if words := _added(effect.added, attributes):
            yield start, words
        if effect.mark is None or end < 0:
            continue
        if effect.mark == "":
            end_of_hidden, hidden[-1] = end, True
            if text := _text(page[start:end]):
                yield start, text
        elif effect.mark and _POWER.match(data, start - 1):
            text = _text(page[start : min(end, start + _MAX_POWER)])
            yield start, b"%s %s" % (effect.mark.encode(), text)
    is_on_white = has_colours and not _BACKGROUND.search(data)
    for number, start, text in tree.texts if has_colours else ():
        colour, background = colours[number]
        background = background or (WHITE if is_on_white else None)
        if not hidden[number] and colour and is_near(colour, background):
            yield start, text


def _added(words: Sequence[str], attributes: Mapping[str, str]) -> bytes:
    """Return the words that a style adds, of an attribute too; empty for symbols."""
    values = [
        attributes.get(found[1], "") if (found := _ATTRIBUTE_OF.match(word)) else word
        for word in words
    ]
    text = " ".join(" ".join(values).split()).encode("utf-8", "replace")
    return text if _WORD.search(text.decode()) else b""
