"""The limit of what an archive may unpack to."""

from __future__ import annotations

from dataclasses import dataclass

from indexer.errors import UnreadableFile
from indexer.model import Blob

MOST_TIMES = 200


@dataclass(slots=True)
class Allowance:
    """Bytes that may still be unpacked of an archive: `left` in sum, `most` of a member.

    At first the sum is 200 times the archive's own size, and one document more.
    """

    left: int
    most: int

    @classmethod
    def of(cls, archive: Blob, max_bytes: int) -> Allowance:
        """Return the allowance of a whole archive; a document has at most `max_bytes`."""
        return cls(MOST_TIMES * archive.size + max_bytes, max_bytes)

    @property
    def is_spent(self) -> bool:
        """True when nothing more may be unpacked."""
        return self.left <= 0

    def take(self, size: int) -> None:
        """Count unpacked bytes."""
        self.left -= size

    def refusal(self) -> UnreadableFile:
        """Return the error of a member that was not unpacked."""
        return UnreadableFile(
            reason=f"the archive unpacks to more than {MOST_TIMES} times its size, as a bomb does",
            remedy="unpack the archive if you trust it, then index the folder",
        )
