"""The password of an engine: from the environment, from a file that only its owner can read, or
from the system's keyring.
"""

from __future__ import annotations

from collections.abc import Mapping

from indexer.errors import UsageError
from indexer.system.credentials import secret


def password(environment: Mapping[str, str], user: str | None, path: str) -> str | None:
    """Return the password of a user; None when nobody has one.

    It is the `secret`, else what the keyring holds for the service `nearfold PLACE`. The keyring is
    read only where there is a user and the package `keyring` is installed.
    """
    from_secret = secret("NEARFOLD_PASSWORD", environment)
    if from_secret is not None or user is None:
        return from_secret
    return _in_keyring(f"nearfold {path}", user)


def _in_keyring(service: str, user: str) -> str | None:
    try:
        import keyring
        from keyring.errors import KeyringError, NoKeyringError
    except ModuleNotFoundError:
        return None
    try:
        return keyring.get_password(service, user)
    except NoKeyringError:
        return None
    except KeyringError as error:
        raise UsageError(
            f"the keyring gives no password ({error}); unlock it, or set NEARFOLD_PASSWORD_FILE"
        ) from error
