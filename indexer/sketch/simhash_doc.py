"""The `simhash-doc` scheme: 64-bit SimHash of a document's tokens, and its serialised form.

After "Interoperability of Locality-Sensitive Hashing Schemes". Every token (`indexer.text.tokens`)
is hashed to 64 bits (`indexer.sketch.jenkins`). It adds 1 to the bucket of each bit that is set in
its hash, and subtracts 1 from the others; a bit of the result is 1 when its bucket is strictly
positive. The octets of a hash are those of the number, most significant first.

Versions: `v5` is exactly the draft; `v1` adds NFKC and lower case to it, and `v1` to `v3` differ
only in their tokens; `v4` has better tokens for scripts without spaces and counts each distinct
token once, because raw frequency lets a few frequent words decide every bit. docs/schemes.md says
what is published and what is nearfold's choice. Vectors for other implementations:
docs/vectors/simhash-doc.json.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection

from indexer.errors import UsageError
from indexer.sketch.token_simhash import VERSIONS, simhash_doc_tokens
from indexer.text.tokens import Segmenter, tokens

LOOSE, CLOSE = 0.90, 0.98  # similarities for which tables are made
_SPELLING = re.compile(r"simhash-doc-(v[1-9][0-9]*):([a-z2-7]{13})", re.ASCII)


def simhash_doc(
    text: str,
    version: str = "v2",
    stop_words: Collection[str] = (),
    segmenter: Segmenter | None = None,
) -> int:
    """Return the 64 bits of a text.

    Raises `NoFeatures` for a text without tokens, `UnknownName` for another version. A stop list or
    a segmenter makes another scheme: sketches compare only when both are equal.

    >>> spell_base32(simhash_doc("The quick brown fox jumps over the lazy dog"), "v2")
    'simhash-doc-v2:4l24lemdc4rhm'
    """
    return simhash_doc_tokens(tokens(text, version, stop_words, segmenter), version)


def spell_base32(bits: int, version: str) -> str:
    """Return the serialised form: scheme, version, colon, and the 8 octets in base32.

    Base32 is that of RFC 4648, in lower case without padding.

    >>> spell_base32(0x0123456789ABCDEF, "v1")
    'simhash-doc-v1:aerukz4jvpg66'
    """
    digits = base64.b32encode(bits.to_bytes(8, "big")).decode().rstrip("=").lower()
    return f"simhash-doc-{version}:{digits}"


def parse_base32(spelling: str) -> tuple[int, str]:
    """Return the bits and the version of a serialised form; its case does not matter.

    Raises `UsageError` for any other string.

    >>> parse_base32("SIMHASH-DOC-V1:AERUKZ4JVPG66") == (0x0123456789ABCDEF, "v1")
    True
    """
    match = _SPELLING.fullmatch(spelling.lower())
    if match is None or match[1] not in VERSIONS:
        raise UsageError(
            f"{spelling!r} is not a simhash-doc; one looks like simhash-doc-v1:aerukz4jvpg66"
        )
    try:
        bits = int.from_bytes(base64.b32decode(match[2].upper() + "==="), "big")
    except binascii.Error:
        raise UsageError(f"{spelling!r} is not a simhash-doc: its base32 is damaged") from None
    if spell_base32(bits, match[1]) != spelling.lower():
        raise UsageError(
            f"{spelling!r} is not a simhash-doc: its last character has bits that no sketch sets"
        )
    return bits, match[1]
