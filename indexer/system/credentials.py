"""Secrets, such as passwords and keys, from the environment or from files that only their owner
can read.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from indexer.errors import UsageError


def secret(name: str, environment: Mapping[str, str]) -> str | None:
    """Return the value of a variable such as NEARFOLD_PASSWORD, or the first line of the file that
    NEARFOLD_PASSWORD_FILE names.

    None when neither is set. Raises `UsageError` for a file that cannot be read, that anybody but
    its owner can read, for a secret with control characters, or when both are set; the secret is
    never repeated.
    """
    value = environment.get(name)
    file = environment.get(f"{name}_FILE")
    if file is not None and value is not None:
        raise UsageError(f"{name} and {name}_FILE are both set; unset one of them")
    if file is not None:
        value = _first_line(f"{name}_FILE", file)
    if value is not None and any(unicodedata.category(char) in ("Cc", "Cs") for char in value):
        raise UsageError(
            f"{name} holds a control character, such as the end of a line, or is not UTF-8; "
            "set it without"
        )
    return value


def _first_line(variable: str, file: str) -> str:
    try:
        with Path(file).open(encoding="utf-8-sig") as lines:
            mode = stat.S_IMODE(os.fstat(lines.fileno()).st_mode)
            if mode & 0o077:
                raise UsageError(
                    f"{variable}: others than its owner may use {file} (mode {mode:o}); "
                    f"run: chmod 600 {file}"
                )
            return lines.readline().rstrip("\r\n")
    except UnicodeDecodeError:
        raise UsageError(
            f"{variable}: {file} is not UTF-8 text; put the secret into its first line"
        ) from None
    except OSError as error:
        raise UsageError(
            f"{variable}: {file} cannot be read ({error}); check the path and its owner"
        ) from error


# URLs of users: their parts, and how to show them.

# Up to the last @: a password may hold / ? and #, though no URL may.
_LOGIN = re.compile(r"//.*@", re.DOTALL)


def parts_of(url: str) -> SplitResult:
    """Return the parts of a URL. Raises `UsageError` when it has none, as `http://[host`.

    >>> parts_of("http://ada@host:9200/docs").hostname
    'host'
    """
    try:
        parts = urlsplit(url)
        parts.hostname, parts.port  # noqa: B018 - read for the errors that they raise
    except ValueError as error:
        raise UsageError(f"{without_login(url)!r} is not a URL ({error}); correct it") from None
    return parts


def without_login(url: str) -> str:
    """Return the URL without user and password, for messages.

    >>> without_login("postgres://ada:secret@host/docs")
    'postgres://host/docs'
    >>> without_login("opensearch://ada:half/secret@host/docs")
    'opensearch://host/docs'
    """
    return _LOGIN.sub("//", url, count=1)
