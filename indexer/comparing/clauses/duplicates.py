"""Duplicate types of clauses: identical, near identical, fuzzy, or none.

Clauses of similar words that oblige to different things (another force, party or act, or the
opposite) are no duplicates.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, product
from typing import Literal, Protocol, TypeAlias

from indexer.comparing import marks
from indexer.comparing.alignment import Gap, Stretch
from indexer.comparing.clauses.clause_terms import (
    NAME,
    Duty,
    ParsedClause,
    contexts,
    read_clause,
    said_names,
)
from indexer.comparing.clauses.lexicon import (
    OPPOSITES,
    Lexicon,
    default_lexicon,
    lexicon,
    with_same_words,
)
from indexer.comparing.clauses.same_names import with_same_units
from indexer.comparing.differences import other_modals
from indexer.comparing.facts import Fact
from indexer.comparing.measures import ComparedText
from indexer.comparing.words import folded_words, normal_words, words_by_language
from indexer.defaults import OVERLAP
from indexer.errors import UsageError
from indexer.fingerprinting.hashing import string_hashes
from indexer.fingerprinting.rare_terms import (
    DOCUMENT_TERMS,
    CorpusStatistics,
    by_rarity,
    count_features,
    exact_fraction,
    lengths_agree,
)
from indexer.recipe import DEFAULT


def has_other_obligation(left: ParsedClause, right: ParsedClause, lexicon: Lexicon) -> bool:
    """Return whether a visible sign shows that two clauses do not oblige to the same, whoever does.

    One denies more often than the other; the same verb stands with another force; one has a word
    and the other its opposite; either obliges to an act that the other does not mention; or either
    has a sentence more.
    """
    return (
        _negations(left) != _negations(right)
        or _have_opposites(left, right, lexicon)
        or _have_other_force(left, right)
        or _have_other_acts(left, right)
        or _has_sentence_more(left.text, right.text)
        or _has_sentence_more(right.text, left.text)
    )


def _negations(clause: ParsedClause) -> int:
    """Count the negations of a clause; "no" is none in Portuguese."""
    count = sum(unit.form == "no" for unit in clause.units)
    return clause.negations - (count if count and language_of(clause.text) == "pt" else 0)


def _has_sentence_more(text: str, other: str) -> bool:
    """Return whether nearly all words of a sentence are in one text and not in the other, as often.

    A sentence that has been moved is in both.
    """
    added = Counter(folded_words(text)) - Counter(folded_words(other))
    if added.total() < _MIN_SENTENCE:
        return False
    sentences = (Counter(folded_words(sentence)) for sentence in _SENTENCE_END.split(text))
    return any(
        words.total() >= _MIN_SENTENCE and (words & added).total() >= _ADDED * words.total()
        for words in sentences
    )


def have_exchanged_parties(left: ParsedClause, right: ParsedClause, lexicon: Lexicon) -> bool:
    """Return whether the same verb stands with the other party, or two parties have changed
    places.
    """
    return _have_other_subject(left, right, lexicon) or have_changed_positions(left, right)


# Languages other than English, whose parties, acts and forces are not read: what differs in them is
# known by the negations of differences, words that change places, and short lists.

LANGUAGES = ("en", "de", "fr", "nl", "es", "it", "pt", "zh", "ja")
_MIN_FUNCTION_WORDS = 2  # of a clause whose language is known
_MIN_SENTENCE, _ADDED = 6, 0.8  # words of a sentence, and the fraction of them that the other lacks
_CAPITALISED = re.compile(r"\b[A-Z][\w-]+")
_POSSESSIVE = re.compile(r"['’]s\b")
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+|(?<=[\u3002\uff1b])\s*")
_NUMBER = re.compile(r"\d+|[a-z〇零一二三四五六七八九十百千万億亿]")
_UNSPACED = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")  # Chinese and Japanese
_FIRM = re.compile(r".+(?:公司|株式会社|合同会社|有限会社)|(?:株式会社|合同会社|有限会社).+")


def language_of(text: str) -> str | None:
    """Return the language of the function words of a text; None if it has too few.

    >>> language_of("Der Mieter darf die Wohnung nicht an Dritte vermieten."), language_of("Net 30")
    ('de', None)
    """
    words = normal_words(text)
    counts, first = words_by_language(words.function_words), words.language
    # a word that is one of English, too, is no sign of another language
    chosen = "en" if counts["en"] == counts[first] else first
    return chosen if counts[chosen] >= _MIN_FUNCTION_WORDS else None


def has_types(text: str) -> bool:
    """Return whether types other than identical are given in the language of a text, as far as its
    language is known.
    """
    return language_of(text) in (None, *LANGUAGES)


def _with_facts(left: str, right: str, found: Verdict) -> Verdict | None:
    """Return a verdict on clauses in other languages: None where one text denies what the other
    states, has another modal verb, or a word stands for its opposite; `parties_exchanged` where two
    parties change places.

    In Chinese and Japanese any words that stand for others may oblige to something else. Sentences
    that both have may stand in another order.
    """
    if _UNSPACED.search(left) and _UNSPACED.search(right):
        left, right = with_same_words(left), with_same_words(right)
    pair = _compared(*_in_one_order(left, right))
    stretches = filter(marks.is_replaced, pair.aligned.stretches)
    is_denied = any(marks.other_negations(pair, [gap]) for gap in pair.gaps)
    if is_denied or marks.negated(pair) or _have_other_modals(pair):
        return None
    if any(not OPPOSITES.isdisjoint(product(*stretch)) for stretch in stretches):
        return None
    is_unspaced = pair.aligned.a.language in marks.UNSPACED
    is_swapped = marks.exchanged(pair) or marks.have_exchanged_positions(pair.aligned)
    if is_swapped or (is_unspaced and _has_moved_words(pair.aligned.stretches)):
        return Verdict(EXCHANGED, found.terminology)
    return None if is_unspaced and _has_other_words(pair) else found


def _in_one_order(left: str, right: str) -> tuple[str, str]:
    """Return both texts, the sentences that both have first, in the order of the left one."""
    sentences = [_SENTENCE_END.split(text) for text in (left, right)]
    both = set(sentences[0]) & set(sentences[1])
    order = {sentence: index for index, sentence in enumerate(sentences[0]) if sentence in both}
    ordered = (sorted(texts, key=lambda text: order.get(text, len(left))) for texts in sentences)
    first, second = map(" ".join, ordered)
    return first, second


def _have_other_modals(pair: marks.Comparison) -> bool:
    a, b = pair.aligned.a.folded, pair.aligned.b.folded
    return any(other_modals(a, b, ((gap.a, gap.end_a, gap.b, gap.end_b) for gap in pair.gaps)))


def _has_other_words(pair: marks.Comparison) -> bool:
    """Return whether words stand for others that are no numbers, also "a" or "b", no accents, and
    no names that the other text lacks.
    """
    left = {word for stretch in pair.aligned.stretches for word in stretch.a if word.isascii()}
    both = left.intersection(word for stretch in pair.aligned.stretches for word in stretch.b)
    replaced = (gap for gap in pair.gaps if all(gap.words))
    return any(
        not pair.folded(gap).differs_in_accents
        and not all(map(_NUMBER.fullmatch, chain.from_iterable(pair.folded(gap))))
        and not (both.isdisjoint(chain.from_iterable(pair.folded(gap))) and _are_names(pair, gap))
        for gap in replaced
    )


def _are_names(pair: marks.Comparison, gap: Gap) -> bool:
    """Return whether a gap has a firm or Latin names with capitals in both texts."""
    return all(map(_is_name, pair.folded(gap), pair.facts(gap)))


def _is_name(words: Sequence[str], facts: Sequence[Fact | None]) -> bool:
    is_latin = all(map(str.isascii, words))
    if is_latin and all(fact is not None and fact.kind == "name" for fact in facts):
        return True
    return _FIRM.fullmatch("".join(words)) is not None


def _has_moved_words(stretches: Sequence[Stretch]) -> bool:
    """Return whether words of one text stand elsewhere in the other, in any order, such as the
    first character of a party whose name is in the name of the other party.
    """
    removed = {tuple(sorted(left)) for left, right in stretches if left and not right}
    added = {tuple(sorted(right)) for left, right in stretches if right and not left}
    return not removed.isdisjoint(added)


def have_changed_positions(left: ParsedClause, right: ParsedClause) -> bool:
    """Return whether two names that are in both clauses have exchanged positions.

    Positions are known by the neighbouring words.
    """
    both = said_names(left.units).keys() & said_names(right.units).keys()
    if len(both) < 2:
        return False
    contexts_left, contexts_right = contexts(left.units), contexts(right.units)
    moved = set()
    for context in contexts_left.keys() & contexts_right.keys():
        names_left, names_right = contexts_left[context], contexts_right[context]
        if len(names_left) == len(names_right) == 1 and names_left != names_right:
            moved.add((*names_left, *names_right))
    return any(a in both and b in both and (b, a) in moved for a, b in moved)


def _have_opposites(left: ParsedClause, right: ParsedClause, lexicon: Lexicon) -> bool:
    forms_left, forms_right = _opposable(left, lexicon), _opposable(right, lexicon)
    return any(
        lexicon.are_opposites(a, b)
        for a in forms_left - forms_right
        for b in forms_right - forms_left
    )


def _opposable(clause: ParsedClause, lexicon: Lexicon) -> Counter[str]:
    return Counter(unit.form for unit in clause.units if unit.form in lexicon.opposable)


def _have_other_force(left: ParsedClause, right: ParsedClause) -> bool:
    """Return whether a verb has one force more often in left and another more often in right."""
    verbs_left, verbs_right = _by_verb(left), _by_verb(right)
    for verb in verbs_left.keys() & verbs_right.keys():
        forces_left, forces_right = _forces(verbs_left[verb]), _forces(verbs_right[verb])
        if forces_left - forces_right and forces_right - forces_left:
            return True
    return False


def _forces(duties: list[Duty]) -> Counter[str]:
    return Counter(duty.force for duty in duties)


def _have_other_subject(left: ParsedClause, right: ParsedClause, lexicon: Lexicon) -> bool:
    """Return whether a verb falls to one party in left and to another in right.

    Both clauses have to know both parties, or the parties are opposites.
    """
    verbs_left, verbs_right = _by_verb(left), _by_verb(right)
    names_left, names_right = said_names(left.units), said_names(right.units)
    for verb in verbs_left.keys() & verbs_right.keys():
        subjects_left, subjects_right = _subjects(verbs_left[verb]), _subjects(verbs_right[verb])
        if subjects_left & subjects_right:
            continue
        for a in subjects_left:
            for b in subjects_right:
                if lexicon.are_opposites(a, b) or (a in names_right and b in names_left):
                    return True
    return False


def _subjects(duties: list[Duty]) -> set[str]:
    return {duty.subject for duty in duties} - {""}


def _have_other_acts(left: ParsedClause, right: ParsedClause) -> bool:
    """Return whether either has an obligation most of whose terms the other does not have."""
    return _has_strange_act(left, right) and _has_strange_act(right, left)


def _has_strange_act(clause: ParsedClause, other: ParsedClause) -> bool:
    known = other.words | other.names
    for duty in clause.duties:
        strange = [term for term in duty.kernel if term not in known]
        if 2 * len(strange) > len(duty.kernel):
            return True
    return False


def _by_verb(clause: ParsedClause) -> dict[str, list[Duty]]:
    duties: dict[str, list[Duty]] = {}
    for duty in clause.duties:
        if duty.kernel:
            duties.setdefault(duty.kernel[0], []).append(duty)
    return duties


# The duplicate type of two clauses.

DuplicateType: TypeAlias = Literal["identical", "near_identical", "fuzzy"]
PairType: TypeAlias = DuplicateType | Literal["parties_exchanged"]
TYPES: tuple[DuplicateType, ...] = ("identical", "near_identical", "fuzzy")
EXCHANGED: Literal["parties_exchanged"] = "parties_exchanged"
MIN_LENGTH = 10  # words of a clause below which it can be identical only


@dataclass(frozen=True, slots=True)
class Verdict:
    """The type of two clauses, and the terminology they share, in [0, 1]. Clauses whose parties are
    exchanged are no duplicates.
    """

    type: PairType
    terminology: float


def verdict(
    left: ParsedClause, right: ParsedClause, lexicon: Lexicon, overlap: float = OVERLAP
) -> Verdict | None:
    """Return the strictest type that fits two clauses, or None when they are no duplicates.

    * identical: the same substantive words in the same order, no other word in the heading that
      may name a party, no other number of the same part ("Lot 4:" and "Lot 5:"), and no other sign
      that changes the meaning, such as a currency symbol: with one, clauses of any length are
      near_identical;
    * near_identical: the same words but for synonyms and inflection, and for slots, each of the
      same kind as its counterpart;
    * fuzzy: lengths within 20 %, and `terminology` of at least `overlap`.

    The figures of formulas are the same in all three. Clauses of fewer than ten words, and those
    without a term outside slots, can be identical only; one without substantive words is not a
    duplicate of any clause. Clauses that would be near identical or fuzzy if they did not exchange
    parties are `parties_exchanged`, and no duplicates; clauses with another obligation are not
    `fuzzy`. In the other `LANGUAGES` clauses with another fact have no type; in any other language
    clauses are identical or have none.
    """
    found = _by_terms(left, right, lexicon, overlap)
    if found is None or found.type == "identical":
        return found
    if not (has_types(left.text) and has_types(right.text)):
        return None
    if not (_is_english(left.text) and _is_english(right.text)):
        return _with_facts(left.text, right.text, found)
    is_swapped = _have_names_that_changed_places(left.text, right.text)
    return Verdict(EXCHANGED, found.terminology) if is_swapped else found


def _is_english(text: str) -> bool:
    """Return whether a text is known to be English, without a translation in Chinese or Japanese
    next to it.
    """
    return language_of(text) == "en" and not _UNSPACED.search(text)


def _have_names_that_changed_places(left: str, right: str) -> bool:
    """Return whether two words that have capitals in both texts stand for each other, such as the
    party that grants a licence and the one that is granted it.
    """
    words_left, words_right = _capitalised(left), _capitalised(right)
    both = set(words_left) & set(words_right)
    if [*filter(both.__contains__, words_left)] == [*filter(both.__contains__, words_right)]:
        return False
    swapped = marks.exchanged(_compared(*(_POSSESSIVE.sub("", text) for text in (left, right))))
    return swapped is not None and both.issuperset(map(str.casefold, swapped))


def _capitalised(text: str) -> list[str]:
    return [word.casefold() for word in _CAPITALISED.findall(text)]


def _compared(left: str, right: str) -> marks.Comparison:
    return marks.Comparison(ComparedText(left, DEFAULT), ComparedText(right, DEFAULT))


def _by_terms(
    left: ParsedClause, right: ParsedClause, lexicon: Lexicon, overlap: float
) -> Verdict | None:
    """Return the type by terms and slots, and by obligations as far as they are read."""
    if not left.exact or not right.exact or left.numbers != right.numbers:
        return None
    if left.exact == right.exact:
        return Verdict("identical" if _are_identical(left, right) else "near_identical", 1.0)
    if min(left.length, right.length) < MIN_LENGTH:
        return None
    fraction = terminology(left, right)
    if fraction < min_overlap(left, right, overlap):
        return None
    same = with_same_units(left, right, lexicon)
    if same and terminology(*same) >= overlap:
        is_swapped = _have_swapped_names(*same, lexicon)
        return Verdict(EXCHANGED if is_swapped else "near_identical", terminology(*same))
    if fraction < overlap or not lengths_agree(left.length, right.length):
        return None
    if has_other_obligation(left, right, lexicon):
        return None
    is_swapped = have_exchanged_parties(left, right, lexicon)
    return Verdict(EXCHANGED if is_swapped else "fuzzy", fraction)


def terminology(left: ParsedClause, right: ParsedClause) -> float:
    """Return the fraction of distinct terms in common, of the mean of both (Dice); 0 without terms.

    Order and number do not matter. Terms are canonical forms of words that are neither function
    words nor in slots. A word in the name of one text counts where it is a word of the other.
    """
    terms_left = left.words | (left.names & right.words)
    terms_right = right.words | (right.names & left.words)
    whole = len(terms_left) + len(terms_right)
    return 2 * len(terms_left & terms_right) / whole if whole else 0.0


def _are_identical(left: ParsedClause, right: ParsedClause) -> bool:
    """Return whether clauses of the same words are the same in all that is said."""
    is_other_part = left.counted != right.counted and bool(left.counted and right.counted)
    return left.doubtful == right.doubtful and left.symbols == right.symbols and not is_other_part


def _have_swapped_names(left: ParsedClause, right: ParsedClause, lexicon: Lexicon) -> bool:
    """Return whether a name stands for another party.

    That is its opposite, a name that both clauses have, or one that elsewhere stays itself.
    """
    pairs = {
        (a.form, b.form)
        for a, b in zip(left.units, right.units, strict=True)
        if a.kind == b.kind == NAME
    }
    names_left = {a for a, _ in pairs}
    names_right = {b for _, b in pairs}
    for a, b in pairs:
        if a == b:
            continue
        if _have_opposite_words(a, b, lexicon) or (a in names_right and b in names_left):
            return True
        if (a, a) in pairs or (b, b) in pairs:
            return True
    return False


def _have_opposite_words(left: str, right: str, lexicon: Lexicon) -> bool:
    """Return whether two names are opposites, or have opposites in the same position.

    "Tenant's Property" is not "Landlord's Property".
    """
    words_left, words_right = left.split("_"), right.split("_")
    return lexicon.are_opposites(left, right) or (
        len(words_left) == len(words_right)
        and any(map(lexicon.are_opposites, words_left, words_right))
    )


class _Casing(Protocol):
    @property
    def is_shouted(self) -> bool: ...


def min_overlap(left: _Casing, right: _Casing, overlap: float) -> float:
    """Return the terminology that near-identical clauses share at least.

    Between texts in capitals it is half of `overlap`: their names count as terms.
    """
    return overlap / 2 if left.is_shouted and right.is_shouted else overlap


def min_shared(words: int, overlap: float) -> int:
    """Return the terms that a text of so many shares at least with any text of that `terminology`.

    ceil(words t / (2 - t)) for the overlap t.

    >>> min_shared(10, 0.8), min_shared(10, 1.0)
    (7, 10)
    """
    fraction = exact_fraction(overlap)
    return math.ceil(words * fraction / (2 - fraction))


# Duplicate sets of a result set: each clause under the best earlier one that it duplicates.

FEATURES = "clause_terms"
_REMEMBERED = 2048  # parsed clauses that are cached

Clause: TypeAlias = tuple[str, str] | tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A clause that duplicates another one: its type, and the terminology they share, in [0, 1]."""

    id: str
    type: DuplicateType
    terminology: float


@dataclass(frozen=True, slots=True)
class DuplicateSet:
    """The best-ranked clause of a set, and those after it that duplicate it, in rank order.

    Members do not always duplicate each other.
    """

    principal: str
    members: tuple[Duplicate, ...]


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two clauses of a result set, the better-ranked one first."""

    a: str
    b: str
    type: PairType
    terminology: float


@dataclass(frozen=True, slots=True)
class Signature:
    """The part of a clause that is compared first; `keys` and `vector` are ranks, the rarest 0.

    `terms` counts those outside slots, `known` these and the terms inside names. Not `whole`: the
    vector has the rarest alone. `is_shouted`: names count as terms.
    """

    length: int
    units: int
    terms: int
    known: int
    keys: tuple[int, ...]
    vector: frozenset[int]
    whole: bool
    is_shouted: bool


def duplicate_sets(
    clauses: Iterable[Clause],
    *,
    overlap: float = OVERLAP,
    synonyms: str = "",
    statistics: CorpusStatistics | None = None,
) -> tuple[DuplicateSet, ...]:
    """Return the duplicate sets of clauses in rank order, (id, text) or (id, text, heading) each.

    A clause joins the principal before it that it duplicates by the strictest type, then by the
    most terminology, ties to the first; else it is a principal itself. Principals without members
    are left out. `overlap` is the terminology that fuzzy duplicates share at least; `synonyms` are
    lines added to the shipped list; `statistics` come from `term_statistics`.

    Raises `UsageError` for an overlap outside (0, 1], for a repeated id, and for lines that are no
    entries.
    """
    return sets_and_exchanged(clauses, overlap, synonyms, statistics)[0]


def sets_and_exchanged(
    clauses: Iterable[Clause],
    overlap: float = OVERLAP,
    synonyms: str = "",
    statistics: CorpusStatistics | None = None,
) -> tuple[tuple[DuplicateSet, ...], tuple[DuplicatePair, ...]]:
    """Return the sets of `duplicate_sets`, and the pairs of principals and single clauses that
    exchange parties.
    """
    result = _ResultSet(clauses, overlap, synonyms, statistics)
    members: dict[int, list[Duplicate]] = {}
    pairs: list[DuplicatePair] = []
    for index, id in enumerate(result.ids):
        best: tuple[int, Duplicate] | None = None
        swapped: list[DuplicatePair] = []
        for earlier, match in result.matches(index):
            if match.type == EXCHANGED:
                swapped.append(DuplicatePair(result.ids[earlier], id, EXCHANGED, match.terminology))
                continue
            found = Duplicate(id, match.type, match.terminology)
            # ascending, so the first principal wins a tie
            if best is None or _strength(found) > _strength(best[1]):
                best = earlier, found
        if best is None:
            members[index] = []
            pairs += swapped
            result.remember(index)
        else:
            members[best[0]].append(best[1])
    sets = (
        DuplicateSet(result.ids[principal], tuple(duplicates))
        for principal, duplicates in members.items()
        if duplicates
    )
    return tuple(sets), tuple(pairs)


def duplicate_pairs(
    clauses: Iterable[Clause],
    *,
    overlap: float = OVERLAP,
    synonyms: str = "",
    statistics: CorpusStatistics | None = None,
    exchanged: bool = False,
) -> tuple[DuplicatePair, ...]:
    """Return all duplicate pairs, ascending by the later clause, then the earlier; with `exchanged`
    also clauses of type `parties_exchanged`, which are no duplicates.

    Arguments and errors are as for `duplicate_sets`.
    """
    result = _ResultSet(clauses, overlap, synonyms, statistics)
    pairs: list[DuplicatePair] = []
    for index, id in enumerate(result.ids):
        pairs += [
            DuplicatePair(result.ids[earlier], id, match.type, match.terminology)
            for earlier, match in result.matches(index)
            if exchanged or match.type != EXCHANGED
        ]
        result.remember(index)
    return tuple(pairs)


def term_statistics(texts: Iterable[str]) -> CorpusStatistics:
    """Count the texts of a corpus that have each term, for the order of rarity."""
    words = lexicon_with("")
    terms = (sorted(_known(read(text, "", words))) for text in texts)
    return count_features(map(string_hashes, terms), FEATURES)


def signatures(
    clauses: Sequence[ParsedClause], overlap: float, statistics: CorpusStatistics | None = None
) -> list[Signature]:
    """Return the signatures of clauses for one overlap; they compare with each other alone."""
    terms_of_clauses = [_known(clause) for clause in clauses]
    holders = Counter(term for terms in terms_of_clauses for term in terms)
    if statistics is None:
        order = sorted(holders, key=lambda term: (holders[term], term))
    else:
        order = by_rarity(sorted(holders), statistics)
    ranks = {term: rank for rank, term in enumerate(order)}
    rarest = [sorted(map(ranks.__getitem__, terms)) for terms in terms_of_clauses]
    return [
        _signature(clause, ranked, overlap) for clause, ranked in zip(clauses, rarest, strict=True)
    ]


def may_match(left: Signature, right: Signature, overlap: float) -> bool:
    """Return whether two clauses that share a key may be near identical or fuzzy duplicates.

    False is certain.
    """
    if left.units != right.units and not lengths_agree(left.length, right.length):
        return False
    if left.whole and right.whole:
        shared = len(left.vector & right.vector)
    else:
        shared = _max_shared(left, right)
    minimum = min_overlap(left, right, overlap)
    return 2 * shared >= minimum * (left.terms + right.terms) - 1e-9


def _max_shared(left: Signature, right: Signature) -> int:
    """Count the terms that two clauses can have in common at most.

    Those are the ones of both vectors as far as both reach, and all that may follow.
    """
    cut = min(max(signature.vector) for signature in (left, right) if not signature.whole)
    reach_left = {rank for rank in left.vector if rank <= cut}
    reach_right = {rank for rank in right.vector if rank <= cut}
    rest = min(left.known - len(reach_left), right.known - len(reach_right))
    return len(reach_left & reach_right) + rest


class _ResultSet:
    """Clauses in rank order, and an index over those to compare with."""

    def __init__(
        self,
        clauses: Iterable[Clause],
        overlap: float,
        synonyms: str,
        statistics: CorpusStatistics | None,
    ) -> None:
        if not 0 < overlap <= 1:
            raise UsageError(
                "the threshold of duplicate types, the minimum `terminology` of fuzzy "
                f"duplicates, is above 0 and at most 1, such as {OVERLAP}, not {overlap:g}"
            )
        self._overlap = overlap
        self._words = lexicon_with(synonyms)
        self._clauses: list[ParsedClause] = []
        self.ids: list[str] = []
        for id, text, *heading in clauses:
            self.ids.append(id)
            self._clauses.append(read(text, heading[0] if heading else "", self._words))
        if len(set(self.ids)) < len(self.ids):
            raise UsageError("two clauses have the same id; give each clause its own")
        self._signatures = signatures(self._clauses, overlap, statistics)
        self._exact: dict[tuple[str, ...], list[int]] = {}
        self._keys: dict[int, list[int]] = {}

    def remember(self, position: int) -> None:
        """Compare later clauses with this one."""
        self._exact.setdefault(self._clauses[position].exact, []).append(position)
        for key in self._signatures[position].keys:
            self._keys.setdefault(key, []).append(position)

    def matches(self, number: int) -> Iterator[tuple[int, Verdict]]:
        """Yield the remembered clauses with which this one has a type, ascending."""
        signature, clause = self._signatures[number], self._clauses[number]
        exact = self._exact.get(clause.exact, ())
        sharing = {earlier for key in signature.keys for earlier in self._keys.get(key, ())}
        possible = {
            earlier
            for earlier in sharing
            if may_match(self._signatures[earlier], signature, self._overlap)
        }
        for earlier in sorted(possible.union(exact)):
            match = verdict(self._clauses[earlier], clause, self._words, self._overlap)
            if match is not None:
                yield earlier, match


def _strength(match: Duplicate) -> tuple[int, float]:
    return -TYPES.index(match.type), match.terminology


def _signature(clause: ParsedClause, ranks: list[int], overlap: float) -> Signature:
    minimum = min_overlap(clause, clause, overlap)
    prefix = len(ranks) - min_shared(len(clause.words), minimum) + 1
    return Signature(
        length=clause.length,
        units=len(clause.units),
        terms=len(clause.words),
        known=len(ranks),
        keys=tuple(ranks[:prefix]),
        vector=frozenset(ranks[:DOCUMENT_TERMS]),
        whole=len(ranks) <= DOCUMENT_TERMS,
        is_shouted=clause.is_shouted,
    )


def _known(clause: ParsedClause) -> frozenset[str]:
    return clause.words | clause.names


@lru_cache(maxsize=_REMEMBERED)
def read(text: str, heading: str, words: Lexicon) -> ParsedClause:
    """Parse a clause; the last 2,048 results are cached."""
    return read_clause(text, words, heading)


@lru_cache(maxsize=8)
def lexicon_with(synonyms: str) -> Lexicon:
    """Return the shipped list with these lines added.

    Raises `UsageError` for lines that are no entries.
    """
    return lexicon(synonyms) if synonyms else default_lexicon()
