"""What index prints: what became of every file."""

from __future__ import annotations

from rich.text import Text

from indexer.cli.console import console, print_json
from indexer.indexing.index import Account
from indexer.text.visible import visible
from indexer.text.wording import count_of

LISTED_FAILURES = 20


def account(done: Account, as_json: bool) -> None:
    """What became of every file."""
    if as_json:
        failures = [{"path": one.path, "error": one.error} for one in done.failed]
        print_json(
            {
                "seen": done.seen,
                "indexed": done.indexed,
                "unchanged": done.unchanged,
                "skipped": done.skipped,
                "failed": failures,
                "removed": done.removed,
                "seconds": round(done.seconds, 3),
            }
        )
        return
    out = console()
    skipped = "".join(
        f", {number:,} {reason.replace('_', ' ')}" for reason, number in done.skipped.items()
    )
    out.print(
        f"{count_of(done.seen, 'document')}: {done.indexed:,} indexed, {done.unchanged:,} unchanged{skipped}, "
        f"{len(done.failed):,} failed{f'; {done.removed:,} removed' if done.removed else ''}  ({done.seconds:.1f} s)"
    )
    for one in done.failed[:LISTED_FAILURES]:
        out.print(Text(f"  failed  {visible(one.path)}: {visible(one.error)}"))
    if len(done.failed) > LISTED_FAILURES:
        out.print(
            f"  ... and {len(done.failed) - LISTED_FAILURES:,} more; --json or `nearfold status --failures` lists all"
        )
