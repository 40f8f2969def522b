"""The search page: filters of days, folders and families, saved searches, and archives of hits."""

import dataclasses
import html
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from command import run
from playwright.sync_api import Browser, Route, expect
from sample_library import edited, rows, sentence
from starlette.testclient import TestClient

from indexer.errors import UnsupportedOperation
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.jobs.index import IndexOptions, index
from indexer.jobs.label import LabelOptions, label
from indexer.recipe import DEFAULT
from indexer.review.api import documents
from indexer.review.exports import hits
from indexer.review.serve import review_application
from indexer.review.site import SearchLog, Site
from indexer.searching.fold_hits import fold_hits
from indexer.searching.search import SearchOptions, search
from indexer.stores import open_store
from indexer.stores.journal import Journal, journal_path, record_job
from indexer.stores.sqlite import full_text
from indexer.stores.sqlite.file import File
from web.plain_requests import request
from web.test_labelling import Forms
from web.watching import PageRecord, open_window, run_site

DAY = 86_400_000  # milliseconds


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Any]:
    """A store of two families and a single document, of five days from 1970-01-01 on."""
    store = open_store(f"sqlite:///{tmp_path}/search.db")
    store.prepare(DEFAULT)
    texts = {
        f"{name}{edits}": edited(sentence(at, 60), edits)
        for at, name in enumerate("ab")
        for edits in range(2)
    }
    files = tmp_path / "files" / "papers"
    files.mkdir(parents=True)
    documents = []
    for place, row in enumerate(rows({**texts, "c0": sentence(7, 60)})):
        path = files / f"{row.id}.txt"
        if row.id != "b1":  # whose file is gone
            path.write_text(row.text)
        documents.append(dataclasses.replace(row, path=str(path), modified=place * DAY))
    store.write(documents)
    store.refresh()
    group(store)
    yield store
    store.close()


def found(address: str, **query: Any) -> str:
    """Return the ids of the hits of a search."""
    parameters = urlencode({"fold": "none", "sort": "path", **query}, doseq=True)
    answer = json.loads(request(address, f"/api/search?{parameters}").body)
    return " ".join(hit["id"] for hit in answer["hits"])


@pytest.mark.long
def test_filters_of_their_own_parameters(library: Any, tmp_path: Path) -> None:
    with run_site(library.url) as address:
        assert found(address, modified_from="1970-01-02", modified_to="1970-01-03") == "a1 b0"
        assert found(address, folder=f"{tmp_path}/files") == "a0 a1 b0 b1 c0"
        assert found(address, folder=f"{tmp_path}/file") == ""
        assert found(address, filter="near_duplicates=false") == "c0"
        assert found(address, filter="near_duplicates=true", modified_to="1970-01-01") == "a0"
        assert request(address, "/api/search?modified_from=today").status == 400


def test_a_search_is_narrowed_saved_and_opened_again(library: Any, browser: Browser) -> None:
    with run_site(library.url, "--reviewer", "anna") as address:
        record = PageRecord(address)
        with open_window(browser, address, record) as windows:
            page = record.watch(windows.new_page())
            page.goto("/?fold=none")
            page.get_by_text("Dates and folder").click()
            page.get_by_label("Changed from").fill("1970-01-02")
            page.get_by_role("button", name="Search").click()
            expect(page.locator("#count")).to_contain_text("4 documents")
            page.get_by_role("link", name="with near duplicates").click()
            expect(page.locator("#count")).to_contain_text("3 documents")
            expect(page.get_by_label("Changed from")).to_have_value("1970-01-02")
            page.get_by_text("Saved", exact=True).click()
            page.get_by_label("Save this search as").fill("later families")
            page.get_by_role("button", name="Save", exact=True).click()
            expect(page.get_by_role("link", name="later families")).to_be_visible()
            page.goto("/?q=")
            page.get_by_text("Saved", exact=True).click()
            page.get_by_role("link", name="later families").click()
            expect(page.locator("#count")).to_contain_text("3 documents")
            page.get_by_role("button", name="Delete the saved search later families").click()
            expect(page.get_by_role("link", name="later families")).to_have_count(0)
            page.goto("/worklist?order=conflict")
            page.get_by_text("Saved", exact=True).click()
            page.get_by_label("Save this list as").fill("conflicts")
            page.get_by_role("button", name="Save", exact=True).click()
            expect(page.get_by_role("link", name="conflicts")).to_be_visible()
        record.check()


@pytest.mark.long
def test_saved_searches_are_of_the_store_and_of_one_name(library: Any) -> None:
    with run_site(library.url, "--reviewer", "anna") as address:
        forms = Forms(address)
        saved = {"name": "mine", "address": "/?q=agreement", "next": "/?q=agreement"}
        assert forms.send("/searches/save", **saved).headers["location"] == "/?q=agreement"
        assert forms.send("/searches/save", **saved).status == 303
        other = forms.send("/searches/save", **{**saved, "address": "/?q=other"})
        assert other.status == 400
        assert b"another saved search of anna" in other.body
        for wrong in ("//elsewhere/", "/jobs", "https://elsewhere/", ""):
            assert forms.send("/searches/save", name="x", address=wrong).status == 400
        for wrong in (" ", "x" * 101, "a\u202eb"):
            assert forms.send("/searches/save", name=wrong, address="/?q=x").status == 400
        assert forms.send("/searches/delete", name="absent").status == 400
    with run_site(library.url) as address:
        [search] = json.loads(request(address, "/api/searches").body)["searches"]
        assert search == {"name": "mine", "address": "/?q=agreement", "reviewer": "anna"}


@pytest.mark.long
def test_saved_searches_are_counted_on_a_page_and_by_the_command(library: Any) -> None:
    with run_site(library.url, "--reviewer", "anna") as address:
        forms = Forms(address)
        for name, saved in (
            ("all", "/?q=quay0+court6"),
            ("any", "/?q=quay0+court6&join=any"),
            ("list", "/worklist?order=conflict"),
            ("wrong", "/?q=ferry+AND"),
        ):
            assert forms.send("/searches/save", name=name, address=saved).status == 303
        counts = json.loads(request(address, "/api/searches/counts").body)["searches"]
        documents = {count["name"]: count["documents"] for count in counts}
        assert documents.keys() == {"all", "any", "wrong"}
        assert documents["any"] > documents["all"] == documents["wrong"] == 0
        page = forms.page("/searches")
        assert "ends too early" in page
        assert f"quay0 court6 {documents['any']}" in page
    printed = run("search", "--saved", "--json", store=library.url)
    assert list(map(json.loads, printed.splitlines())) == counts
    assert f"{documents['any']:>10}" in run("search", "--saved", store=library.url)


@pytest.mark.long
def test_all_words_must_match_and_any_of_them_is_a_click_away(library: Any) -> None:
    with run_site(library.url) as address:
        page = request(address, "/?q=quay0+court6").body.decode()
        assert "Nothing found" in page
        assert 'href="/?q=quay0+court6&amp;join=any"' in page
        some = request(address, "/?q=quay0+court6&join=any").body.decode()
        assert "with any of the words" in some
        either = request(address, "/?q=quay0+OR+court6").body.decode()
        assert either.count('class="hit"') == some.count('class="hit"') > 0


def test_a_query_that_cannot_be_parsed_is_shown_with_the_column(library: Any) -> None:
    with run_site(library.url) as address:
        answer = request(address, "/?q=ferry+(boat")
        page = answer.body.decode()
        assert answer.status == 400
        assert "this parenthesis is not closed; close it (character 7)" in page
        assert "  ferry (boat\n        ^" in page
        assert 'value="ferry (boat"' in page
        page = request(address, "/?q=(&filter=label%3Da&fold=none&sort=path&page=2").body.decode()
        kept = re.findall(r'type="hidden" name="(\w+)" value="(.*?)"', page)
        assert kept == [("filter", "label=a"), ("fold", "none"), ("sort", "path")]
        assert json.loads(request(address, "/api/search?q=a+OR").body)["kind"] == "QueryError"


@pytest.mark.long
def test_hits_come_as_an_archive_with_a_load_file(library: Any, tmp_path: Path) -> None:
    with run_site(library.url, "--originals", str(tmp_path / "files")) as address:
        answer = request(address, "/hits.zip?fold=family&sort=path")
        assert answer.headers["content-type"] == "application/zip"
        with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
            assert archive.testzip() is None
            lines = archive.read("hits.dat").decode("utf-8-sig").split("\r\n")
            head, *records = [line[1:-1].split("\u00fe\x14\u00fe") for line in lines[:-1]]
            documents = [dict(zip(head, record, strict=True)) for record in records]
            stored = library.get([document["DOCID"] for document in documents])
            assert len(documents) == len(stored) == 5
            for document in documents:
                row = stored[document["DOCID"]]
                assert archive.read(document["TextPath"]).decode() == row.text
                if row.id == "b1":
                    assert document["NativePath"] == ""
                else:
                    assert archive.read(document["NativePath"]).decode() == row.text
                assert document["NearDupGroup"] == (row.family if row.id != "c0" else "")
            folded = {document["DOCID"]: document["FoldedUnder"] for document in documents}
            assert {id: head for id, head in folded.items() if head} == {
                row.id: row.family for row in stored.values() if row.id != row.family
            }
        assert request(address, "/hits.zip?x=1").status == 400
        gone = json.loads(request(address, "/api/document?id=b1").body)
        assert (gone["original"], gone["original_gone"]) == (False, True)
        assert b"its file is gone" in request(address, "/document?id=b1").body
        there = json.loads(request(address, "/api/document?id=b0").body)
        assert (there["original"], there["original_gone"]) == (True, False)
    with run_site(library.url) as address:
        answer = request(address, "/hits.zip")
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        assert not [name for name in archive.namelist() if name.startswith("NATIVE")]


def test_an_archive_that_would_be_too_large_is_refused_and_leaves_no_file(
    library: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.testclient import TestClient

    monkeypatch.setattr(hits, "MAX_BYTES", 1000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    client = TestClient(review_application(library, frozenset({"testserver"})))
    answer = client.get("/hits.zip")
    assert answer.status_code == 400
    assert "narrow the search" in answer.text
    assert not list(tmp_path.glob("nearfold-hits-*"))
    monkeypatch.setattr(hits, "MAX_BYTES", 1 << 20)
    assert client.get("/hits.zip").status_code == 200
    assert not list(tmp_path.glob("nearfold-hits-*"))


def test_searches_are_logged_in_engines_alone(library: Any) -> None:
    with pytest.raises(UnsupportedOperation, match="omit --search-log"):
        SearchLog(library, 30)


def test_of_many_matches_the_last_ones_are_ranked_first_and_a_page_says_so(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.testclient import TestClient

    monkeypatch.setattr(documents, "_MAX_RANKED", 2)
    monkeypatch.setattr(full_text, "_MIN_RANKED", 2)
    # The scores are kept by connection: this one alone reads, also while a thread counts rows.
    monkeypatch.setattr(File, "_has_other_readers", lambda _file: False)
    client = TestClient(review_application(library, frozenset({"testserver"})))
    page = client.get("/?q=ferry*").text
    assert "Only the 2 most recently indexed documents are ranked so far." in page
    waits, then = (
        html.unescape(re.findall(f'{name}="([^"]+)"', page)[0])
        for name in ("data-waits", "data-then")
    )
    assert then == "/?ranking=whole&q=ferry%2A"
    assert client.get(waits).json()["unranked"] == 0
    for address in (then, "/?q=ferry*"):  # the scores are kept now
        assert "ranked so far" not in client.get(address).text


def test_a_page_of_all_ranked_matches_follows_unless_some_are_checked(
    library: Any, browser: Browser
) -> None:
    waiting = '<div data-waits="/api/search?wait=2" data-until="ready" data-then="/?page=1">'

    def wait_for_ranking(route: Route) -> None:
        answer = route.fetch()
        body = answer.text().replace('<ol class="hits"', f'{waiting}</div><ol class="hits"')
        route.fulfill(response=answer, body=body)

    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    with run_site(library.url) as address:
        windows = open_window(browser, address, PageRecord(address))
        page = windows.new_page()
        page.route(f"{address}/?q=", wait_for_ranking)
        page.goto("/?q=")
        expect(page).to_have_url(f"{address}/?page=1")
        page.route("**/api/search?wait=2", hold)
        page.goto("/?q=")
        page.locator("input[data-pick]").first.check()
        held[0].continue_()
        expect(page.locator("[data-until]")).to_have_attribute("aria-busy", "false")
        assert page.url == f"{address}/?q="
        windows.close()


@pytest.mark.long
def test_documents_read_in_a_guessed_encoding_are_a_filter(tmp_path: Path) -> None:
    text = "Der Frühzug fährt täglich um acht Uhr über Köln nach München und hält überall.\n"
    (tmp_path / "old.txt").write_bytes(text.encode("latin-1") * 3)
    (tmp_path / "new.txt").write_text(text, "utf-8")
    url = f"sqlite:///{tmp_path}/pages.db"
    with closing(open_store(url)) as store:
        index([str(tmp_path)], store, IndexOptions(extractor="plain"))
    with run_site(url) as address:
        assert "read as cp1252" in request(address, "/").body.decode()
        page = request(address, "/?filter=extractor%3Dplain/4+as+cp1252").body.decode()
        assert "old.txt" in page and "new.txt" not in page


def test_a_page_of_hits_is_kept_until_the_store_changes(library: Any) -> None:
    site = Site(library)
    options = SearchOptions(facets=("labels",))
    page = site.search("", options)
    assert site.search("", options) is page
    assert site.search("", dataclasses.replace(options, facets=())) is page
    assert site.search("", dataclasses.replace(options, limit=1)) is not page
    label(library, ["c0"], LabelOptions(add=["hot"]))
    changed = site.search("", options)
    assert changed is not page
    assert [facet.value for facet in changed.facets["labels"]] == ["hot"]
    library.write(rows({"new": "the the the"}))
    library.refresh()
    assert site.search("", options).total == changed.total + 1
    site.discard_kept()
    assert site.search("", options) is not changed


def test_a_page_of_stored_groups_states_the_last_group(library: Any) -> None:
    site = Site(library)
    options = SearchOptions(fold="family", facts=0)

    def threshold() -> float | None:
        return site.search("", options).threshold

    with Journal(journal_path(library.address)) as journal, record_job(journal, "label"):
        assert threshold() is None
    for expected in (0.95, 0.97):  # which make the same groups
        group(library, GroupOptions(expected))
        assert threshold() == expected
    assert site.search("", options) is site.search("", options)


def test_stored_groups_fold_a_search_that_names_no_way(library: Any) -> None:
    client = TestClient(review_application(library, frozenset({"testserver"})))

    def fold(**parameters: Any) -> str:
        return str(client.get("/api/search", params=parameters).json()["fold"])

    assert (fold(), fold(q="the"), fold(fold="none")) == ("family", "family", "none")
    assert (fold(threshold=0.8), fold(policy="strict")) == ("live", "live")
    store = Site(library).store
    options = SearchOptions(fold="family", facts=0)
    assert [hit.folded for hit in search(store, "", options).hits] == [
        hit.folded for hit in fold_hits(store, ["a0", "a1", "b0", "b1", "c0"], fold="family")
    ]


def test_a_page_leaves_the_facts_of_folded_hits_to_a_request(library: Any) -> None:
    library.write(rows({"d0": "The fee is 30 euros a day.", "d1": "The fee is 40 euros a day."}))
    client = TestClient(review_application(library, frozenset({"testserver"})))
    answer = client.get("/api/facts", params={"id": "d0", "other": ["d1", "gone"]}).json()
    differing, gone = answer["others"]
    assert (differing["id"], differing["differences"]) == ("d1", ["1 amount differs: 30 / 40"])
    assert gone == {"id": "gone", "marks": "", "differences": []}
    page = client.get("/", params={"q": "", "sort": "path"}).text
    assert 'data-facts="a0"' in page


def test_a_store_in_memory_keeps_no_pages() -> None:
    with closing(open_store("sqlite://:memory:")) as store:
        store.prepare(DEFAULT)
        store.write(rows({"one": "the only text"}))
        site = Site(store)
        assert site.search("", SearchOptions()).total == 1
        store.write(rows({"two": "the other text"}))
        assert site.search("", SearchOptions()).total == 2


def test_a_text_that_grew_is_folded_relative_to_the_shorter_one(tmp_path: Path) -> None:
    first, later = sentence(1, 60), f"{sentence(1, 60)} {sentence(2, 40)}"
    with closing(open_store(f"sqlite:///{tmp_path}/grown.db")) as store:
        store.prepare(DEFAULT)
        store.write(rows({"first": first, "later": later}))
        store.refresh()
        group(store)
        with run_site(store.url) as address:

            def hits_of(measure: str) -> list[int]:
                found = json.loads(request(address, f"/api/search?{measure}").body)
                return [len(hit["folded"]) for hit in found["hits"]]

            assert (hits_of(""), hits_of("measure=lcs")) == ([0, 0], [0, 0])
            assert hits_of("measure=grown") == [1]
            page = request(address, "/?measure=grown").body.decode()
            assert '<option value="grown" selected>the shorter text</option>' in page
            assert "measure=grown" in page.partition('class="facets"')[2]
