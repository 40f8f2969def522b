"""`evaluate`: what recipes find of the truth at thresholds, and how far those agree who have told
the truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from indexer.errors import UsageError
from indexer.lab.evaluation.assessor_agreement import agreement
from indexer.lab.evaluation.decider import Decider, Decision
from indexer.lab.evaluation.evaluation_results import Evaluation, Mistake, Result, Truthfulness
from indexer.lab.evaluation.gold import Gold
from indexer.lab.evaluation.gold_documents import GoldDocuments, gold_documents
from indexer.lab.evaluation.read_truth import read_truth
from indexer.lab.evaluation.score_pairs import (
    agreement_with,
    by_kind,
    by_type,
    pair_scores,
    resample,
    set_scores,
)
from indexer.lab.evaluation.truth import Group, Pair, groups
from indexer.lab.evaluation.type_decider import NOT_FOUND, TypeDecider
from indexer.recipe import DEFAULT, Recipe
from indexer.statistics.precision_recall import RULES, Rule, ordered
from indexer.stores.base import Store
from indexer.system.progress_callback import Progress, no_progress


def evaluate(
    gold: Sequence[str],
    store: Store | None = None,
    *,
    recipes: Sequence[Recipe] = (),
    thresholds: Sequence[float] = (0.8,),
    measure: str | None = None,
    rule: Rule = "connected",
    closed: bool | None = None,
    seed: int = 0,
    types: bool = False,
    synonyms: str = "",
    progress: Progress = no_progress,
) -> Evaluation:
    """Judge what recipes find at thresholds by a gold set: precision, recall and F1 of pairs and of
    sets, and every error.

    `gold`: one file of pairs or sets, or the sheets of several assessors and, if there is one, of
    the arbiter. Documents are named by id or path; texts come from the store or from the disk, and
    are signed anew for each recipe (the store's own unless given). Without keys (empty, too short,
    numbers alone) a text is in no pair. `closed`: whether pairs that are not listed are different;
    see `read_gold`. `seed` is that of the bootstrap. With `types` the detector of duplicate types
    is judged beside the recipes, thresholds being its overlap, and found pairs are told by type;
    `synonyms` as `duplicate_sets` takes them.

    Raises `UsageError` for a file that cannot be read, with the line, for documents that are not
    there, and for `synonyms` without `types`; `UnknownMeasure`.
    """
    if rule not in RULES:
        raise UsageError(f"{rule!r} is no rule; choose one of: {', '.join(RULES)}")
    if not all(0 < threshold <= 1 for threshold in thresholds):
        raise UsageError("thresholds lie between 0 (exclusive) and 1")
    if synonyms and not types:
        raise UsageError("synonyms serve the detector of duplicate types alone; give --types too")
    truth, made = _truth(gold, closed)
    documents = gold_documents(truth.documents, truth.folder, store)
    judged = groups(truth, documents)
    chosen = recipes or [(store.stored_recipe() if store else None) or DEFAULT]
    by_key = {one.key: one for one in documents.values()}
    results: list[Result] = []
    texts = [by_key[key].text for key in sorted(by_key)]
    teller = TypeDecider(texts, synonyms) if types else None
    systems = len(chosen) + (teller is not None)
    by_recipe: Iterator[Decider | TypeDecider] = (
        Decider(texts, recipe, measure) for recipe in chosen
    )
    for decider in chain(by_recipe, [teller] if teller else []):
        system = _System(by_key, decider, teller)
        for threshold in thresholds:
            progress(f"{decider.name} at {threshold:g}", len(results), systems * len(thresholds))
            results.append(system.result(judged, threshold, rule, seed))
    return replace(
        made,
        documents=len(by_key),
        closed=truth.closed,
        types=Counter(one.type for group in judged for one in group.known.values()),
        rule=rule,
        drawn=resample(judged),
        results=tuple(results),
    )


def _truth(paths: Sequence[str], closed: bool | None) -> tuple[Gold, Evaluation]:
    """The gold set, and what its assessors say of each other."""
    blank = Evaluation(0, False, {}, "connected", "", ())
    read = read_truth(paths, closed)
    if read.resolved is None:
        return read.gold, blank
    two = sum(sheet.role == "assessor" for sheet in read.sheets) > 1
    told = agreement(read.sheets) if two else None
    return read.gold, replace(
        blank, assessors=told, disagreements=read.resolved.disagreements, alone=read.resolved.alone
    )


class _System:
    """What decides over the documents of a gold set, places in the order of their keys; `teller` of
    types, if it is wanted.
    """

    def __init__(
        self,
        documents: Mapping[str, GoldDocuments],
        decider: Decider | TypeDecider,
        teller: TypeDecider | None,
    ) -> None:
        self._documents, self._keys = documents, sorted(documents)
        self._places = {key: place for place, key in enumerate(self._keys)}
        self._decider, self._teller = decider, teller

    def result(self, judged: Sequence[Group], threshold: float, rule: Rule, seed: int) -> Result:
        """What is found at a threshold, judged."""
        decision = self._decider.decide(threshold)
        pairs = {ordered(self._keys[a], self._keys[b]) for a, b in decision.found}
        found = [group.among(pairs) for group in judged]
        scores = pair_scores(judged, found, seed)
        total = sum(group.judged for group in judged)
        wrong = [
            (group, pair)
            for group, own in zip(judged, found, strict=True)
            for pair in own - group.true
        ]
        missed = [
            (group, pair)
            for group, own in zip(judged, found, strict=True)
            for pair in group.true - own
        ]
        return Result(
            recipe=self._decider.name,
            recipe_id=self._decider.id,
            measure=self._decider.measure,
            threshold=threshold,
            pairs=scores,
            sets=set_scores(judged, found, rule, seed),
            by_type=by_type(judged, found, rule, seed),
            by_kind=by_kind(judged, found, seed),
            judged=total,
            unjudged=len(pairs - {pair for own in found for pair in own}),
            agreement=agreement_with(scores, total),
            false_positives=self._mistakes(wrong, decision, threshold),
            misses=self._mistakes(missed, decision, threshold),
            types_told=self._told(judged, found, threshold),
        )

    def _mistakes(
        self, pairs: Sequence[tuple[Group, Pair]], decision: Decision, threshold: float
    ) -> tuple[Mistake, ...]:
        """False positives most similar first, misses least similar last; ties by name."""
        made = [self._mistake(group, pair, decision, threshold) for group, pair in pairs]
        return tuple(
            sorted(made, key=lambda one: (-one.similarity, one.a.path, one.b.path, one.group))
        )

    def _mistake(self, group: Group, pair: Pair, decision: Decision, threshold: float) -> Mistake:
        one, other = (self._documents[key] for key in pair)
        place = self._places[pair[0]], self._places[pair[1]]
        why = self._decider.reason(place, (one.path, other.path), decision, threshold)
        similarity = self._decider.similarity(place)
        return Mistake(one, other, group.type(pair), group.kind(pair), group.name, similarity, why)

    def _told(
        self, judged: Sequence[Group], found: Sequence[set[Pair]], threshold: float
    ) -> tuple[Truthfulness, ...]:
        """How often pairs of each type of the truth were told as each type; nothing without a
        teller of types.
        """
        if self._teller is None:
            return ()
        counted: Counter[tuple[str, str]] = Counter()
        for group, own in zip(judged, found, strict=True):
            for a, b in group.true | own:
                told = (
                    self._teller.told((self._places[a], self._places[b]), threshold)
                    if (a, b) in own
                    else NOT_FOUND
                )
                counted[group.type((a, b)), told] += 1
        return tuple(
            Truthfulness(type, told, pairs) for (type, told), pairs in sorted(counted.items())
        )
