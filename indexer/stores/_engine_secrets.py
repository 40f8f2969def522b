"""Secrets of an engine: from the environment, from a file that only its owner can read, or from the system's keyring."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from indexer.errors import UsageError


def secret(name: str, environment: Mapping[str, str]) -> str | None:
    """The value of a variable such as NEARFOLD_PASSWORD, or the first line of the file that NEARFOLD_PASSWORD_FILE names.

    None when neither is set. Raises `UsageError` for a file that cannot be read, that anybody but its owner can read, or
    when both are set; the secret is never repeated.
    """
    value, file = environment.get(name), environment.get(f"{name}_FILE")
    if file is None:
        return value
    if value is not None:
        raise UsageError(f"{name} and {name}_FILE are both set; unset one of them")
    return _first_line(f"{name}_FILE", file)


def _first_line(variable: str, file: str) -> str:
    try:
        with open(file, encoding="utf-8") as lines:  # noqa: PTH123 - the mode must be that of the open file
            mode = stat.S_IMODE(os.fstat(lines.fileno()).st_mode)
            if mode & 0o077:
                raise UsageError(f"{variable}: others than its owner may use {file} (mode {mode:o}); run: chmod 600 {file}")
            return lines.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{variable}: {file} cannot be read ({error}); check the path and its owner") from error


def password(environment: Mapping[str, str], user: str | None, place: str) -> str | None:
    """The password of a user: `secret`, else what the keyring holds for service `nearfold PLACE`; None when nobody has one.

    The keyring is asked only where there is a user and the package `keyring` is installed.
    """
    known = secret("NEARFOLD_PASSWORD", environment)
    return known if known is not None or user is None else _in_keyring(f"nearfold {place}", user)


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
        raise UsageError(f"the keyring gives no password ({error}); unlock it, or set NEARFOLD_PASSWORD_FILE") from error
