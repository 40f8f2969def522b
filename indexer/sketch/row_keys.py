"""Keys of rows: made from their texts, and compared with those that rows have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from indexer.model import Fingerprint, Row
from indexer.recipe import Recipe
from indexer.sketch.fingerprint import fingerprints
from indexer.sketch.stored_sketch import stored_bits, stored_sketch

_BATCH = 256


def sign_rows(rows: Sequence[Row], recipe: Recipe) -> list[Row]:
    """Return the same rows with the keys of a recipe, in order.

    Rows that could not be signed on arrival stay unsigned; cut text stays `truncated`; family
    fields stay and become provisional.
    """
    signed = fingerprints([row.text for row in rows], recipe)
    return [_sign_row(row, signed[place], recipe.id) for place, row in enumerate(rows)]


def _sign_row(row: Row, signed: Fingerprint, recipe_id: str) -> Row:
    if row.status == "unsigned":
        return replace(row, recipe=recipe_id, provisional=True)
    stays_truncated = row.status == "truncated" and signed.status == "complete"
    return replace(
        row,
        recipe=recipe_id,
        status="truncated" if stays_truncated else signed.status,
        exact=signed.exact,
        words=signed.words,
        chars=signed.chars,
        bands=signed.bands,
        blocks=signed.blocks,
        minhash=stored_sketch(signed),
        simhash=stored_bits(signed),
        provisional=True,
    )


def fresh_rows(rows: Iterable[Row], recipe: Recipe) -> Iterator[tuple[Row, Row]]:
    """Yield each row, in order, with the row that has the keys of its text.

    Both are one object where the keys are right, and for a row that was never signed, could not be,
    or was by earlier statistics of an online recipe.
    """
    remaining = iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        for row, signed in zip(batch, sign_rows(batch, recipe), strict=True):
            is_signed = row.recipe and row.status != "unsigned"
            is_right = (
                not is_signed
                or _signature(row) == _signature(signed)
                or recipe.has_other_statistics(row.recipe)
            )
            yield row, row if is_right else replace(signed, parts=None)


def current_rows(rows: Iterable[Row], recipe: Recipe) -> Iterator[Row]:
    """Yield each row, in order; of an online recipe with the signature by its current statistics.

    Rows that other numbered statistics signed are signed again from their texts, and not stored.
    """
    if not recipe.numbered_statistics:
        yield from rows
        return
    current, remaining = recipe.id, iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        older = [
            place
            for place, row in enumerate(batch)
            if row.recipe != current and recipe.has_other_statistics(row.recipe)
        ]
        signed = sign_rows([batch[place] for place in older], recipe) if older else []
        for place, row in zip(older, signed, strict=True):
            batch[place] = replace(row, provisional=batch[place].provisional)
        yield from batch


def _signature(row: Row) -> tuple[object, ...]:
    return row.recipe, row.status, row.exact, row.bands, row.blocks, row.minhash, row.simhash


def with_datasketch_slots(row: Row, recipe: Recipe) -> Row:
    """Return a row that has slots under a scheme of datasketch, whatever its text.

    A row with slots, and any under another scheme, is returned as it is; of a text of numbers
    alone, a short or an empty one, the slots are those that copietje stores.
    """
    if row.status not in ("empty", "too_short", "numbers_only") or row.minhash:
        return row
    from indexer.sketch.schemes import datasketch_slots

    slots = datasketch_slots(row.text, recipe)
    return row if slots is None else replace(row, status="complete", minhash=slots)
