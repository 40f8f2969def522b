"""The sketches of a fingerprint as rows keep them."""

from __future__ import annotations

from indexer.model import Fingerprint, Row
from indexer.sketch.codec import pack_slots


def stored_sketch(signature: Fingerprint) -> bytes | None:
    """Return the slots, rare-term signature or long bits of a fingerprint, packed; else None."""
    sketch = signature.minhash if signature.vector is None else signature.vector
    return None if sketch is None else pack_slots(sketch)


def stored_bits(signature: Fingerprint) -> int | None:
    """Return the bits of a fingerprint, if there are 64 of them at most."""
    return signature.simhash if signature.vector is None else None


def bits_of_row(row: Row) -> int | None:
    """Return the bits of a row of a recipe of bits alone; None if it has none."""
    return row.simhash if row.minhash is None else int.from_bytes(row.minhash, "big")
