"""The options of `group`: how families and clusters are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

from indexer.clustering.field_order import FieldOrder, Value, parse_order
from indexer.clustering.principals import Principal
from indexer.defaults import FOLD, MEASURE, PRINCIPAL, RECALL, DefaultName, DefaultNumber
from indexer.errors import UsageError
from indexer.matching.limits import CAP, check_cap, check_threshold
from indexer.model import Row
from indexer.recipe import Recipe
from indexer.similarity.criteria import NO_CRITERIA, Criteria, for_folding
from indexer.similarity.measures import check_measure
from indexer.sketch.plan import ALMOST_ONE, Plan, plan, plan_for_recall
from indexer.sketch.sketch_options import has_sketch_alone, resolve_sketch
from indexer.text.quoted_lines import quoted_words

_SETTINGS = ("threshold", "measure", "principal", "cluster_threshold", "within", "of")
NAMED_ORDERS: tuple[str, ...] = get_args(Principal)


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """Options of `group`: how families and clusters are made.

    `threshold`: the least similarity of a member to its principal; above 0, at most 1.
    For a recipe of bits alone the default stands for 3 different bits (`simhash-doc-loose`: 6), and
    `measure` for `hamming`; for one of rare terms `measure` stands for `estimate`, their overlap.
    `measure`: the measure that decides, one of those that `indexer.similarity.measures` names.
    `principal`: the order in which documents may become principals: `original` (fewest quoted
    words first, then most equal slots with the documents it may match, then most words),
    `longest` (most words first), `first` (oldest first), `central` (greatest sum of similarities
    to its matches first), or a field as `indexer.clustering.field_order` writes it, such as
    `modified:desc`; ties by id.
    `cluster_threshold`: the least similarity of a pair in a cluster; above 0, at most 1; None
    means `threshold`.
    `cap`: of a band that more distinct texts share, all are compared with the first in principal
    order only; at least 2.
    `within`: `labels` keeps families and clusters inside each set of labels, as if its documents
    were alone in the store, so that who may see one member may see all; None sets no bounds.
    `of`: `documents`, or `parts` for families and clusters of clauses, across documents and
    within them; the families of documents stay.
    `criteria`: what members meet with their principal, and pairs in clusters, beside the threshold;
    unless they limit `replaced`, it is limited as `folding` has it.

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
    """The criteria by which families are made: those given, and those of folding by default."""

    def __post_init__(self) -> None:
        check_measure(self.measure)
        check_threshold(self.threshold)
        check_threshold(self.threshold_of_clusters)
        check_cap(self.cap)
        self.check_principal()
        object.__setattr__(self, "folding", for_folding(self.criteria, self.measure))

    def band_plan(self, recipe: Recipe) -> Plan:
        """Return the bands by which members are found in sketches of a recipe."""
        threshold = min(self.least_threshold, ALMOST_ONE)
        if self.measure in ("jaccard", "estimate"):
            return plan_for_recall(threshold, RECALL, recipe.slots or 0)
        return plan(threshold, RECALL, self.measure, recipe)

    @property
    def threshold_of_clusters(self) -> float:
        """The threshold of clusters: that of families unless it was set."""
        return self.threshold if self.cluster_threshold is None else self.cluster_threshold

    @property
    def least_threshold(self) -> float:
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
                f"recipe {recipe.name} has no MinHash slots to make families by; "
                "index with another recipe"
            )
        self.criteria.check_sketches(recipe, self.measure)


DEFAULT_OPTIONS = GroupOptions()


def missing_order(order: FieldOrder) -> UsageError:
    """Return the error for a principal order by metadata that no document has."""
    return UsageError(
        f"no document has {order.field}, by which --principal orders; "
        "check the spelling, or choose another order"
    )
