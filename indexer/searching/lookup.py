"""The subject of a look-up: a text, or a stored document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from indexer.errors import DocumentNotFound, UsageError
from indexer.model import Candidate, Fingerprint, Row, Scope
from indexer.similarity.criteria import Criteria
from indexer.similarity.field_rules import RuleValues
from indexer.stores.base import Store

_TEXT_ALONE = Row("", "", "complete", "", "", "", "", None, 0, "", "", "", "", 0, 0, "")


@dataclass(frozen=True, slots=True)
class Lookup:
    """A text to look up.

    `id` and `path` name the document that it is; None for a text alone. `row` has its fields.
    """

    text: str
    id: str | None = None
    path: str | None = None
    is_part: bool = False
    row: Row | None = None

    def is_itself(self, candidate: Candidate) -> bool:
        """Return whether a candidate is the document that is looked up."""
        return candidate.id == self.id or candidate.path == self.path

    def as_row(self, own: Fingerprint) -> Row:
        """Return the document as a row with the figures of its fingerprint."""
        row = self.row or _TEXT_ALONE
        return replace(
            row,
            text=self.text,
            status="truncated" if row.status == "truncated" else own.status,
            exact=own.exact,
            words=own.words,
            chars=own.chars,
        )


def without_heading(text: str, of: Scope | None) -> str:
    """Return the text to look up.

    Among parts, a single clause goes without its number and heading, as stored ones do.
    """
    if of != "parts":
        return text
    from indexer.text.clauses.segmentation import clauses

    parts = clauses(text)
    if len(parts) != 1 or parts[0].body >= parts[0].end:
        return text
    return text[parts[0].body : parts[0].end]


def stored_lookups(store: Store, ids: Sequence[str]) -> list[Lookup]:
    """Return the look-ups of stored documents. Raises `DocumentNotFound`."""
    rows = store.get(ids)
    for id in ids:
        if id not in rows:
            raise DocumentNotFound(id=id)
    return [_stored_lookup(rows[id]) for id in ids]


def _stored_lookup(row: Row) -> Lookup:
    """Return the look-up of a stored row.

    A document is itself wherever its path is, a part by its id alone; documents of other programs
    may have no path.
    """
    is_part = row.parent is not None
    path = None if is_part else row.path or None
    return Lookup(row.text, row.id, path, is_part, row)


def rule_values(lookup: Lookup, own: Fingerprint, criteria: Criteria) -> RuleValues:
    """Return what the rules compare of the document that is looked up.

    Raises `UsageError` if it has no fields.
    """
    if not criteria.fields:
        return ()
    if lookup.row is None:
        raise UsageError(
            "a text alone has no fields for --same, --differ and --window; "
            "give a PATH, or --id of a stored document"
        )
    return criteria.values(lookup.as_row(own))
