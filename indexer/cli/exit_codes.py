"""The exit codes of the command line, as docs/cli.md lists them."""

from __future__ import annotations

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_STORE = 3
EXIT_STOPPED = 4
EXIT_FAULT = 70
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143
