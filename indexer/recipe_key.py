"""The secret key of a recipe: its name, its public fingerprint, and the key of the feature hash."""

from __future__ import annotations

import hashlib
import hmac
import re

from indexer.errors import UsageError

KEYED_HASHES = {"gram64_v1": "sip24_v1", "word64_v1": "sip24_pairs_v1"}  # by the unkeyed hash
SHORTEST = 32
_NAME = re.compile(r"(?P<recipe>.+)\+key:(?P<key>[a-z][a-z0-9_]{0,31})", re.ASCII)


def split(name: str) -> tuple[str, str | None]:
    """Return a recipe's name without its key, and the name of the key, None if it has none.

    >>> split("default_v1+key:legal"), split("default_v1")
    (('default_v1', 'legal'), ('default_v1', None))
    """
    match = _NAME.fullmatch(name)
    return (match["recipe"], match["key"]) if match else (name, None)


def variable(name: str) -> str:
    """Return the environment variable that holds a key.

    >>> variable("legal")
    'NEARFOLD_KEY_LEGAL'
    """
    return f"NEARFOLD_KEY_{name.upper()}"


def fingerprint(secret: str) -> str:
    """Return 16 hexadecimal digits that identify a key without revealing it.

    Raises `UsageError` for a key of fewer than 32 characters, which could be guessed from them.

    >>> fingerprint("0123456789abcdef" * 4)
    '2ac4323675e9e1fb'
    """
    if len(secret) < SHORTEST:
        raise UsageError(
            f"the secret key of a recipe has {SHORTEST} characters or more, not {len(secret)}; "
            "make one: openssl rand -hex 32"
        )
    return _derive(secret, "nearfold recipe key fingerprint v1").hex()[:16]


def words(secret: str) -> tuple[int, int]:
    """Return the 128-bit key of the feature hash as two little-endian words."""
    key = _derive(secret, "nearfold recipe key sip24 v1")
    return int.from_bytes(key[:8], "little"), int.from_bytes(key[8:16], "little")


def _derive(secret: str, purpose: str) -> bytes:
    return hmac.digest(
        secret.encode("utf-8", "surrogateescape"), purpose.encode("ascii"), hashlib.sha256
    )
