"""The options of `group`: how families and clusters are made."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, KeysView, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from indexer.comparing.band_plan import (
    ALMOST_ONE,
    Plan,
    has_sketch_alone,
    plan,
    plan_for_recall,
    resolve_sketch,
)
from indexer.comparing.criteria import (
    METADATA,
    NO_CRITERIA,
    ORDERED,
    RULES_VERSION,
    Criteria,
    RuleValues,
    Value,
    for_folding,
    policy_threshold,
    stored_value,
)
from indexer.comparing.measures import (
    MEASURES,
    ComparedText,
    TextOperand,
    check_measure,
    measure_pair,
)
from indexer.comparing.reasons import Rarity, have_same_symbols
from indexer.comparing.words import normal_words
from indexer.defaults import CAP, FOLD, MEASURE, PRINCIPAL, RECALL, DefaultName, DefaultNumber
from indexer.errors import UsageError
from indexer.fingerprinting.keys import EmbeddedDigests
from indexer.grouping.words_in_common import accepts_in_common, measure_in_common
from indexer.model import NewWords, Row
from indexer.recipe import Recipe
from indexer.stores.base import Store
from indexer.stores.journal import group_settings
from indexer.wording import percent, percent_below

if TYPE_CHECKING:
    from indexer.system.external_memory import SpillFiles


# Words that a text quotes from another one, as mails do: marked lines, and forwarded messages.

# Patterns begin with the end of the line before and tell cases apart, which is found fast.
_QUOTED = re.compile(r"\n[ \t]*>(?!>>).*")  # `>>>` is a prompt of Python
_FROM = (
    "From|Von|De|Da|Van|Från|Fra|Od|Lähettäjä|Feladó|Kimden|Gönderen|От|Від|Από|من|"
    "发件人|寄件者|差出人|보낸 사람"
)
_LABEL = r"[^\s:：][^\n:：]{0,24}[:：]"
_FORWARDED = re.compile(
    rf"\n\*?(?:{_FROM}|FROM|VON)[ \t\u00a0*]*[:：](?=[^\n]*\S)[^\n]*(?:\n{_LABEL}[^\n]*){{2}}"
)


def rounded_sum(values: Iterable[float]) -> float:
    """Return a sum to nine digits after the point, the same in any order of the values.

    Equal sums of decimal fractions are equal, so that ids decide between such documents.

    >>> math.fsum([0.925] * 3) == math.fsum([1, 0.925, 0.85])
    False
    >>> rounded_sum([0.925] * 3) == rounded_sum([1, 0.925, 0.85])
    True
    """
    return round(math.fsum(values), 9)


def quoted_words(text: str) -> int:
    """Return the number of words that a text quotes.

    They are the words of lines that begin with `>` or `>>` after blanks, and of all from the header
    of a forwarded message on: a line `From: ...` in one of some twenty languages, with at least two
    lines `NAME: ...` below it and other text above. Words are as in `indexer.comparing.words`.

    >>> quoted_words("I agree.\\n\\n> Shall we meet?\\n> > At noon?")
    5
    >>> quoted_words("Yes.\\n\\nFrom: Ann\\nSent: today\\nTo: Bob\\n\\nAt noon?")
    8
    """
    forwarded = _FORWARDED.search(text)
    parts = []
    if forwarded and text[: forwarded.start()].strip():
        parts.append(text[forwarded.start() :])
        text = text[: forwarded.start()]
    parts += _QUOTED.findall(f"\n{text}")
    return len(normal_words("".join(parts))) if parts else 0


# Limits that matching and grouping share, and the checks of what they are given.

LABELS_NAMED = 20  # labels that an error message lists at most


def check_threshold(threshold: float) -> None:
    """Raise `UsageError` for a threshold outside (0, 1]."""
    if not 0 < threshold <= 1:
        raise UsageError(f"the threshold must lie between 0 (exclusive) and 1, not {threshold}")


def check_cap(cap: int) -> None:
    """Raise `UsageError` for a cap below 2 texts."""
    if cap < 2:
        raise UsageError(f"the cap must be 2 or more, not {cap}")


def require_slots(recipe: Recipe) -> None:
    """Raise `UsageError` for a recipe without MinHash slots, of which bands are made."""
    if not recipe.minhash:
        raise UsageError(
            f"recipe {recipe.name} has no MinHash slots to make bands of; use --complete"
        )


def unknown_label(label: str, known: Set[str]) -> UsageError:
    """Return the error for a label that no document carries.

    It names at most `LABELS_NAMED` of the labels that documents carry.
    """
    names = ", ".join(sorted(known)[:LABELS_NAMED])
    more = ", ..." if len(known) > LABELS_NAMED else ""
    if known:
        advice = f"choose one of: {names}{more}"
    else:
        advice = "no document has labels; give some by `nearfold label` or `nearfold index --label`"
    return UsageError(f"no document carries the label {label!r}; {advice}")


def memory_budget(megabytes: int) -> SpillFiles:
    """Return a budget of so many megabytes of memory, beyond which arrays go to temporary files.

    Raises `UsageError` for less than 1.
    """
    if megabytes < 1:
        raise UsageError(f"at least 1 MB of memory is needed, not {megabytes}")
    from indexer.system.external_memory import SpillFiles

    return SpillFiles(megabytes)


# The order in which documents may become principals.

Principal: TypeAlias = Literal["original", "longest", "first", "central"]
_DIRECTIONS = {"": False, "asc": False, "desc": True}


@dataclass(frozen=True, slots=True)
class FieldOrder:
    """An order by a field of `ORDERED`, or by `metadata.NAME`.

    Documents without a value come last in either direction.
    """

    field: str
    is_descending: bool = False

    def __str__(self) -> str:
        return f"{self.field}:desc" if self.is_descending else self.field

    @property
    def metadata_name(self) -> str | None:
        """Return the name of the metadata that is compared; None for another field."""
        return self.field.removeprefix(METADATA) if self.field.startswith(METADATA) else None

    def value(self, row: Row) -> Value:
        """Return what a document is compared by."""
        return stored_value(row, self.field)

    def ranks(self, values: Sequence[Value]) -> list[int]:
        """Return the positions of values of this field in order, equal ones as they come.

        >>> FieldOrder("size", is_descending=True).ranks([3, None, 9, 3])
        [2, 0, 3, 1]
        """
        present = [(value, index) for index, value in enumerate(values) if value is not None]
        present.sort(key=_first, reverse=self.is_descending)
        absent = [index for index, value in enumerate(values) if value is None]
        return [position for _, position in present] + absent


def _first(pair: tuple[str | int, int]) -> tuple[str | int]:
    return (pair[0],)


def parse_order(text: str) -> FieldOrder:
    """Return the order that a user writes as `FIELD`, `FIELD:asc` or `FIELD:desc`.

    Raises `UsageError` for another field or direction.

    >>> parse_order("modified:desc")
    FieldOrder(field='modified', is_descending=True)
    """
    field, _, direction = text.partition(":")
    if field.startswith(METADATA):
        field, _, direction = _split_last(text)
    is_metadata = field.startswith(METADATA) and field != METADATA
    is_known = field in ORDERED or is_metadata
    if not is_known or direction not in _DIRECTIONS:
        raise UsageError(
            f"cannot order by {text!r}; give a field, or FIELD:desc for the opposite order: "
            f"{', '.join(ORDERED)} or metadata.NAME"
        )
    return FieldOrder(field, _DIRECTIONS[direction])


def _split_last(text: str) -> tuple[str, str, str]:
    """Return field, colon and direction; names of metadata hold colons, such as `dc:title`."""
    field, colon, direction = text.rpartition(":")
    return (field, colon, direction) if direction in ("asc", "desc") else (text, "", "")


_SETTINGS = ("threshold", "measure", "principal", "cluster_threshold", "within", "of")
NAMED_ORDERS: tuple[str, ...] = get_args(Principal)


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """Options of `group`: how families and clusters are made.

    `threshold`: the minimum similarity of a member to its principal; above 0, at most 1. The
    default is that of the policy: .9, .8 of `loose`.
    For a recipe of bits alone the default stands for 3 different bits (`simhash-doc-loose`: 6), and
    `measure` for `hamming`; for one of rare terms `measure` stands for `estimate`, their overlap.
    `measure`: the measure that decides, one of those that `indexer.comparing.measures` names.
    `principal`: the order in which documents may become principals: `original` (lowest number of
    quoted words first, then most equal slots with the documents it may match, then most words),
    `longest` (most words first), `first` (oldest first), `central` (greatest sum of similarities to
    its matches first), or a field as `indexer.comparing.criteria` writes it, such as
    `modified:desc`; ties by id.
    `cluster_threshold`: the minimum similarity of a pair in a cluster; above 0, at most 1; None
    means `threshold`.
    `cap`: the maximum number of distinct texts of a band that are all compared with each other; of
    more, all are compared with the first in principal order only; at least 2.
    `within`: `labels` keeps families and clusters inside each set of labels, as if its documents
    were alone in the store, so that who may see one member may see all; None sets no bounds.
    `of`: `documents`, or `parts` for families and clusters of clauses, across documents and
    within them; the families of documents stay.
    `criteria`: what members meet with their principal, and pairs in clusters, in addition to the
    threshold; families have the policy `standard` where they name none.

    Bands are planned so that 99.8 % of the pairs at the lower of both thresholds share one.
    Raises `UsageError` for a value out of its range and `UnknownMeasure`.
    """

    threshold: float = DefaultNumber(FOLD)
    measure: str = DefaultName(MEASURE)
    principal: str = PRINCIPAL
    cluster_threshold: float | None = None
    cap: int = CAP
    within: Literal["labels"] | None = None
    of: Literal["documents", "parts"] = "documents"
    criteria: Criteria = NO_CRITERIA
    folding: Criteria = field(init=False, repr=False, compare=False)
    """The criteria by which families are made: those given, and the criteria of folding by
    default."""

    def __post_init__(self) -> None:
        if isinstance(self.threshold, DefaultNumber):
            threshold = DefaultNumber(policy_threshold(self.criteria))
            object.__setattr__(self, "threshold", threshold)
        check_measure(self.measure)
        check_threshold(self.threshold)
        check_threshold(self.threshold_of_clusters)
        check_cap(self.cap)
        self.check_principal()
        object.__setattr__(self, "folding", for_folding(self.criteria, self.measure))

    def band_plan(self, recipe: Recipe) -> Plan:
        """Return the bands by which members are found in sketches of a recipe."""
        threshold = min(self.min_threshold, ALMOST_ONE)
        if self.measure in ("jaccard", "estimate"):
            return plan_for_recall(threshold, RECALL, recipe.slots or 0)
        return plan(threshold, RECALL, self.measure, recipe)

    @property
    def threshold_of_clusters(self) -> float:
        """The threshold of clusters: the threshold of families unless it was set."""
        return self.threshold if self.cluster_threshold is None else self.cluster_threshold

    @property
    def min_threshold(self) -> float:
        """The lower of both thresholds, for which bands are planned."""
        return min(self.threshold, self.threshold_of_clusters)

    def settings(self) -> dict[str, Any]:
        """Return what decides the families, by the names of the options."""
        values = {name: getattr(self, name) for name in _SETTINGS}
        values["cap"] = None if self.cap == CAP else self.cap
        decisive = {name: value for name, value in values.items() if value is not None}
        return {**decisive, **self.folding.settings()}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> GroupOptions:
        """Return the options whose `settings` these are.

        >>> GroupOptions.from_settings(GroupOptions(0.9, "lcs", cap=7).settings()).cap
        7
        """
        values = {name: settings[name] for name in (*_SETTINGS, "cap") if name in settings}
        return cls(**values, criteria=Criteria.from_settings(settings))

    @property
    def principal_kind(self) -> Principal | FieldOrder:
        """Return the order in which documents may become principals."""
        if self.principal in NAMED_ORDERS:
            return cast("Principal", self.principal)
        return parse_order(self.principal)

    def order_value(self, row: Row) -> Value:
        """Return what a document is ordered by, if that is a field or the words that it quotes."""
        kind = self.principal_kind
        if kind == "original":
            return quoted_words(row.text)
        return kind.value(row) if isinstance(kind, FieldOrder) else None

    def check_principal(self) -> None:
        """Raise `UsageError` for an order that does not exist."""
        try:
            self.principal_kind  # noqa: B018 - it parses
        except UsageError as error:
            names = ", ".join(NAMED_ORDERS)
            raise UsageError(f"{error}; principals also go by {names}") from error

    def for_recipe(self, recipe: Recipe) -> GroupOptions:
        """Return these options; for a recipe of bits or rare terms alone with its own defaults.

        Raises `UsageError` for another measure.
        """
        if not has_sketch_alone(recipe):
            return self
        measure, threshold = resolve_sketch(recipe, self.measure, self.threshold)
        return replace(self, measure=measure, threshold=threshold)

    def check_recipe(self, recipe: Recipe) -> None:
        """Raise `UsageError` for a recipe without the MinHash slots or sketches that are needed."""
        if not recipe.minhash and not has_sketch_alone(recipe):
            raise UsageError(
                f"recipe {recipe.name} has no MinHash slots to make groups by; index with another "
                "recipe"
            )
        self.criteria.check_sketches(recipe, self.measure)


DEFAULT_OPTIONS = GroupOptions()


def missing_order(order: FieldOrder) -> UsageError:
    """Return the error for a principal order by metadata that no document has."""
    return UsageError(
        f"no document has {order.field}, by which --principal orders; "
        "check the spelling, or choose another order"
    )


def check_order(kind: Principal | FieldOrder, values: Sequence[object]) -> None:
    """Raise `UsageError` for metadata, to order by, of which all of these values are None."""
    if not isinstance(kind, FieldOrder) or kind.metadata_name is None:
        return
    if values and not any(value is not None for value in values):
        raise missing_order(kind)


# The options by which families are kept up to date between two runs of `group`.

_OF_PARTS = GroupOptions(of="parts")


@dataclass(frozen=True, slots=True)
class FamilyOptions:
    """The options of families of documents, and of families of parts."""

    documents: GroupOptions = DEFAULT_OPTIONS
    parts: GroupOptions = _OF_PARTS


DEFAULT_FAMILIES = FamilyOptions()


def last_options(store: Store) -> FamilyOptions:
    """Return the options of the last `group` on documents and of that on parts.

    The defaults stand for one that is not known here: there was none, or another machine ran it.
    Raises `StoreBusy` while a job works on the store.
    """
    documents = group_settings(store.address, "documents")
    parts = group_settings(store.address, "parts")
    return FamilyOptions(
        GroupOptions.from_settings(documents) if documents else DEFAULT_FAMILIES.documents,
        GroupOptions.from_settings(parts) if parts else DEFAULT_FAMILIES.parts,
    )


def has_other_rules(settings: Mapping[str, Any]) -> bool:
    """Return whether the settings of a `group` are of other rules than these; False for none.

    >>> has_other_rules({"threshold": 0.9, "rules": 1}), has_other_rules({})
    (True, False)
    """
    return bool(settings) and settings.get("rules") != RULES_VERSION


def distinct_words(row: Row, recipe: Recipe) -> KeysView[str]:
    """Return the distinct words of a document, as measures compare them."""
    return ComparedText(row.text, recipe).words.numbering.keys()


def member_rank(
    row: Row, of_principal: KeysView[str] | None, recipe: Recipe, measure: str
) -> float:
    """Return by what a member is ordered, as matches are: the similarity to its principal less what
    new words cost. `of_principal`: the words of the principal, None where it is not stored.
    """
    similarity = row.similarity or 0.0
    kind = MEASURES.get(measure)
    if not similarity or of_principal is None or kind is None or not kind.new_word_cost:
        return similarity
    new = len(of_principal ^ distinct_words(row, recipe))
    return kind.rank(similarity, NewWords(new))


@dataclass(frozen=True, slots=True)
class _Joinable:
    """A row with what decides whether others join it, read once."""

    row: Row
    values: RuleValues
    key: str
    labels: frozenset[str]
    text: ComparedText


class PrincipalFinder:
    """The search for the principal that a row joins, among those that it may resemble.

    What is read of a row is kept; `rarity` has the frequencies that criteria on novelty need.
    """

    def __init__(self, recipe: Recipe, options: GroupOptions, rarity: Rarity) -> None:
        self._recipe = recipe
        self._options = options
        self._rarity = rarity
        self._known: dict[str, _Joinable] = {}

    def most_similar(self, row: Row, principals: Sequence[Row]) -> tuple[Row | None, float]:
        """Return the most similar of these that the options allow, ties to the first, and how
        similar it is, 1 for a copy; None and 0 where none reaches the threshold.
        """
        if not principals:
            return None, 0.0
        criteria, threshold = self._options.folding, self._options.threshold
        joining = self._joinable(row)
        others = self._allowed(joining, principals)
        is_copied = bool(others) and self._is_copy(joining, others[-1])
        compared = [
            other
            for other in (others[:-1] if is_copied else others)
            if row.status in criteria.folded and other.row.status in criteria.folded
        ]
        texts = [other.text for other in compared]
        minimum = 1.0 if is_copied else threshold  # of those before the copy
        measured = measure_in_common(self._options.measure, joining.text, texts, minimum)
        near = [position for position, (value, _) in enumerate(measured) if value >= minimum]
        for position in sorted(near, key=lambda position: -measured[position][0]):
            value, common = measured[position]
            pair = joining.text, texts[position]
            if not criteria or accepts_in_common(criteria, *pair, common, self._rarity):
                return compared[position].row, value
        return (others[-1].row, 1.0) if is_copied else (None, 0.0)

    def _allowed(self, joining: _Joinable, principals: Sequence[Row]) -> list[_Joinable]:
        """Return the principals that rules on fields allow, up to the first copy of the row."""
        criteria = self._options.folding
        allowed = []
        for principal in principals:
            other = self._joinable(principal)
            if self._options.within is not None and joining.labels != other.labels:
                continue
            if not criteria.allows(joining.values, other.values):
                continue
            allowed.append(other)
            if self._is_copy(joining, other):
                break
        return allowed

    def _is_copy(self, a: _Joinable, b: _Joinable) -> bool:
        return a.key == b.key and have_same_symbols(a.text.text, b.text.text)

    def _joinable(self, row: Row) -> _Joinable:
        known = self._known.get(row.id)
        if known is None:
            criteria = self._options.folding
            known = self._known[row.id] = _Joinable(
                row,
                criteria.values(row),
                criteria.content_key(row),
                frozenset(row.labels),
                ComparedText(row.text, self._recipe),
            )
        return known


def separation(
    row: Row,
    representative: Row,
    options: GroupOptions,
    text: Callable[[Row], TextOperand],
    rarity: Rarity,
) -> str:
    """Return why the options keep a document out of the group of a principal; empty if they do not.

    `text` returns the text of a row; `rarity` as for `PrincipalFinder`.
    """
    criteria = options.folding
    if options.within is not None and set(row.labels) != set(representative.labels):
        return "other labels: groups stay within labels"
    files = EmbeddedDigests.of(row.embedded), EmbeddedDigests.of(representative.embedded)
    if criteria.reads_embedded and not files[0].allow(files[1]):
        is_table = files[0].files == files[1].files
        return "columns of tables differ" if is_table else "attachments differ"
    if not criteria.allows(criteria.values(row), criteria.values(representative)):
        return f"the rules on {', '.join(criteria.fields)}"
    if _are_copies(row, representative, criteria.content_key(row), criteria, text):
        return ""
    statuses = {row.status, representative.status}
    if not statuses.issubset(criteria.folded):
        return "texts of numbers alone are grouped with equal ones only"
    a, b = text(row), text(representative)
    similarity = measure_pair(options.measure, a, b).similarity
    if similarity < options.threshold:
        found = percent_below(similarity, options.threshold, 1)
        required = percent(options.threshold)
        return f"{found} by {options.measure}, and {required} is required"
    return criteria.refusal(b, a, rarity)


def _are_copies(
    row: Row, other: Row, key: str, criteria: Criteria, text: Callable[[Row], TextOperand]
) -> bool:
    is_equal = key == criteria.content_key(other)
    return is_equal and have_same_symbols(text(row).text, text(other).text)
