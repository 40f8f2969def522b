"""Rows of dataset files with the signatures of their texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from indexer.deduplicating.row_spool import SignedRow
from indexer.errors import ExtractionError
from indexer.recipe import Recipe
from indexer.sketch.codec import pack_slots
from indexer.sketch.fingerprint import Fingerprints, fingerprints
from indexer.sources.base import Reading
from indexer.sources.dataset_files import DatasetFile
from indexer.sources.record_documents import text_of

BATCH_ROWS = 1000  # that are signed together
BATCH_CHARS = 4_000_000


@dataclass(frozen=True, slots=True)
class RowText:
    """The text of a row, or the error that it has none."""

    file: int
    number: int
    text: str | ExtractionError

    @property
    def chars(self) -> int:
        """The length of the text, 0 without one."""
        return len(self.text) if isinstance(self.text, str) else 0


def signed_rows(
    files: Sequence[DatasetFile], reading: Reading, recipe: Recipe, known: Sequence[int]
) -> Iterator[list[SignedRow]]:
    """Yield the rows of files in batches, in order, signed.

    `known`: how many rows of each file are signed already; files before the last that has some are
    not read again. Raises `UsageError` for a file that cannot be read, or changes meanwhile.
    """
    without_keys = replace(recipe, bands=0, rows=0)
    for batch in _batches(_texts(files, reading, known)):
        yield sign_texts(batch, reading, without_keys)


def _texts(
    files: Sequence[DatasetFile], reading: Reading, known: Sequence[int]
) -> Iterator[RowText]:
    last = max((place for place, count in enumerate(known) if count), default=0)
    for place, file in enumerate(files):
        if place < last:
            continue
        for count, (number, record) in enumerate(file.records(reading), 1):
            if count > known[place]:
                if isinstance(record, ExtractionError):
                    yield RowText(place, int(number), record)
                else:
                    yield RowText(place, int(number), text_of(record, reading))
        file.check_unchanged()


def _batches(texts: Iterator[RowText]) -> Iterator[list[RowText]]:
    batch: list[RowText] = []
    chars = 0
    for text in texts:
        batch.append(text)
        chars += text.chars
        if len(batch) >= BATCH_ROWS or chars >= BATCH_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch


def sign_texts(batch: Sequence[RowText], reading: Reading, recipe: Recipe) -> list[SignedRow]:
    """Return the rows of these texts, in order; those without one have its error."""
    texts = [item.text for item in batch if isinstance(item.text, str)]
    signatures = fingerprints([text[: reading.max_chars] for text in texts], recipe)
    rows: list[SignedRow] = []
    place = 0
    for item in batch:
        if isinstance(item.text, ExtractionError):
            rows.append(SignedRow(item.file, item.number, error=str(item.text)))
        else:
            rows.append(_signed_row(item, item.text[: reading.max_chars], signatures, place))
            place += 1
    return rows


def _signed_row(item: RowText, text: str, signatures: Fingerprints, place: int) -> SignedRow:
    """Return the row of the text whose signature is at `place`; its keys are not read."""
    status, chars = signatures.status[place], int(signatures.chars[place])
    has_slots = signatures.is_signed(place) and signatures.recipe.minhash
    encoded = text.encode("utf-8", "surrogatepass")
    return SignedRow(
        file=item.file,
        number=item.number,
        text=text,
        status="truncated" if len(text) < item.chars and status == "complete" else status,
        exact=signatures.exact[place],
        raw="" if chars else hashlib.sha256(encoded).hexdigest(),
        words=int(signatures.words[place]),
        chars=chars,
        minhash=pack_slots(signatures.minhash[place]) if has_slots else None,
    )
