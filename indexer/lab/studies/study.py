"""`study`: measure how signatures of every method and length spread the documents of a folder or a
store.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from indexer.lab.studies.collisions import collision_similarity
from indexer.lab.studies.methods import BITS, lengths
from indexer.lab.studies.sign_texts import count_features, sign_texts, time_signing
from indexer.lab.studies.spread import DocumentCounts, answers, near, spreads
from indexer.lab.studies.study_results import (
    StudyResult,
)
from indexer.lab.studies.study_texts import Texts, texts_of
from indexer.stores.base import Store
from indexer.system.progress_callback import Progress, no_progress

WORK = "work"
TIMED = 50


def study(
    source: str | Path | Store,
    out: str | Path,
    *,
    bits: Sequence[int] = BITS,
    sample: int = TIMED,
    keep_duplicates: bool = True,
    progress: Progress = no_progress,
) -> StudyResult:
    """Sign every text of a folder or a store by every method of the study, and measure the
    signatures.

    With `keep_duplicates` Table 2 and Figures 1 to 3 count copies, empty and numeric texts as the
    published ones do; else each distinct text once. All other figures are of distinct texts. Texts
    and signatures lie in `out`/work until the study is done: after an interruption the same call
    goes on from them. Nothing in `out` is a document, should it lie in the folder. Times are of the
    first `sample` texts, a random choice.
    The same texts give the same figures, times excepted. Raises `UsageError` for other
    lengths than multiples of 8 from 16 to 1024, for a source without text and for an `out` that is
    the source; `SourceNotFound`.
    """
    chosen = lengths(bits)
    work = Path(out) / WORK
    work.mkdir(parents=True, exist_ok=True)
    place = Path(source) if isinstance(source, str) else source
    texts = texts_of(place, work, progress, numeric=keep_duplicates)
    account = texts.account()
    statistics = count_features(texts, account.studied, progress)
    seconds = time_signing(texts, chosen, statistics.whole, sample, progress)
    files = sign_texts(texts, chosen, statistics, work, progress)
    documents = document_counts(texts, keep_duplicates)
    result = StudyResult(
        source=texts.source(),
        account=account,
        features=len(statistics.whole),
        bits=chosen,
        spreads=spreads(files, chosen, documents, progress),
        seconds=tuple(seconds),
        alike=collision_similarity(texts, files, chosen, progress),
        near=near(files, chosen, documents, progress),
        answers=answers(files, list(statistics.samples), account.studied),
        keep_duplicates=keep_duplicates,
        counted=documents.total,
    )
    shutil.rmtree(work)
    return result


def document_counts(texts: Texts, keep_duplicates: bool) -> DocumentCounts:
    """Return how many documents have each text, and how many have none that is signed."""
    account = texts.account()
    if not keep_duplicates:
        return DocumentCounts([1] * account.studied, 0)
    documents = texts.documents()
    return DocumentCounts(documents, account.documents - account.failed - sum(documents))
