"""Labelling on pages: nothing is sent twice, refused or lost, and conflicts are shown."""

from __future__ import annotations

import dataclasses
import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from sample_library import edited, rows, sentence

from indexer.errors import StoreStopped, UnknownNumber
from indexer.grouping.group import group
from indexer.jobs.label import LabelOptions, LabelResult, label, label_history
from indexer.jobs.review_file import WaitingRequests, waiting_path
from indexer.recipe import DEFAULT
from indexer.review import label_queue
from indexer.review.label_queue import LabelQueue, LabelRequest
from indexer.stores import open_store
from indexer.stores.journal import Journal, journal_path
from web.plain_requests import Answer, request
from web.watching import run_site

FORM = "application/x-www-form-urlencoded"
SET = ("responsive", "not responsive", "privileged")


class Forms:
    """The forms of a site."""

    def __init__(self, site: str) -> None:
        self.site = site
        self.token = json.loads(request(site, "/api/token").body)["token"]

    def send(self, path: str, **fields: Any) -> Answer:
        body = urlencode({**fields, "token": self.token}, doseq=True).encode()
        return request(self.site, path, "POST", body, Content_Type=FORM)

    def page(self, path: str) -> str:
        answer = request(self.site, path)
        assert answer.status == 200, answer.body
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.body.decode()))

    def plan(self, path: str) -> str:
        """Return the number of the dry run that a page offers to write."""
        page = request(self.site, path).body.decode()
        return re.findall(r'name="plan" value="(\d+)"', page)[0]

    def seen(self, id: str) -> str:
        page = request(self.site, f"/document?id={id}").body.decode()
        return re.findall(r'name="seen" value="([^"]+)"', page)[0]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    """A store with a family of four and a single document."""
    store = open_store(f"sqlite:///{tmp_path}/labels.db")
    store.prepare(DEFAULT)
    family = {f"m{place}": edited(sentence(3, 80), place) for place in range(4)}
    store.write(rows({**family, "other": sentence(9, 80)}))
    store.refresh()
    group(store)
    yield store
    store.close()


@pytest.fixture
def forms(store: Any) -> Iterator[Forms]:
    """The forms of its site, where keys choose between three labels."""
    words = [word for name in SET for word in ("--label", name)]
    with run_site(store.url, *words, "--reviewer", "anna") as address:
        yield Forms(address)


def labels(store: Any, *ids: str) -> list[tuple[str, ...]]:
    found = store.get(list(ids))
    return [tuple(sorted(found[id].labels)) for id in ids]


@pytest.mark.long
def test_a_decision_leads_to_the_next_page(forms: Forms, store: Any) -> None:
    answer = forms.send("/label", id="m1", choose=SET[0], dry_run="no", next="/document?id=m2")
    assert (answer.status, answer.headers["location"]) == (303, "/document?id=m2")
    assert labels(store, "m1") == [("responsive",)]
    [job] = label_history(store)
    assert (job.reviewer, job.added, job.documents) == ("anna", ("responsive",), 1)
    forms.send("/label", id="m1", choose=SET[1], dry_run="no", next="/")
    assert labels(store, "m1") == [("not responsive",)]
    assert "anna" in forms.page("/jobs")


@pytest.mark.long
@pytest.mark.parametrize("place", ["//evil.example", "http://evil.example", "/\\evil", "x", "/\n"])
def test_no_form_leads_to_another_site(forms: Forms, place: str) -> None:
    answer = forms.send("/label", id="m1", add="hot", dry_run="no", next=place)
    assert answer.headers["location"].startswith("/labelled?number=")


@pytest.mark.long
def test_a_dry_run_is_confirmed_and_undone_by_addresses_that_can_be_loaded_again(
    forms: Forms, store: Any
) -> None:
    planned = forms.send("/label", id="m1", add="hot", family="yes", dry_run="yes", next="/jobs")
    place = planned.headers["location"]
    assert planned.status == 303
    for _ in range(2):
        assert "4 documents would change" in forms.page(place)
    assert labels(store, "m0", "m1") == [(), ()]
    number = re.findall(r"plan=(\d+)", place)[0]
    written = forms.send("/label/confirm", plan=number, next="")
    for _ in range(2):
        assert "4 documents changed" in forms.page(written.headers["location"])
    assert labels(store, "m0", "m1", "other") == [("hot",), ("hot",), ()]
    again = forms.send("/label/confirm", plan=number, next="")
    assert "Nothing changed" in forms.page(again.headers["location"])
    [job] = label_history(store)
    undone = forms.send("/label/undo", job=job.number, next="")
    for _ in range(2):
        assert "4 documents have the labels from before" in forms.page(undone.headers["location"])
    assert labels(store, "m0", "m1") == [(), ()]
    for path in ("/label", "/label/undo", "/label/confirm"):
        assert request(forms.site, path).status == 405


@pytest.mark.long
def test_a_dry_run_tells_documents_of_one_name_apart(forms: Forms, store: Any) -> None:
    named = store.get([f"m{place}" for place in range(4)]).values()
    store.write([dataclasses.replace(row, path=f"/papers/{row.id}/copyright") for row in named])
    planned = forms.send("/label", id="m1", add="hot", family="yes", dry_run="yes", next="/jobs")
    shown = forms.page(planned.headers["location"])
    assert all(f"m{place}/copyright" in shown for place in range(4))


def test_an_unknown_dry_run_or_labelling_is_not_found(forms: Forms) -> None:
    for path in ("/labelled?number=4711", "/labelled?plan=4711"):
        assert request(forms.site, path).status == 404
    assert request(forms.site, "/labelled").status == 400
    assert forms.send("/label/confirm", plan="4711").status == 404


@pytest.mark.long
def test_parallel_labellings_land(forms: Forms, store: Any) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(
                lambda place: forms.send(
                    "/label", id=f"m{place % 4}", add=f"label {place}", dry_run="no", next="/jobs"
                ),
                range(24),
            )
        )
    assert {answer.status for answer in answers} == {303}
    for place in range(24):
        [row] = [store.get([f"m{place % 4}"])[f"m{place % 4}"]]
        assert f"label {place}" in row.labels
    assert len(label_history(store)) == 24


@pytest.mark.long
def test_what_is_labelled_while_a_job_runs_lands_after_it(forms: Forms, store: Any) -> None:
    path = "/label"
    with Journal(journal_path(store.address)):
        answer = forms.send(path, id="m1", choose=SET[2], dry_run="no", next="/document?id=m2")
        assert (answer.status, answer.headers["location"]) == (303, "/document?id=m2")
        assert labels(store, "m1") == [()]
        assert "1 labelling is waiting for the job" in forms.page("/document?id=m2")
        shown = forms.send(path, id="m2", add="hot", dry_run="no").headers["location"]
        assert "It waits for the job that works on the store" in forms.page(shown)
        dry = forms.send(path, id="m2", add="hot", family="yes", dry_run="yes")
        assert "4 documents would change" in forms.page(dry.headers["location"])
        body = json.dumps({"id": "m3", "add": "hot", "dry_run": False}).encode()
        headers = {"Content_Type": "application/json", "X_Nearfold_Token": forms.token}
        api = request(forms.site, "/api/label", "POST", body, **headers)
        assert (api.status, json.loads(api.body)["waits"]) == (200, True)
    done = threading.Event()
    for _ in range(200):
        if labels(store, "m1", "m2", "m3") == [("privileged",), ("hot",), ("hot",)]:
            done.set()
            break
        forms.page("/jobs")
    assert done.is_set()
    assert "waits for the job" not in forms.page("/document?id=m2")


def hot(id: str, **more: Any) -> LabelRequest:
    return LabelRequest("anna", (id,), LabelOptions(add=["hot"]), **more)


def test_what_waits_survives_the_server(store: Any) -> None:
    folder = waiting_path(journal_path(store.address))
    ended = [WaitingRequests(folder) for _ in range(2)]
    for place, waiting in enumerate(ended):
        waiting.put(dataclasses.asdict(hot(f"m{place}")))
    for waiting in ended:
        waiting.close()
    queue = LabelQueue(store, lambda _: None)
    last = queue.put(hot("m2"))
    assert queue.outcome(last, 20) is not None
    assert labels(store, "m0", "m1", "m2", "m3") == [("hot",), ("hot",), ("hot",), ()]
    assert len(label_history(store)) == 3


def test_two_servers_of_one_store_write_each_label_once(store: Any) -> None:
    queues = [LabelQueue(store, lambda _: None) for _ in range(2)]
    with Journal(journal_path(store.address)):
        numbers = [
            [queue.put(hot(f"m{place}")) for place in range(2 * which, 2 * which + 2)]
            for which, queue in enumerate(queues)
        ]
    for queue, own in zip(queues, numbers, strict=True):
        assert all(isinstance(queue.outcome(number, 20), LabelResult) for number in own)
        assert queue.waiting == 0
    assert labels(store, "m0", "m1", "m2", "m3") == [("hot",)] * 4
    assert len(label_history(store)) == 4


@pytest.mark.long
def test_a_store_is_asked_nothing_while_a_job_holds_it(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(label_queue, "perform", lambda *_: asked.append(1))
    queue = LabelQueue(store, lambda _: None)
    with Journal(journal_path(store.address)):
        assert queue.outcome(queue.put(hot("m1")), 1) is None
        assert asked == []


def test_a_conflict_that_shows_late_is_shown_to_its_reviewer_until_seen(store: Any) -> None:
    seen = label(store, ["m1"], LabelOptions(add=["cold"]), dry_run=True).state
    label(store, ["m1"], LabelOptions(add=["cold"]), reviewer="ben")
    queue = LabelQueue(store, lambda _: None)
    conflict, gone = queue.put(hot("m1", seen=seen)), queue.put(LabelRequest("anna", undo=4711))
    assert isinstance(queue.outcome(gone, 20), UnknownNumber)
    sentences = dict(queue.unseen("anna"))
    assert (
        sentences[conflict] == "The label hot was not written: 1 document had other labels by then."
    )
    assert sentences[gone].startswith("The undo of labelling 4711 was not written: ")
    assert queue.unseen("ben") == []
    queue.close()
    later = LabelQueue(store, lambda _: None)
    assert later.outcome(gone, 20) is not None
    assert dict(later.unseen("anna")) == sentences
    later.mark_seen(conflict)
    assert [number for number, _ in later.unseen("anna")] == [gone]
    later.close()
    [left] = WaitingRequests(waiting_path(journal_path(store.address))).stored()
    assert left[1]["undo"] == 4711


@pytest.mark.long
def test_pages_show_a_conflict_that_shows_late(forms: Forms, store: Any) -> None:
    seen = forms.seen("m1")
    with Journal(journal_path(store.address)):
        forms.send("/label", id="m1", choose=SET[0], dry_run="no", seen=seen, next="/jobs")
        store.labels.relabel({"m1": ("hot",)})
        store.refresh()
    for _ in range(200):
        if "was not written" in forms.page("/family?id=m2"):
            break
    page = request(forms.site, "/document?id=m2").body.decode()
    [place] = re.findall(r'href="(/labelled\?number=[^"]+)"', page)
    assert "Somebody has changed these labels since you opened the page" in forms.page(
        place.replace("&amp;", "&")
    )
    assert "was not written" not in forms.page("/document?id=m2")


def test_what_a_store_refuses_for_now_waits(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any) -> None:
        raise StoreStopped(reason="disk full", remedy="free some space")

    with monkeypatch.context() as patch:
        patch.setattr(label_queue, "perform", stopped)
        queue = LabelQueue(store, lambda _: None)
        number = queue.put(LabelRequest("anna", ("m1",), LabelOptions(add=["hot"])))
        assert queue.outcome(number, 0.3) is None
        assert queue.waiting == 1
    assert isinstance(queue.outcome(number, 20), LabelResult)
    assert labels(store, "m1") == [("hot",)]


def test_a_request_that_cannot_be_read_holds_up_no_other(store: Any) -> None:
    waiting = WaitingRequests(waiting_path(journal_path(store.address)))
    waiting.put({"of": "another version"})
    waiting.close()
    queue = LabelQueue(store, lambda _: None)
    number = queue.put(LabelRequest("anna", ("m1",), LabelOptions(add=["hot"])))
    assert isinstance(queue.outcome(number, 20), LabelResult)


@pytest.mark.long
def test_a_conflict_shows_both_values_and_the_reviewer_chooses(forms: Forms, store: Any) -> None:
    seen = forms.seen("m1")
    label(store, ["m1"], LabelOptions(add=["not responsive"]), reviewer="ben")
    decision = {"id": "m1", "choose": SET[0], "dry_run": "no", "next": "/jobs"}
    answer = forms.send("/label", **decision, seen=seen)
    place = answer.headers["location"]
    assert place.startswith("/labelled?number=")
    text = forms.page(place)
    assert "Somebody has changed these labels since you opened the page" in text
    assert re.search(r"Current labels.*not responsive.*responsive", text)
    assert labels(store, "m1") == [("not responsive",)]
    plan = forms.plan(place)
    label(store, ["m1"], LabelOptions(add=["privileged"]), reviewer="carl")
    changed_again = forms.send("/label/confirm", plan=plan, next="/jobs").headers["location"]
    assert "Somebody has changed these labels" in forms.page(changed_again)
    plan = re.findall(
        r'name="plan" value="(\d+)"', request(forms.site, changed_again).body.decode()
    )[0]
    chosen = forms.send("/label/confirm", plan=plan, next="/jobs")
    assert chosen.headers["location"] == "/jobs"
    assert labels(store, "m1") == [("responsive",)]


@pytest.mark.long
def test_the_same_choice_of_two_reviewers_is_no_conflict(forms: Forms, store: Any) -> None:
    seen = forms.seen("m1")
    label(store, ["m1"], LabelOptions(add=["responsive"]), reviewer="ben")
    answer = forms.send("/label", id="m1", choose=SET[0], dry_run="no", seen=seen, next="/jobs")
    assert answer.headers["location"] == "/jobs"


@pytest.mark.long
def test_an_undo_that_finds_other_labels_says_so(forms: Forms, store: Any) -> None:
    forms.send("/label", id="m1", choose=SET[0], dry_run="no", next="/jobs")
    label(store, ["m1"], LabelOptions(add=["hot"]), reviewer="ben")
    number = label_history(store)[-1].number
    answer = forms.send("/label/undo", job=number, next="/jobs")
    assert "labelled again since" in forms.page(answer.headers["location"])
    assert labels(store, "m1") == [("hot", "responsive")]


@pytest.mark.long
def test_keys_without_a_given_set_add_labels_of_the_store(store: Any) -> None:
    label(store, ["m0"], LabelOptions(add=["hot"]))
    label(store, ["m1"], LabelOptions(add=["cold"]))
    with run_site(store.url) as address:
        forms = Forms(address)
        page = request(address, "/document?id=m0").body.decode()
        assert re.findall(r'name="choose" value="([^"]+)"', page) == ["cold", "hot"]
        forms.send("/label", id="m0", choose="cold", dry_run="no", next="/")
        forms.send("/label", id="m1", add="a new one", dry_run="no", next="/")
        page = request(address, "/document?id=m0").body.decode()
        assert re.findall(r'name="choose" value="([^"]+)"', page) == ["cold", "hot", "a new one"]
    assert labels(store, "m0") == [("cold", "hot")]


def test_a_journal_of_before_has_no_reviewers(store: Any) -> None:
    label(store, ["m0"], LabelOptions(add=["hot"]), reviewer="anna")
    path = journal_path(store.address)
    assert path is not None
    with Journal(path) as journal:
        for column in ("undos", "reviewer"):
            journal.execute(f"ALTER TABLE labelling DROP COLUMN {column}", ())
    assert [job.reviewer for job in label_history(store)] == [""]
    label(store, ["m1"], LabelOptions(add=["hot"]), reviewer="ben")
    assert [job.reviewer for job in label_history(store)] == ["ben", ""]


@pytest.mark.long
def test_several_are_labelled_after_a_dry_run_and_undone_at_once(forms: Forms, store: Any) -> None:
    label(store, ["m1"], LabelOptions(add=[SET[1]]))
    checked = {"id": ["m0", "m1", "other"], "choose": SET[0], "dry_run": "yes", "next": "/"}
    place = forms.send("/label", **checked).headers["location"]
    text = forms.page(place)
    assert "3 documents would change" in text
    assert "1 would lose another label" in text
    assert f"loses {SET[1]}" in text
    forms.send("/label/confirm", plan=forms.plan(place), next="/")
    assert labels(store, "m0", "m1", "m2", "other") == [(SET[0],), (SET[0],), (), (SET[0],)]
    forms.send("/label/undo", job=label_history(store)[0].number, next="/")
    assert labels(store, "m0", "m1", "other") == [(), (SET[1],), ()]
    nothing = forms.send("/label", choose=SET[0], dry_run="yes", next="/")
    assert nothing.status == 400
    assert b"check at least one" in nothing.body


@pytest.mark.long
def test_all_but_the_principal_are_labelled(forms: Forms, store: Any) -> None:
    head = store.get(["m0"])["m0"].family
    scope = {"head": head, "choose": SET[0], "dry_run": "no", "next": "/jobs"}
    forms.send("/label", **scope, on="others")
    family = sorted({"m0", "m1", "m2", "m3"} - {head})
    assert labels(store, head, *family) == [(), *[(SET[0],)] * 3]
    page = request(forms.site, f"/family?id={head}").body.decode()
    assert page.count('name="id" value="m') - page.count('type="hidden" name="id" value="m') == 3
    forms.send("/label", **scope, on="family")
    assert labels(store, head) == [(SET[0],)]
    hits = request(forms.site, "/?q=").body.decode()
    assert "Label these like the hit" in hits


@pytest.mark.long
def test_the_dashboard_shows_progress_and_what_comes_next(forms: Forms, store: Any) -> None:
    forms.send("/label", id="m1", choose=SET[0], dry_run="no", next="/")
    forms.send("/label", id="m2", choose=SET[1], dry_run="no", next="/")
    other = request(forms.site, "/document?id=m1&q=here").body.decode()
    assert 'value="/document?id=m2&amp;q=here"' in other
    page = forms.page("/dashboard?wait=20")
    assert "2 of 5, 40% " in page
    assert "1 group has conflicting labels" in page
    assert "Largest unassigned group: " in page
    assert "4 documents, 2 reviewed" in page
    taken = forms.send("/worklist/next", list="order=size&least=1&most=1")
    assert taken.headers["location"].startswith("/document?id=other")
    single = forms.page(taken.headers["location"])
    assert store.get(["other"])["other"].text[:30] in single
    assert "Take the next group of the work list" in single
    assert " anna " in page


@pytest.mark.long
def test_a_conflict_names_who_labelled_and_when(forms: Forms, store: Any) -> None:
    seen = forms.seen("m1")
    label(store, ["m1"], LabelOptions(add=["hot"]), reviewer="ben")
    answer = forms.send("/label", id="m1", choose=SET[0], seen=seen, dry_run="no", next="/")
    assert re.search(
        r"by ben , \d{4}-\d\d-\d\d \d\d:\d\d UTC", forms.page(answer.headers["location"])
    )
