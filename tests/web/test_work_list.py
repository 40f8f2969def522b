"""The work list of pages: order, progress, assignment, and what became of each document."""

from __future__ import annotations

import csv
import dataclasses
import io
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sample_library import edited, rows, sentence
from starlette.testclient import TestClient

from indexer.coding import CodingField
from indexer.errors import DocumentNotFound
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.jobs.label import LabelOptions, label, undo_labels
from indexer.jobs.review_file import define_coding
from indexer.recipe import DEFAULT
from indexer.review.access import Login
from indexer.review.api.endpoints import model_fields, parse_parameters
from indexer.review.api.labels import LABEL_WRITES
from indexer.review.api.work_list import WORK_LIST_READS, WORK_LIST_WRITES
from indexer.review.serve import review_application
from indexer.review.site import Site
from indexer.stores import open_store
from indexer.stores.journal import Journal, journal_path
from web.plain_requests import request
from web.test_labelling import Forms
from web.watching import run_site

SIZES = {"a": 4, "b": 3, "c": 2, "d": 1}
FAMILIES = [sentence(place, 80) for place in range(len(SIZES))]


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """A store with families of four, three, two and one."""
    store = open_store(f"sqlite:///{tmp_path}/work.db")
    store.prepare(DEFAULT)
    texts = {
        f"{name}{place}": edited(text, place)
        for (name, size), text in zip(SIZES.items(), FAMILIES, strict=True)
        for place in range(size)
    }
    documents = rows(texts)
    store.write([dataclasses.replace(row, path=f"/papers/{row.id}.txt") for row in documents])
    store.refresh()
    group(store)
    yield store
    store.close()


def ask(site: Site, name: str, login: str = "anna", **texts: Any) -> Any:
    known = {**WORK_LIST_READS, **WORK_LIST_WRITES, **LABEL_WRITES}[name]
    given = {key: text if isinstance(text, list) else [text] for key, text in texts.items()}
    values = parse_parameters(
        known.parameters,
        {"wait": ["20"], **given} if "wait" in model_fields(known.parameters) else given,
    )
    if name in WORK_LIST_READS:
        return known.run(site, values)
    return known.run(site, values, Login(login))


def names(site: Site, **texts: Any) -> list[str]:
    """Return the families of a list by their letters."""
    return [item.path[8] for item in ask(site, "worklist", **texts).items]


def test_families_come_by_size_similarity_conflict_or_what_is_left(store: Any) -> None:
    label(store, ["a0", "a1", "a2"], LabelOptions(add=["hot"]))
    label(store, ["c0"], LabelOptions(add=["hot"]))
    label(store, ["c1"], LabelOptions(add=["cold"]))
    site = Site(store)
    assert names(site) == ["a", "b"]
    assert names(site, order="unreviewed", part="all", least="1") == ["b", "a", "d", "c"]
    assert names(site, order="conflict", part="all") == ["c", "a", "b"]
    assert names(site, part="done") == names(site, part="conflict") == ["c"]
    answer = ask(site, "worklist", part="all", order="similarity")
    least = [item.similarity for item in answer.items]
    assert least == sorted(least)
    assert (answer.of_list.reviewed, answer.of_list.documents) == (5, 9)
    assert (answer.of_store.reviewed, answer.of_store.documents) == (5, 10)
    assert names(site, part="all", least="2", most="3") == ["b", "c"]
    assert [names(site, limit="1", page=str(page)) for page in (1, 2, 3)] == [["a"], ["b"], []]


def test_the_list_follows_labels_and_undo_without_another_reading(store: Any) -> None:
    site = Site(store)
    first = site.work_list(20)
    ask(site, "label", id=["a0"], add=["hot"], family="yes", dry_run="no")
    assert names(site) == ["b", "c"]
    assert first
    assert site.work_list(20) == first  # the same object: it was not read again
    ask(site, "undo", job="1")
    assert names(site) == ["a", "b", "c"]
    label(store, ["b0"], LabelOptions(add=["hot"]), reviewer="of another process")
    reviewed = {item.path[8]: item.reviewed for item in ask(site, "worklist").items}
    assert reviewed == {"a": 0, "b": 1, "c": 0}
    undo_labels(store, 2)
    assert ask(site, "worklist").of_store.reviewed == 0


def test_with_a_set_of_labels_only_these_count_as_review(store: Any) -> None:
    label(store, ["c0", "c1"], LabelOptions(add=["imported"]))
    label(store, ["b0"], LabelOptions(add=["hot"]))
    answer = ask(Site(store, labels=["hot", "cold"]), "worklist", part="all")
    assert [item.reviewed for item in answer.items] == [0, 1, 0]


def test_a_list_of_a_field_goes_by_that_alone(store: Any) -> None:
    relevance = CodingField("relevance", ("yes", "no"), required=True)
    define_coding(store, [relevance, CodingField("privilege", ("yes", "no"))])
    site = Site(store)
    code = {"family": "yes", "dry_run": "no"}
    ask(site, "label", id=["a0"], add=["relevance=yes"], **code)
    ask(site, "label", id=["b0"], add=["privilege=no"], **code)
    assert names(site) == ["b", "c"]
    assert names(site, field="privilege") == ["a", "c"]
    assert names(site, field="privilege", label="relevance=yes") == ["a"]
    claimed = ask(site, "claim", field="privilege", label="relevance=yes").family
    assert claimed == ask(site, "worklist", part="done").items[0].family
    ask(site, "label", id=["a0"], add=["relevance=no"], dry_run="no")
    assert names(site, part="conflict", field="relevance") == ["a"]
    assert names(site, part="conflict", field="privilege") == []
    by_field = {field.name: field for field in ask(site, "dashboard").fields}
    assert by_field["relevance"].values == {"relevance=yes": 3, "relevance=no": 1}
    assert (by_field["relevance"].conflicts, by_field["privilege"].progress.reviewed) == (1, 3)
    define_coding(store, [CodingField("privilege", ())])
    site.review.define([CodingField("relevance", ("yes", "no"))], [])
    assert len(Site(store).coding().fields) == 1


@pytest.mark.long
def test_after_group_the_first_page_is_the_dashboard_of_the_matter(store: Any) -> None:
    label(store, ["c0"], LabelOptions(add=["hot"]))
    client = TestClient(
        review_application(store, frozenset({"testserver"}), matter="Weber v. <Lund>")
    )
    client.get("/api/dashboard?wait=20")
    first = client.get("/").text
    assert "<h1>Weber v. &lt;Lund&gt;</h1>" in first
    assert "1 <small>of 10" in first
    assert "Weber v. &lt;Lund&gt; · nearfold</title>" in client.get("/?q=").text
    assert 'id="count"' in client.get("/?q=").text
    assert client.get("/api/status").json()["matter"] == "Weber v. <Lund>"


def test_before_group_the_first_page_is_the_search(tmp_path: Path) -> None:
    with closing(open_store(f"sqlite:///{tmp_path}/new.db")) as store:
        store.prepare(DEFAULT)
        store.write(rows({"one": "A text."}))
        store.refresh()
        client = TestClient(review_application(store, frozenset({"testserver"})))
        assert 'id="count"' in client.get("/").text


def test_two_reviewers_of_one_list_get_different_families(store: Any) -> None:
    sites = [Site(store), Site(store)]  # as two servers have
    for site in sites:
        site.work_list(20)

    def take(place: int) -> str:
        return str(ask(sites[place % 2], "claim", f"reviewer {place}").family)

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(take, range(8)))
    got = [family for family in taken if family]
    assert sorted(family[0] for family in got) == ["a", "b", "c"]
    [owner] = [place for place, family in enumerate(taken) if family[:1] == "b"]
    assert ask(sites[0], "claim", f"reviewer {owner}").family[0] == "b"  # they go on with theirs
    assert names(sites[0], reviewer=f"reviewer {owner}") == ["b"]


def test_the_next_family_is_that_after_the_last_one(store: Any) -> None:
    site = Site(store)
    heads = {item.path[8]: item.family for item in ask(site, "worklist").items}
    assert ask(site, "claim", after=heads["a"]).family == heads["b"]
    assert ask(site, "claim", after=heads["c"]).family == heads["a"]
    ask(site, "label", id=[heads["b"]], add=["hot"], family="yes", dry_run="no")
    assert ask(site, "claim", after=heads["a"]).family == heads["c"]
    ask(site, "assign", id=[heads["a"]], reviewer="ben")
    assert ask(site, "claim", after=heads["c"]).family == ""
    ask(site, "assign", id=[heads["a"]], reviewer="")
    assert ask(site, "claim", after=heads["c"]).family == heads["a"]


def test_what_is_no_family_is_assigned_to_nobody(store: Any) -> None:
    site = Site(store)
    heads = [item.family for item in ask(site, "worklist").items]
    member = next(row.id for row in store.scan() if row.family != row.id)
    for unknown in ("nowhere", member):
        with pytest.raises(DocumentNotFound):
            ask(site, "assign", id=[heads[0], unknown], reviewer="ben")
    assert names(site, reviewer="ben") == []
    store.delete([heads[0]])
    store.refresh()
    ask(Site(store), "assign", id=[heads[0]], reviewer="ben")  # others of it are left


def test_a_family_stays_with_its_reviewer_when_its_principal_changes(store: Any) -> None:
    site = Site(store)
    heads = {item.path[8]: item.family for item in ask(site, "worklist").items}
    ask(site, "assign", id=[heads["a"]], reviewer="anna")
    ask(site, "assign", id=[heads["b"]], reviewer="ben")
    longer = f"{edited(FAMILIES[0], 0)} and some more words"
    store.write([dataclasses.replace(row, path="/papers/a.txt") for row in rows({"a9": longer})])
    store.refresh()
    group(store, GroupOptions(principal="longest"))
    assert [item.family for item in ask(site, "worklist", reviewer="anna").items] == ["a9"]
    assert names(site, reviewer="ben") == ["b"]


def overview(forms: Forms) -> str:
    """Return the page Overview once the store is read."""
    while "Read at" not in forms.page("/overview"):
        pass
    return request(forms.site, "/overview").body.decode()


@pytest.mark.long
def test_pages_of_the_work_list(store: Any) -> None:
    with run_site(store.url, "--label", "hot", "--reviewer", "anna") as address:
        forms = Forms(address)
        text = forms.page("/worklist?least=1&order=unreviewed&wait=20")
        assert "0 of 10" in text
        assert list(dict.fromkeys(re.findall(r"\b(\w)\d\.txt", text))) == ["a", "b", "c", "d"]
        opened = forms.send("/worklist/next", list="order=size&utm=1").headers["location"]
        head = re.findall("id=(a[0-9])", opened)[0]
        assert "Take the next group of the work list" in forms.page(opened)
        assert "of anna" in forms.page("/worklist?reviewer=anna")
        nobody = forms.send("/worklist/assign", id=head, reviewer="", next="/worklist?least=1")
        assert nobody.headers["location"] == "/worklist?least=1"
        assert "No group of this list" in forms.page("/worklist?reviewer=anna")
        assert forms.send("/worklist/assign", reviewer="ben").status == 400
        hits = csv.DictReader(
            io.StringIO(request(address, "/hits.csv?fold=family&sort=path").body.decode())
        )
        lines = [(line["rank"], line["id"][0], line["folded_under"][:1]) for line in hits]
        assert lines[:5] == [("1", "a", ""), *[("1", "a", "a")] * 3, ("2", "b", "")]
        assert len(lines) == 10
        assert request(address, "/hits.csv?x=1").status == 400
        assert "/worklist?part=all&amp;least=3&amp;most=5" in overview(forms)
        forms.send("/label", id="c0", choose="hot", dry_run="no", next="/")
        forms.send("/label/undo", job="1", next="/")
        noted = forms.send("/note", id="c0", text="=see <b>page</b> 4")
        assert noted.headers["location"] == "/document?id=c0#notes"
        assert forms.send("/note", id="c0", text=" ").status == 400
        assert forms.send("/note", id="nowhere", text="x").status == 404
        page = forms.page("/document?id=c0")
        assert "anna =see &lt;b&gt;page&lt;/b&gt; 4" in page
        assert re.search(r"anna – → hot undone by anna \d{4}-", page)
        assert "undone by anna" in forms.page("/jobs")
        with Journal(journal_path(store.address)):
            assert "they are shown when it ends" in forms.page("/document?id=c0")
        table = request(address, "/history.csv")
        [line] = csv.DictReader(io.StringIO(table.body.decode()))
        del line["at"]
        del line["undone_at"]
        assert line == {
            "labelling": "1",
            "reviewer": "anna",
            "id": "c0",
            "path": "/papers/c0.txt",
            "before": "",
            "after": "hot",
            "undone": "true",
            "undone_by": "anna",
        }
