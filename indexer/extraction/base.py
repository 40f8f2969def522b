"""The extraction interface: extractors, their factories, and the limits of one document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from indexer.model import Document

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one document. Text beyond `chars` is cut and the document `truncated`; beyond the
    others extraction fails.

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
# ends of the names of such files
HTML_NAMES = frozenset({".htm", ".html", ".shtml", ".xht", ".xhtml"})
XML_NAMES = frozenset(
    {
        ".atom",
        ".fb2",
        ".fodp",
        ".fods",
        ".fodt",
        ".kml",
        ".opml",
        ".rdf",
        ".rss",
        ".svg",
        ".xml",
        ".xsl",
        ".xslt",
    }
)


@dataclass(frozen=True, slots=True)
class Task(Generic[K]):
    """One document to extract.

    `key` is returned with the result; `name` is the file's name, a hint about its format.
    """

    key: K
    data: bytes
    name: str


class Extractor(Protocol):
    """An extractor of documents from bytes."""

    @property
    def identity(self) -> str:
        """Name and version, such as `iscc-tika/0.6.0`, as stored with every row."""
        ...

    def extract(self, data: bytes, name: str) -> Document:
        """Read one document; `name` is the file's name, a hint about its format.

        No bytes give an empty document. Raises `ExtractionError` when the document cannot be read,
        and `TryAlone` when another document may be to blame.
        """
        ...


class ExtractorFactory(Protocol):
    """A factory of an extractor, called in the process that uses the extractor.

    It must be picklable, so a class or function of an importable module.
    """

    @property
    def identity(self) -> str:
        """The `identity` of the extractor, known before there is one."""
        ...

    @property
    def extra_seconds(self) -> float:
        """Seconds that a document may take beyond the limit because the extractor waits for a
        server to answer again.
        """
        ...

    def __call__(self, limits: Limits) -> Extractor:
        """Make the extractor. Raises `ExtractorUnavailable` or `MissingExtra`."""
        ...


class TryAlone(Exception):
    """Raised when a server that several documents share broke the connection.

    The document is to be tried once more while no other is being read.
    """
