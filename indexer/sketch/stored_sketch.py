"""The sketch of a fingerprint as rows keep it."""

from __future__ import annotations

from indexer.model import Fingerprint
from indexer.sketch.codec import pack_slots


def stored_sketch(signature: Fingerprint) -> bytes | None:
    """Return the slots or the rare-term signature of a fingerprint, packed; None without any."""
    sketch = signature.minhash if signature.vector is None else signature.vector
    return None if sketch is None else pack_slots(sketch)
