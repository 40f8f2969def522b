"""How pages are delivered: cached files, compression, methods, and pages where nothing is."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from pathlib import Path

import pytest
from sample_library import edited, rows, sentence

from indexer.cli.output import console
from indexer.recipe import DEFAULT
from indexer.review import http
from indexer.review.rendering import kind
from indexer.review.safety import is_same_token, masked_token
from indexer.searching.search import search
from indexer.stores import open_store
from web.plain_requests import request
from web.watching import run_site


def test_static_files_are_kept_for_good_under_an_address_of_their_contents(site: str) -> None:
    page = request(site, "/").body.decode()
    paths = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    assert len(paths) >= 4
    for path in paths:
        answer = request(site, path)
        assert answer.status == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    plain = request(site, "/static/base.css")
    assert plain.headers["cache-control"] == "no-cache"
    again = request(site, "/static/base.css", If_None_Match=plain.headers["etag"])
    assert (again.status, again.body) == (304, b"")


def test_the_address_of_static_files_changes_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = http.static_address()
    folder = shutil.copytree(http.STATIC, tmp_path / "static")
    monkeypatch.setattr(http, "STATIC", folder)
    assert http.static_address() == before
    (folder / "base.css").write_text("body { color: red }")
    assert http.static_address() != before


@pytest.mark.long
@pytest.mark.parametrize("path", ["/document?id=long1", "/api/document?id=long1"])
def test_answers_are_compressed(site: str, path: str) -> None:
    plain = request(site, path).body
    answer = request(site, path, Accept_Encoding="gzip")
    assert answer.headers["content-encoding"] == "gzip"
    assert len(answer.body) < len(plain) / 2
    assert len(gzip.decompress(answer.body)) == len(plain)


def test_the_token_in_compressed_pages_is_masked() -> None:
    token = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
    forms = [masked_token(token) for _ in range(5)]
    assert len({*forms, token}) == 6
    assert all(is_same_token(form, token) for form in (*forms, token))
    other = masked_token("x" * len(token))
    assert not any(is_same_token(form, token) for form in (other, other[2:], "", "00"))


def test_a_page_holds_another_form_of_the_token_each_time(site: str) -> None:
    forms = {
        re.findall(r'name="token" value="([^"]+)"', request(site, "/family?id=m2").body.decode())[0]
        for _ in range(3)
    }
    assert len(forms) == 3
    body = f"id=m1&add=tried&dry_run=yes&token={forms.pop()}".encode()
    answer = request(site, "/label", "POST", body, Content_Type="application/x-www-form-urlencoded")
    assert answer.status in (200, 303)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("POST", "/", "GET"), ("PUT", "/api/search", "GET"), ("GET", "/api/label", "POST")],
)
def test_a_wrong_method_is_told_the_right_ones(
    site: str, method: str, path: str, allowed: str
) -> None:
    answer = request(site, path, method, Origin=site)
    assert answer.status == 405
    assert allowed in answer.headers["allow"].split(", ")


def test_the_description_has_the_form_of_a_filter(site: str) -> None:
    described = json.loads(request(site, "/api/openapi.json").body)
    parameters = described["paths"]["/search"]["get"]["parameters"]
    [schema] = [one["schema"] for one in parameters if one["name"] == "filter"]
    assert re.search(schema["items"]["pattern"], "labels=hot")
    assert not re.search(schema["items"]["pattern"], "=hot")


def test_a_missing_document_says_what_to_do_on_the_page(site: str) -> None:
    page = request(site, "/document?id=nowhere").body.decode()
    assert "This document is not in the store" in page
    assert "nearfold search" not in page


@pytest.mark.long
def test_an_empty_store_says_how_documents_come_into_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/empty.db"
    store = open_store(url)
    store.prepare(DEFAULT)
    store.close()
    with run_site(url) as address:
        for name in ("figures", "survey", "worklist"):
            while not json.loads(request(address, f"/api/{name}?wait=20").body)["ready"]:
                pass
        for place in ("/", "/overview", "/threshold", "/worklist"):
            page = request(address, place).body.decode()
            assert "No documents are in this store yet" in page, place


@pytest.mark.long
def test_parts_of_a_text_are_two_landmarks_of_two_names(site: str) -> None:
    for path in ("/document?id=long1", "/compare?a=long1&b=long2&wait=30"):
        page = request(site, path).body.decode()
        names = re.findall(r'<nav class="pager" aria-label="([^"]+)"', page)
        assert len(names) == len(set(names)) == 2


def test_types_have_their_names() -> None:
    assert kind("text/x-rst") == "reStructuredText"
    assert kind("text/troff") == "Manual page"
    assert kind("image/tiff") == "TIFF picture"
    assert kind("chemical/x-pdb") == "chemical/x-pdb"


def test_folded_hits_come_by_similarity(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/folded.db")
    store.prepare(DEFAULT)
    text = sentence(1, 80)
    head = {"a": f"{text} {text} needle needle"}
    copies = {f"b{edits}": edited(f"{text} {text}", edits) + " needle" for edits in (5, 1, 7, 3)}
    store.write(rows({**head, **copies}))
    store.refresh()
    [hit] = search(store, "needle").hits
    values = [folded.similarity for folded in hit.folded]
    assert len(values) == 4
    assert values == sorted(values, reverse=True)
    assert len(set(values)) > 1
    store.close()


def test_names_in_square_brackets_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    console().print("not tried: x: pip install 'nearfold[text]'")
    assert "nearfold[text]" in capsys.readouterr().out


def test_a_page_folded_by_type_compares_a_bounded_amount_of_text(site: str) -> None:
    path = "/api/search?q=word1+OR+agreement&fold=types"
    answer = json.loads(request(site, path).body)
    assert answer["passed_over"] == 2  # those of 20,000 words
    assert json.loads(request(site, f"{path}&chars=500").body)["passed_over"] > 2
    page = request(site, "/?q=word1+OR+agreement&fold=types&chars=5000&wait=30").body.decode()
    assert "chars=50000" in page
    assert "Compare ten times as many characters" in page
