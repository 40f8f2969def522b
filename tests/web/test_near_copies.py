"""Near copies that are not in the group: why, how many, and how one joins."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from sample_library import rows, sentence
from starlette.testclient import TestClient

from indexer.errors import StoreBusy
from indexer.grouping import families
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.jobs.review_file import joined_documents
from indexer.recipe import DEFAULT
from indexer.review.access import Login
from indexer.review.api.comparisons import JoinParameters, join, separate
from indexer.review.api.endpoints import DocumentId
from indexer.review.compared_statistics import threshold_statistics
from indexer.review.serve import review_application
from indexer.review.site import Site
from indexer.stores import open_store
from web.watching import PageRecord, axe_violations, open_window, run_site

CLAUSE = "The tenant may{} assign this lease to an affiliate of the tenant without consent. "
PATTERN = " ".join(f"List all {{}} of {sentence(7, 12)}" for _ in range(6))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    """A store of a lease, its opposite, a scan with a disks word, and another document."""
    store = open_store(f"sqlite:///{tmp_path}/near.db")
    store.prepare(DEFAULT)
    texts = {
        "lease": CLAUSE.format("") + sentence(3, 80),
        "opposite": CLAUSE.format(" not") + sentence(3, 80),
        "instances": PATTERN.replace("{}", "instances"),
        "disks": PATTERN.replace("{}", "disks"),
        "other": sentence(9, 80),
    }
    assert not any(store.write(rows(texts)))
    store.refresh()
    group(store)
    yield store
    store.close()


class Client(TestClient):
    """A client whose forms carry the token."""

    def submit(self, path: str, **fields: str) -> Any:
        token = self.get("/api/token").json()["token"]
        headers = {"origin": "http://testserver"}
        data = {**fields, "token": token}
        return self.post(path, data=data, headers=headers, follow_redirects=False)


@pytest.fixture
def client(store: Any) -> Client:
    return Client(review_application(store, frozenset({"testserver"})))


@pytest.mark.long
@pytest.mark.parametrize(
    ("id", "other", "reason"),
    [
        ("lease", "opposite", "negated: – / not"),
        ("instances", "disks", "“disks” stands for “instances” 6 times"),
    ],
)
def test_pages_say_why_a_near_copy_is_not_in_the_group(
    client: Client, id: str, other: str, reason: str
) -> None:
    near = client.get(f"/api/family/near?id={id}&wait=20").json()
    assert [(copy["id"], copy["reason"]) for copy in near["copies"]] == [(other, reason)]
    assert f"Separated: <bdi>{reason}" in client.get(f"/family?id={id}&wait=20").text
    document = client.get(f"/document?id={id}&wait=20").text
    assert "Not in its group" in document
    assert reason in document


def test_threshold_counts_the_near_copies_that_rules_keep_apart(client: Client) -> None:
    while not (preview := client.get("/api/preview?wait=20").json())["ready"]:
        pass
    assert preview["separated"] == 2
    pairs = {frozenset({pair["a"], pair["b"]}): pair["reason"] for pair in preview["near_pairs"]}
    assert set(pairs) == {frozenset({"lease", "opposite"}), frozenset({"instances", "disks"})}
    page = client.get("/threshold?wait=20").text
    assert "Near copies in different groups" in page
    named = r'name="id" value="(\w+)"><input type="hidden" name="other" value="(\w+)"'
    forms = re.findall(named, page)
    assert set(map(frozenset, forms)) == set(pairs)
    client.submit("/family/join", id=forms[0][0], other=forms[0][1], next="/threshold")
    while not (preview := client.get("/api/preview?wait=20").json())["ready"]:
        pass
    assert [frozenset({pair["a"], pair["b"]}) for pair in preview["near_pairs"]] == [
        frozenset(forms[1])
    ]
    assert preview["moved"] == 0
    joined = re.sub("<.*?>", "", client.get("/threshold?wait=20").text)
    assert "Reviewers put 1 document into groups of other documents" in joined
    strict = client.get("/api/preview?threshold=1&wait=20").json()
    assert strict["families"] == 1


@pytest.mark.long
def test_one_click_joins_and_the_next_group_keeps_it(client: Client, store: Any) -> None:
    answer = client.submit("/family/join", id="opposite", other="lease", next="/family?id=lease")
    assert (answer.status_code, answer.headers["location"]) == (303, "/family?id=lease")
    for _ in range(2):
        found = store.get(["lease", "opposite"])
        assert len({row.family for row in found.values()}) == 1
        assert [row.principal for row in found.values()].count(True) == 1
        page = client.get("/family?id=lease&wait=20").text
        assert "added by a reviewer" in page
        assert "Kept apart" not in page
        assert group(store, GroupOptions(), joined=joined_documents(store)).changed == 0
    client.submit("/family/separate", id="opposite", next="/")
    assert store.get(["opposite"])["opposite"].family == "opposite"
    assert joined_documents(store) == {}


def test_undo_of_a_join_survives_other_ones_and_errors_and_leaves_members_that_moved(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = store.get(["disks"])["disks"].text
    assert not any(store.write(rows({"copy": text, "copy2": text, "copy3": text})))
    group(store)
    ids = ["disks", "copy", "copy2", "copy3"]
    principal = store.get(["disks"])["disks"].family
    first, second, moved = (id for id in ids if id != principal)
    site, anna, ben = Site(store), Login("anna"), Login("ben")
    join(site, JoinParameters(id="opposite", other="lease"), ben)
    join(site, JoinParameters(id=principal, other="instances"), anna)
    separate(site, DocumentId(id="opposite"), anna)
    assert "anna" in site.last_joins
    assert "ben" not in site.last_joins
    families.join(store, moved, "other")

    def busy(store: Any, id: str, *rest: Any) -> int:
        if id == second:
            raise StoreBusy(what="the store", holder="group")
        return joined(store, id, *rest)

    joined = families.join
    monkeypatch.setattr(families, "join", busy)
    with pytest.raises(StoreBusy):
        separate(site, DocumentId(id=principal), ben)
    monkeypatch.setattr(families, "join", joined)
    separate(site, DocumentId(id=principal), ben)
    assert not site.last_joins
    found = {id: row.family for id, row in store.get(ids).items()}
    assert found == {principal: principal, first: principal, second: principal, moved: "other"}


def test_a_joined_principal_takes_its_members_along(store: Any, client: Client) -> None:
    assert not any(store.write(rows({"copy": store.get(["disks"])["disks"].text})))
    group(store)
    principal = store.get(["copy"])["copy"].family
    client.submit("/family/join", id=principal, other="instances", next="/")
    found = store.get(["instances", "disks", "copy"]).values()
    assert {row.family for row in found} == {"instances"}
    assert group(store, joined=joined_documents(store)).changed == 0
    assert threshold_statistics(store).at().moved == 0
    assert {row.family for row in store.get(["instances", "disks", "copy"]).values()} == {
        "instances"
    }


def test_a_document_shows_the_nearest_and_links_to_all(store: Any, client: Client) -> None:
    lease = store.get(["lease"])["lease"].text
    store.write(rows({f"copy{number}": f"{lease} Page {number}." for number in range(12)}))
    store.refresh()
    page = client.get("/document?id=lease&q=tenant").text
    assert page.count('class="why"') == 10
    assert "The 10 most similar are shown." in page
    (address,) = re.findall(r'href="(/document[^"]*limit=200[^"]*)"', page)
    everything = client.get(html.unescape(address)).text
    assert everything.count('class="why"') == 13  # "opposite", too
    assert "most similar are shown" not in everything
    assert "q=tenant" in address


@pytest.mark.slow
def test_the_button_that_joins_is_one_line_on_a_narrow_screen(store: Any, browser: Browser) -> None:
    with run_site(store.url) as address:
        record = PageRecord(address)
        with open_window(browser, address, record, 390) as context:
            page = record.watch(context.new_page())
            page.goto("/threshold")
            join = page.get_by_role("button", name="Join").first
            expect(join).to_be_visible(timeout=60_000)  # when all pairs are compared
            box = join.bounding_box()
            assert box is not None and box["width"] > box["height"]
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            assert axe_violations(page) == {}
        record.check()
