"""Signatures of many texts by every method and length; steps that methods share are computed once.

Each equals, bit for bit, the result of `fingerprint` by the recipe of its method. SHAKE256 of fewer
bits is the beginning of more; the minimum of a MinHash belongs to the same feature whatever the
length; TopSig's vectors are mostly zeros and kept as lists.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.errors import ExtractionError, SourceNotFound, UsageError
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.hashing import string_hashes
from indexer.fingerprinting.minhash import fast_similarity_sketch, pack_low_bits
from indexer.fingerprinting.rare_terms import CorpusStatistics
from indexer.fingerprinting.schemes import (
    feature_set_name,
    features_of,
    fingerprint_by,
    truncated_minhash,
)
from indexer.fingerprinting.simhash import feature_weights, sign_bits, sparse_vectors, to_units
from indexer.jobs.document_rows import documents_under
from indexer.lab.studies.methods import FEATURES, NAMED, QUESTION_BITS, Method, pairs_of
from indexer.lab.studies.results import Account, Seconds
from indexer.model import Progress
from indexer.stores.base import Store
from indexer.system.files import write_whole

# The files of signatures: the names of their arrays, and how they are read.

ALL, ONLINE = "all", "online"

Rows: TypeAlias = NDArray[np.uint8]


def signature_name(method: str, bits: int) -> str:
    """Return the name of the signatures of a method."""
    return f"{method}-{bits}"


def question_name(statistics: int | str, bits: int) -> str:
    """Return the name of weighted TopSig signatures by the statistics of the first n texts, of ALL,
    or ONLINE: of those that arrived so far.
    """
    return f"statistics-{statistics}-{bits}"


def load_signatures(files: Sequence[Path], name: str) -> Rows:
    """Return the signatures of that name of all texts: (texts, octets)."""
    parts = []
    for file in files:
        with np.load(file) as arrays:
            parts.append(arrays[name])
    return np.concatenate(parts)


Hashes = NDArray[np.uint64]
Units = NDArray[np.float64]
Positions = NDArray[np.int64]
_PIECE = 1 << 21  # entries of dense vectors at a time
_OCTETS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)
_MIN_HASHES = (
    "md5",
    "sha1",
    "sha256",
    "sha512",
)  # of which a MinHash of the study has the least values


@dataclass(frozen=True, slots=True)
class Grams:
    """The features of a text, each once: octets, 64-bit hashes (ascending) and frequencies."""

    names: list[bytes]
    hashes: Hashes
    times: Positions

    @property
    def repeated(self) -> Hashes:
        """The hashes, each as often as its feature occurs in the text."""
        return np.repeat(self.hashes, self.times)

    def units(self, statistics: CorpusStatistics | None = None) -> Units:
        """Return the weight of each feature in units of 2**-20: its frequency, or with statistics
        the logarithm of ratios.
        """
        if statistics is None:
            return to_units(self.times.astype(np.float64))
        return to_units(feature_weights(self.repeated, statistics)[1])


def grams_of(text: str) -> Grams:
    """Return the UTF-8 character 4-grams of the text without normalisation."""
    counted = Counter(features_of(text, FEATURES))
    names, hashes = list(counted), string_hashes(counted)
    order = np.argsort(hashes)
    times = np.fromiter(counted.values(), dtype=np.int64, count=len(names))
    return Grams(
        [names[position].encode("utf-8", "surrogateescape") for position in order],
        hashes[order],
        times[order],
    )


class Vectors:
    """TopSig's vectors of features for several lengths, as lists of the entries that are not
    zero.
    """

    def __init__(self, hashes: Hashes, bits: Sequence[int]) -> None:
        self._bits, self._columns = tuple(bits), sum(bits)
        step = max(1, _PIECE // self._columns)
        pieces = [
            self._entries(hashes[start : start + step]) for start in range(0, len(hashes), step)
        ]
        counts = (
            np.concatenate([counts for counts, _ in pieces]) if pieces else np.empty(0, np.int64)
        )
        self._starts, self._counts = np.cumsum(counts) - counts, counts
        self._entered = (
            np.concatenate([positions for _, positions in pieces])
            if pieces
            else np.empty(0, np.int16)
        )

    def _entries(self, hashes: Hashes) -> tuple[Positions, NDArray[np.int16]]:
        """Return the number of entries of each feature, and their columns; those of -1 come after
        all columns.
        """
        dense = np.concatenate([sparse_vectors(hashes, bits) for bits in self._bits], axis=1)
        rows, columns = np.nonzero(dense)
        fingerprinted = columns + self._columns * (dense[rows, columns] < 0)
        return np.bincount(rows, minlength=len(hashes)).astype(np.int64), fingerprinted.astype(
            np.int16
        )

    def signatures(self, rows: Positions, weights: Units) -> dict[int, int]:
        """Return the signature of each length of the features in these rows with these weights."""
        counts = self._counts[rows]
        ends = np.cumsum(counts)
        positions = np.repeat(self._starts[rows] - ends + counts, counts) + np.arange(
            ends[-1] if len(ends) else 0
        )
        times = np.repeat(weights, counts)
        sums = np.bincount(self._entered[positions], times, 2 * self._columns).astype(np.float64)
        totals = sums[: self._columns] - sums[self._columns :]
        edges = np.cumsum((0, *self._bits))
        return {
            bits: sign_bits(totals[start : start + bits])
            for bits, start in zip(self._bits, edges, strict=False)
        }


class Tables:
    """Digests and vectors of the features of a batch of texts, computed once for all of them."""

    def __init__(self, texts: Sequence[Grams], bits: Sequence[int]) -> None:
        self.bits = tuple(bits)
        named = {
            name: hash
            for grams in texts
            for name, hash in zip(grams.names, grams.hashes.tolist(), strict=True)
        }
        names = list(named)
        self._row = {name: row for row, name in enumerate(names)}
        self.hashes = np.fromiter(named.values(), dtype=np.uint64, count=len(names))
        self._vectors = Vectors(self.hashes, bits)
        self._shake = _octets([hashlib.shake_256(name).digest(max(bits) // 8) for name in names])
        self._sha512 = _octets([hashlib.sha512(name).digest() for name in names])
        self._ranks = [_ranks(names, hash) for hash in _MIN_HASHES]
        self._names = names

    def rows(self, grams: Grams) -> Positions:
        """Return the rows of the features of a text in the tables."""
        return np.fromiter(
            (self._row[name] for name in grams.names), dtype=np.int64, count=len(grams.names)
        )

    def signatures(
        self, grams: Grams, statistics: CorpusStatistics
    ) -> dict[tuple[str, int], bytes]:
        """Return the signatures of a text with features: big-endian octets by method and length."""
        rows = self.rows(grams)
        frequencies = grams.units()
        weights = grams.units(statistics)
        winners = {self._names[rows[np.argmin(ranks[rows])]] for ranks in self._ranks}
        signatures: dict[str, Mapping[int, int]] = {
            "simhash": _project(self._shake[rows], frequencies, self.bits),
            "simhash-sha512": _project(self._sha512[rows], frequencies, self.bits),
            "weighted-simhash": _project(self._shake[rows], weights, self.bits),
            "topsig": self._vectors.signatures(rows, frequencies),
            "weighted-topsig": self._vectors.signatures(rows, weights),
            "minhash": {bits: truncated_minhash(winners, bits) for bits in self.bits},
            "minhash-ours": {bits: _low_bits(grams.hashes, bits) for bits in self.bits},
        }
        return {
            (name, bits): value.to_bytes(bits // 8, "big")
            for name, of_method in signatures.items()
            for bits, value in of_method.items()
            if bits <= NAMED[name].max_bits
        }


def _octets(digests: list[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(len(digests), -1)


def _ranks(names: list[bytes], hash: str) -> Positions:
    """Return the rank of each name by its hash, from 0."""
    digests = [hashlib.new(hash, name, usedforsecurity=False).digest() for name in names]
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=digests.__getitem__)] = np.arange(len(names))
    return ranks


def _project(digests: NDArray[np.uint8], weights: Units, bits: Sequence[int]) -> dict[int, int]:
    """Return SimHash of every length from (n, octets) digests.

    Weights are summed by the values of each octet, then by its bits.
    """
    octets = digests.shape[1]
    positions = digests + (np.arange(octets, dtype=np.int32) << 8)
    sums = np.bincount(positions.ravel(), weights=np.repeat(weights, octets), minlength=octets << 8)
    set_bits = (sums.reshape(octets, 256) @ _OCTETS).ravel()
    votes = 2 * set_bits - weights.sum()
    return {length: sign_bits(votes[:length]) for length in bits if length <= len(votes)}


def _low_bits(hashes: Hashes, bits: int) -> int:
    """Return one bit of each slot of a MinHash of so many slots."""
    return int.from_bytes(pack_low_bits(fast_similarity_sketch(hashes, bits), 1), "big")


# The distinct texts of a study, in an order that depends on the texts alone.

EVERY = 200
_UNSIGNED = replace(FEATURES, simhash=None)  # computes the status of a text only
_SCHEMA = """
create table text (
    digest blob primary key, signed text not null, octets integer not null, text blob not null,
    documents integer not null
) without rowid;
create table account (name text primary key, value) without rowid;
"""


class Texts:
    """Texts in a file, in the order of their SHA-256, so that the first n are a random sample.

    With `numeric`, texts of numbers alone are among them, as the published study has them.
    """

    def __init__(self, path: Path, *, numeric: bool) -> None:
        self.path = path
        fingerprinted = "'always', 'numeric'" if numeric else "'always'"
        self._where = f"where signed in ({fingerprinted})"

    def account(self) -> Account:
        """Return the number of documents of each outcome."""
        with closing(sqlite3.connect(self.path)) as base:
            counts = dict(base.execute("select name, value from account where name != 'source'"))
            [(studied, octets)] = base.execute(
                f"select count(*), coalesce(sum(octets), 0) from text {self._where}"
            )
        counts["numbers_only"] -= studied - counts["studied"]
        return Account(**{**counts, "studied": studied, "octets": octets})

    def source(self) -> str:
        """Return the folder or the store that they came from."""
        with closing(sqlite3.connect(self.path)) as base:
            return str(
                base.execute("select value from account where name = 'source'").fetchone()[0]
            )

    def digest(self) -> str:
        """Return 16 hexadecimal digits that identify the studied texts."""
        digest = hashlib.sha256()
        with closing(sqlite3.connect(self.path)) as base:
            for (octets,) in base.execute(f"select digest from text {self._where} order by digest"):
                digest.update(octets)
        return digest.hexdigest()[:16]

    def documents(self) -> list[int]:
        """Return the number of documents that have each text, in order."""
        with closing(sqlite3.connect(self.path)) as base:
            query = f"select documents from text {self._where} order by digest"
            return [documents for (documents,) in base.execute(query)]

    def __iter__(self) -> Iterator[str]:
        with closing(sqlite3.connect(self.path)) as base:
            for (packed,) in base.execute(f"select text from text {self._where} order by digest"):
                yield zlib.decompress(packed).decode("utf-8", "surrogatepass")


def texts_of(
    source: Path | Store, folder: Path, progress: Progress, *, numeric: bool = True
) -> Texts:
    """Read a folder or a store into a file of `folder`, unless an earlier call has read it whole.

    `folder` is inside the folder of the report. Nothing there is a document, should it lie in the
    folder to read.

    Raises `SourceNotFound`, and `UsageError` when there is no text to fingerprint or the report
    lies in the folder to read itself.
    """
    path, report = folder / "counted-texts.db", folder.parent.resolve()
    if isinstance(source, Path) and source.resolve() == report:
        raise UsageError(
            f"{source} is to be read; write the report to another folder, which may lie in it"
        )
    named = str(source.resolve()) if isinstance(source, Path) else source.url
    if not _is_read(path, named):
        with write_whole(path) as part:
            _read(part, _texts_under(source, report), named, progress)
    texts = Texts(path, numeric=numeric)
    if not texts.account().studied:
        path.unlink()
        raise UsageError(f"{named} has no text to fingerprint")
    return texts


def _is_read(path: Path, named: str) -> bool:
    if not path.exists():
        return False
    with closing(sqlite3.connect(path)) as base:
        return (
            base.execute(
                "select 1 from account where name = 'source' and value = ?", (named,)
            ).fetchone()
            is not None
        )


def _texts_under(source: Path | Store, report: Path) -> Iterator[str | None]:
    """Yield the text of every document, None for one that cannot be read."""
    if isinstance(source, Path):
        if not source.is_dir():
            raise SourceNotFound(path=str(source))
        for _, result in documents_under(
            str(source), without=report if report.is_relative_to(source.resolve()) else None
        ):
            yield None if isinstance(result, ExtractionError) else result.text
    else:
        source.refresh()
        yield from (row.text for row in source.scan())


def _read(path: Path, texts: Iterable[str | None], named: str, progress: Progress) -> None:
    counts = {field.name: 0 for field in fields(Account)}
    for left in (path, Path(f"{path}-journal")):  # by a run that was killed while it read
        left.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as base:
        base.executescript(_SCHEMA)
        for text in texts:
            counts["documents"] += 1
            if counts["documents"] % EVERY == 0:
                progress("reading documents", counts["documents"], 0)
            if text is None:
                counts["failed"] += 1
                continue
            kind = _store_text(base, text)
            counts[kind] += 1
        account = asdict(Account(**counts))
        base.executemany("insert into account values (?, ?)", [*account.items(), ("source", named)])
        base.commit()


def _store_text(base: sqlite3.Connection, text: str) -> str:
    """Store a text unless it is empty, and count a copy; return the field of `Account` for it."""
    octets = text.encode("utf-8", "surrogatepass")
    status = fingerprint_by(_UNSIGNED, text).status
    if status == "empty":
        return "empty"
    digest = hashlib.sha256(octets).digest()
    more = "update text set documents = documents + 1 where digest = ?"
    if base.execute(more, (digest,)).rowcount:
        return "copies"
    is_numeric = status == "numbers_only" and len(text) >= (FEATURES.width or 1)
    fingerprinted = "numeric" if is_numeric else "never"
    if status == "complete":
        fingerprinted = "always"
    row = (digest, fingerprinted, len(octets), zlib.compress(octets, 1))
    base.execute("insert into text values (?, ?, ?, ?, 1)", row)
    return "studied" if status == "complete" else status


# Fingerprint the texts of a study batch by batch; a stored batch is not signed again.

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
    for index, text in enumerate(texts):
        if index in samples:
            samples[index].merge(counts.whole)
        counts.whole.add(grams_of(text).repeated)
        if index % 100 == 0:
            progress("counting features", index, total)
    return counts


def _no_statistics() -> CorpusStatistics:
    return CorpusStatistics(feature_set_name(FEATURES))


def sign_texts(
    texts: Texts, bits: Sequence[int], statistics: FeatureCounts, folder: Path, progress: Progress
) -> list[Path]:
    """Fingerprint all texts, and return the files of their signatures, in order.

    Arrays are (texts, octets), by `signature_name` and `question_name`.
    """
    total = texts.account().studied
    done = 0
    files: list[Path] = []
    arriving = _no_statistics()
    key = hashlib.sha256(f"{texts.digest()} {bits}".encode()).hexdigest()[:12]
    for batch in _batches(texts):
        path = folder / f"{key}-{done:09d}.npz"
        if path.exists():
            for grams in batch:
                arriving.add(grams.repeated)
        else:
            arrays = _signatures(batch, bits, statistics)
            arrays |= _follow_up_signatures(batch, statistics, arriving)
            with write_whole(path) as part, part.open("wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
        files.append(path)
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


def _follow_up_signatures(
    batch: Sequence[Grams], statistics: FeatureCounts, arriving: CorpusStatistics
) -> dict[str, Rows]:
    """Return weighted TopSig by other statistics than of all texts.

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
    texts: Texts, bits: Sequence[int], statistics: CorpusStatistics, limit: int, progress: Progress
) -> list[Seconds]:
    """Sign the first `limit` texts one by one by `fingerprint`: seconds of the processor, corpus
    statistics not counted.
    """
    sample = [text for text, _ in zip(texts, range(limit), strict=False)]
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
