"""Which release of a package is installed, of nearfold if no other is named."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

UNRELEASED = "unreleased"


@cache
def release(package: str = "nearfold") -> str:
    """The version of an installed package; `unreleased` for one that carries no metadata, as a bare
    checkout.
    """
    try:
        return version(package)
    except PackageNotFoundError:
        return UNRELEASED
