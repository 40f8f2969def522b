"""The extraction seam: what reads a document's bytes, and the limits it is held to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from indexer.model import Document


@dataclass(frozen=True, slots=True)
class Limits:
    """What one document may cost. Text beyond `chars` is cut and called `truncated`; the others end
    the reading.

    `seconds`: wall-clock time of extraction. `megabytes`: resident memory of the process that
    extracts (2**20 bytes each). `chars`: code points of text. `bytes`: size of the file; a larger
    one is not read at all.
    """

    seconds: float = 60.0
    megabytes: int = 2048
    chars: int = 10_000_000
    bytes: int = 256 << 20


DEFAULT_LIMITS = Limits()
CUT = "the text was cut at the limit of characters"


class Extractor(Protocol):
    """Makes a document of bytes. `identity` is its name and version, as stored with every row."""

    @property
    def identity(self) -> str:
        """Such as `iscc-tika/0.6.0`."""
        ...

    def extract(self, data: bytes, name: str) -> Document:
        """Read one document; `name` is the file's name, a hint about its format.

        No bytes give an empty document. Raises `ExtractionError` when the document cannot be read,
        and `TryAlone` when another document may be to blame.
        """
        ...


class Maker(Protocol):
    """Makes an extractor in the process that uses it: must be picklable, so a class or function of
    an importable module.
    """

    @property
    def identity(self) -> str:
        """What the extractor's `identity` will be, known without making it."""
        ...

    @property
    def patience(self) -> float:
        """Seconds that a document may take beyond the limit because the extractor waits for a
        server to come back.
        """
        ...

    def __call__(self, limits: Limits) -> Extractor:
        """Raises `ExtractorUnavailable` or `MissingExtra` when there is none to be had."""
        ...


class TryAlone(Exception):
    """A server that several documents share broke off. Try this document once more while nothing
    else is being read.
    """
