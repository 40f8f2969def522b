"""The exit codes of the command line, as docs/cli.md tells them."""

from __future__ import annotations

EXIT_FAILED, EXIT_USAGE, EXIT_STORE, EXIT_STOPPED, EXIT_FAULT, EXIT_INTERRUPTED, EXIT_TERMINATED = (
    1,
    2,
    3,
    4,
    70,
    130,
    143,
)
