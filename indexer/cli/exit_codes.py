"""Exit codes of the commands, as docs/cli.md describes them."""

from __future__ import annotations

from indexer.errors import (
    ExtractionError,
    ExtractorUnavailable,
    NearfoldError,
    StoreError,
    StoreNotReady,
    StoreStopped,
    UsageError,
)

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_STORE = 3
EXIT_STOPPED = 4
VERDICT_CODES = {"new": 0, "duplicate": 10, "review": 11}  # of `check --exit-code`
EXIT_FAULT = 70
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143
# The first class that fits decides: a subclass comes before its base class.
_CODES: tuple[tuple[type[NearfoldError], int], ...] = (
    (UsageError, EXIT_USAGE),
    (StoreStopped, EXIT_STOPPED),
    (StoreNotReady, EXIT_STOPPED),
    (StoreError, EXIT_STORE),
    (ExtractorUnavailable, EXIT_STORE),
    (ExtractionError, EXIT_FAILED),
)


def exit_code_of(error: NearfoldError) -> int:
    """Return the exit code of a command that ends with this error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), EXIT_FAULT)
