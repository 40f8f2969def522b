"""The facts about a stored document that pages show, and the API sends as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from indexer.model import Row, Status


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """A stored document without its text.

    `modified` is in milliseconds since 1970 UTC; `similarity` is to the principal.
    """

    id: str
    path: str
    title: str
    content_type: str
    status: Status
    words: int
    size: int
    modified: int | None
    labels: tuple[str, ...]
    family: str
    principal: bool | None
    similarity: float | None
    provisional: bool

    @classmethod
    def of(cls, row: Row) -> DocumentFacts:
        """Return the facts of a row."""
        return cls(
            id=row.id,
            path=row.path,
            title=row.title,
            content_type=row.content_type,
            status=row.status,
            words=row.words,
            size=row.size,
            modified=row.modified,
            labels=row.labels,
            family=row.family,
            principal=row.principal,
            similarity=row.similarity,
            provisional=row.provisional,
        )
