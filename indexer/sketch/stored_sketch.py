"""The sketches of a fingerprint as rows keep them."""

from __future__ import annotations

from indexer.model import Fingerprint
from indexer.sketch.codec import pack_slots


def stored_sketch(signature: Fingerprint) -> bytes | None:
    """Return the slots, rare-term signature or long bits of a fingerprint, packed; else None."""
    sketch = signature.minhash if signature.vector is None else signature.vector
    return None if sketch is None else pack_slots(sketch)


def stored_bits(signature: Fingerprint) -> int | None:
    """Return the bits of a fingerprint, if there are 64 of them at most."""
    return signature.simhash if signature.vector is None else None
