"""Folding mails of one thread, by the Message-IDs that their documents carry."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from indexer.model import RankedRow, Row
from indexer.sources.mail_metadata import MESSAGE_ID, REFERENCES


class ByThread:
    """Folds mails under the first hit of their thread.

    Two mails are of one thread if they name a common Message-ID, as their own or in References:
    answers name the whole line up to the first mail. The ids are in the metadata `message_id` and
    `references` of a document; one without any is shown. `rows` reads documents by id.
    """

    def __init__(self, rows: Callable[[Sequence[str]], Sequence[Row]]) -> None:
        self._rows = rows
        self._expected: dict[str, tuple[str, ...]] = {}
        self._places: dict[str, int] = {}
        self._groups = 0

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Read the Message-IDs of the hits."""
        ids = [hit.id for hit in hits]
        self._expected = dict.fromkeys(ids, ())
        self._expected |= {row.id: named_ids(row) for row in self._rows(ids)}

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the first group with a mail that names a Message-ID which this one names."""
        names = self._names_of(hit)
        places = [self._places[name] for name in names if name in self._places]
        if not places:
            self.add_head(hit)
            return None
        self._note(names, min(places))
        return min(places)

    def add_head(self, hit: RankedRow) -> None:
        """Make the hit the head of the next group."""
        self._note(self._names_of(hit), self._groups)
        self._groups += 1

    def _names_of(self, hit: RankedRow) -> tuple[str, ...]:
        if hit.id not in self._expected:
            self.expect([hit])
        return self._expected[hit.id]

    def _note(self, names: Sequence[str], place: int) -> None:
        for name in names:
            self._places.setdefault(name, place)


def named_ids(row: Row) -> tuple[str, ...]:
    """Return the Message-IDs that a mail names."""
    own = row.metadata.get(MESSAGE_ID, "")
    line = row.metadata.get(REFERENCES, "")
    return tuple(dict.fromkeys([*own.split(), *line.split()]))
