"""Sign the texts of a study batch by batch; a batch that is on the disk is not signed again."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from indexer.lab.studies.methods import FEATURES, QUESTION_BITS, Method, pairs_of
from indexer.lab.studies.signature_files import ALL, ONLINE, Rows, question_name, signature_name
from indexer.lab.studies.signatures import Grams, Tables, Vectors, grams_of
from indexer.lab.studies.study_results import Seconds
from indexer.lab.studies.study_texts import Texts
from indexer.sketch.corpus_statistics import CorpusStatistics
from indexer.sketch.fingerprint import fingerprint
from indexer.sketch.schemes import feature_set_name
from indexer.system.progress_callback import Progress
from indexer.system.whole_file import write_whole

BATCH, BATCH_GRAMS = 2000, 2_500_000


@dataclass(frozen=True, slots=True)
class FeatureCounts:
    """Corpus statistics of all texts, and of the first n of them by n."""

    whole: CorpusStatistics
    samples: dict[int, CorpusStatistics]


def count_features(texts: Texts, total: int, progress: Progress) -> FeatureCounts:
    """Count the features of all texts. Samples are of 10, 32, 100, 316, ... texts, as long as there
    are more.
    """
    sizes = [round(10 ** (half / 2)) for half in range(2, 20) if round(10 ** (half / 2)) < total]
    made = FeatureCounts(_nothing(), {size: _nothing() for size in sizes})
    for place, text in enumerate(texts):
        if place in made.samples:
            made.samples[place].merge(made.whole)
        made.whole.add(grams_of(text).repeated)
        if place % 100 == 0:
            progress("counting features", place, total)
    return made


def _nothing() -> CorpusStatistics:
    return CorpusStatistics(feature_set_name(FEATURES))


def sign_texts(
    texts: Texts, bits: Sequence[int], statistics: FeatureCounts, folder: Path, progress: Progress
) -> list[Path]:
    """Sign all texts: the files with their signatures, in order. Arrays are (texts, octets), by
    `signature_name` and `questions`.
    """
    total, done, files, arriving = texts.account().studied, 0, list[Path](), _nothing()
    key = hashlib.sha256(f"{texts.digest()} {bits}".encode()).hexdigest()[:12]
    for batch in _batches(texts):
        place = folder / f"{key}-{done:09d}.npz"
        if place.exists():
            for one in batch:
                arriving.add(one.repeated)
        else:
            made = _signatures(batch, bits, statistics) | _questions(batch, statistics, arriving)
            with write_whole(place) as part, part.open("wb") as file:
                np.savez(file, **made)  # type: ignore[arg-type]
        files.append(place)
        done += len(batch)
        progress("signing texts", done, total)
    return files


def _batches(texts: Texts) -> Iterator[list[Grams]]:
    batch, held = list[Grams](), 0
    for text in texts:
        batch.append(grams_of(text))
        held += len(batch[-1].names)
        if len(batch) >= BATCH or held > BATCH_GRAMS:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _signatures(
    batch: Sequence[Grams], bits: Sequence[int], statistics: FeatureCounts
) -> dict[str, Rows]:
    tables = Tables(batch, bits)
    made = [tables.signatures(one, statistics.whole) for one in batch]
    return {
        signature_name(method.name, one): _rows([row[method.name, one] for row in made])
        for method, one in pairs_of(bits)
    }


def _questions(
    batch: Sequence[Grams], statistics: FeatureCounts, arriving: CorpusStatistics
) -> dict[str, Rows]:
    """Weighted TopSig by other statistics than those of all texts; `arriving` counts each text
    before it is signed.
    """
    hashes, kept = (
        np.unique(np.concatenate([one.hashes for one in batch])),
        dict[str, list[bytes]](),
    )
    vectors = Vectors(hashes, QUESTION_BITS)
    sources: list[tuple[int | str, CorpusStatistics]] = [
        (ALL, statistics.whole),
        *statistics.samples.items(),
        (ONLINE, arriving),
    ]
    for one in batch:
        rows = np.searchsorted(hashes, one.hashes)
        arriving.add(one.repeated)
        for source, counts in sources:
            for bits, value in vectors.signatures(rows, one.units(counts)).items():
                kept.setdefault(question_name(source, bits), []).append(
                    value.to_bytes(bits // 8, "big")
                )
    return {name: _rows(values) for name, values in kept.items()}


def _rows(values: Sequence[bytes]) -> Rows:
    return np.frombuffer(b"".join(values), dtype=np.uint8).reshape(len(values), -1)


def time_signing(
    texts: Texts, bits: Sequence[int], statistics: CorpusStatistics, most: int, progress: Progress
) -> list[Seconds]:
    """Sign the first `most` texts one by one by `fingerprint`: seconds of the processor, corpus
    statistics not counted.
    """
    sample = [text for text, _ in zip(texts, range(most), strict=False)]
    made = []
    for done, (method, one) in enumerate(pairs := pairs_of(bits)):
        progress("timing methods", done, len(pairs))
        made.append(_timed(sample, method, one, statistics))
    return made


def _timed(
    sample: Sequence[str], method: Method, bits: int, statistics: CorpusStatistics
) -> Seconds:
    recipe, spent = method.recipe(bits), []
    for text in sample:
        started = time.process_time()
        fingerprint(text, recipe, statistics)
        spent.append(time.process_time() - started)
    octets = sum(len(text.encode("utf-8", "surrogatepass")) for text in sample)
    speed = octets / 1e6 / max(sum(spent), 1e-9)
    return Seconds(
        method.name, bits, len(sample), float(np.mean(spent)), float(np.std(spent)), speed
    )
