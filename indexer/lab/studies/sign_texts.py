"""Sign the texts of a study batch by batch; a stored batch is not signed again."""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
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
    """Count the features of all texts, and of the first 10, 32, 100, 316, ... of them."""
    sizes = [round(10 ** (half / 2)) for half in range(2, 20)]
    samples = {size: _no_statistics() for size in sizes if size < total}
    counts = FeatureCounts(_no_statistics(), samples)
    for place, text in enumerate(texts):
        if place in samples:
            samples[place].merge(counts.whole)
        counts.whole.add(grams_of(text).repeated)
        if place % 100 == 0:
            progress("counting features", place, total)
    return counts


def _no_statistics() -> CorpusStatistics:
    return CorpusStatistics(feature_set_name(FEATURES))


def sign_texts(
    texts: Texts, bits: Sequence[int], statistics: FeatureCounts, folder: Path, progress: Progress
) -> list[Path]:
    """Sign all texts, and return the files of their signatures, in order.

    Arrays are (texts, octets), by `signature_name` and `question_name`.
    """
    total = texts.account().studied
    done = 0
    files: list[Path] = []
    arriving = _no_statistics()
    key = hashlib.sha256(f"{texts.digest()} {bits}".encode()).hexdigest()[:12]
    for batch in _batches(texts):
        place = folder / f"{key}-{done:09d}.npz"
        if place.exists():
            for grams in batch:
                arriving.add(grams.repeated)
        else:
            arrays = _signatures(batch, bits, statistics)
            arrays |= _question_signatures(batch, statistics, arriving)
            with write_whole(place) as part, part.open("wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
        files.append(place)
        done += len(batch)
        progress("signing texts", done, total)
    return files


def _batches(texts: Texts) -> Iterator[list[Grams]]:
    batch: list[Grams] = []
    features = 0
    for text in texts:
        batch.append(grams_of(text))
        features += len(batch[-1].names)
        if len(batch) >= BATCH or features > BATCH_GRAMS:
            yield batch
            batch = []
            features = 0
    if batch:
        yield batch


def _signatures(
    batch: Sequence[Grams], bits: Sequence[int], statistics: FeatureCounts
) -> dict[str, Rows]:
    tables = Tables(batch, bits)
    signatures = [tables.signatures(grams, statistics.whole) for grams in batch]
    arrays = {}
    for method, length in pairs_of(bits):
        values = [by_method[method.name, length] for by_method in signatures]
        arrays[signature_name(method.name, length)] = _rows(values)
    return arrays


def _question_signatures(
    batch: Sequence[Grams], statistics: FeatureCounts, arriving: CorpusStatistics
) -> dict[str, Rows]:
    """Return weighted TopSig by other statistics than those of all texts.

    `arriving` counts each text before it is signed.
    """
    hashes = np.unique(np.concatenate([grams.hashes for grams in batch]))
    vectors = Vectors(hashes, QUESTION_BITS)
    sources: list[tuple[int | str, CorpusStatistics]] = [
        (ALL, statistics.whole),
        *statistics.samples.items(),
        (ONLINE, arriving),
    ]
    values: dict[str, list[bytes]] = defaultdict(list)
    for grams in batch:
        rows = np.searchsorted(hashes, grams.hashes)
        arriving.add(grams.repeated)
        for source, counts in sources:
            for bits, value in vectors.signatures(rows, grams.units(counts)).items():
                values[question_name(source, bits)].append(value.to_bytes(bits // 8, "big"))
    return {name: _rows(signatures) for name, signatures in values.items()}


def _rows(values: Sequence[bytes]) -> Rows:
    return np.frombuffer(b"".join(values), dtype=np.uint8).reshape(len(values), -1)


def time_signing(
    texts: Texts, bits: Sequence[int], statistics: CorpusStatistics, most: int, progress: Progress
) -> list[Seconds]:
    """Sign the first `most` texts one by one by `fingerprint`: seconds of the processor, corpus
    statistics not counted.
    """
    sample = [text for text, _ in zip(texts, range(most), strict=False)]
    pairs = pairs_of(bits)
    timings = []
    for done, (method, length) in enumerate(pairs):
        progress("timing methods", done, len(pairs))
        timings.append(_time_method(sample, method, length, statistics))
    return timings


def _time_method(
    sample: Sequence[str], method: Method, bits: int, statistics: CorpusStatistics
) -> Seconds:
    recipe = method.recipe(bits)
    seconds = []
    for text in sample:
        started = time.process_time()
        fingerprint(text, recipe, statistics)
        seconds.append(time.process_time() - started)
    octets = sum(len(text.encode("utf-8", "surrogatepass")) for text in sample)
    return Seconds(
        method=method.name,
        bits=bits,
        texts=len(sample),
        mean=float(np.mean(seconds)),
        deviation=float(np.std(seconds)),
        megabytes_a_second=octets / 1e6 / max(sum(seconds), 1e-9),
    )
