"""How often the interval of `match --audit` holds the true recall.

    python benchmarks/audit_coverage.py FOLDER ... [--documents 1000] [--measures jaccard,lcs]
        [--recipes default_v1,default_v2] [--thresholds 0.6,0.8,0.9] [--recall 0.7] [--audit 200]
        [--seeds 100]

Every pair of a folder's documents is found by `--complete`, so that the recall of the bands that
are planned for `--recall` is known; a low one leaves misses to estimate. Then `--audit` is taken
with many seeds. Printed: pairs of different texts at the threshold, true recall, mean of the
estimates, the share of intervals that hold the true recall (95 % are promised), their mean width,
the mean `floor` and the share of floors that are not above the true recall.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from measure_relation import sample_paths

from indexer import recipe_named
from indexer.indexing.documents import documents_at
from indexer.indexing.make_rows import ExtractedBlob, row_of
from indexer.joins.copies import PairFilter
from indexer.joins.external_sort import Codes
from indexer.joins.pair_codes import encode_pair
from indexer.matching.audit import AuditFrame
from indexer.matching.collection import Collection, gather
from indexer.matching.complete_pairs import find_all_pairs
from indexer.matching.likely_pairs import find_likely_pairs
from indexer.matching.limits import CAP
from indexer.matching.match import MatchOptions
from indexer.matching.text_pairs import TextPairs
from indexer.matching.verification import MatchContext, Verifier
from indexer.model import Blob, Document
from indexer.recipe import Recipe
from indexer.sketch.fingerprint import fingerprints
from indexer.statistics.strata import Audit
from indexer.stores import open_store
from indexer.stores.base import Store

ROUNDING = 1e-9
HEADER = (
    f"{'':14}{'recipe':12}{'measure':15}{'at':>5}{'recall of':>10}{'pairs':>8}{'true':>8}"
    f"{'estimate':>9}{'covered':>9}{'width':>7}{'floor':>7}{'holds':>7}{'seconds':>9}"
)


def store_of(folder: Path, documents: int, recipe: Recipe) -> Store:
    """Return a store in memory of the texts of a sample of a folder."""
    read = documents_at(sample_paths(folder, documents))
    texts = sorted({item.text for _, item in read if isinstance(item, Document)})
    signed = fingerprints(texts, recipe)
    rows = []
    for place, text in enumerate(texts):
        id = f"{place:06}"
        blob = Blob(id, id.encode(), f"/{id}.txt", b"", len(text), 0)
        extracted = ExtractedBlob(blob, id, "source", Document(text))
        rows.append(row_of(extracted, signed[place], recipe.id, ()))
    store = open_store("sqlite://:memory:")
    store.prepare(recipe)
    store.write(rows)
    return store


def context_of(store: Store, collection: Collection, measure: str) -> MatchContext:
    verifier = Verifier(store, collection, measure)
    return MatchContext(collection, verifier, PairFilter(collection.documents, None, None))


def listed_pairs(context: MatchContext, options: MatchOptions) -> TextPairs:
    layout = options.band_plan(context.collection.recipe)
    return find_likely_pairs(context, layout, options.threshold, CAP, options.exact)


def true_recall(listed: TextPairs, truth: Codes) -> float:
    return float(np.isin(truth, encode_pair(listed.left, listed.right)).mean())


def line(recall: float, audits: list[Audit]) -> str:
    estimates = [audit.recall for audit in audits if audit.recall is not None]
    covered = np.mean([audit.low - ROUNDING <= recall <= audit.high + ROUNDING for audit in audits])
    width = np.mean([audit.high - audit.low for audit in audits])
    floor = np.mean([audit.floor for audit in audits])
    holds = np.mean([audit.floor - ROUNDING <= recall for audit in audits])
    return (
        f"{recall:8.2%}{np.mean(estimates):9.2%}{covered:9.1%}{width:7.3f}{floor:7.3f}{holds:7.1%}"
    )


def lines(store: Store, recipe: Recipe, measure: str, options: argparse.Namespace) -> Iterator[str]:
    collection = gather(store.scan(), recipe, 0)
    context = context_of(store, collection, measure)
    thresholds = [float(value) for value in options.thresholds.split(",")]
    whole = find_all_pairs(context, min(thresholds))
    codes = encode_pair(whole.left, whole.right)
    for threshold, planned in product(thresholds, map(float, options.recall.split(","))):
        truth = codes[whole.similarity >= threshold]
        if not len(truth):
            continue
        listed = listed_pairs(context, MatchOptions(threshold, planned, measure=measure))
        recall = true_recall(listed, truth)
        started = time.perf_counter()
        frame = AuditFrame(context, listed, threshold)
        audits = [frame.estimate(options.audit, 1000 * seed) for seed in range(options.seeds)]
        seconds = (time.perf_counter() - started) / options.seeds
        yield (
            f"{recipe.name:12}{measure:15}{threshold:5.2f}{planned:10.2f}{len(truth):8,}"
            f"{line(recall, audits)}{seconds:9.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--documents", type=int, default=1000, help="of a folder, at most")
    parser.add_argument("--measures", default="jaccard,lcs", help="of --complete")
    parser.add_argument("--recipes", default="default_v1,default_v2")
    parser.add_argument("--thresholds", default="0.6,0.8,0.9")
    parser.add_argument("--recall", default="0.7,0.99", help="that bands are planned for")
    parser.add_argument("--audit", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=100)
    options = parser.parse_args()
    print(HEADER, flush=True)
    for folder, name in product(options.folders, options.recipes.split(",")):
        recipe = recipe_named(name)
        store = store_of(folder, options.documents, recipe)
        for measure in options.measures.split(","):
            for text in lines(store, recipe, measure, options):
                print(f"{folder.name:14}{text}", flush=True)


if __name__ == "__main__":
    main()
