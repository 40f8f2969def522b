"""What archives have in common: how much may be unpacked of one, and blobs of members."""

from __future__ import annotations

from dataclasses import dataclass

from indexer.errors import ExtractionError, UnreadableFile
from indexer.model import Blob, Payload
from indexer.sources.base import NumberedBlobs, Reading, inner

MOST_TIMES = 200
_MEND = "unpack the archive if you trust it, then index the folder"


@dataclass(slots=True)
class Allowance:
    """Bytes that may still be unpacked: in sum 200 times the archive's own size, and one document
    more; `most` of a member.
    """

    left: int
    most: int

    @classmethod
    def of(cls, outer: Blob, reading: Reading) -> Allowance:
        """The allowance of a whole archive."""
        return cls(MOST_TIMES * outer.size + reading.max_bytes, reading.max_bytes)

    @property
    def spent(self) -> bool:
        """Whether nothing more may be unpacked."""
        return self.left <= 0

    def take(self, size: int) -> None:
        """Count what was unpacked."""
        self.left -= size

    def refusal(self) -> UnreadableFile:
        """Why a member was not unpacked."""
        return UnreadableFile(
            reason=f"the archive unpacks to more than {MOST_TIMES} times its size, as a bomb does",
            remedy=_MEND,
        )


def member(
    outer: Blob,
    name: str,
    numbered: NumberedBlobs,
    result: Payload | ExtractionError,
    modified: int | None,
) -> Blob:
    """The blob of a member; a name that is not UTF-8 is shown with U+FFFD."""
    raw = name.encode("utf-8", "surrogateescape")
    return inner(outer, numbered.key(raw), raw.decode("utf-8", "replace"), result, modified)
