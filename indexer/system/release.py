"""The installed release of nearfold or of another package."""

from __future__ import annotations

from functools import cache

UNRELEASED = "unreleased"


@cache
def release(package: str = "nearfold") -> str:
    """Return the version of an installed package; `unreleased` for one without metadata, such as a
    bare checkout.
    """
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return UNRELEASED
