"""Example of a stored field: the language of a document, declared in a process of its own.

In nearfold, 1. and 2. are lines in `indexer/model.py` and `indexer/stores/fields.py`.
"""

from dataclasses import dataclass, fields

from sample_rows import row as sample_row

from indexer import model
from indexer.recipe import DEFAULT
from indexer.stores import fields as stored_fields
from indexer.stores.fields import StoredField


# 1. The row has the field, with a default.
@dataclass(frozen=True, slots=True)
class Row(model.Row):
    language: str = ""


# 2. It is declared once: a keyword, in files of format 10 and later, and in existing indices.
LANGUAGE = StoredField("language", "keyword", default="", is_later=True, sqlite_format=10)


def main() -> None:
    """Declare the field before any store is imported, and keep a row with it in each form."""
    model.Row = Row
    stored_fields.FIELDS = (*stored_fields.FIELDS, LANGUAGE)
    from indexer.spark import arrow_rows
    from indexer.stores.engine.index_mapping import LATER, new_index
    from indexer.stores.engine.rows import fingerprint_fields, row_of_hit, source
    from indexer.stores.sqlite.file_format import FORMAT, statements_of
    from indexer.stores.sqlite.rows import COLUMNS, packed_columns, unpacked_rows

    assert (FORMAT, *statements_of(10)) == (
        10,
        "ALTER TABLE documents ADD COLUMN language TEXT NOT NULL DEFAULT ''",
    )
    sample = sample_row("a")
    row = Row(
        **{field.name: getattr(sample, field.name) for field in fields(sample)}, language="de"
    )
    (columns,) = packed_columns([row], DEFAULT)
    assert dict(zip(COLUMNS, columns, strict=True))["language"] == "de"
    assert unpacked_rows([(row.text, *columns)], DEFAULT) == [row]
    assert source(row)["near_language"] == fingerprint_fields(row, "text")["near_language"] == "de"
    assert row_of_hit("a", {**source(row), "labels": []}) == row
    body = new_index(DEFAULT, "flattened", True, None, None)
    assert body["mappings"]["properties"]["near_language"] == {"type": "keyword"}
    assert "near_language" in LATER
    (batch,) = arrow_rows.pack_row([row])
    assert list(arrow_rows.unpack_row(batch)) == [row]


if __name__ == "__main__":
    main()
