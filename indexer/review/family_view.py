"""One group for a reviewer: members, their similarity to each other, labels, and warnings."""

from __future__ import annotations

import itertools
import re
import time
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, get_args

import numpy as np

from indexer.coding import Coding
from indexer.comparing.compare import redline
from indexer.comparing.measures import ComparedText, estimate
from indexer.comparing.reasons import (
    Rarity,
    Reasons,
    content_words,
    explain,
    format_differences,
    measure_new_words,
    reasons_of,
)
from indexer.defaults import MEASURE
from indexer.errors import DocumentNotFound
from indexer.fingerprinting.keys import unpack_slots
from indexer.fingerprinting.minhash import FULL, without_chance
from indexer.grouping.group_options import (
    DEFAULT_OPTIONS,
    distinct_words,
    has_other_rules,
    member_rank,
    separation,
)
from indexer.jobs.review_file import stored_coding
from indexer.model import DifferenceKind, Estimate, Mark, Match, Progress, Query, Row, Scope
from indexer.recipe import DEFAULT, Recipe
from indexer.review.caches import ReaderCache, TimedCache
from indexer.review.collation import CollationRow, Unit, Words, collate, passages_of
from indexer.review.store_statistics import last_group_options
from indexer.stores.abilities import FullStore
from indexer.stores.base import Store
from indexer.stores.journal import known_group_settings
from indexer.stores.requirements import require_recipe
from indexer.wording import count_of, format_marks, format_truncated, percent

MAX_DOCUMENTS = 500  # documents of a family that are read
COMPARED = 24  # documents that are compared with each other
_MAX_PASSAGES = 400  # of a text
_MIN_MOVED = 3  # words of a passage that is known where it moved to
_OTHER_RULES = (
    "the groups were made by the rules of another version, so that not every member meets those of "
    "this one; run group to renew them"
)


@dataclass(frozen=True, slots=True)
class Family:
    """A group.

    `members` are its documents without the principal, the least similar to it first. `size` counts
    all documents, also those beyond the 500 that are read. `principal` is None when it is not in
    the store. `matrix[i][j]` is how much documents i and j of `compared` resemble each other,
    estimated from their slots; None where one has none. `labels`: how many documents carry each.
    `warnings` are sentences. `measure`: that of the last `group` of such rows, None if it is not
    known here. `serious`: the kinds of marks for which a reviewer has to read a member.
    """

    id: str
    size: int
    principal: Row | None
    members: tuple[Row, ...]
    compared: tuple[str, ...]
    matrix: tuple[tuple[Estimate | None, ...], ...]
    labels: dict[str, int]
    warnings: tuple[str, ...]
    measure: str | None = None
    serious: frozenset[str] = frozenset()

    @property
    def documents(self) -> tuple[Row, ...]:
        """The principal, if it is in the store, then the members."""
        return (self.principal, *self.members) if self.principal else self.members


def family(store: Store, id: str) -> Family:
    """Return the group of a document, named by the id of any of its members.

    Raises `DocumentNotFound`, and `StoreError` when nothing was indexed yet.
    """
    recipe = require_recipe(store)
    row = store.get([id]).get(id)
    name = row.family if row else id
    of: Scope = "parts" if row and row.parent else "documents"
    ranking = store.search(Query("", (("family", name),), "path"))
    ids = [hit.id for hit in islice(ranking.hits, MAX_DOCUMENTS)]
    if not ids and row is None:
        raise DocumentNotFound(id=id)
    rows = store.get(list(dict.fromkeys([name, *ids])))
    principal = rows.get(name)
    members = [member for member in rows.values() if member.id != name and member.family == name]
    settings = known_group_settings(store.address, of)
    measure = settings.get("measure")
    ranks = member_ranks(principal, members, recipe, measure or MEASURE)
    members.sort(key=lambda member: (ranks[member.id], member.path, member.id))
    documents = [principal, *members] if principal else members
    labels = Counter(label for document in documents for label in document.labels)
    return Family(
        id=name,
        size=max(ranking.total, len(documents)),
        principal=principal,
        members=tuple(members),
        compared=tuple(document.id for document in documents[:COMPARED]),
        matrix=_matrix(documents[:COMPARED], recipe),
        labels=dict(sorted(labels.items())),
        warnings=(
            *((_OTHER_RULES,) if has_other_rules(settings) else ()),
            *_warnings(name, principal, members, ranking.total, recipe, stored_coding(store)),
        ),
        measure=measure,
        serious=serious_marks(settings),
    )


def member_ranks(
    principal: Row | None, members: Sequence[Row], recipe: Recipe, measure: str
) -> dict[str, float]:
    """Return by what members are ordered; by similarity alone where there is too much to read."""
    is_read = principal and sum(len(member.text) for member in members) <= _MAX_CHARS
    words = distinct_words(principal, recipe) if principal and is_read else None
    return {member.id: member_rank(member, words, recipe, measure) for member in members}


# What tells the members of a group from its principal.

_MAX_PAIRS = 200  # whose texts are compared
_MAX_CHARS = 4_000_000  # of these texts
_STEP_CHARS = 64_000  # of the texts of members that are compared together
_STEP_MEMBERS = 16
_MAX_KEPT = 2_000  # pairs
_MAX_WORDS = 12  # that are named for a member
_SERIOUS = frozenset[str](("negated", "parties_exchanged"))
_OF_TEMPLATES = frozenset[str](("form", "message"))  # in one group where its policy is loose
_SENTENCES = (
    ("negated", "negates a sentence", "negate a sentence"),
    ("parties_exchanged", "exchanges parties", "exchange parties"),
    ("form", "is filled in otherwise", "are filled in otherwise"),
    ("message", "is another message", "are other messages"),
)  # on one member with a serious mark, and on several
_OF_FACTS = frozenset[str](
    (*get_args(DifferenceKind), "deadline", "symbol")
)  # marks that the facts that differ state


@dataclass(frozen=True, slots=True)
class MemberDifferences:
    """The differences of a document from the principal.

    `words`: those that the principal lacks, the rarest in the store first, without function words
    and without words of the facts that differ. `missing`: words of the principal that it lacks,
    in the same order. `sentences` state all of it. `is_other`: a reviewer has to read it, since it
    has or lacks such words, says the opposite, was not read whole, or is another form or message,
    unless groups were made by the policy that takes these for one or by the rules of another
    version.
    """

    marks: tuple[Mark, ...]
    words: tuple[str, ...]
    missing: tuple[str, ...]
    sentences: tuple[str, ...]
    is_other: bool

    @property
    def kinds(self) -> set[str]:
        """Return the kinds of the marks."""
        return {mark.kind for mark in self.marks}


@dataclass(frozen=True, slots=True)
class Variant:
    """Another wording of a passage, none if it is lacking: the changes, and who has it.

    `behind`: the number of the passage of the principal after which one that only moved stands, 0
    at the beginning; None if it did not move.
    """

    changes: tuple[tuple[str, str], ...]
    documents: tuple[str, ...]
    behind: int | None = None


@dataclass(frozen=True, slots=True)
class VaryingPassage:
    """A passage of the principal that not all documents have in the same words.

    `number`: its number in the principal, 0 of one that only others have. `what`: the kind of facts
    in which all variants differ, empty if there is not one. `same`: the documents with the wording
    of the principal.
    """

    number: int
    text: str
    what: str
    same: int
    variants: tuple[Variant, ...]

    def unchanged(self, ids: Iterable[str]) -> list[str]:
        """Return the documents that have no other wording.

        >>> variant = Variant((), ("b", "c"))
        >>> VaryingPassage(1, "", "", 1, (variant,)).unchanged(["a", "b", "c"])
        ['a']
        """
        others = {id for variant in self.variants for id in variant.documents}
        return [id for id in ids if id not in others]


def serious_marks(settings: Mapping[str, Any]) -> frozenset[str]:
    """Return the kinds of marks for which a reviewer has to read a member of a group.

    `settings`: those of the last `group`, empty if they are not known.
    """
    is_loose = settings.get("policy") == "loose" or has_other_rules(settings)
    return _SERIOUS if is_loose else _SERIOUS | _OF_TEMPLATES


def comparable_members(principal: Row, members: Sequence[Row]) -> list[Row]:
    """Return the members that are compared with the principal: as far as the texts of these pairs
    have four million characters.
    """
    sizes = itertools.accumulate(len(principal.text) + len(row.text) for row in members)
    return [row for row, size in zip(members, sizes, strict=True) if size <= _MAX_CHARS]


class MemberComparisons:
    """The differences of members from their principals, computed a step at a time in the
    background, and kept by pair. Thread-safe.
    """

    def __init__(self, store: FullStore, readers: ReaderCache) -> None:
        self._store, self._readers = store, readers
        self._kept: TimedCache[MemberDifferences] = TimedCache(_MAX_KEPT)
        self.clear = self._kept.clear

    def find(
        self,
        principal: Row,
        members: Sequence[Row],
        serious: frozenset[str],
        timeout: float,
        whole: bool = True,
    ) -> dict[str, MemberDifferences]:
        """Return the differences of members by id, as far as they are compared within `timeout`
        seconds; the step that is computed then goes on.

        `whole`: all of them, otherwise known ones, and one step more.
        """
        deadline = time.monotonic() + timeout
        of_principal = principal.id, hash(principal.text), serious
        keys = {row.id: (*of_principal, row.id, hash(row.text)) for row in members}
        kept = {row.id: self._kept.get(keys[row.id]) for row in members}
        found = {id: differences for id, differences in kept.items() if differences}
        unknown = [row for row in members if row.id not in found]
        for step in list(_steps(unknown))[: None if whole else 1]:
            read = partial(self._compare, principal, step, serious, keys)
            names = tuple(keys[row.id] for row in step)
            seconds = max(0.0, deadline - time.monotonic())
            result = self._readers.get(("differences", names), read, 1, seconds)
            if result is None:
                break
            found |= result
        return found

    def _compare(
        self,
        principal: Row,
        members: Sequence[Row],
        serious: frozenset[str],
        keys: Mapping[str, Hashable],
        _progress: Progress,
    ) -> dict[str, MemberDifferences]:
        found = member_differences(self._store, [(principal, row) for row in members], serious)
        for id, differences in found.items():
            self._kept.put(keys[id], differences)
        return found


def _steps(members: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield members that are compared together, a few with short texts."""
    step: list[Row] = []
    chars = 0
    for row in members:
        chars += len(row.text)
        if step and (chars > _STEP_CHARS or len(step) == _STEP_MEMBERS):
            yield step
            step, chars = [], len(row.text)
        step.append(row)
    if step:
        yield step


def member_differences(
    store: FullStore, pairs: Sequence[tuple[Row, Row]], serious: frozenset[str]
) -> dict[str, MemberDifferences]:
    """Return what tells documents from their principals, given as (principal, document), by id.

    `serious`: the marks for which a reviewer has to read a document.
    """
    recipe = require_recipe(store)
    rarity = Rarity(store.vocabulary.frequencies)
    texts = {row.id: ComparedText(row.text, recipe) for pair in pairs for row in pair}
    compared_texts = [(texts[a.id], texts[b.id]) for a, b in pairs]
    counted = measure_new_words(compared_texts, rarity)
    reasons = [
        reasons_of(rows, both, new)
        for rows, both, new in zip(pairs, compared_texts, counted, strict=True)
    ]
    own: list[list[str]] = []
    missing: list[list[str]] = []
    for (a, b), reason in zip(compared_texts, reasons, strict=True):
        own.append(content_words(b, a, reason.differences))
        missing.append(content_words(a, b, reason.differences))
    named = list(dict.fromkeys(itertools.chain.from_iterable((*own, *missing))))
    counts = rarity.frequencies(named).counts if named else {}
    for words in (*own, *missing):
        words.sort(key=counts.__getitem__)
    return {
        document.id: _differences(document, reason, words, lacking, serious)
        for (_, document), reason, words, lacking in zip(pairs, reasons, own, missing, strict=True)
    }


def _differences(
    row: Row,
    reasons: Reasons,
    words: Sequence[str],
    missing: Sequence[str],
    serious: frozenset[str],
) -> MemberDifferences:
    is_cut = row.status == "truncated"
    marks = [mark for mark in reasons.marks if mark.kind not in _OF_FACTS]
    sentences = [format_marks(marks)] if marks else []
    sentences += format_differences(reasons.differences)
    for what, listed in (("new", words), ("missing", missing)):
        if listed:
            more = f" and {len(listed) - _MAX_WORDS:,} more" if len(listed) > _MAX_WORDS else ""
            sentences.append(f"{what} words: {', '.join(listed[:_MAX_WORDS])}{more}")
    if is_cut:
        sentences.append("the text was not read whole")
    if not sentences:
        same = "the same text" if reasons.same else "the same words in another order or number"
        sentences = [same if not reasons.new_words.left else "words of the principal are missing"]
    is_serious = any(mark.kind in serious for mark in reasons.marks)
    is_other = bool(words or missing) or is_serious or is_cut
    return MemberDifferences(
        reasons.marks, tuple(words), tuple(missing), tuple(sentences), is_other
    )


def format_others(members: Mapping[str, MemberDifferences], serious: frozenset[str]) -> list[str]:
    """Return sentences on the members that a reviewer has to read.

    `serious`: the marks for which a reviewer has to read a member.

    >>> lawyer = MemberDifferences((), ("lawyer",), (), (), True)
    >>> form = MemberDifferences((Mark("form", "a", "b"),), (), ("gift",), (), True)
    >>> for sentence in format_others({"a": lawyer, "b": form}, frozenset(("form",))):
    ...     print(sentence)
    1 of 2 members has words that the principal lacks: lawyer
    1 of 2 members lacks words of the principal: gift
    1 of 2 members is filled in otherwise
    """
    total = f"of {count_of(len(members), 'member')}"
    sentences = []
    for texts, one_does, they_do in (
        ([one.words for one in members.values()], "has words that the principal lacks", "have"),
        ([one.missing for one in members.values()], "lacks words of the principal", "lack"),
    ):
        if number := sum(map(bool, texts)):
            does = one_does if number == 1 else f"{they_do} {one_does.partition(' ')[2]}"
            carriers = Counter(word for words in texts for word in words)
            often = sorted(carriers, key=lambda word: -carriers[word])[:_MAX_WORDS]
            names = ", ".join(often) + (", …" if len(carriers) > _MAX_WORDS else "")
            sentences.append(f"{number:,} {total} {does}: {names}")
    for kind, one_does, they_do in _SENTENCES:
        if number := sum(kind in serious and kind in one.kinds for one in members.values()):
            sentences.append(f"{number:,} {total} {one_does if number == 1 else they_do}")
    return sentences


class VaryingPassages(NamedTuple):
    """The number of passages of a principal, of the documents compared, and what varies in them."""

    passages: int
    documents: int
    varying: list[VaryingPassage]


def varying_passages(principal: Row, members: Sequence[Row]) -> VaryingPassages:
    """Return the passages in which documents vary, in order.

    Each text is aligned with the principal's: up to 200 of them, of 400 passages each.
    """
    holders: dict[str, list[Row]] = {}
    for row in members[: 5 * _MAX_PAIRS]:
        holders.setdefault(row.text, []).append(row)
    units = passages_of(principal.text)[:_MAX_PASSAGES]
    found: dict[_Site, dict[_Wording, list[str]]] = {}
    compared = dict(itertools.islice(holders.items(), _MAX_PAIRS))
    for text, rows in compared.items():
        ids = [row.id for row in rows]
        for site, wording in _wordings(units, passages_of(text)[:_MAX_PASSAGES]):
            found.setdefault(site, {}).setdefault(wording, []).extend(ids)
    documents = 1 + sum(map(len, compared.values()))
    passages = [
        _varying(site, found[site], documents) for site in sorted(found, key=lambda one: one[:2])
    ]
    return VaryingPassages(len(units), documents, passages)


_Site: TypeAlias = tuple[int, bool, str]  # number, whether others alone have it, text
_Wording: TypeAlias = tuple[str, int | None]  # empty if it is lacking; the passage before a move


def _wordings(units: Sequence[Unit], others: Sequence[Unit]) -> Iterator[tuple[_Site, _Wording]]:
    """Yield the passages in which a text varies from that of `units`, and its wordings.

    A passage that is lacking in one position and added in another has moved.
    """
    rows, number = [], 0
    added: defaultdict[Words, deque[int]] = defaultdict(deque)
    for row in collate([units, others]):
        number += row.cells[0] is not None
        if row.cells[0] is None and _without_number(row):
            added[_without_number(row)].append(number)
        if not row.is_shared:
            rows.append((number, row))
    moved = Counter[Words]()
    for number, row in rows:
        words = _without_number(row)
        if row.cells[0] is not None:
            is_moved = row.cells[1] is None and bool(added.get(words))
            moved[words] += is_moved
            wording = row.variants[-1] if is_moved or row.cells[1] is not None else ""
            behind = added[words].popleft() if is_moved else None
            yield (number, False, row.variants[0]), (wording, behind)
    for number, row in rows:
        words = _without_number(row)
        if row.cells[0] is None:
            if not moved[words]:
                yield (number, True, ""), (row.variants[-1], None)
            moved[words] -= moved[words] > 0


def _without_number(row: CollationRow) -> Words:
    """Return the words of a passage without the number of a clause before them, if there are some
    to know it by.
    """
    words = tuple(itertools.dropwhile(str.isdigit, row.words[0]))
    return words if len(words) >= _MIN_MOVED else ()


def _varying(site: _Site, wordings: Mapping[_Wording, list[str]], compared: int) -> VaryingPassage:
    number, is_added, text = site
    others = sum(map(len, wordings.values()))
    by_count = sorted(wordings, key=lambda each: (-len(wordings[each]), _by_number(each[0])))
    variants = tuple(
        Variant(_changes(text, *wording), tuple(wordings[wording]), wording[1])
        for wording in by_count
    )
    reworded = [wording for wording, behind in by_count if behind is None]
    what = "" if is_added else _kind_of_variants(text, reworded)
    return VaryingPassage(0 if is_added else number, text, what, compared - others, variants)


def _by_number(wording: str) -> list[tuple[int, str]]:
    """Return the key by which texts are sorted as people do: 9 comes before 10."""
    parts = re.split(r"(\d+)", wording)
    return [(len(part) if index % 2 else 0, part) for index, part in enumerate(parts)]


def _changes(text: str, wording: str, behind: int | None) -> tuple[tuple[str, str], ...]:
    if behind is not None:
        return (("moved", wording),)
    if not text or not wording:
        return (("added", wording),) if wording else (("removed", text),)
    return tuple((part.change, part.text) for part in redline(text, wording))


def _kind_of_variants(text: str, wordings: Sequence[str]) -> str:
    """Return the kind of facts in which all wordings differ from a text, empty without one."""
    own = ComparedText(text, DEFAULT)
    others = (ComparedText(wording, DEFAULT) for wording in wordings[:_MAX_WORDS])
    found = [explain(own, other).facts for other in others]
    kinds = {fact.kind for facts in found for fact in facts}
    return kinds.pop() if found and all(found) and len(kinds) == 1 else ""


# Documents of other groups that are near a document, and what keeps them out of its group.


@dataclass(frozen=True, slots=True)
class NearCopy:
    """A document of another group, its similarity, and why it is not in the group."""

    id: str
    path: str
    similarity: float
    reason: str


def near_copies(store: FullStore, row: Row, matches: Sequence[Match]) -> Iterator[NearCopy]:
    """Yield the near duplicates of a document that are in other groups than it is.

    The reason compares each with the principal of the document's group.
    """
    recipe = require_recipe(store)
    options = last_group_options(store) or DEFAULT_OPTIONS
    rows = store.get([row.family, row.id, *(match.id for match in matches)])
    principal = rows.get(row.family, row)
    rarity = Rarity(store.vocabulary.frequencies)
    texts: dict[str, ComparedText] = {}

    def text(of: Row) -> ComparedText:
        return texts.setdefault(of.id, ComparedText(of.text, recipe))

    for match in matches:
        other = rows.get(match.id)
        if other is None or other.family == row.family:
            continue
        reason = separation(other, principal, options, text, rarity) or _other_reason(other)
        yield NearCopy(other.id, other.path, match.similarity, reason)


def _other_reason(row: Row) -> str:
    if row.provisional:
        return "it came after the last group"
    if row.family != row.id:
        return "it is in the group of a document that is more similar to it"
    return "no rule separates them: group would look at them again"


def _matrix(rows: Sequence[Row], recipe: Recipe) -> tuple[tuple[Estimate | None, ...], ...]:
    """Return the estimated similarity of each pair of rows."""
    size, bits = recipe.slot_bytes, recipe.packed or FULL
    kept = [row.minhash if recipe.minhash else None for row in rows]
    slots = [unpack_slots(sketch, size) if sketch else None for sketch in kept]
    table: list[list[Estimate | None]] = []
    for at, left in enumerate(slots):
        table.append([estimate(left, right, bits) for right in slots[: at + 1]])
    for at, own in enumerate(table):
        own.extend(other[at] for other in table[at + 1 :])
    return tuple(map(tuple, table))


def _disagreements(labels: Sequence[Sequence[str]], coding: Coding) -> Iterator[str]:
    """Yield a sentence if documents differ in their labels without a field, or in a field."""
    yield from _disagreement("labels do", [coding.without_field(names) for names in labels])
    for field in coding.fields:
        yield from _disagreement(f"{field.name} does", [field.of(names) for names in labels])


def _disagreement(subject: str, labels: Sequence[Sequence[str]]) -> Iterator[str]:
    if len(set(map(frozenset, labels))) > 1:
        none = sum(not names for names in labels)
        unlabelled = f": {none:,} of {len(labels):,} documents carry none" if none else ""
        yield f"{subject} not agree{unlabelled}"


def _warnings(
    name: str,
    principal: Row | None,
    members: Sequence[Row],
    total: int,
    recipe: Recipe,
    coding: Coding,
) -> Iterator[str]:
    """Yield a sentence for each thing that a reviewer should know or repair."""
    documents = [principal, *members] if principal else members
    if principal is None:
        yield f"the principal {name} is not in the store; run group to make its group anew"
    if total > MAX_DOCUMENTS:
        yield f"the group has {total:,} documents; the first {MAX_DOCUMENTS:,} by path are shown"
    yield from _disagreements([row.labels for row in documents], coding)
    provisional = sum(row.provisional for row in members)
    if provisional:
        yield (
            f"{provisional:,} of its documents came after the last group; "
            "their place is provisional"
        )
    cut = sum(row.status == "truncated" for row in documents)
    if cut:
        yield format_truncated(cut)
    minimum = _min_similarity(documents, recipe)
    if minimum:
        yield (
            "members are similar to the principal, not to each other: "
            f"two of them share {percent(minimum)} only, by their sketches"
        )


def _min_similarity(rows: Sequence[Row], recipe: Recipe) -> float | None:
    """Return the minimum similarity of two members; None unless it is clearly low.

    That is .1 or more below the minimum similarity to the principal.
    """
    if not recipe.minhash:
        return None
    stored = [row.similarity for row in rows if row.similarity is not None]
    size, bits = recipe.slot_bytes, recipe.packed or FULL
    slots = [unpack_slots(row.minhash, size) for row in rows[:COMPARED] if row.minhash]
    table = np.array(slots)
    values = [float((table[:at] == own).mean(axis=1).min()) for at, own in enumerate(slots) if at]
    minimum = float(without_chance(np.array([min(values, default=1.0)]), bits)[0])
    return minimum if stored and minimum < min(stored) - 0.1 else None
