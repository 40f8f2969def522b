"""What SQLite is asked about families and labels."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from indexer.model import PrincipalRow, Scope
from indexer.stores.sqlite.parts_sql import WITHIN
from indexer.stores.sqlite.postings import carriers, either

CARRIERS = 100
_CHUNK = 500
_LEADING = (
    "p.family = p.id AND p.principal IS NOT 0 AND p.status = 'complete' AND p.minhash IS NOT NULL"
)
_LED = (
    "SELECT p.id, p.minhash FROM json_each(?) j JOIN documents d ON d.number = CAST(j.key AS INTEGER) "
    f"JOIN documents p ON p.id = d.family WHERE {_LEADING} GROUP BY p.number ORDER BY max(j.value) DESC, p.id LIMIT ?"
)
CONFLICTING = (
    "d.family {} (SELECT family FROM documents WHERE family IN (SELECT family FROM documents GROUP BY family "
    "HAVING count(*) > 1) GROUP BY family HAVING count(DISTINCT nearfold_set(labels)) > 1)"
)


def principals(
    db: sqlite3.Connection, asked: Sequence[Sequence[str]], limit: int
) -> list[PrincipalRow]:
    """The principals of the families of those who carry these keys, as they are posted; of a hot
    key the oldest carriers.
    """
    posted = sorted(
        {either([key]) for keys in asked for key in keys}
    )  # in the order in which they are kept
    shared: Counter[int] = Counter()
    for numbers in carriers(db, posted, CARRIERS):
        shared.update(numbers)
    return (
        [PrincipalRow(*found) for found in db.execute(_LED, (json.dumps(shared), limit))]
        if shared
        else []
    )


def all_principals(db: sqlite3.Connection, scope: Scope, limit: int) -> list[PrincipalRow]:
    """The principals of all families, the oldest rows first."""
    within = WITHIN[scope].replace("d.", "p.")
    found = db.execute(
        f"SELECT p.id, p.minhash FROM documents p WHERE {within} AND {_LEADING} ORDER BY p.number LIMIT ?",
        (limit,),
    )
    return [PrincipalRow(*row) for row in found]


def members(db: sqlite3.Connection, field: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Ids with the value of the field, for those that carry one of these."""
    for start in range(0, len(names), _CHUNK):
        part = names[start : start + _CHUNK]
        marks = ", ".join("?" * len(part))
        yield from db.execute(
            f"SELECT id, {field} FROM documents WHERE {field} IN ({marks}) ORDER BY id", part
        )


def relabel(db: sqlite3.Connection, labels: Mapping[str, Sequence[str]]) -> int:
    """Replace the labels of these ids, and of their parts."""
    values = [(json.dumps(list(given), ensure_ascii=False), id) for id, given in labels.items()]
    db.executemany("UPDATE documents SET labels = ? WHERE parent = ?", values)
    return (
        db.executemany("UPDATE documents SET labels = ? WHERE id = ?", values).rowcount
        if values
        else 0
    )


def sorted_set(packed: str) -> str:
    """A JSON array of texts in one spelling for each set of them.

    >>> sorted_set('["b", "a", "b"]')
    '["a", "b"]'
    """
    return json.dumps(sorted(set(json.loads(packed)))) if packed != "[]" else packed
