"""Marks: the kinds of differences between two documents that a reader must know, most serious
first, and the policies by which documents with some of them are not folded.

The words that only one text has lie in gaps between the words that both have in the same order
(`indexer.comparing.alignment`). A mark is read from the facts that differ
(`indexer.comparing.differences`), from these gaps, from first lines and from paths; `explain`
(`indexer.comparing.reasons`) lists the marks of a pair:

- `negated`: a sentence is the same but for a negation ("may" / "may not"), or a negation differs.
- `parties_exchanged`: words stand for each other in both directions ("the tenant pays the
  landlord" / "the landlord pays the tenant"), or facts do ("Paid: 100. Due: 200." / "Paid: 200.
  Due: 100.").
- `form`: one template with other fields: `MIN_FIELDS` or more of two kinds, one of which is a
  name, an address or an amount, and at least as many as other words that differ; or two of two
  kinds around one passage.
- `message`: another message around one passage of half of either text or more, as mails under one
  disclaimer: other names, hardly a word in common, or a fact and a word.
- `embedded`: other files in the documents, such as attachments and pictures, read or not.
- `obligation`: another modal verb ("must" / "may"). `version`: a number of the first lines.
- `amount`, `deadline`, `date`, `number`, `symbol`, `name`, `address`, `link`, `renamed`, `header`:
  facts of that kind; a deadline is a number of minutes, hours, days and so on.
- `accents`: words that are the same but for their accents (`résumé` / `resume`).
- `clause_added`: a whole sentence that the other text lacks.
- `rearranged`: nearly all passages are shared, in another order.
- `grown`: one text is in the other, which is longer by a tenth or more.
- `language`: words of one language stand for words of another.
- `format`: files of one name but for its ending, the shorter text being nearly all in the longer.

docs/lab/032-policies.md has the trials.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, product, starmap
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from indexer.comparing.alignment import (
    MIN_MESSAGE,
    AlignedWords,
    Gap,
    Stretch,
    other_accents,
)
from indexer.comparing.differences import changed_quantities, changed_symbols
from indexer.comparing.facts import Fact, FactSource, FactText, exchanged_facts, is_fact, negations
from indexer.comparing.quantities import (
    AFTER_NOUNS,
    ANSWERS,
    CURRENCIES,
    DATES,
    DENYING,
    INFLECTED,
    MONTHS,
    NEGATIONS,
    NUMBERS,
    OF_LANGUAGES,
    WITHIN_CHARACTERS,
    date_span,
    denials,
)
from indexer.comparing.tiling import Tile
from indexer.comparing.unworded import exchanged_cells
from indexer.comparing.words import (
    LANGUAGES_BY_WORD,
    are_variants,
    lcs_of_strings,
    words,
)
from indexer.defaults import MAX_REPLACED, POLICIES, PolicyName

if TYPE_CHECKING:
    from indexer.comparing.measures import TextOperand

MIN_FIELDS = 3  # of a filled-in form that differ
MAX_FIELD = 8  # words that stand for each other
MAX_ONE_WAY = 3  # times as often in one direction as in the other, of words that are exchanged
MIN_AROUND = 2  # fields around one passage by which records and messages differ
MIN_NAMES = 2  # of people by which letters differ
MAX_COMMON = 0.5  # of the words of two messages
MIN_CHANGED = 0.1  # of the words of a message
MOVED = 0.9  # of the words that are not in order, of texts that are rearranged
MAX_BESIDE = 1  # other words that differ in a sentence that is negated
UNSPACED = ("ja", "zh")  # languages in which two characters are a word
# in Thai a word is some four characters with their marks, in Hungarian a negated verb is two words
_WORDS_BESIDE = {"hu": 2, "ja": 2, "km": 8, "lo": 8, "my": 8, "th": 8, "zh": 2}
_WORDS_BESIDE |= {"et": 4, "fi": 4, "lt": 2, "lv": 2, "pl": 2, "sl": 4}  # objects change their case
MISREAD = 0.7  # minimum fraction of the characters of a misread word that are in order
MIN_CLAUSE = 5  # words of a sentence that is added
MAX_STRETCH = 3  # words of either text that may stand for each other
MIN_STEM, MAX_ENDING = 4, 2  # letters of a word and of its inflection
_CONTRACTED = """
a o à às um ai allo alle agli dello degli delle dal dallo dalla dai dagli dalle vom zum zur beim aos
pela pelas pelos
"""  # articles and prepositions that are in no list of function words
_ARTICLES = LANGUAGES_BY_WORD.keys() | _CONTRACTED.split()
_ELIDED = re.compile(r"\A\w{1,4}'")  # "l'acheteur", "all'acquirente"
_REPEATED = re.compile(r"ø(?: ø)+")

AddedSentence: TypeAlias = tuple[str | None, str | None]  # None for the text that lacks it
_IDENTIFYING = {"name", "address", "amount"}  # kinds of fields by which forms differ
_EXCHANGEABLE = {"date", "amount", "number", "name", "address"}
# words that belong to a negation, as in "in no event"
_OF_DENIALS = """
do does did in by under event case circumstances circumstance means way auf unter fall falle fällen
weise umständen en de cas façon manière caso modo forma manera bajo per em maneira hipótese op onder
geval wijze omstandigheden
"""
_SUPPORTING = frozenset(_OF_DENIALS.split())
_OF_RECORD = {"name", "address", "amount", "date", "number", "reference"}
_DATED = {"date", "amount"}  # kinds of fields of which a form has one
_SENTENCE_END = re.compile(
    r"[.!?\u2026][\"'\u2019\u201d)\]]*(?:\s|\Z)|[\u3002\uff01\uff1f]|\n\s*\n"
)
_REFERENCE = re.compile(r"(?!(?:19|20)\d\d\Z)\d{3,}")  # no year


class Comparison:
    """Two texts and the gaps between their words in order, as these are written."""

    def __init__(self, a: TextOperand, b: TextOperand) -> None:
        self.a, self.b = FactText(a.facts, b.facts), FactText(b.facts, a.facts)
        self.texts = a, b
        self.aligned = AlignedWords(a.spelled, b.spelled)
        self._facts: dict[Gap, tuple[list[Fact | None], list[Fact | None]]] = {}

    @property
    def runs(self) -> list[Tile]:
        """The runs of words in order."""
        return self.aligned.runs

    @property
    def gaps(self) -> list[Gap]:
        """The gaps in order; none is empty."""
        return self.aligned.gaps

    def folded(self, gap: Gap) -> Stretch:
        """Return the folded words of either text in a gap."""
        a, b = self.aligned.a.folded, self.aligned.b.folded
        return Stretch(tuple(a[gap.a : gap.end_a]), tuple(b[gap.b : gap.end_b]))

    def facts(self, gap: Gap) -> tuple[list[Fact | None], list[Fact | None]]:
        """Return the fact that each word of a gap states, or None."""
        if gap not in self._facts:
            self._facts[gap] = (
                [self._fact(0, position) for position in range(gap.a, gap.end_a)],
                [self._fact(1, position) for position in range(gap.b, gap.end_b)],
            )
        return self._facts[gap]

    def have_capitals(self, gap: Gap) -> bool:
        """Return whether both texts have a word with a capital letter in a gap."""
        a, b = self.a.source, self.b.source
        return any(map(a.has_capital, range(gap.a, gap.end_a))) and any(
            map(b.has_capital, range(gap.b, gap.end_b))
        )

    def _fact(self, which: int, position: int) -> Fact | None:
        """Return the fact that a word states; each word of a copyright notice, or of a running
        head, is part of one without a value.
        """
        text = (self.a, self.b)[which]
        if text.source.is_in_frame(position):
            return Fact("date", "", text.source.spelling(position), position, position + 1)
        return text.fact(position)


# Rules of policies: whether two texts must not be folded.


def negated(pair: Comparison) -> tuple[str, str] | None:
    """Return the negations of either text in a sentence that is the same otherwise; None if none.

    Facts that differ next to them do not count, and misread words are no negations.

    >>> from indexer.comparing.measures import ComparedText
    >>> from indexer.recipe import DEFAULT
    >>> texts = "The tenant may assign this lease.", "The tenant may not assign this lease."
    >>> negated(Comparison(*(ComparedText(text, DEFAULT) for text in texts)))
    ('', 'not')
    """
    found = (_negated(pair, sentence) for sentence in _denying_sentences(pair))
    return next(filter(None, found), None)


def _negated(pair: Comparison, sentence: Sequence[Gap]) -> tuple[str, str] | None:
    if other_negations(pair, sentence) is None:
        return _moved_negation(pair, sentence)
    gaps = [gap for gap in sentence if not _whole_sentences(pair, gap)]
    gaps = [gap for gap in gaps if not _is_misread(pair, gap)]
    found = other_negations(pair, gaps)
    languages = pair.aligned.a.language, pair.aligned.b.language
    limit = max(_WORDS_BESIDE.get(language, MAX_BESIDE) for language in languages)
    return found if found and not _have_others(pair, gaps, limit) else None


def _moved_negation(pair: Comparison, sentence: Sequence[Gap]) -> tuple[str, str] | None:
    """Return a negation of either text with the word after it, where the sentences are the same
    but for the position of negations ("may not sublet but may assign" / "may sublet but may not
    assign"); None for others.
    """
    moved = [gap for gap in sentence if other_negations(pair, [gap]) is not None]
    if not moved or _have_others(pair, sentence, 0):
        return None
    a, b = pair.aligned.a.folded, pair.aligned.b.folded
    left = next(a[gap.a : gap.end_a + 1] for gap in moved if gap.words[0])
    right = next(b[gap.b : gap.end_b + 1] for gap in moved if gap.words[1])
    return " ".join(left), " ".join(right)


def _have_others(pair: Comparison, gaps: Sequence[Gap], limit: int) -> bool:
    """Return whether more than `limit` words of either text in gaps are no facts."""
    found = [_denials(pair.aligned, pair.folded(gap)) for gap in gaps]
    others = [0, 0]
    for index in (0, 1):
        others[index] = sum(gap.words[index] for gap in gaps)
        others[index] -= sum(denied.count(index) for denied in found)
    if max(others) <= limit:  # no facts need to be read
        return False
    others = [0, 0]
    for gap, denied in zip(gaps, found, strict=True):
        of_texts = zip(pair.facts(gap), pair.folded(gap), strict=True)
        for index, (facts, folded) in enumerate(of_texts):
            others[index] += facts.count(None) - sum(map(_SUPPORTING.__contains__, folded))
            others[index] -= sum(map(len, denied.affirming))
        if max(others) > limit:
            return True
    return False


def other_negations(pair: Comparison, gaps: Sequence[Gap]) -> tuple[str, str] | None:
    """Return the negations of either text in some gaps; None where both have as many."""
    found = [_denials(pair.aligned, pair.folded(gap)) for gap in gaps]
    left = [negation for of_gap in found for negation in of_gap.denying[0]]
    right = [negation for of_gap in found for negation in of_gap.denying[1]]
    return None if len(left) == len(right) else (" ".join(left), " ".join(right))


def _whole_sentences(pair: Comparison, gap: Gap) -> tuple[FactSource, int, int] | None:
    """Return the words of one sentence or more that one text alone has, None if a gap is none.

    It may stand some words further on: of "A ferry. A bus" the gap may be "ferry. A".
    """
    if min(gap.words):
        return None
    which = 0 if gap.words[0] else 1
    text = (pair.a, pair.b)[which].source
    start, stop = (gap.a, gap.end_a) if which == 0 else (gap.b, gap.end_b)
    for shift in (0, *_shifts(text, start, stop, 1), *_shifts(text, start - 1, stop - 1, -1)):
        first, last = start + shift, stop + shift
        if (not first or _ends_between(text, first, first)) and _ends_between(text, last, last):
            return text, first, last
    return None


def _shifts(text: FactSource, start: int, stop: int, step: int) -> Iterator[int]:
    """Yield by how many words a gap may stand elsewhere, one by one in a direction."""
    for count in range(MAX_FIELD):
        word = text.folded(start + step * count)
        if not word or word != text.folded(stop + step * count):
            return
        yield step * (count + 1)


def _denying_sentences(pair: Comparison) -> Iterator[list[Gap]]:
    """Yield the gaps in each sentence of the first text that has a negation in one of them."""
    gaps, source = pair.gaps, pair.a.source

    def is_last(index: int) -> bool:
        following = gaps[index + 1].a if index + 1 < len(gaps) else -1
        return following < 0 or _ends_between(source, gaps[index].end_a, following)

    end = 0
    for index, stretch in enumerate(pair.aligned.stretches):
        if index < end or not any(_denials(pair.aligned, stretch).denying):
            continue
        start, end = index, index + 1
        while start > 0 and not is_last(start - 1):
            start -= 1
        while not is_last(end - 1):
            end += 1
        yield gaps[start:end]


def _ends_between(source: FactSource, start: int, stop: int) -> bool:
    """Return whether a sentence ends after word `start` - 1 and before word `stop`."""
    first = source.ends[start - 1] if start else 0
    last = source.starts[stop] if stop < len(source.starts) else len(source.text)
    return _SENTENCE_END.search(source.text, first, last) is not None


class _Denials(NamedTuple):
    """The words of either text in a gap that deny, and those that they are the opposites of."""

    denying: tuple[list[str], list[str]]
    affirming: tuple[list[str], list[str]]

    def count(self, text: int) -> int:
        """Return how many words of a text these are."""
        return sum(map(_count_words, self.denying[text])) + len(self.affirming[text])


def _denials(pair: AlignedWords, stretch: Stretch) -> _Denials:
    """Return the negations of a gap, with endings, negating prefixes and opposites."""
    languages = pair.a.language, pair.b.language
    denying = negations(stretch.a, languages[0]), negations(stretch.b, languages[1])
    found = _Denials(denying, ([], []))
    if not any(map(DENYING.match, chain(*stretch))):
        return found
    for *positions, by in denials(*stretch, languages[0] or languages[1]):
        word = stretch[by][positions[by]]
        found.affirming[1 - by].append(stretch[1 - by][positions[1 - by]])
        if word not in denying[by]:
            denying[by].append(word)
    return found


def _count_words(negation: str) -> int:
    return len(negation) if WITHIN_CHARACTERS.fullmatch(negation) else 1


def _is_misread(pair: Comparison, gap: Gap) -> bool:
    """Return whether accents or a few characters differ, but for words such as "never" and "ever",
    "kein" and "ein", "niemand" and "jemand".
    """
    if pair.folded(gap).differs_in_accents:
        return True
    shorter, longer = sorted(map("".join, pair.folded(gap)), key=len)
    is_denial = longer in NEGATIONS and longer.endswith(shorter.removeprefix("j"))
    return not is_denial and not _denies_by_form(pair, gap) and _is_alike(pair.folded(gap))


def _is_alike(words: Stretch) -> bool:
    """Return whether most characters are in order, as in a misread word."""
    a, b = map("".join, words)
    return lcs_of_strings(a, b) >= MISREAD * max(len(a), len(b))


def _denies_by_form(pair: Comparison, gap: Gap) -> bool:
    """Return whether words differ by a negating prefix, or, in such a language, by a negation that
    changes their form.
    """
    language = pair.aligned.a.language or pair.aligned.b.language
    if denials(*pair.folded(gap), language):
        return True
    return pair.aligned.a.language in INFLECTED and other_negations(pair, [gap]) is not None


def exchanged(pair: Comparison) -> tuple[str, str] | None:
    """Return words or facts that stand for each other in both directions; None if there are none.

    Words that stand `MAX_ONE_WAY` times as often in one direction are no exchange: their text names
    the other one, as a page of one release that refers to the page of another.

    >>> from indexer.comparing.measures import ComparedText
    >>> from indexer.recipe import DEFAULT
    >>> texts = "The tenant pays the landlord.", "The landlord pays the tenant."
    >>> exchanged(Comparison(*(ComparedText(text, DEFAULT) for text in texts)))
    ('tenant', 'landlord')
    """
    filled = (stretch for stretch in pair.aligned.stretches if stretch.a and stretch.b)
    times = Counter(stretch for stretch in filled if max(map(len, stretch)) <= MAX_FIELD)
    for (left, right), count in times.items():
        back = times[Stretch(right, left)]
        is_exchange = back and max(count, back) < MAX_ONE_WAY * min(count, back)
        if is_exchange and any(map(str.isalpha, left)) and any(map(str.isalpha, right)):
            return " ".join(left), " ".join(right)
    if not may_be_exchanged(pair.aligned):
        return None
    return _exchanged_facts(pair) or exchanged_cells(*(text.text for text in pair.texts))


def have_exchanged_positions(pair: AlignedWords) -> bool:
    """Return whether words but for articles and short endings stand for each other in both
    directions, in half or more of the positions where few words of one text stand for others.

    >>> from indexer.comparing.words import words
    >>> texts = "Le vendeur paie à l'acheteur", "L'acheteur paie au vendeur", "L'acheteur paie"
    >>> [have_exchanged_positions(AlignedWords(words(texts[0]), words(text))) for text in texts]
    [False, True, False]
    """
    if pair.a.language in UNSPACED:
        return False
    texts = (words(_with_one_article(text.folded)) for text in (pair.a, pair.b))
    joined = (
        (" ".join(left).removeprefix("ø "), " ".join(right).removeprefix("ø "))
        for left, right in filter(is_replaced, AlignedWords(*texts).stretches)
    )
    replaced = {both for both in joined if not _are_forms(*both)}
    reverse = {stems for old, new in replaced for stems in product(_stems(new), _stems(old))}
    swapped = [both for both in replaced if not reverse.isdisjoint(product(*map(_stems, both)))]
    return 2 * len(swapped) >= max(1, len(replaced))


def _with_one_article(words: Sequence[str]) -> str:
    """Return words with one symbol for the articles and prepositions before each.

    >>> _with_one_article(["au", "vendeur"]), _with_one_article(["à", "l'acheteur"])
    ('ø vendeur', 'ø acheteur')
    """
    text = " ".join("ø" if word in _ARTICLES else _ELIDED.sub("ø ", word) for word in words)
    return _REPEATED.sub("ø", text)


def is_replaced(stretch: Stretch) -> bool:
    """Return whether a few words of one text stand for a few of the other."""
    shorter, longer = sorted(map(len, stretch))
    return 1 <= shorter <= longer <= MAX_STRETCH


def _are_forms(a: str, b: str) -> bool:
    """Return whether two words are the same, or but for a short ending.

    >>> _are_forms("mieter", "mieters"), _are_forms("mieter", "vermieter")
    (True, False)
    """
    return not _stems(a).isdisjoint(_stems(b))


def _stems(word: str) -> set[str]:
    """Return a word, and it without one to `MAX_ENDING` characters at its end."""
    shortest = min(len(word), max(MIN_STEM, len(word) - MAX_ENDING))
    return {word[:end] for end in range(shortest, len(word) + 1)}


def may_be_exchanged(pair: AlignedWords) -> bool:
    """Return whether a word that may state a fact stands elsewhere in the other text."""
    return not pair.moved <= LANGUAGES_BY_WORD.keys()


def _exchanged_facts(pair: Comparison) -> tuple[str, str] | None:
    left: list[int] = []
    right: list[int] = []
    for gap in pair.gaps:
        left += _moved_facts(pair, pair.a, gap.a, gap.end_a)
        right += _moved_facts(pair, pair.b, gap.b, gap.end_b)
    if found := exchanged_facts(pair.a, pair.b, left):
        return found
    found = exchanged_facts(pair.b, pair.a, right)
    return found and (found[1], found[0])


def _moved_facts(pair: Comparison, text: FactText, start: int, stop: int) -> Iterator[int]:
    """Yield the words [start, stop) of a text that may state a fact which moved."""
    for position in range(start, stop):
        if text.source.folded(position) in pair.aligned.moved:
            fact = None if text.source.is_in_frame(position) else text.fact(position)
            if fact and fact.kind in _EXCHANGEABLE:
                yield position


def is_form(pair: Comparison) -> bool:
    """Return whether both texts are one template with other fields.

    >>> from indexer.comparing.measures import ComparedText
    >>> from indexer.recipe import DEFAULT
    >>> text = "Invoice {} of {} for {}: please pay {} euros within a month."
    >>> left = ComparedText(text.format("4711", "2024-05-01", "Acme Ltd", "90"), DEFAULT)
    >>> right = ComparedText(text.format("4712", "2024-06-01", "Initech Inc", "75"), DEFAULT)
    >>> is_form(Comparison(left, right)), is_form(Comparison(left, left))
    (True, False)
    """
    fields: set[tuple[frozenset[tuple[str, str]], ...]] = set()
    kinds: set[str] = set()
    others = sum(max(gap.words) for gap in pair.gaps if not min(gap.words))
    filled = [gap for gap in pair.gaps if min(gap.words)]
    to_read = sum(sum(gap.words) for gap in filled)
    if not any(starmap(_is_dated_field, pair.aligned.stretches)):
        return False
    is_around = _passage(pair.aligned) > 0
    count = 0
    for gap in filled:
        if count + to_read < max(MIN_AROUND if is_around else MIN_FIELDS, others):
            return False
        to_read -= sum(gap.words)
        facts = pair.facts(gap)
        values = [_stated(of_text) for of_text in facts]
        others += max(of_text.count(None) for of_text in facts)
        is_misread = is_around and are_variants(*pair.folded(gap))
        if all(values) and tuple(values) not in fields and not is_misread:
            fields.add(tuple(values))
            stated = {_field_kind(fact) for of_text in facts for fact in of_text if fact}
            stated -= {"", "number"} if "date" in stated else {""}  # the time of the day
            count += len(stated)
            kinds |= stated
    of_record = kinds & _OF_RECORD
    is_record = len(of_record) > 1 and of_record != {"date", "number"}  # as of a version
    if is_around and len(fields) >= MIN_AROUND and count >= others and is_record:
        return True
    if count < max(MIN_FIELDS, others) or len(kinds) < 2:
        return False
    return not kinds.isdisjoint(_IDENTIFYING) and not kinds.isdisjoint(_DATED)


def _field_kind(fact: Fact) -> str:
    """Return the kind of a field, empty for none, "reference" for numbers such as invoices have."""
    if fact.kind == "number" and _REFERENCE.fullmatch(fact.value):
        return "reference"
    return fact.kind if fact.value else ""


def states_other_facts(pair: Comparison) -> bool:
    """Return whether one text states other facts than the other where both state some.

    One other number, date or amount is enough, or one of another sign or unit. Other names, e-mail
    addresses and symbols are as many as the other words that differ, or more. Copyright notices,
    running headers and links do not count, nor does a fact where the other text has none.

    >>> from indexer.comparing.measures import ComparedText
    >>> from indexer.recipe import DEFAULT
    >>> texts = "The ferry leaves at 8.", "The ferry leaves at 9.", "The first ferry leaves at 8."
    >>> a, b, c = (ComparedText(text, DEFAULT) for text in texts)
    >>> states_other_facts(Comparison(a, b)), states_other_facts(Comparison(a, c))
    (True, False)
    """
    sources = pair.a.source, pair.b.source
    if _state_other_numbers(pair) or any(changed_quantities(*sources, pair.runs)):
        return True
    if _state_other_dates(pair):
        return True
    changed = sum(1 for _ in changed_symbols(*sources, pair.runs))
    has_addresses = "@" in pair.a.source.text
    may_name = [has_addresses or pair.have_capitals(gap) for gap in pair.gaps]
    possible = sum(may_name)  # gaps in which names or e-mail addresses may stand for others
    others = [0, 0]
    for gap, is_possible in zip(pair.gaps, may_name, strict=True):
        if changed + possible < max(1, *others):
            return False
        facts = pair.facts(gap)
        others = [others[0] + facts[0].count(None), others[1] + facts[1].count(None)]
        possible -= is_possible
        if is_possible and not _NAMING.isdisjoint(_other_classes(*map(_stated, facts))):
            changed += not are_variants(*pair.folded(gap))
    return changed >= max(1, *others)


def _state_other_numbers(pair: Comparison) -> bool:
    """Return whether a number, date or amount of either text stands for another one."""
    for gap, (left, right) in zip(pair.gaps, pair.aligned.stretches, strict=True):
        if not any(map(is_fact, left)) or not any(map(is_fact, right)):
            continue
        classes = _other_classes(*map(_stated, pair.facts(gap)))
        if "number" in classes and not are_variants(left, right):
            return True
    return False


def _state_other_dates(pair: Comparison) -> bool:
    """Return whether one date stands for another, of which one has parts elsewhere in the other:
    "2024年3月2日" / "2024年2月6日".
    """
    for gap, stretch in zip(pair.gaps, pair.aligned.stretches, strict=True):
        if all(stretch) or not any(map(is_fact, chain(*stretch))):
            continue
        left = _dates(pair.a.source, gap.a, gap.end_a)
        right = _dates(pair.b.source, gap.b, gap.end_b)
        if left and right and left.isdisjoint(right):
            return True
    return False


def _dates(text: FactSource, start: int, end: int) -> set[str]:
    """Return the whole dates that words [start, end), or those next to them, are of."""
    positions = range(max(0, start - 1), min(end + 1, len(text.starts)))
    words = [(text.starts[position], text.ends[position]) for position in positions]
    spans = {span: date_span(text.text, *span) for span in words}
    return {text.text[slice(*whole)].casefold() for word, whole in spans.items() if whole != word}


_NAMING = {"name", "address"}


def _stated(facts: Sequence[Fact | None]) -> frozenset[tuple[str, str]]:
    return frozenset(fact.key for fact in facts if fact and fact.value)


def _other_classes(a: frozenset[tuple[str, str]], b: frozenset[tuple[str, str]]) -> set[str]:
    """Return the classes of facts of which either text has one that the other lacks."""
    return {kind for kind, _ in a - b} & {kind for kind, _ in b - a}


def has_other_message(pair: Comparison) -> bool:
    """Return whether two texts are other messages around one passage, such as a disclaimer.

    The longest run of words in order is half of either text or more. Before and after it another
    name stands in two stretches; or in one, where a tenth of the words are others and `MIN_MESSAGE`
    of them no facts, or one fewer if these are a tenth of the message; or a tenth are others, and a
    fact stands for another, and words for others; or the texts have hardly anything in common, and
    `MIN_MESSAGE` words of their own.
    Pages of one template are none (`MAX_REPLACED`): the same words stand for others time and again.
    """
    passage = _passage(pair.aligned)
    rest = max(len(text.spelled) - passage for text in pair.texts)
    common = pair.aligned.in_order - passage
    if not passage or _is_rest_moved(pair):
        return False
    may_name = sum(map(pair.have_capitals, pair.gaps))
    lengths = (
        sum(gap.end_a - gap.a for gap in pair.gaps),
        sum(gap.end_b - gap.b for gap in pair.gaps),
    )
    is_changed = min(lengths) >= MIN_CHANGED * rest
    if is_changed and _differ_in_entry(pair):
        return not _are_of_template(pair)
    if may_name < MIN_NAMES and (
        min(lengths) + 1 < MIN_MESSAGE or (not may_name and common > MAX_COMMON * rest)
    ):
        return False  # no facts need to be read
    if _are_of_template(pair):
        return False
    own = [0, 0]
    names = set()
    for gap in pair.gaps:
        facts = pair.facts(gap)
        stated = [_names(of_text) for of_text in facts]
        if all(stated) and stated[0].isdisjoint(stated[1]):
            names.add((stated[0], stated[1]))
        own = [own[0] + facts[0].count(None), own[1] + facts[1].count(None)]
    if len(names) >= MIN_NAMES:
        return True
    words = min(own)
    if not names:
        return common <= MAX_COMMON * rest and words >= MIN_MESSAGE
    is_message = words >= MIN_MESSAGE or words + 1 >= max(MIN_MESSAGE, MIN_CHANGED * rest)
    return is_changed and is_message


def _passage(pair: AlignedWords) -> int:
    """Return the words of the longest run in order, 0 unless it is half of either text or more."""
    longest = max((run.words for run in pair.runs), default=0)
    return longest if longest >= max(1, len(pair.a) / 2, len(pair.b) / 2) else 0


def _differ_in_entry(pair: Comparison) -> bool:
    """Return whether a fact such as a day, and words that state none, stand for others; neither is
    misread, and no text alone has any words.
    """
    if len(pair.gaps) < MIN_AROUND or not all(map(all, (gap.words for gap in pair.gaps))):
        return False
    found = set()
    for gap in pair.gaps:
        facts, words = pair.facts(gap), pair.folded(gap)
        if are_variants(*words) or (_is_alike(words) and not _is_dated_field(*words)):
            continue
        left, right = (set(map(_field_kind, filter(None, of_text))) for of_text in facts)
        if not left | right:
            found.add("words")
        elif left & _OF_RECORD and right & _OF_RECORD and _stated(facts[0]) != _stated(facts[1]):
            found.add("fact")
    return len(found) > 1


def _are_of_template(pair: Comparison) -> bool:
    """Return whether words without capitals stand for the same others again and again."""
    pairs = zip(pair.aligned.stretches, pair.gaps, strict=True)
    plain = (stretch for stretch, gap in pairs if all(gap.words) and not pair.have_capitals(gap))
    return max(Counter(plain).values(), default=0) > MAX_REPLACED


def _is_rest_moved(pair: Comparison) -> bool:
    """Return whether nearly all words that are not in order stand elsewhere in the other one."""
    rest = [*chain.from_iterable(chain(*stretch) for stretch in pair.aligned.stretches)]
    return sum(map(pair.aligned.moved.__contains__, rest)) >= MOVED * len(rest)


def _names(facts: Sequence[Fact | None]) -> frozenset[str]:
    return frozenset(fact.value for fact in facts if fact and fact.kind == "name")


def may_separate(pair: AlignedWords) -> bool:
    """Return whether `separates` may hold of texts with these words, as measures read them.

    It does not where no negation, no date or amount and no words in both directions differ, no
    word of one text stands elsewhere in the other, and no run of words is half of either text.
    """
    others = min(len(pair.a), len(pair.b)) - pair.in_order
    is_around = _passage(pair) > 0
    if (is_around and others >= MIN_MESSAGE) or may_be_exchanged(pair):
        return True
    seen: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    for left, right in pair.stretches:
        if not _DENIALS.isdisjoint(left + right) or _denies_in_language(pair, Stretch(left, right)):
            return True
        if left and right:
            if (right, left) in seen:
                return True
            may_deny = any(map(DENYING.match, left + right))
            if may_deny and denials(left, right, pair.a.language or pair.b.language):
                return True
            seen.add((left, right))
    if is_around and len(seen) >= MIN_NAMES:
        return True
    fields = sum(len(left) + len(right) for left, right in seen)
    return fields >= MIN_FIELDS and any(starmap(_is_dated_field, seen))


def _denies_in_language(pair: AlignedWords, stretch: Stretch) -> bool:
    """Return whether a word of a gap denies by its ending, or in its language alone; the language
    of a text is read only where a word may be such.
    """
    words = {*stretch.a, *stretch.b}
    may_deny = (not word.isascii() or "m" in word for word in words)  # Japanese; Turkish endings
    if words.isdisjoint(_OF_ONE_LANGUAGE) and not any(may_deny):
        return False
    languages = pair.a.language, pair.b.language
    return not INFLECTED.isdisjoint(languages) and any(_denials(pair, stretch).denying)


_OF_ONE_LANGUAGE = frozenset[str]().union(*OF_LANGUAGES.values())
_DENIALS = NEGATIONS - ANSWERS | AFTER_NOUNS | {"t"}  # of "can't"


def _is_dated_field(a: Sequence[str], b: Sequence[str]) -> bool:
    return any(map(_is_dated, a)) and any(map(_is_dated, b))


def _is_dated(word: str) -> bool:
    """Return whether a folded word may state a number, a date or an amount, or is no word."""
    is_named = word in NUMBERS or word in MONTHS or word in DATES or word in CURRENCIES
    return is_named or not word.isalpha()


def separates(policy: PolicyName, pair: Comparison) -> bool:
    """Return whether a policy does not fold two texts for one of its marks, whatever the facts."""
    if not POLICIES[policy].separates or not pair.gaps:
        return False
    if "accents" in POLICIES[policy].separates and other_accents(pair.aligned):
        return True
    if has_other_message(pair):  # first: of most pairs that are not folded
        return True
    return negated(pair) is not None or exchanged(pair) is not None or is_form(pair)


def added_sentences(pair: Comparison) -> Iterator[AddedSentence]:
    """Yield the sentences that one text has and the other lacks, a gap together."""
    for gap in pair.gaps:
        whole = _whole_sentences(pair, gap) if max(gap.words) >= MIN_CLAUSE else None
        if whole:
            yield (_written(*whole), None) if gap.words[0] else (None, _written(*whole))


def _written(source: FactSource, start: int, stop: int) -> str:
    return " ".join(source.text[source.starts[start] : source.ends[stop - 1]].split())
