"""The password of an engine: from the environment, from a file that only its owner can read, or
from the system's keyring.
"""

from __future__ import annotations

from collections.abc import Mapping

from indexer.errors import UsageError
from indexer.system.secrets import secret


def password(environment: Mapping[str, str], user: str | None, place: str) -> str | None:
    """The password of a user: `secret`, else what the keyring holds for service `nearfold PLACE`;
    None when nobody has one.

    The keyring is asked only where there is a user and the package `keyring` is installed.
    """
    given = secret("NEARFOLD_PASSWORD", environment)
    return given if given is not None or user is None else _in_keyring(f"nearfold {place}", user)


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
