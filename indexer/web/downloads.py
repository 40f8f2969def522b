"""Tables that a browser saves as files."""

from __future__ import annotations

import io

from starlette.responses import Response

from indexer.exports.csv_tables import Table, write_csv


def csv_download(table: Table, name: str) -> Response:
    """Return the table as a CSV file of that name, UTF-8; lone surrogates become question marks."""
    file = io.StringIO()
    write_csv(table, file)
    body = file.getvalue().encode("utf-8", "replace")
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type="text/csv; charset=utf-8", headers=headers)
