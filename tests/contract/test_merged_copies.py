"""A file that is stored under the ids of two PATHs is merged into one document, on every store."""

import os
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from sample_library import fill, rows, sentence
from starlette.testclient import TestClient

from indexer.documents.blobs import file_ids
from indexer.jobs.repair import repair
from indexer.review.serve import review_application
from indexer.stores.requirements import stored_ids


@pytest.mark.long
def test_both_ids_name_the_document_that_stays(store, tmp_path: Path) -> None:
    path = str(tmp_path / "lease.txt")
    ids = list(islice(file_ids(b"", os.fsencode(path)), 3))
    [row] = rows({"x": sentence(1)})
    copies = [replace(row, id=id, family=id, path=path) for id in ids]
    library = fill(store, [*copies, *rows({"other": sentence(2)})])
    library.labels.relabel({ids[0]: ["hot"], ids[1]: ["hot", "late"]})
    library.refresh()
    [merged] = [item for item in repair(library) if item.what == "copies"]
    assert merged.found == "2 documents stored twice, by two PATHs"
    [stored] = [row for row in library.scan() if row.path == path]
    assert set(stored.labels) == {"hot", "late"}
    assert stored_ids(library, ids) == [stored.id] * 3
    client = TestClient(review_application(library, frozenset({"testserver"})))
    other = next(id for id in ids if id != stored.id)
    page = client.get(f"/document?id={other}&part=1")
    assert page.status_code == 200 and page.url.query == f"id={stored.id}&part=1".encode()
    assert client.get(f"/api/document?id={other}").url.query == page.url.query[:-7]
    assert client.get("/document?id=nowhere").status_code == 404
    assert not any(item.what == "copies" for item in repair(library))
