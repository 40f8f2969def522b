"""The `simhash-doc` scheme: 64-bit SimHash over Jenkins hashes of a document's tokens, and its
spelling.

After "Interoperability of Locality-Sensitive Hashing Schemes". Every token (`indexer.text.tokens`)
is hashed to 64 bits (`indexer.sketch.jenkins`) and adds 1 to the bucket of each bit that is set in
its hash, and takes 1 from the others; a bit of the result is 1 when its bucket is strictly
positive. The octets of a hash are those of the number, most significant first.

Versions: `v1` to `v3` differ in their tokens alone; `v4` has better tokens for scripts without
spaces and counts each distinct token once, since raw frequency lets a few frequent words decide
every bit. What is published and what is our choice: docs/schemes.md. Vectors for other
implementations: docs/vectors/simhash-doc.json.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from indexer.errors import NoFeatures, UnknownName, UsageError
from indexer.sketch.jenkins import jenkins64
from indexer.sketch.projection import sign_bits, weighted_sum
from indexer.text.tokens import Segmenter, tokens

BITS = 64
LOOSE, CLOSE = 0.90, 0.98
VERSIONS = ("v1", "v2", "v3", "v4")
_DISTINCT = ("v4",)
_SPELLING = re.compile(r"simhash-doc-(v[1-9][0-9]*):([a-z2-7]{13})", re.ASCII)


def simhash_doc(
    text: str,
    version: str = "v2",
    stop_words: Collection[str] = (),
    segmenter: Segmenter | None = None,
) -> int:
    """The 64 bits of a text. A text without tokens has none: raises `NoFeatures`. Raises
    `UnknownName` for another version.

    A stop list or a segmenter of one's own makes another scheme; sketches compare only when both
    are equal.

    >>> spell_base32(simhash_doc("The quick brown fox jumps over the lazy dog"), "v2")
    'simhash-doc-v2:4l24lemdc4rhm'
    """
    return simhash_doc_tokens(tokens(text, version, stop_words, segmenter), version)


def simhash_doc_tokens(found: Sequence[str], version: str = "v2") -> int:
    """The 64 bits of tokens, for callers with a tokeniser of their own; each repeat counts, but in
    `v4`.
    """
    if version not in VERSIONS:
        raise UnknownName("version", version, VERSIONS)
    if not found:
        raise NoFeatures
    counts = Counter(found)
    hashes = jenkins64([token.encode() for token in counts])
    votes = (
        2 * np.unpackbits(hashes.astype(">u8").view(np.uint8)).reshape(-1, BITS).view(np.int8) - 1
    )
    times = (
        np.ones(len(counts))
        if version in _DISTINCT
        else np.array(list(counts.values()), dtype=np.float64)
    )
    return sign_bits(weighted_sum(votes, times))


def spell_base32(bits: int, version: str) -> str:
    """The serialised form: scheme, version, colon, and the 8 octets in RFC 4648 base32, lower case,
    without padding.

    >>> spell_base32(0x0123456789ABCDEF, "v1")
    'simhash-doc-v1:aerukz4jvpg66'
    """
    return f"simhash-doc-{version}:{base64.b32encode(bits.to_bytes(8, 'big')).decode().rstrip('=').lower()}"


def parse_base32(spelling: str) -> tuple[int, str]:
    """The bits and the version of a serialised form, in capitals or not. Raises `UsageError` when
    it is none.

    >>> parse_base32("SIMHASH-DOC-V1:AERUKZ4JVPG66") == (0x0123456789ABCDEF, "v1")
    True
    """
    match = _SPELLING.fullmatch(spelling.lower())
    if match is None or match[1] not in VERSIONS:
        raise UsageError(
            f"{spelling!r} is no simhash-doc; one looks like simhash-doc-v1:aerukz4jvpg66"
        )
    try:
        bits = int.from_bytes(base64.b32decode(match[2].upper() + "==="), "big")
    except binascii.Error:
        raise UsageError(f"{spelling!r} is no simhash-doc: its base32 is damaged") from None
    if spell_base32(bits, match[1]) != spelling.lower():
        raise UsageError(
            f"{spelling!r} is no simhash-doc: its last character has bits that no sketch sets"
        )
    return bits, match[1]


def allowed_distance(similarity: float, bits: int = BITS) -> int:
    """The greatest Hamming distance d with 1 - d / bits >= similarity: .90 loose, .98 close.

    >>> allowed_distance(LOOSE), allowed_distance(CLOSE)
    (6, 1)
    """
    return int((1.0 - similarity) * bits + 1e-9)
