"""Measure recipes against a gold set, and the agreement of the assessors who judged it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from indexer.errors import UsageError
from indexer.grouping.group_options import check_threshold
from indexer.lab.evaluation.decider import (
    BASELINES,
    NOT_FOUND,
    BaselineDecider,
    Decider,
    Decision,
    TypeDecider,
)
from indexer.lab.evaluation.gold import Group, Pair, gold_documents, groups
from indexer.lab.evaluation.judgements import Gold, GoldDocument
from indexer.lab.evaluation.precision_recall import RULES, Rule, ordered_pair
from indexer.lab.evaluation.scores import (
    Evaluation,
    Mistake,
    Result,
    TypeAssignment,
    agreement_with,
    by_kind,
    by_type,
    judged_queries,
    judged_sets,
    pair_scores,
    resample,
    set_scores,
)
from indexer.lab.evaluation.sheets import agreement, read_truth
from indexer.model import Progress, no_progress
from indexer.recipe import DEFAULT, Recipe
from indexer.stores.base import Store


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """Options of `evaluate`.

    `recipes`: the recipes to measure; the store's own, or the default, when empty. `measure`: that
    of the recipe when None. `rule`: the rule by which a set counts as captured, one of
    `indexer.lab.evaluation.precision_recall.RULES`. `closed`: pairs that are not listed are
    different; see `read_gold`. `seed`: the seed of the bootstrap. `types`: also measure the
    detector of duplicate types, its overlap being the threshold, and count the types of found
    pairs. `baselines`: also measure two published signatures.
    `synonyms`: lines as `duplicate_sets` takes them, with `types` alone.

    Raises `UsageError` for an unknown rule, thresholds outside (0, 1], and `synonyms` without
    `types`.
    """

    recipes: Sequence[Recipe] = ()
    thresholds: Sequence[float] = (0.8,)
    measure: str | None = None
    rule: Rule = "connected"
    closed: bool | None = None
    seed: int = 0
    types: bool = False
    baselines: bool = False
    synonyms: str = ""

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise UsageError(f"{self.rule!r} is not a rule; choose one of: {', '.join(RULES)}")
        for threshold in self.thresholds:
            check_threshold(threshold)
        if self.synonyms and not self.types:
            raise UsageError("synonyms need the detector of duplicate types; give --types too")


def evaluate(
    gold: Sequence[str],
    store: Store | None = None,
    options: EvaluateOptions = EvaluateOptions(),
    *,
    progress: Progress = no_progress,
) -> Evaluation:
    """Return precision, recall and F1 of pairs and of sets for each recipe and threshold, and every
    error.

    `gold`: one file of pairs or sets, or the sheets of several assessors and, if there is one, of
    the arbiter. Documents are named by id or path; texts come from the store or from the disk, and
    are fingerprinted anew for each recipe. A text without keys (empty, too short, numbers alone) is
    in no pair.

    Raises `UsageError` for a file that cannot be read, with the line, and for documents that do not
    exist; `UnknownMeasure`.
    """
    truth, blank = _read_truth(gold, options.closed)
    documents = gold_documents(truth.documents, truth.folder, store)
    judged = groups(truth, documents)
    by_key = {document.key: document for document in documents.values()}
    texts = [by_key[key].text for key in sorted(by_key)]
    stored = store.stored_recipe() if store else None
    recipes = options.recipes or [stored or DEFAULT]
    type_decider = TypeDecider(texts, options.synonyms) if options.types else None
    baselines = BASELINES if options.baselines else ()
    total = (len(recipes) + options.types + len(baselines)) * len(options.thresholds)
    results: list[Result] = []
    for decider in _deciders(texts, recipes, options.measure, type_decider, baselines):
        scorer = _Scorer(by_key, decider, type_decider, options)
        for threshold in options.thresholds:
            progress(f"{decider.name} at {threshold:g}", len(results), total)
            results.append(scorer.result(judged, threshold))
    return replace(
        blank,
        documents=len(by_key),
        closed=truth.closed,
        types=Counter(pair.type for group in judged for pair in group.known.values()),
        queries=judged_queries(judged),
        sets=judged_sets(judged, by_key),
        rule=options.rule,
        resampled=resample(judged),
        results=tuple(results),
    )


def _deciders(
    texts: Sequence[str],
    recipes: Iterable[Recipe],
    measure: str | None,
    type_decider: TypeDecider | None,
    baselines: Iterable[str],
) -> Iterator[Decider | TypeDecider | BaselineDecider]:
    """Yield the decider of each recipe, made when needed, then the one of duplicate types, then
    those of the baselines.
    """
    for recipe in recipes:
        yield Decider(texts, recipe, measure)
    if type_decider is not None:
        yield type_decider
    for name in baselines:
        yield BaselineDecider(texts, name)


def _read_truth(paths: Sequence[str], closed: bool | None) -> tuple[Gold, Evaluation]:
    """Return the gold set, and an evaluation that holds only the agreement of its assessors."""
    blank = Evaluation(0, False, {}, "connected", "", ())
    truth = read_truth(paths, closed)
    if truth.resolved is None:
        return truth.gold, blank
    assessors = sum(sheet.role == "assessor" for sheet in truth.sheets)
    evaluation = replace(
        blank,
        assessors=agreement(truth.sheets) if assessors > 1 else None,
        disagreements=truth.resolved.disagreements,
        alone=truth.resolved.alone,
    )
    return truth.gold, evaluation


class _Scorer:
    """A scorer of one decider on the documents of a gold set; a pair of positions is in the order
    of their keys.
    """

    def __init__(
        self,
        documents: Mapping[str, GoldDocument],
        decider: Decider | TypeDecider | BaselineDecider,
        type_decider: TypeDecider | None,
        options: EvaluateOptions,
    ) -> None:
        self._documents, self._keys = documents, sorted(documents)
        self._positions = {key: index for index, key in enumerate(self._keys)}
        self._decider, self._type_decider = decider, type_decider
        self._options = options

    def result(self, judged: Sequence[Group], threshold: float) -> Result:
        """Return the scores and the errors at a threshold."""
        rule, seed = self._options.rule, self._options.seed
        decision = self._decider.decide(threshold)
        pairs = {ordered_pair(self._keys[a], self._keys[b]) for a, b in decision.found}
        found_pairs = [group.among(pairs) for group in judged]
        scores = pair_scores(judged, found_pairs, seed)
        total = sum(group.judged for group in judged)
        wrong: list[tuple[Group, Pair]] = []
        missed: list[tuple[Group, Pair]] = []
        for group, group_pairs in zip(judged, found_pairs, strict=True):
            wrong += [(group, pair) for pair in group_pairs - group.true]
            missed += [(group, pair) for pair in group.true - group_pairs]
        return Result(
            recipe=self._decider.name,
            recipe_id=self._decider.id,
            measure=self._decider.measure,
            threshold=threshold,
            pairs=scores,
            sets=set_scores(judged, found_pairs, rule, seed),
            by_type=by_type(judged, found_pairs, rule, seed),
            by_kind=by_kind(judged, found_pairs, seed),
            judged=total,
            unjudged=len(pairs - set().union(*found_pairs)),
            agreement=agreement_with(scores, total),
            false_positives=self._mistakes(wrong, decision, threshold),
            misses=self._mistakes(missed, decision, threshold),
            assigned_types=self._type_assignments(judged, found_pairs, threshold),
        )

    def _mistakes(
        self, pairs: Sequence[tuple[Group, Pair]], decision: Decision, threshold: float
    ) -> tuple[Mistake, ...]:
        """Return the errors, most similar first; ties by path and group."""
        mistakes = [self._mistake(group, pair, decision, threshold) for group, pair in pairs]
        mistakes.sort(
            key=lambda error: (-error.similarity, error.a.path, error.b.path, error.group)
        )
        return tuple(mistakes)

    def _mistake(self, group: Group, pair: Pair, decision: Decision, threshold: float) -> Mistake:
        a, b = (self._documents[key] for key in pair)
        positions = self._positions[pair[0]], self._positions[pair[1]]
        return Mistake(
            a,
            b,
            group.type(pair),
            group.kind(pair),
            group.name,
            self._decider.similarity(positions),
            self._decider.reason(positions, (a.path, b.path), decision, threshold),
        )

    def _type_assignments(
        self, judged: Sequence[Group], found_pairs: Sequence[set[Pair]], threshold: float
    ) -> tuple[TypeAssignment, ...]:
        """Count the pairs of each true type by the type that is assigned to them; empty without a
        detector of types.
        """
        if self._type_decider is None:
            return ()
        counts: Counter[tuple[str, str]] = Counter()
        for group, group_pairs in zip(judged, found_pairs, strict=True):
            for pair in group.true | group_pairs:
                assigned = NOT_FOUND
                if pair in group_pairs:
                    positions = self._positions[pair[0]], self._positions[pair[1]]
                    assigned = self._type_decider.assigned_type(positions, threshold)
                counts[group.type(pair), assigned] += 1
        return tuple(
            TypeAssignment(type, assigned, pairs)
            for (type, assigned), pairs in sorted(counts.items())
        )
