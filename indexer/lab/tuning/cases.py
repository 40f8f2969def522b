"""Read the pairs that recipes are tried on: those of a gold set, and pairs of different groups,
which count as different.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from indexer.errors import UsageError
from indexer.lab.evaluation.gold_documents import gold_documents
from indexer.lab.evaluation.judgements import Gold
from indexer.lab.evaluation.read_truth import read_truth
from indexer.lab.evaluation.truth import groups
from indexer.lab.synthesis.random_draws import RandomSource
from indexer.lab.tuning.tuning_results import UNRELATED, Case, Cases
from indexer.statistics.precision_recall import linked_sets
from indexer.stores.base import Store
from indexer.system.progress_callback import Progress, no_progress

TIMES_UNRELATED, MOST_UNRELATED = 4, 20_000


def cases_of(
    paths: Sequence[str],
    store: Store | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Cases:
    """Read a gold set, or sheets, and their documents; add a random sample of four times as many
    pairs of documents of different blocks.

    A block is a group of the gold set, or the documents that its pairs link together where it has
    no groups. Unrelated pairs are added only where there are at least two blocks. Raises
    `UsageError` when no pair is a duplicate or none is different, and what `read_truth`,
    `gold_documents` and `groups` raise.
    """
    gold = read_truth(paths).gold
    progress("reading documents", 0, len(gold.documents))
    documents = gold_documents(gold.documents, gold.folder, store)
    groups(gold, documents)  # refuses pairs of one document, and two judgements of one pair
    by_key = {document.key: document for document in documents.values()}
    numbers = {key: number for number, key in enumerate(by_key)}
    places = {name: numbers[documents[name].key] for name in documents}
    blocks = _blocks(gold, places)
    gold_cases = _gold_cases(gold, places, blocks)
    pairs = (*gold_cases, *_unrelated(gold_cases, blocks, len(by_key), seed))
    _check(pairs, paths)
    texts = tuple(document.text for document in by_key.values())
    return Cases(texts, pairs, _digest(texts, pairs))


def _gold_cases(gold: Gold, places: dict[str, int], blocks: dict[int, int]) -> list[Case]:
    cases = []
    for pair in gold.pairs:
        a = places[pair.a]
        cases.append(Case(a, places[pair.b], pair.type, pair.kind or pair.type, blocks[a]))
    return cases


def _blocks(gold: Gold, places: dict[str, int]) -> dict[int, int]:
    """Return the block of every document, both as numbers."""
    names = sorted({pair.group for pair in gold.pairs})
    if len(names) > 1:
        groups = {name: number for number, name in enumerate(names)}
        edges = [
            (places[name], -1 - groups[pair.group]) for pair in gold.pairs for name in pair.pair
        ]
    else:
        edges = [(places[pair.a], places[pair.b]) for pair in gold.pairs]
    return {
        member: number
        for number, members in enumerate(linked_sets(edges))
        for member in members
        if member >= 0
    }


def _unrelated(
    gold_cases: Sequence[Case], blocks: dict[int, int], documents: int, seed: int
) -> Iterator[Case]:
    if len(set(blocks.values())) < 2:
        return
    random = RandomSource(seed, UNRELATED)
    seen = {(case.a, case.b) for case in gold_cases}
    for _ in range(min(TIMES_UNRELATED * len(gold_cases), MOST_UNRELATED)):
        a, b = sorted((random.below(documents), random.below(documents)))
        if blocks[a] != blocks[b] and (a, b) not in seen:
            seen.add((a, b))
            yield Case(a, b, UNRELATED, UNRELATED, blocks[a])


def _check(pairs: Sequence[Case], paths: Sequence[str]) -> None:
    requirements = (
        (True, "duplicates"),
        (False, "different documents, listed or of another group"),
    )
    for similar, words in requirements:
        if not any(case.similar is similar for case in pairs):
            raise UsageError(
                f"{', '.join(paths)}: no pair of {words}; both are needed to choose a recipe"
            )


def _digest(texts: Sequence[str], pairs: Sequence[Case]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    for case in pairs:
        digest.update(f"{case.a} {case.b} {case.type} {case.kind}\n".encode())
    return digest.hexdigest()[:16]
