"""The installed release of nearfold or of another package."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

UNRELEASED = "unreleased"


@cache
def release(package: str = "nearfold") -> str:
    """Return the version of an installed package; `unreleased` for one without metadata, such as a
    bare checkout.
    """
    try:
        return version(package)
    except PackageNotFoundError:
        return UNRELEASED
