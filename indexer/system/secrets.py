"""Secrets, such as passwords and keys, from the environment or from files that only their owner
can read.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Mapping
from pathlib import Path

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
