"""The installed release of nearfold or of another package."""

from __future__ import annotations

import shlex
from functools import cache
from hashlib import sha256
from pathlib import Path

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


@cache
def source_digest() -> str:
    """Return 12 hexadecimal digits of the code of this package.

    They tell states of the code between two releases apart, which have one version.
    """
    folder = Path(__file__).parent.parent
    digest = sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(
            b"%s\0%s\0" % (path.relative_to(folder).as_posix().encode(), path.read_bytes())
        )
    return digest.hexdigest()[:12]


def requirement(extra: str) -> str:
    """Return what pip installs nearfold with an extra from, quoted for a shell: the checkout that
    runs, else its name.
    """
    checkout = Path(__file__).resolve().parent.parent.parent
    position = str(checkout) if (checkout / "pyproject.toml").is_file() else "nearfold"
    return shlex.quote(f"{position}[{extra}]")
