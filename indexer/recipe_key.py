"""The secret key of a recipe: how it is named, what is told about it, and the two words that hash
under it.
"""

from __future__ import annotations

import hashlib
import hmac
import re

from indexer.errors import UsageError

KEYED_HASH = "sip24_v1"
SHORTEST = 32
_SPELLED = re.compile(r"(?P<recipe>.+)\+key:(?P<name>[a-z][a-z0-9_]{0,31})", re.ASCII)


def split(spelled: str) -> tuple[str, str | None]:
    """A recipe's name without its key, and the name of the key; None where there is none.

    >>> split("default_v1+key:legal"), split("default_v1")
    (('default_v1', 'legal'), ('default_v1', None))
    """
    found = _SPELLED.fullmatch(spelled)
    return (found["recipe"], found["name"]) if found else (spelled, None)


def variable(name: str) -> str:
    """The environment variable that holds a key.

    >>> variable("legal")
    'NEARFOLD_KEY_LEGAL'
    """
    return f"NEARFOLD_KEY_{name.upper()}"


def fingerprint(secret: str) -> str:
    """16 hexadecimal digits that tell one key from another, and from which nobody learns the key.

    Raises `UsageError` for a key of fewer than 32 characters, which could be guessed from it.

    >>> fingerprint("0123456789abcdef" * 4)
    '2ac4323675e9e1fb'
    """
    if len(secret) < SHORTEST:
        raise UsageError(
            f"the secret key of a recipe has {SHORTEST} characters or more, not {len(secret)}; make one: openssl rand -hex 32"
        )
    return _derived(secret, "nearfold recipe key fingerprint v1").hex()[:16]


def words(secret: str) -> tuple[int, int]:
    """The 128 bits under which runs of characters are hashed, as two little-endian words."""
    key = _derived(secret, "nearfold recipe key sip24 v1")
    return int.from_bytes(key[:8], "little"), int.from_bytes(key[8:16], "little")


def _derived(secret: str, purpose: str) -> bytes:
    return hmac.digest(
        secret.encode("utf-8", "surrogateescape"), purpose.encode("ascii"), hashlib.sha256
    )
