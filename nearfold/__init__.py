"""nearfold: find near-duplicate texts and documents, and fold them in search results.

The public names of `indexer`, which are imported when they are first used.

>>> import nearfold
>>> nearfold.dedupe(["The ferry leaves at eight.", "the ferry leaves at eight"]).kept
[0]
"""

from typing import Any

import indexer

__all__ = [*indexer.__all__, "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    """Return a public name of `indexer`, or the version."""
    if name == "__version__":
        from indexer.system.release import release

        return release()
    if name not in indexer.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(indexer, name)


def __dir__() -> list[str]:
    return sorted(__all__)
